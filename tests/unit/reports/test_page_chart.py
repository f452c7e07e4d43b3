"""A page as a chart: what stands where."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest

from temporal_assets.core.curves.daily_curve import expected_views
from temporal_assets.core.curves.lognormal import accumulated, density
from temporal_assets.reports.page_chart import PageChart, as_chart, as_text, chart_of

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


def test_a_page_is_drawn_over_dates_with_what_is_not_there() -> None:
    chart = as_chart(CHART, "https://a.example/1")
    assert (chart.title, chart.x.kind) == ("https://a.example/1", "date")
    assert [series_part.name for series_part in chart.series] == ["views a day", "no data"]
    first = dt.date(2026, 3, 1).toordinal()
    assert chart.series[0].x == tuple(first + n for n in range(4))
    assert chart.series[1].x == (first + 3.0,)


def test_the_area_is_the_first_days_and_no_curve_is_clipped() -> None:
    row = {"day": dt.date(2026, 3, 4), "views": [0, 10, 5, 0], "is_converged": True}
    curve = {"amplitude": 20.0, "b": 1.5, "mu": 0.0, "sigma": 0.5}
    fitted = chart_of(row | curve | {"method": "likelihood", "phi_n": 0.9}, 1.0, [], "")
    chart = as_chart(fitted)
    line = next(series_part for series_part in chart.series if series_part.mark == "line")
    area = next(series_part for series_part in chart.series if series_part.mark == "area")
    first = dt.date(2026, 3, 1).toordinal()
    assert first + 1.9 < max(area.x) <= first + 2.0 < max(line.x)
    assert chart.y.high is None  # the axis reaches as high as the curve


def test_a_row_becomes_a_chart() -> None:
    row = {"day": dt.date(2026, 3, 4), "views": [0, 10, 5, 0], "is_converged": False}
    row |= {"b": None, "phi_n": None}
    assert chart_of(row, 3.0, ["2026-03-04"], CHART.title) == CHART
    curve = {"amplitude": 20.0, "b": 1.5, "mu": 0.0, "sigma": 0.5}
    curve |= {"is_converged": True, "method": "likelihood", "phi_n": 0.98}
    fitted = chart_of(row | curve, 3.0, [], "")
    assert fitted.expected is not None
    assert fitted.expected[0] == 0.0
    assert 15 < sum(fitted.expected) < 20
    assert fitted.curve is not None
    times, heights = (np.array(part) for part in fitted.curve)
    assert (times[0], times[-1]) == (1.0, 4)
    # The interest of the day around each time, as bars count days.
    near = 20 * float(accumulated(1.5, 0.0, 0.5) - accumulated(0.5, 0.0, 0.5))
    assert heights[np.abs(times - 2.5).argmin()] == pytest.approx(near, rel=0.02)
    assert as_chart(fitted) != as_chart(replace(fitted, n=1.0))


def test_a_day_is_expected_the_mass_of_the_curve_or_its_height() -> None:
    mass = expected_views(5, 100.0, 1.25, 0.4, 0.9, "likelihood")
    assert mass[0] == 0.0
    assert mass.sum() == pytest.approx(100 * float(accumulated(3.75, 0.4, 0.9)))
    dots = expected_views(5, 100.0, 1.25, 0.4, 0.9, "least_squares")
    ages = np.array([0.75, 1.75, 2.75, 3.75])
    assert dots[1:] == pytest.approx(100 * density(ages, 0.4, 0.9))
