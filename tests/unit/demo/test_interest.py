"""Interest in pages: the log-normal curve, births, concentration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.demo_marginals import concentration
from temporal_assets.demo import DemoOptions
from temporal_assets.demo.scale import views_of_corpus
from temporal_assets.demo.world.interest import (
    accumulated,
    draw_births,
    draw_curves,
    expected_views,
)
from temporal_assets.demo.world.pages import draw_views, make_pages
from temporal_assets.demo.world.people import addresses
from temporal_assets.demo.world.seeds import generator
from temporal_assets.demo.world.sites import PageKind, make_sites


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
