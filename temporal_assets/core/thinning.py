"""Pages as they would look with fewer readers.

Here: drawing them. Not here: what is learned from them (`early`).

Labels are known of pages that many have read, and wanted of pages that few have read so far. How
fast interest falls does not depend on how many are interested, so a page of 500 views of which
each is kept with a chance of one in fifty stands for a page of ten: the label stays, the views get
as few as those of a new page are. Learning from well-read pages alone would take few views on the
first day for the slow start of what is going to be well read: for a sign of lasting interest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Thinned:
    """Copies of pages; some pages have none."""

    page: NDArray[np.int64]
    """The row each is a copy of."""
    views: Floats
    """copies x days, from the copy's own first day with views on."""


def thinned(views: Floats, days: int, seed: int) -> Thinned:
    """One copy of each page (pages x days), of its first `days` days.

    The share of views kept is drawn evenly on a logarithmic scale, from one view to all. A copy's
    life begins with its first view; copies without one, or with fewer than `days` days left after
    it, are left out. The same seed and pages give the same copies.
    """
    rng = np.random.default_rng(seed)
    counts = np.rint(views).astype(np.int64)
    total = np.maximum(counts.sum(axis=1), 1)
    kept = np.exp(-rng.random(len(counts)) * np.log(total))
    copies = rng.binomial(counts, kept[:, None])
    first = (copies > 0).argmax(axis=1)
    usable = (copies.sum(axis=1) > 0) & (first + days <= counts.shape[1])
    page = np.flatnonzero(usable)
    columns = first[page, None] + np.arange(days)
    return Thinned(page, copies[page[:, None], columns].astype(np.float64))
