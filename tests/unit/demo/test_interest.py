"""The demo: options, ragged ends, and interest that fades as in real news."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.demo_marginals import concentration
from temporal_assets.demo import PRESETS, DemoOptions
from temporal_assets.demo.files import make_groups, source_of
from temporal_assets.demo.scale import views_of_corpus
from temporal_assets.demo.world.interest import (
    accumulated,
    draw_births,
    draw_curves,
    expected_views,
)
from temporal_assets.demo.world.pages import draw_views, make_pages
from temporal_assets.demo.world.people import addresses
from temporal_assets.demo.world.ragged import Ragged, compose, find, integers, join, pack, stack
from temporal_assets.demo.world.seeds import generator
from temporal_assets.demo.world.sites import PageKind, SiteKind, make_sites


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"days": 0}, "days must be at least 1"),
        ({"requests": 0}, "requests must be at least 1"),
        ({"seed": -1}, "seed must not be negative"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"sites": 3, "pages": 119}, "3 sites need at least 120 pages"),
        ({"clients": 20_000_000}, "clients must be at most 16,777,216"),
        ({"clients": 100, "requests": 300_001}, "would look like robots"),
    ],
)
def test_refuses_what_cannot_be_made(changes, message):
    with pytest.raises(ValueError, match=message):
        DemoOptions(**changes)


def test_limit_of_requests_per_client_is_inclusive():
    # 60 days x 100 clients x 50 lines.
    assert DemoOptions(clients=100, requests=300_000).requests == 300_000


def test_preset_with_a_change_keeps_the_rest():
    chosen = DemoOptions.preset("medium", seed=7)
    assert (chosen.seed, chosen.pages, chosen.days) == (7, 300_000, 60)


def test_unknown_preset_names_the_known_ones():
    with pytest.raises(ValueError, match="small, medium, paper"):
        DemoOptions.preset("huge")


@pytest.mark.parametrize("name", PRESETS)
def test_sites_share_out_the_pages(name):
    options = PRESETS[name]
    sites = make_sites(options)
    assert len(sites) == options.sites
    assert sum(site.pages for site in sites) == options.pages
    assert min(site.pages for site in sites) >= 20
    assert sum(site.traffic for site in sites) == pytest.approx(1.0)
    assert len({site.host for site in sites}) == options.sites


@pytest.mark.parametrize(("sites", "pages"), [(1, 40), (2_000, 80_000), (7, 280)])
def test_sites_of_the_smallest_corpora_have_pages(sites, pages):
    listed_sites = make_sites(DemoOptions(sites=sites, pages=pages))
    assert sum(site.pages for site in listed_sites) == pages
    assert min(site.pages for site in listed_sites) >= 20


def test_default_corpus_has_every_kind_of_site():
    assert {site.kind for site in make_sites(DemoOptions())} == set(SiteKind)


def test_event_site_appears_and_disappears_within_the_window():
    events = [site for site in make_sites(DemoOptions()) if site.kind is SiteKind.EVENT]
    assert events
    for site in events:
        assert 0 < site.opens < site.closes < 60
        assert site.closes - site.opens == 21  # 35 % of 60 days


def test_groups_hold_every_site_once(tmp_path):
    sites = make_sites(PRESETS["medium"])
    groups = make_groups(sites)
    assert sorted(site.index for group in groups for site in group.sites) == list(range(120))
    for group in groups:
        source = source_of(group, tmp_path)
        # Lines of `combined` do not name the site, so the source must.
        assert (source.host is not None) == (source.format == "combined")
        assert source.host is None or [source.host] == [site.host for site in group.sites]
    assert len({group.folder(tmp_path) for group in groups}) == len(groups)


ROWS = st.lists(st.binary(max_size=12), min_size=1, max_size=20)


def rows_of(table: Ragged) -> list[bytes]:
    return [table.row(i) for i in range(len(table))]


@given(ROWS)
def test_pack_keeps_rows(values):
    assert rows_of(pack(values)) == values


@given(st.lists(st.integers(0, 10**18), max_size=20))
def test_integers_are_decimal(values):
    assert rows_of(integers(np.array(values, np.int64))) == [b"%d" % value for value in values]


@given(ROWS, ROWS)
def test_join_is_concatenation(first, second):
    assert rows_of(join(pack(first), pack(second))) == first + second


@given(st.lists(st.tuples(st.binary(max_size=9), st.binary(max_size=9)), min_size=1, max_size=20))
def test_compose_glues_columns(pairs):
    left, right = stack(pack([a for a, _ in pairs]), pack([b for _, b in pairs]))
    lines = compose(left.data, [left, right], [b"<", b"|", b">\n"])
    assert rows_of(lines) == [b"<" + a + b"|" + b + b">\n" for a, b in pairs]
    assert lines.data.tobytes() == b"".join(rows_of(lines))


def test_compose_breaks_off_and_replaces():
    a, b, c = stack(pack([b"a"] * 3), pack([b"b"] * 3), pack([b"c"] * 3))
    last = np.array([2, 1, 0], np.int8)
    lines = compose(a.data, [a, b, c], [b"[", b",", b",", b"]\n"], last)
    assert rows_of(lines) == [b"[a,b,c]\n", b"[a,b\n", b"a\n"]


def test_take_and_skip_share_the_bytes():
    table = pack([b"abc", b"de"])
    assert rows_of(table.take(np.array([1, 0, 1])).skip(1)) == [b"e", b"bc", b"e"]


def test_find_gives_the_size_where_there_is_none():
    assert find(pack([b"a?b?", b"ab", b""]), b"?").tolist() == [1, 2, 0]


@pytest.mark.parametrize("values", [[b"x", b"", "ß".encode()], []])
def test_arrow_strings(values):
    assert pack(values).to_arrow().to_pylist() == [value.decode() for value in values]


def column(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_accumulated_interest_of_known_ages():
    # At age e^mu half of the interest has come; one sigma later 84.13 %; none before the birth.
    age = column(1.0, np.e, 0.0, -5.0)
    share = accumulated(age, column(0, 0, 0, 0), column(1, 1, 1, 1))
    assert share == pytest.approx([0.5, 0.8413447, 0.0, 0.0], abs=1e-6)


@given(
    st.floats(-30, 60), st.floats(-1, 6), st.floats(0.3, 2.5), st.floats(0, 30), st.floats(0, 30)
)
def test_interest_adds_up_and_never_falls(birth, mu, sigma, first, length):
    args = column(birth), column(mu), column(sigma), column(100.0)
    middle = first + length / 2
    halves = expected_views(*args, first, middle) + expected_views(*args, middle, first + length)
    assert expected_views(*args, first, first + length) == pytest.approx(halves, abs=1e-3)
    assert (halves >= 0).all()


def test_pages_are_born_before_during_and_at_the_end_of_the_window():
    site = make_sites(DemoOptions())[2]
    births = draw_births(DemoOptions(), PageKind.NEWS, 5_000, site, generator(1, "test"))
    assert births.min() < -5
    assert (births >= 59).any()
    assert ((births > 20) & (births < 40)).any()
    assert births.max() < 60
    assert (np.diff(births) >= 0).all()


def test_fewer_pages_are_born_on_weekends_and_at_night():
    options = DemoOptions()
    site = make_sites(options)[2]
    births = draw_births(options, PageKind.NEWS, 60_000, site, generator(1, "test"))
    of_weekday = np.bincount((births.astype(np.int64) + options.first_day.weekday()) % 7)
    assert 0.45 < of_weekday[5:].mean() / of_weekday[:5].mean() < 0.85  # `top_news_arrivals`: 0.69
    assert 0.1 < (births % 1 < 0.25).mean() < 0.18  # 0.14


def test_interest_in_news_comes_as_fast_as_in_real_news():
    mu, sigma = draw_curves(PageKind.NEWS, 0.0, 20_000, generator(1, "test"))
    first_hours, first_day, three_days = (
        accumulated(np.full(20_000, age, np.float32), mu, sigma) for age in (0.25, 1, 3)
    )
    assert 0.38 < first_hours.mean() < 0.52  # `globo_clicks`: 0.43
    assert np.median(first_day) > 0.85  # 0.92
    # Some are read for days: NP 4.1 knows more of them than a week of clicks can show.
    assert 0.05 < (three_days < 0.7).mean() < 0.2


def test_some_lasting_pages_have_a_day_with_far_more_views():
    options = DemoOptions()
    site = make_sites(options)[0]
    pages = make_pages(options, site, 50_000.0)
    bursts = pages.bursts
    lasting = np.isin(pages.kind, (PageKind.EVERGREEN, PageKind.FRESH)).sum()
    assert 0.05 < len(bursts.row) / lasting < 0.15  # `wiki`: one in ten above three times
    row, day = int(bursts.row[0]), int(bursts.day[0])
    usual = pages.expected(day, day + 1)[row]
    assert pages.expected_on(day)[row] == pytest.approx(usual * (1 + bursts.size[0]), rel=1e-4)
    assert pages.expected_on(day)[row] >= 3 * usual
    before = pages.expected(day - 1, day)[row]
    assert pages.expected_on(day - 1)[row] == pytest.approx(before, rel=1e-6)


def test_a_few_pages_draw_most_of_the_views_but_none_a_site_of_its_own():
    options = DemoOptions(pages=20_000, requests=2_000_000, clients=100_000)
    for site in make_sites(options)[:6]:
        pages = make_pages(options, site, 50_000.0)
        views = np.sort(pages.expected(site.opens, site.closes))[::-1]
        first = views[: len(views) // 100].sum() / views.sum()
        assert first > 0.2
        assert views[0] / views.sum() < 0.15


def test_pages_draw_the_views_they_are_given():
    options = DemoOptions()
    pages = make_pages(options, make_sites(options)[0], 50_000.0)
    expected = pages.expected(0, options.days).sum(dtype=np.float64)
    assert expected == pytest.approx(50_000, rel=1e-4)
    drawn = sum(draw_views(options, pages, day).sum() for day in range(options.days))
    # The site's daily noise is 8 % a day, its mean over 60 days about 1 %.
    assert drawn == pytest.approx(50_000, rel=0.05)
    assert (draw_views(options, pages, 0)[: pages.hubs] == 0).all()


def test_event_site_has_no_views_outside_its_days():
    options = DemoOptions()
    site = next(site for site in make_sites(options) if site.opens > 0)
    pages = make_pages(options, site, 10_000.0)
    assert draw_views(options, pages, site.opens - 1).sum() == 0
    assert draw_views(options, pages, site.closes).sum() == 0
    assert draw_views(options, pages, site.opens + 1).sum() > 0


def test_views_of_the_corpus_grow_with_its_lines():
    small = DemoOptions(requests=100_000)
    large = DemoOptions(requests=200_000)
    sites = make_sites(small)
    assert views_of_corpus(large, sites) == pytest.approx(2 * views_of_corpus(small, sites))


@pytest.mark.parametrize("clients", [1, 9, 40_000, 131_073])
def test_every_client_has_its_own_address(clients):
    table = addresses(clients)
    step = max(1, len(table) // 5_000)
    # A window of neighbours and a sample of all: a collision by wrap-around would show.
    rows = [*range(min(len(table), 3_000)), *range(min(len(table), 3_000), len(table), step)]
    assert len({table.row(i) for i in rows}) == len(rows)


def test_concentration_by_hand():
    daily = np.array(
        [
            [1, 1, 1, 1, 1, 1],  # even: (3/6) / (3/6)
            [0, 0, 8, 1, 1, 0],  # born on day 3 of 6, lives 4 days: (10/10) / (3/4)
            [6, 0, 0, 2, 2, 2],  # (6/12) / (3/6)
            [0, 0, 0, 5, 0, 5],  # lives 3 days
            [9, 0, 0, 0, 0, 3],  # (9/12) / (3/6)
        ]
    )
    assert concentration(daily) == pytest.approx([1, 4 / 3, 1, 1, 1.5])
