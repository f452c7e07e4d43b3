"""The distinct ones of many integers.

NumPy's own `unique` (2.3 and later) looks each up in a hash table, which takes six times as long as
sorting where there are few different ones, and seventy times where most are.
"""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.arrays import Int32s, Int64s

Integer = TypeVar("Integer", bound=np.integer)

_MOST_FLAGS: Final = 4
"""For each value: so many take as long as to sort it."""


def distinct_numbers(values: NDArray[Integer]) -> NDArray[Integer]:
    """Each value once, ascending."""
    ordered = np.sort(values)
    is_new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


def numbered_apart(values: NDArray[Integer]) -> tuple[Int64s, Int32s]:
    """Each value once, ascending, and for every value its place among them. None is negative."""
    if values.max(initial=-1) >= _MOST_FLAGS * len(values):
        distinct, place = np.unique(values, return_inverse=True)
        return distinct.astype(np.int64), place.astype(np.int32)
    is_there = np.zeros(values.max(initial=-1) + 1, np.bool_)
    is_there[values] = True
    place = np.cumsum(is_there, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(is_there), place[values]
