"""Behaviour of the demo's sites, measured as on the real sets (`benchmarks.demo_world`)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.demo_world import (
    OPTIONS,
    Views,
    daily_noise,
    of_demo,
    of_real_sets,
    popularity,
    sources,
)

Measured = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def demo() -> Measured:
    return of_demo(replace(OPTIONS, pages=10_000, requests=1_000_000))


def test_interest_in_new_pages_of_portals_ends_within_a_day(demo: Measured) -> None:
    portals = demo["portals"]
    assert 0.15 < portals["e^mu, days (median)"] < 0.4  # a portal's clicks: 0.29
    assert 0.35 < portals["interest within 6 h"] < 0.6  # 0.43
    assert portals["interest within 24 h"] > 0.65  # 0.88
    assert portals["lives of one day (two views or more)"] > 0.1  # 0.11


def test_the_pages_that_lead_to_new_ones_change_daily(demo: Measured) -> None:
    portals = demo["portals"]
    assert portals["first 10 sources there after 2 d"] < 0.35  # 0
    assert portals["steps from pages younger than 2 d"] > 0.6  # 0.88


def test_links_leave_the_front_page_within_a_day(demo: Measured) -> None:
    portals = demo["portals"]
    assert portals["links on the front page after 6 h"] < 0.65  # promos of a real one: 0.38
    assert portals["links on the front page after 12 h"] < 0.35  # 0.12
    assert portals["links on the front page after 24 h"] < 0.15  # 0.03


def test_nobody_opens_nine_tenths_of_a_mirror(demo: Measured) -> None:
    assert 0.85 < demo["mirror"]["mirrored pages that nobody opens"] < 0.95  # 0.91


@pytest.mark.slow
def test_every_statistic_of_the_real_sets_is_measured_on_the_demo(
    demo: Measured, shared_data: Path
) -> None:
    real = of_real_sets(shared_data)
    measured = set().union(*demo.values())
    assert measured >= set().union(*real.values())
    assert real["globo"]["interest within 24 h"] == pytest.approx(0.876, abs=0.01)
    assert real["bbc"]["links on the front page after 6 h"] == pytest.approx(0.375, abs=0.01)


def test_statistics_of_views_by_hand() -> None:
    # Page 1 is new on day 1 and found from page 0, page 2 on day 2 and found from page 1.
    views = Views(
        np.array([0, 0, 1, 2, 0]), np.array([0.1, 1.1, 1.2, 2.2, 2.5]), np.array([-1, -1, 0, 1, -1])
    )
    assert popularity(views) == {
        "opened pages with one view": pytest.approx(2 / 3),
        "views of the first 1 % of the pages": 0.6,
        "views of the first page": 0.6,
    }
    assert len(views.between(1, 2).page) == 2
    actual = sources(views, 4)
    assert actual["first 10 sources there after 1 d"] == 0.0
    assert actual["steps from pages younger than 2 d"] == 1.0


def test_a_burst_is_a_day_with_far_more_views_than_usual() -> None:
    daily = np.full((2, 70), 100.0)
    daily[0, 30] = 350.0
    actual = daily_noise(daily, np.arange(70) % 7, 50)
    assert actual["pages with a day above 3 times the usual"] == 0.5
    assert actual["pages with a day above 4 times the usual"] == 0.0
