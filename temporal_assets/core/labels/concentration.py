"""The concentration of a page's views in its first days (NP 4.1, equation 1).

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

from temporal_assets.core.curves.histories import lives
from temporal_assets.core.numerics.arrays import Int64s

DEFAULT_M: Final = 3
"""Default m: NP does not give one; TW's n, the same idea, is 3."""


@dataclass(frozen=True, slots=True)
class Concentration:
    """Concentrations, one row per page."""

    value: NDArray[np.float64]
    """C, between 0 and L / m, or L / k where k of the first m days are there; 1 where it is
    undefined."""
    first_share: NDArray[np.float64]
    """Raw share of the views in the first m days; 0 for pages without views."""
    is_defined: NDArray[np.bool_]
    """True if the page was observed for more than m days, and has views."""


def concentration(
    views: ArrayLike, m: int | Int64s = DEFAULT_M, *, observed: ArrayLike | None = None
) -> Concentration:
    """Return the concentration of each row of views, shape (pages, days).

    `m` may differ from page to page. Days that `observed` calls missing count neither as days nor
    as views.
    """
    if np.any(np.asarray(m) < 1):
        raise ValueError(f"m must be at least 1 day, not {m}")
    table = np.asarray(views)
    days = table.shape[1]
    seen = np.ones(days, np.bool_) if observed is None else np.asarray(observed, np.bool_)
    life = lives(table, observed=seen)
    born = np.maximum(life.birth, 1) - 1
    return of_lives(
        table * seen, born, life.total, np.broadcast_to(m, len(table)), days_before(seen)
    )


def of_lives(
    views: NDArray[np.number],
    born: Int64s,
    total: NDArray[np.number],
    m: Int64s,
    before: Int64s,
) -> Concentration:
    """Return the concentration of pages whose births are known already.

    `views` (pages x days) are 0 on missing days, and `total` is their sum; `born` are days of the
    window before the first with views, and `m` may differ from page to page. `before`: see
    `days_before`.
    """
    pages, days = views.shape
    early = np.zeros(pages, views.dtype if views.dtype.kind == "f" else np.int64)
    rows = np.arange(pages)
    for later in range(int(m.max(initial=0))):
        day = born + later
        counts = (later < m) & (day < days)
        early += np.where(counts, views[rows, np.minimum(day, days - 1)], 0)
    first_days, life = first_and_all(born, m, before)
    is_defined = (total > 0) & (life > first_days)
    share = np.divide(early, total, out=np.zeros(pages), where=total > 0)
    # Of whole numbers, and rounded once: what is a threshold exactly is not above it.
    ours, even = early * life.astype(np.float64), total * first_days.astype(np.float64)
    value = np.divide(ours, even, out=np.ones(pages), where=is_defined)
    return Concentration(value, share, is_defined)


def days_before(observed: NDArray[np.bool_]) -> Int64s:
    """Return the number of observed days before each day, and in all: shape (days + 1)."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(observed, dtype=np.int64)))


def first_and_all(born: Int64s, m: Int64s, before: Int64s) -> tuple[Int64s, Int64s]:
    """Return the number of days present among the first m of each life, and in all of it."""
    first = before[np.minimum(born + m, len(before) - 1)] - before[born]
    return first, before[-1] - before[born]
