"""Links to wanted pages among the transits of a day, by number.

Not here: whose numbers these are, and links of several days (`windows.hubs.wanted_links`).
"""

from __future__ import annotations

import numpy as np

from temporal_assets.core.numerics.arrays import Int32s
from temporal_assets.core.numerics.compiled import leaf, readonly


def links_to(target: Int32s, referrer: Int32s, wanted: Int32s) -> tuple[Int32s, Int32s]:
    """Return where people came from, and the wanted page they came to; each link once.

    Args:
        target: For each transit, the URL that was opened; those of a link lie together.
        referrer: The URL that one came from; less than 0 is nowhere.
        wanted: For each URL of the day, which wanted page it is; less than 0 is none.
    """
    source, page = (np.empty(len(target), np.int32) for _ in range(2))
    links = _list(readonly(target), readonly(referrer), readonly(wanted), source, page)
    return source[:links].copy(), page[:links].copy()


@leaf
def _list(target: Int32s, referrer: Int32s, wanted: Int32s, source: Int32s, page: Int32s) -> int:
    links = 0
    for row in range(len(target)):
        to = wanted[target[row]]
        if to < 0 or referrer[row] < 0:
            continue
        if row > 0 and target[row] == target[row - 1] and referrer[row] == referrer[row - 1]:
            continue
        source[links], page[links] = referrer[row], to
        links += 1
    return links
