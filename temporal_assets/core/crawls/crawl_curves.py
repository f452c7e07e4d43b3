"""Measures of a crawl: shares of traffic against shares of pages (BB 5.3).

Here: curves on a common scale, the area under them, pages needed for a share of the traffic, and
what no order can exceed. Not here: the crawl (`crawl_simulation`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.crawls.crawl_simulation import reachable
from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.numerics.distinct import distinct_numbers

THROUGHPUTS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
"""Shares of the pages; BB 5.3.1 investigates 1 % to 80 % without naming those between."""

WANTED: Final = (0.5, 0.8, 0.9)
"""Shares of the traffic of which we ask how many pages they need."""

POINTS: Final = 1_001
"""Points of a curve that is kept: a thousandth of the pages from one to the next."""


@dataclass(frozen=True, slots=True)
class CrawlCurve:
    """Share of the traffic after each share of the pages, on an even scale from 0 to 1.

    Both shares are of all pages of the mirror and of all their traffic, whether they can be
    reached or not; a curve stays where it is once nothing is left to fetch.
    """

    share: Floats
    """Shape (POINTS)."""

    @property
    def area(self) -> float:
        """Area under the curve: the mean share of traffic over all throughputs, in [0, 1]."""
        return float(np.trapezoid(self.share, dx=1.0 / (len(self.share) - 1)))

    def at(self, throughput: ArrayLike) -> Floats:
        """Return the shares of the traffic that shares of the pages have (`throughput`)."""
        scale = np.linspace(0.0, 1.0, len(self.share))
        return np.interp(np.asarray(throughput, np.float64), scale, self.share)

    def pages_for(self, wanted: float) -> float | None:
        """Return the smallest share of the pages with this share of the traffic, or None."""
        enough = np.flatnonzero(self.share >= wanted - 1e-12)
        if not len(enough):
            return None
        after = int(enough[0])
        if after == 0:
            return 0.0
        low, high = self.share[after - 1], self.share[after]
        part = (wanted - low) / (high - low) if high > low else 1.0
        return float((after - 1 + min(part, 1.0)) / (len(self.share) - 1))


def curve_of(traffic: Floats, pages: int, total: float, points: int = POINTS) -> CrawlCurve:
    """Return the traffic after 0, 1, ... fetches as a curve, interpolated between fetches.

    Args:
        traffic: Cumulative traffic after each number of fetches.
        pages: Number of pages of the mirror.
        total: Traffic of all of them; 0 makes a curve of zeros.
        points: Points of the curve.
    """
    at = np.linspace(0.0, pages, points)
    shares = traffic / total if total > 0 else np.zeros(len(traffic))
    return CrawlCurve(np.interp(at, np.arange(len(shares)), shares))


def mean_curve(curves: list[CrawlCurve]) -> CrawlCurve:
    """Return the average over sites, each with the same weight, as BB 5.1 does for its 9 sites."""
    return CrawlCurve(np.mean([curve.share for curve in curves], axis=0))


def fetch_bound(graph: LinkGraph, start: ArrayLike, traffic: Floats) -> Floats:
    """Return an upper bound of the fetched traffic of any order, after 0, 1, ... fetches.

    The bound fetches the reachable pages by traffic, the most visited first, ignoring links.
    """
    pages = reachable(graph, start)
    return np.concatenate((np.zeros(1), np.cumsum(-np.sort(-traffic[pages], kind="stable"))))


def seen_bound(graph: LinkGraph, start: ArrayLike, traffic: Floats) -> Floats:
    """Return an upper bound of the seen traffic of any order, after 0, 1, ... fetches.

    The gain of a page is the traffic of the pages it links, without those seen at the start. A
    fetch adds at most its page's gain, so k fetches add at most the k largest gains, and never more
    than the traffic of all reachable pages (the usual bound of submodular coverage). With a single
    start page every order fetches that page first: pages it links are then left out of all gains,
    which makes the bound tighter.
    """
    starts = distinct_numbers(np.asarray(start, np.int32))
    pages = reachable(graph, starts)
    shown = np.zeros(len(graph), np.bool_)
    shown[starts] = True
    before = float(traffic[starts].sum())
    if len(starts) > 1:
        gains: Floats = _gains(graph.first, graph.target, pages, shown, traffic)
        seen = before + np.concatenate((np.zeros(1), np.cumsum(-np.sort(-gains, kind="stable"))))
        return np.minimum(seen, float(traffic[pages].sum()))
    first = graph.of(int(starts[0]))
    shown[first] = True
    base = float(traffic[shown].sum())
    gain: Floats = _gains(graph.first, graph.target, pages[1:], shown, traffic)
    summed = base + np.cumsum(-np.sort(-gain, kind="stable"))
    capped = np.minimum(summed, float(traffic[pages].sum()))
    return np.concatenate((np.array([before, base]), capped))


@loop
def _gains(first: Int64s, target: Int32s, pages: Int32s, shown: Flags, traffic: Floats) -> Floats:
    """Return the traffic of the distinct pages that each page links, without those in `shown`."""
    gain = np.zeros(len(pages))
    counted = np.full(len(traffic), -1, np.int32)
    for i in range(len(pages)):
        for link in range(first[pages[i]], first[pages[i] + 1]):
            goal = target[link]
            if not shown[goal] and counted[goal] != i:
                counted[goal] = i
                gain[i] += traffic[goal]
    return gain
