"""How strongly a page's views concentrate in its first days (NP 4.1, equation 1).

Here: the concentration of a batch of pages. Not here: curves (`curves`), labels (`labels`).

C = (views in the first m days / views in L days) / (m / L) with L the days from birth to the end
of the window, inclusive, and the first m days a, ..., a + m - 1 of a page born on day a. An even
spread gives exactly 1. The paper sums to a + m and divides by n - a, one convention above the
line and another below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from temporal_assets.core.histories import lives

DEFAULT_M: Final = 3
"""NP does not give m; TW's n, the same idea, is 3."""


@dataclass(frozen=True, slots=True)
class Concentration:
    """One row per page."""

    value: NDArray[np.float64]
    """C, between 0 and L / m, or L / k where k of the first m days are there; 1 where it is
    undefined."""
    first_share: NDArray[np.float64]
    """Raw share of the views in the first m days; 0 for pages without views."""
    is_defined: NDArray[np.bool_]
    """Whether the page was observed for more than m days, and has views."""


def concentration(
    views: ArrayLike, m: int = DEFAULT_M, *, observed: ArrayLike | None = None
) -> Concentration:
    """Concentration of each row of views (pages x days).

    Days that `observed` (days) calls missing count neither as days nor as views.
    """
    if m < 1:
        raise ValueError(f"m must be at least 1 day, not {m}")
    table = np.asarray(views)
    life = lives(table, observed=observed)
    day = np.arange(1, table.shape[1] + 1)
    start = life.birth[:, None]
    weight = np.ones(len(day)) if observed is None else np.asarray(observed, np.float64)
    first = (start > 0) & (day >= start) & (day < start + m)
    early = (table * (first * weight)).sum(axis=1)
    first_days = (first * weight).sum(axis=1)
    days = life.observed_days
    is_defined = (life.total > 0) & (days > first_days)
    share = np.divide(early, life.total, out=np.zeros(len(table)), where=life.total > 0)
    even = np.divide(first_days, days, out=np.ones(len(table)), where=is_defined)
    value = np.where(is_defined, share / even, 1.0)
    return Concentration(value, share, is_defined)
