"""Links among the transits of a day that lead to wanted pages.

Not here: the meaning of the numbers, and links of several days (`windows.hubs.wanted_links`).
"""

from __future__ import annotations

import numpy as np

from temporal_assets.core.numerics.arrays import Int32s
from temporal_assets.core.numerics.compiled import leaf, readonly


def links_to(target: Int32s, referrer: Int32s, wanted: Int32s) -> tuple[Int32s, Int32s]:
    """Return the referrer and the wanted page of each link; a link occurs once.

    Args:
        target: For each transit, the URL that was opened; transits of a link are consecutive.
        referrer: For each transit, the URL that led there; negative where there is none.
        wanted: For each URL, the number of the wanted page that it is; negative for all others.
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
