"""The choice of values of a key that are worth a branch of their own.

Here: two rules on frequencies. Not here: dates and ∅, which the tree treats by what they are
(`tree_builder`), and numbers that grow with time (`running_values`).

The first names every value with support, because a section with thirty pages is a section, however
large the largest one is. The second is that of WWW 2010: salient values stand before the largest
drop in log-frequency. The first falls back on it where values have no end: which of thousands of
tags, users or titles reach the support is a matter of chance.
"""

from __future__ import annotations

from typing import Final

from temporal_assets.core.numerics.arrays import Int64s
from temporal_assets.core.numerics.compiled import leaf, loop

NEAR_EQUAL: Final = 1.5
"""Ratio of two successive frequencies up to which they are nearly equal: counts of tens vary by as
much between samples of the same site."""

FEW: Final = 32
"""Number of values up to which values without a drop are sections; more are names, places or
users."""

_NEXT: Final = 3
"""A value is close to the support from this part (1 / 3) of it on."""


@loop
def salient(counts: Int64s, min_urls: int, by_support: bool = False) -> int:
    """Return how many of the values are salient, given their frequencies in descending order."""
    supported = _at_least(counts, min_urls)
    if supported == 0 or len(counts) == 1:
        return supported
    place, largest = _largest_drop(counts, supported)
    if largest < NEAR_EQUAL:
        return supported if len(counts) <= FEW else 0
    if by_support:
        close = _at_least(counts, (min_urls + _NEXT - 1) // _NEXT) - supported
        # Where more values come close to the support than have it, there is no end of them.
        if supported <= FEW or close <= supported:
            return supported
    # A wildcard for a single value would only hide it.
    return len(counts) if place + 2 == len(counts) == supported else place + 1


@leaf
def _at_least(counts: Int64s, least: int) -> int:
    """Return how many frequencies are at least `least`; they are in descending order."""
    count = 0
    while count < len(counts) and counts[count] >= least:
        count += 1
    return count


@leaf
def _largest_drop(counts: Int64s, supported: int) -> tuple[int, float]:
    """Return the index of the value before the largest drop in frequency, and the drop's factor.

    Drops count after values with support: among rare ones, 2 to 1 is as large a drop as 2,000 to
    1,000. There is none after the last value.
    """
    place, largest = 0, 0.0
    for i in range(min(supported, len(counts) - 1)):
        drop = counts[i] / counts[i + 1]
        if drop > largest:
            place, largest = i, drop
    return place, largest
