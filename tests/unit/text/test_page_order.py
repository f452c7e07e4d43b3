"""URLs in the order of pages, against Python's sort by site and URL."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from temporal_assets.core.text.page_order import page_order, site_runs, text_numbers
from temporal_assets.core.text.texts import texts
from temporal_assets.logs.urls.urls import site_of

HOSTS = ["a.example", "a.example:8443", "a.example.org", "[2001:db8::1]", "[2001:db8::1]:8080", "b"]

urls = st.builds(
    "{}://{}/{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(HOSTS),
    st.text("ab/:[]ü", max_size=4),
)


@given(st.sets(urls, max_size=20))
@example({"http://z.example/", "https://a.example/", "https://z.example/", "http://a.example:1/"})
def test_places_are_those_of_a_sort(found: set[str]) -> None:
    ascending = sorted(found, key=str.encode)
    given_texts = texts(ascending)
    runs = site_runs(given_texts)
    sites = [
        given_texts.data[start:stop].tobytes().decode()
        for start, stop in zip(runs.start, runs.stop, strict=True)
    ]
    assert sites == [site_of(ascending[at]) for at in runs.first]
    order = np.argsort(np.array(sites, dtype=object), kind="stable")
    place = page_order(runs, order, len(ascending)).tolist()
    wanted = sorted(ascending, key=lambda url: (site_of(url).encode(), url.encode()))
    assert place == [wanted.index(url) for url in ascending]


@given(st.sets(st.text(max_size=40), max_size=50))
@example({"", "\x01"})
def test_numbers_tell_texts_apart_and_are_above_zero(found: set[str]) -> None:
    numbers = text_numbers(texts(list(found)))
    assert len(set(numbers.tolist())) == len(found)
    assert ((numbers > 0) & (numbers < 2**62)).all()


def test_numbers_are_the_same_tomorrow() -> None:
    """They lie in files, and are compared with those of other days."""
    some = ["", "a", "https://a.example/", "https://a.example/2026/01/06/page-16"]
    known = [
        1,
        1790738892493032607,
        3282213444267909067,
        1933358513577192585,
    ]
    assert text_numbers(texts(some)).tolist() == known
