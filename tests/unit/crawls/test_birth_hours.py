"""What a window says of births, worked out by hand."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from temporal_assets.windows.crawls.timely_simulation import birth_hours

FIRST = dt.date(2026, 3, 1)


def test_births_are_where_the_curve_says_on_the_day_of_the_first_views():
    day = FIRST + dt.timedelta(days=2)
    # Day 3 of the window is from 2 to 3: within it, before it, behind it, at its end.
    b = [2.25, 1.0, 4.0, 3.0]
    born = pa.table({"birth": pa.array([day] * len(b)), "b": pa.array(b, pa.float64())})
    hours = birth_hours(FIRST, FIRST + dt.timedelta(days=1), born)
    assert hours.tolist() == pytest.approx([30.0, 24.0, 48.0, 48.0])
    assert (hours < 48.0).all()  # so that a page of the last day is born during the crawl


def test_pages_without_a_curve_are_born_at_any_moment_of_their_day():
    day = FIRST + dt.timedelta(days=2)
    few = pa.table({"birth": pa.array([day] * 5), "b": pa.array([None] * 5, pa.float64())})
    hours = birth_hours(FIRST, FIRST + dt.timedelta(days=1), few)
    # Fractions of multiples of the golden ratio: 0, 0.618, 0.236, 0.854, 0.472 of 24 hours.
    assert hours.tolist() == pytest.approx([24.0, 38.83, 29.67, 44.50, 35.33], abs=0.01)
    # As `hub_seeds` takes them to be: all moments are equally likely, so half are born by noon.
    many = pa.table({"birth": pa.array([day] * 1_000), "b": pa.nulls(1_000, pa.float64())})
    hours = birth_hours(FIRST, FIRST + dt.timedelta(days=1), many)
    assert ((hours >= 24.0) & (hours < 48.0)).all()
    assert (hours < 36.0).mean() == pytest.approx(0.5, abs=0.005)
