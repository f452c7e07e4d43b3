"""Rows of pages in single days, by the bits of the days they were seen on, against lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.traffic.seen_days import pages_by_day, places_by_day

BITS = 63

pages = st.lists(st.tuples(st.integers(0, 2**BITS - 1), st.booleans()), max_size=20)


@given(pages=pages, bits=st.lists(st.integers(0, BITS - 1), unique=True, max_size=5))
def test_a_place_is_that_among_the_pages_of_the_day(
    pages: list[tuple[int, bool]], bits: list[int]
) -> None:
    seen = np.array([days for days, _ in pages], np.int64)
    wanted = np.array([asked for _, asked in pages], np.bool_)
    places, rows = places_by_day(seen, np.array(bits, np.int64), wanted)
    days = [[n for n, (days, _) in enumerate(pages) if days >> bit & 1] for bit in bits]
    assert rows.tolist() == list(map(len, days))
    assert places.tolist() == [
        [day.index(n) if n in day else -1 for day in days]
        for n, (_, asked) in enumerate(pages)
        if asked
    ]


@given(pages=pages, bits=st.lists(st.integers(0, BITS - 1), unique=True, max_size=5))
def test_the_pages_of_a_day_are_those_with_its_bit(
    pages: list[tuple[int, bool]], bits: list[int]
) -> None:
    seen = np.array([days for days, _ in pages], np.int64)
    listed = [day.tolist() for day in pages_by_day(seen, bits)]
    assert listed == [[n for n, (days, _) in enumerate(pages) if days >> bit & 1] for bit in bits]
