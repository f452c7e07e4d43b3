"""Links to temporal pages by the numbers of days, against a loop over all visits."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.engines.base import Engine
from temporal_assets.windows import links_by_numbers
from temporal_assets.windows.links_by_numbers import TooManyLinks
from tests.engines.test_traffic_onward import LENGTH, URLS, Traffic, Visit, many_days

LAST = LENGTH - 1


def _expected(here: Traffic) -> tuple[list[tuple[str, int]], list[int], int]:
    """Links from pages, temporal pages that are linked from anywhere, and how many there are."""
    rows = here.rows(LAST)
    temporal = [url for url, row in rows.items() if row["is_temporal"]]
    links = {
        (referrer, temporal.index(target))
        for visits in here.days[:LENGTH]
        for referrer, target, _ in visits
        if referrer is not None and referrer != target and target in temporal
    }
    of_pages = sorted((url, n) for url, n in links if url in rows)
    return of_pages, sorted({n for _, n in links}), len(temporal)


@settings(max_examples=40)
@given(days=many_days, held=st.sampled_from([0, 4]))
def test_links_are_those_of_a_loop(duckdb: Engine, days: list[list[Visit]], held: int) -> None:
    """Also where those of all days are not held at once."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(links_by_numbers, "_HELD", held)
        here = Traffic(duckdb, Path(folder), days)
        job = here.hubs_job(LAST, Path(folder))
        links, linked, temporal = _expected(here)
        found: Any = links_by_numbers.links_by_numbers(job, temporal, 100, 10_000)
        urls = found.url.to_pylist()
        assert urls == [url for url in here.rows(LAST) if url in dict(links)]
        pairs = [(urls[at], n) for at, n in zip(found.source, found.target, strict=True)]
        assert sorted(pairs) == links
        assert pairs == sorted(pairs, key=lambda pair: (urls.index(pair[0]), pair[1]))
        assert found.linked.tolist() == linked
        assert links_by_numbers.links_by_numbers(job, temporal + 1, 100, 10_000) is None


def test_what_does_not_fit_is_said_and_what_has_no_numbers_is_left(
    duckdb: Engine, tmp_path: Path
) -> None:
    """Links, bytes of URLs, and days without numbers."""
    ring = zip(URLS, [*URLS[1:], URLS[0]], strict=True)
    days: list[list[Visit]] = [[(None, one, 1), (one, other, 1)] for one, other in ring]
    here = Traffic(duckdb, tmp_path / "numbered", days)
    job = here.hubs_job(LAST, tmp_path)
    links, _, temporal = _expected(here)
    assert links
    for most, most_bytes in ((len(links) - 1, 10_000), (0, 10_000), (100, 1)):
        with pytest.raises(TooManyLinks):
            links_by_numbers.links_by_numbers(job, temporal, most, most_bytes)
    plain = Traffic(duckdb, tmp_path / "plain", days, numbered=False)
    assert (
        links_by_numbers.links_by_numbers(plain.hubs_job(LAST, tmp_path), temporal, 100, 10_000)
        is None
    )
