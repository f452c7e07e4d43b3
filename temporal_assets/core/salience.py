"""Which values of a key are worth a branch of their own.

Here: the rule on frequencies (WWW 2010: salient values stand before the largest drop in
log-frequency) and the cases in which it says nothing. Not here: dates and ∅, which the tree
treats by what they are (`pattern_tree`).
"""

from __future__ import annotations

from typing import Final

from numba import njit

from temporal_assets.core.texts import Int64s

NEAR_EQUAL: Final = 1.5
"""Frequencies that never fall by more than this factor from one value to the next have no drop
worth the name: counts of tens vary by as much between samples of the same site."""

FEW: Final = 32
"""So many values without a drop are sections; more are names, places or users."""


@njit(nogil=True, cache=True)
def salient(counts: Int64s, min_urls: int) -> int:
    """How many of the values are salient, given their frequencies in descending order.

    A salient value has at least `min_urls` URLs, and only after such values a drop counts: among
    rare ones, 2 to 1 is as large a drop as 2,000 to 1,000.
    """
    eligible = 0
    while eligible < len(counts) and counts[eligible] >= min_urls:
        eligible += 1
    if eligible == 0 or len(counts) == 1:
        return eligible
    # The drop after each eligible value; the last value of all has none after it.
    place, largest = 0, 0.0
    for i in range(min(eligible, len(counts) - 1)):
        drop = counts[i] / counts[i + 1]
        if drop > largest:
            place, largest = i, drop
    if largest < NEAR_EQUAL:
        return eligible if len(counts) <= FEW else 0
    # A wildcard for a single value would only hide it.
    return len(counts) if place + 2 == len(counts) == eligible else place + 1
