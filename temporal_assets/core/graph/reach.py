"""Wanted pages within one and two hops of a list of seeds, and the lead of one list over another.

Wanted pages are those that a crawl should find, mostly new temporal ones. Not here: which seeds to
take (`hubs.coverage`), and where links come from (`windows.hubs.link_graph`).

Pages are numbered from 0. A link is a transit between two pages (NP 4.2): links that nobody clicked
are not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop


@dataclass(frozen=True, slots=True)
class Reach:
    """Number of wanted pages within reach of the first 1, 2, ... seeds."""

    one_hop: Int64s
    """Wanted pages that one of the seeds links to."""
    two_hops: Int64s
    """Wanted pages that a seed links to, or a page that a seed links to."""
    linked_by: Int64s
    """Rank (from 1) of the first seed that links to each page of the graph, or 0."""


@dataclass(frozen=True, slots=True)
class Lead:
    """Lead of the first 1, 2, ... seeds of one list over as many of another, in wanted pages."""

    pages: Int64s
    low: Floats
    high: Floats
    """Bounds of the lead that hold with 95 % probability over samples of groups of pages."""


Unit = Literal["sites", "days of sites", "pages"]
"""Kinds of groups: all pages of a site, those of a site that were born on a day, single pages."""

FEWEST_GROUPS: Final = 6
"""Number of groups below which their scatter cannot be estimated, and smaller groups are taken."""
_CONFIDENCE: Final = 0.95


def groups_of(site: Int64s, birth: Int64s) -> tuple[Unit, Int64s]:
    """Return the kind of groups of pages that stand or fall together, and the group of each page.

    Pages are given by the numbers of their sites and days of birth. A hub that a list has or lacks
    is one of a site, so that sites are the independent groups. With few sites they are the pages
    that were born on a site on one day, and with few of these single pages.
    """
    by_site = _numbered(site)
    if by_site.max(initial=-1) + 1 >= FEWEST_GROUPS:
        return "sites", by_site
    by_day = _numbered(by_site * (int(birth.max(initial=0)) + 1) + birth)
    if by_day.max(initial=-1) + 1 >= FEWEST_GROUPS:
        return "days of sites", by_day
    return "pages", np.arange(len(site))


def _numbered(names: Int64s) -> Int64s:
    return np.asarray(np.unique(names, return_inverse=True)[1], np.int64)


def lead(ours: Int64s, theirs: Int64s, group: Int64s, longest: int) -> Lead:
    """Return the lead of the list `ours` over the list `theirs`, for up to `longest` seeds.

    Both lists have, for each wanted page, the rank of the first seed that links to it (0: none), as
    in `Reach.linked_by`; `group` has the number of its group. The lead of a group scatters around
    its pages' share of the whole lead (a ratio estimate), and the interval is that of Student's t
    for this number of groups. It is never narrower than that of single pages, of which only those
    that one list alone links to tell which is better: half a page more on either side keeps it open
    where there are none (Agresti and Min 2005).
    """
    by_ours, by_theirs = _linked(ours, longest), _linked(theirs, longest)
    by_both = _linked(np.where((ours > 0) & (theirs > 0), np.maximum(ours, theirs), 0), longest)
    pages = by_ours - by_theirs
    of_pages = by_ours + by_theirs - 2 * by_both + 1.0 - pages**2 / (len(ours) + 2)
    groups = int(group.max(initial=-1)) + 1
    of_groups = _scatter(ours, theirs, group, longest) * groups / max(groups - 1, 1)
    margin = stdtrit(max(groups - 1, 1), (1 + _CONFIDENCE) / 2) * np.sqrt(
        np.maximum(np.maximum(of_pages, of_groups), 0.0)
    )
    return Lead(pages, pages - margin, pages + margin)


def _linked(places: Int64s, longest: int) -> Int64s:
    """Return how many wanted pages the first 1, 2, ... seeds link to, from their ranks."""
    there = places[(places > 0) & (places <= longest)]
    return np.cumsum(np.bincount(there, minlength=longest + 1))[1:]


def _scatter(ours: Int64s, theirs: Int64s, group: Int64s, longest: int) -> Floats:
    """Return the sum over groups of (lead of the group - its pages times the lead of a page)²."""
    size = np.bincount(group).astype(np.float64)
    place, of = np.concatenate([ours, theirs]), np.concatenate([group, group])
    step = np.repeat([1.0, -1.0], len(ours))
    kept = np.flatnonzero((place > 0) & (place <= longest))
    kept = kept[np.lexsort((place[kept], of[kept]))]
    place, of, step = place[kept], of[kept], step[kept]
    # The lead of each group after each of its pages, of which the last at a place counts.
    total = np.cumsum(step)
    start = np.flatnonzero(np.diff(of, prepend=-1))
    before = np.concatenate(([0.0], total))[start]
    own = total - np.repeat(before, np.diff(np.append(start, len(of))))

    def upto(worth: Floats) -> Floats:
        return np.asarray(np.cumsum(np.bincount(place, worth, longest + 1))[1:], np.float64)

    squares, with_size = upto(own**2 - (own - step) ** 2), upto(step * size[of])
    share = upto(step) / max(len(ours), 1)
    return np.asarray(squares - 2 * share * with_size + share**2 * (size**2).sum())


def reach(links: LinkGraph, wanted: Flags, seeds: ArrayLike) -> Reach:
    """Return how many wanted pages a crawler finds from the first 1, 2, ... seeds (NP 5.1).

    The time is linear: whatever the seeds, every link is followed at most twice, once as the first
    hop and once as the second.
    """
    order = np.asarray(seeds, np.int64)
    return Reach(*_reach(links.first, links.target, wanted, order))


@loop
def _reach(
    start: Int64s, target: Int32s, wanted: Flags, seeds: Int64s
) -> tuple[Int64s, Int64s, Int64s]:
    """Return the wanted pages within one and two hops of the first n seeds, and `linked_by`."""
    pages = start.size - 1
    is_seed = np.zeros(pages, np.bool_)
    linked_by = np.zeros(pages, np.int64)
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
            if linked_by[page]:
                continue
            linked_by[page] = n + 1
            by_one += wanted[page]
            by_two += wanted[page] and not near[page]
            near[page] = True
            for j in range(start[page], start[page + 1]):
                second = target[j]
                by_two += wanted[second] and not near[second]
                near[second] = True
        one_hop[n] = by_one
        two_hops[n] = by_two
    return one_hop, two_hops, linked_by
