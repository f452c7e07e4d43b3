"""A page as a chart: what stands where."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest

from temporal_assets.core.curves.daily_curve import expected_views
from temporal_assets.core.curves.lognormal import accumulated, density
from temporal_assets.reports.page_chart import PageChart, as_png, as_text, chart_of, several_as_png
from temporal_assets.reports.plots import MAX_PNG_BYTES

CHART = PageChart(
    first=dt.date(2026, 3, 1),
    views=[0, 10, 5, 0],
    observed=[True, True, True, False],
    expected=None,
    b=None,
    n=3.0,
    phi_n=None,
    title="a.example, $x$",
)


def test_bars_stand_on_their_days() -> None:
    assert as_text(CHART) == [
        "      10 │ █",
        *["         │ █"] * 4,
        *["         │ ██"] * 5,
        "       0 └───x",
        f"{'':10}2026-03-01 2026-03-04",
    ]


def test_the_curve_is_a_dot_at_its_height() -> None:
    lines = as_text(replace(CHART, expected=[0.0, 20.0, 10.0, 0.02]))
    assert lines[0] == "      20 │ •"
    assert [line[10:] for line in lines[4:6]] == ["  •", " █"]
    assert lines[9] == "         │ ██"


def test_a_page_can_be_drawn_with_and_without_a_curve() -> None:
    without = as_png(CHART)
    drawn = as_png(replace(CHART, expected=[0.0, 9.0, 4.0, 2.0], b=1.2, phi_n=0.8))
    assert without.startswith(b"\x89PNG\r\n")
    assert drawn.startswith(b"\x89PNG\r\n")
    assert drawn != without


def test_pages_are_drawn_side_by_side() -> None:
    one = several_as_png([CHART])
    assert several_as_png([CHART, CHART]) != one
    for png in (several_as_png([]), one):
        assert png.startswith(b"\x89PNG\r\n")
        assert len(png) < MAX_PNG_BYTES


def test_a_row_becomes_a_chart() -> None:
    row = {"day": dt.date(2026, 3, 4), "views": [0, 10, 5, 0], "is_converged": False}
    row |= {"b": None, "phi_n": None}
    assert chart_of(row, 3.0, ["2026-03-04"], CHART.title) == CHART
    curve = {"amplitude": 20.0, "base": 0.0, "b": 1.5, "mu": 0.0, "sigma": 0.5}
    curve |= {"is_converged": True, "method": "likelihood", "phi_n": 0.98}
    fitted = chart_of(row | curve, 3.0, [], "")
    assert fitted.expected is not None
    assert fitted.expected[0] == 0.0
    assert 15 < sum(fitted.expected) < 20
    assert fitted.curve is not None
    times, heights = (np.array(part) for part in fitted.curve)
    assert (times[0], times[-1]) == (1.5, 4)
    inside = 20 * float(accumulated(2.5, 0.0, 0.5))
    assert float(np.trapezoid(heights, times)) == pytest.approx(inside, rel=0.01)
    assert as_png(fitted) != as_png(replace(fitted, n=1.0))


def test_a_day_is_expected_the_mass_of_the_curve_or_its_height() -> None:
    mass = expected_views(5, 100.0, 0.5, 1.25, 0.4, 0.9, "likelihood")
    assert mass[0] == 0.0
    assert mass.sum() == pytest.approx(100 * float(accumulated(3.75, 0.4, 0.9)) + 4 * 0.5)
    dots = expected_views(5, 100.0, 0.5, 1.25, 0.4, 0.9, "least_squares")
    ages = np.array([0.75, 1.75, 2.75, 3.75])
    assert dots[1:] == pytest.approx(100 * density(ages, 0.4, 0.9) + 0.5)
