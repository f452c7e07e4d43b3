"""Frequencies that make a value salient."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.patterns.syntax.salience import FEW, salient


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([], 0),
        ([9], 0),  # below the support
        ([10], 1),
        ([1000, 900, 800, 9, 8, 1], 3),  # 800 to 9 is the largest drop
        ([100, 50, 49, 48], 1),  # 100 to 50 is the largest drop
        ([500, 480, 470], 3),  # no drop, few values: all
        ([500, 480, 470, 460, 9], 4),
        ([15, 12, 9], 2),  # no drop: those with support
        ([50] * FEW, FEW),
        ([50] * (FEW + 1), 0),  # no drop, many values: names, not sections
        ([1] * 1000, 0),
        ([1000, 20], 2),  # a wildcard for one value would hide it
        ([1000, 9], 1),
        ([40, 20, 10, 5], 1),  # equal drops: the first
        ([40, 20, 12, 8, 1], 1),  # 8 to 1 is a larger drop, but below the support
        ([15, 14, 13, 12, 2, 1], 4),  # 12 to 2 is after the last with support
    ],
)
def test_by_hand(counts: list[int], expected: int) -> None:
    assert salient(np.array(counts, np.int64), 10, by_support=False) == expected


SECTIONS = [9_000, 4_000, 900, 328, 200, 150, *range(100, 9, -4), 7, 5, 3, 2, 1, 1]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([], 0),
        ([9], 0),
        ([10], 1),
        ([1000, 900, 800, 9, 8, 1], 3),
        ([100, 50, 49, 48], 4),  # smaller sections, and sections
        (SECTIONS, len(SECTIONS) - 6),
        ([10_000, 10, 10, 10], 4),
        ([50] * FEW, FEW),
        ([50] * (FEW + 1), 0),  # no drop, many values: names, not sections
        ([1] * 1000, 0),
        ([1000] + [1] * 5000, 1),
        ([1000] + [12] * 40 + [9] * 20, 41),
        ([1000] + [12] * 40 + [9] * 60, 1),  # values without end: as by the largest drop
        ([40, 20, 12, 8, 1], 3),
    ],
)
def test_by_support(counts: list[int], expected: int) -> None:
    assert salient(np.array(counts, np.int64), 10, by_support=True) == expected


@given(st.lists(st.integers(1, 3000), max_size=FEW), st.integers(1, 20))
def test_every_one_of_a_few_values_with_support_is_salient(values: list[int], support: int) -> None:
    counts = np.array(sorted(values, reverse=True), np.int64)
    assert salient(counts, support, by_support=True) == (counts >= support).sum()


@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 20), st.booleans())
def test_salient_values_have_support_and_are_more_frequent_than_the_rest(
    values: list[int], support: int, by_support: bool
) -> None:
    counts = np.array(sorted(values, reverse=True), np.int64)
    chosen = salient(counts, support, by_support)
    assert chosen >= salient(counts, support, by_support=False)
    assert (counts[:chosen] >= support).all()
    if 0 < chosen < len(counts):
        assert counts[chosen - 1] > counts[chosen] or counts[chosen - 1] >= support
