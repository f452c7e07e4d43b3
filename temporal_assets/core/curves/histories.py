"""Facts about a page's daily views before anything is fitted: birth, life and total.

Here: those facts for a batch of pages, and on which days of a window births are known. Not here:
reading histories from tables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Lives:
    """Birth, life and views of pages, one row per page."""

    birth: NDArray[np.int64]
    """First observed day with views, from 1; 0 for pages without views."""
    life: NDArray[np.int64]
    """Days from birth to the end of the window, inclusive."""
    observed_days: NDArray[np.float64]
    """Number of days of the life that are in the data."""
    total: NDArray[np.float64]
    """Total views on these days."""
    may_be_older: NDArray[np.bool_]
    """True for pages seen on the first observed day, which may have been born before the window."""


def lives(views: ArrayLike, *, observed: ArrayLike | None = None) -> Lives:
    """Return birth, life and total of each row of views (pages x days)."""
    table = np.asarray(views)
    if table.ndim != 2:
        raise ValueError(f"views must be pages x days, not of shape {table.shape}")
    days = table.shape[1]
    seen = np.ones(days, np.bool_) if observed is None else np.asarray(observed, np.bool_)
    if seen.shape != (days,):
        raise ValueError(f"observed must hold one truth value for each of the {days} days")
    shown = table * seen
    active = shown > 0
    has_views = active.any(axis=1)
    birth = np.where(has_views, active.argmax(axis=1) + 1, 0).astype(np.int64)
    life = np.where(has_views, days + 1 - birth, 0)
    left = np.append(np.cumsum(seen[::-1])[::-1], 0)
    observed_days = np.where(has_views, left[np.maximum(birth, 1) - 1], 0).astype(np.float64)
    first = int(seen.argmax()) + 1 if seen.any() else 0
    return Lives(birth, life, observed_days, shown.sum(axis=1, dtype=np.float64), birth == first)


def births_known(observed: ArrayLike) -> NDArray[np.bool_]:
    """Return flags of the days on which a first view means a birth: the day before is observed too.

    A page first seen on another day may be older: from before the window, or from a missing day.
    """
    there = np.asarray(observed, np.bool_)
    has_birth = there.copy()
    has_birth[1:] &= there[:-1]
    has_birth[:1] = False
    return has_birth


def births_a_day(births: ArrayLike, observed: ArrayLike) -> float:
    """Return mean births a day, from the pages first seen on each day; 0 where none is known."""
    has_birth = births_known(observed)
    return float(np.asarray(births)[has_birth].mean()) if has_birth.any() else 0.0
