"""Rounding of budgets to whole numbers, robust against floating-point errors.

0.175 fetches an hour for 360 hours are 63 fetches, though a computer multiplies them to
62.99999999999999: a result that near to a whole number counts as one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.numerics.arrays import Floats, Int64s

_DIGITS: Final = 6
"""Digits of a fraction that count: budgets are written with fewer, and floats err far behind
them."""


def rounded_down(values: ArrayLike) -> Int64s:
    """Return the largest whole numbers that are no larger than the values."""
    return np.asarray(np.floor(_decimal(values)), np.int64)


def rounded_up(values: ArrayLike) -> Int64s:
    """Return the smallest whole numbers that are no smaller than the values."""
    return np.asarray(np.ceil(_decimal(values)), np.int64)


def _decimal(values: ArrayLike) -> Floats:
    return np.asarray(np.round(np.asarray(values, np.float64), _DIGITS))
