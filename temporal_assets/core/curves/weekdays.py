"""Weekday effects: how a site's readers follow the week, and its factors (TW 5.1).

Here: factors of the seven weekdays from the views of many pages. Not here: their removal
(`windows.labels.interest_curves`), and which pages share a rhythm (a site's, for example).

Pages are born and forgotten within days, so a plain mean by weekday mixes the week with births.
The factor of a day compares it with the seven days around it, over all pages together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def weekday_factors(
    daily_total: ArrayLike, first_weekday: int, *, observed: ArrayLike | None = None
) -> Floats:
    """Return seven factors with mean 1, by weekday (0 = Monday).

    Args:
        daily_total: days; views of a site (or of everything) on each day of the window.
        first_weekday: Weekday of the first day.
        observed: days; False where the day is missing from the data. A week with such a day in it
            says nothing.

    A weekday that the window shows nothing about has the factor 1.
    """
    total = np.array(daily_total, np.float64)
    if observed is not None:
        total[~np.asarray(observed, np.bool_)] = np.nan
    days = len(total)
    around = np.full(days, np.nan)
    if days >= 7:
        around[3 : days - 3] = np.convolve(total, np.full(7, 1 / 7), "valid")
    ratio = np.divide(total, around, out=np.full(days, np.nan), where=around > 0)
    weekday = (first_weekday + np.arange(days)) % 7
    factors = np.ones(7)
    for k in range(7):
        values = ratio[(weekday == k) & np.isfinite(ratio)]
        if len(values):
            factors[k] = max(float(np.median(values)), 0.05)
    result: Floats = factors / factors.mean()
    return result
