"""What a window says of births, worked out by hand."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from temporal_assets.windows.timely_simulation import birth_hours

FIRST = dt.date(2026, 3, 1)


def test_births_are_where_the_curve_says_on_the_day_of_the_first_views():
    day = FIRST + dt.timedelta(days=2)
    # Day 3 of the window is from 2 to 3: within it, before it, behind it, at its end, no curve.
    b = [2.25, 1.0, 4.0, 3.0, None]
    born = pa.table({"birth": pa.array([day] * len(b)), "b": pa.array(b, pa.float64())})
    hours = birth_hours(FIRST, FIRST + dt.timedelta(days=1), born)
    assert hours.tolist() == pytest.approx([30.0, 24.0, 48.0, 48.0, 24.0])
    assert (hours < 48.0).all()  # so that a page of the last day is born during the crawl
