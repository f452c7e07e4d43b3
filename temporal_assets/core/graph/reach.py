"""Pages within one and two hops of a list of seeds.

Not here: which seeds to take (`hubs.coverage`), and where links come from
(`windows.hubs.link_graph`).

Pages are numbered from 0. A link is a transit between two pages (NP 4.2): what nobody clicked is
not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop


@dataclass(frozen=True, slots=True)
class Reach:
    """Wanted pages within reach of the first 1, 2, ... seeds."""

    one_hop: Int64s
    """Linked by one of the seeds."""
    two_hops: Int64s
    """Linked by one of them, or by any page that one of them links to."""


def reach(links: LinkGraph, wanted: Flags, seeds: ArrayLike) -> Reach:
    """Return how many wanted pages a crawler finds from the first seeds of a list (NP 5.1).

    Linear: whatever the seeds, every link is followed at most twice, once as the first hop and
    once as the second.
    """
    order = np.asarray(seeds, np.int64)
    one_hop, two_hops = _reach(links.first, links.target, wanted, order)
    return Reach(one_hop, two_hops)


@loop
def _reach(start: Int64s, target: Int32s, wanted: Flags, seeds: Int64s) -> tuple[Int64s, Int64s]:
    pages = start.size - 1
    is_seed = np.zeros(pages, np.bool_)
    linked = np.zeros(pages, np.bool_)
    near = np.zeros(pages, np.bool_)
    one_hop = np.zeros(seeds.size, np.int64)
    two_hops = np.zeros(seeds.size, np.int64)
    by_one = 0
    by_two = 0
    for n in range(seeds.size):
        seed = seeds[n]
        first, last = (0, 0) if is_seed[seed] else (start[seed], start[seed + 1])
        is_seed[seed] = True
        for i in range(first, last):
            page = target[i]
            if linked[page]:
                continue
            linked[page] = True
            by_one += wanted[page]
            by_two += wanted[page] and not near[page]
            near[page] = True
            for j in range(start[page], start[page + 1]):
                second = target[j]
                by_two += wanted[second] and not near[second]
                near[second] = True
        one_hop[n] = by_one
        two_hops[n] = by_two
    return one_hop, two_hops
