"""Traffic of pages (BB 2): F_in, F_out, F_trans and clients from the transits of a window.

These are sums over distinct transits (referrer, target, client). Transits are sorted by target,
client and referrer, so that one pass sees the same transit of several days together, and all
transits of one client to one page.

Here: the count for some neighbouring pages, given all transits to them. Not here: the numbering of
pages (`windows.traffic.page_traffic_compiled`), and the incremental update (`changed_traffic`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.numerics.compiled import kernel, readonly

NOWHERE: Final = 2**63 - 1
"""Number of a missing referrer. Negative numbers are URLs that are no page."""

_PLACE_BITS: Final = 32
"""Bits of a position in a link that is packed into one integer: target, then referrer."""


class Transits(NamedTuple):
    """Transits sorted by target, client and referrer, one row for each day on which they occur."""

    target: Int64s
    client: Int64s
    referrer: Int64s


@dataclass(frozen=True, slots=True)
class Traffic:
    """Counts of pages, one entry per page."""

    visits: Int64s
    referred: Int64s
    """Visits that came from another page."""
    clients: Int64s
    few_bounds: Int64s
    """Page i has the few clients `few_bounds[i]` to `few_bounds[i + 1]`, ascending."""
    few: Int64s
    link_bounds: Int64s
    """Bounds of the links from pages of the same site: `link_bounds[i]` to `link_bounds[i + 1]`."""
    page: Int32s
    """Position of the other page within the site; ascending for each page."""
    transits: Int64s
    """Number of clients who took the link."""
    referrers: Int64s
    """Referring page of each distinct transit, unordered: each adds one to that page's F_out."""


def count_traffic(
    moved: Transits, first: int, stop: int, sites: Int64s, least_clients: int
) -> Traffic:
    """Count the traffic of the pages from `first` to before `stop`, from all transits to them.

    `sites` has the first page of every site, and at its end the number of all pages. Clients are
    listed for pages that have fewer than `least_clients`.
    """
    pages, most = stop - first, len(moved.target)
    visits, referred, clients = (np.zeros(pages, np.int64) for _ in range(3))
    few_bounds = np.zeros(pages + 1, np.int64)
    few, links, referrers = (np.empty(most, np.int64) for _ in range(3))
    listed, came = _count(
        Transits(*map(readonly, moved)), first, readonly(sites), least_clients,
        visits, referred, clients, few_bounds, few, links, referrers,
    )  # fmt: skip
    # Of pages that nobody came to nothing was said.
    np.maximum.accumulate(few_bounds, out=few_bounds)
    return Traffic(
        visits, referred, clients, few_bounds, few[: few_bounds[-1]],
        *_summed(links[:listed], pages), referrers[:came],
    )  # fmt: skip


@kernel
def _count(
    moved: Transits,
    first: int,
    sites: Int64s,
    least_clients: int,
    visits: Int64s,
    referred: Int64s,
    clients: Int64s,
    few_bounds: Int64s,
    few: Int64s,
    links: Int64s,
    referrers: Int64s,
) -> tuple[int, int]:
    """Write all counts; return the numbers of links (packed integers) and of referrers."""
    row, rows = 0, len(moved.target)
    named, listed, came = 0, 0, 0
    site = 0
    while row < rows:
        page = moved.target[row]
        at = page - first
        while sites[site + 1] <= page:
            site += 1
        begin, end = sites[site], sites[site + 1]
        unnamed = named
        while row < rows and moved.target[row] == page:
            client = moved.client[row]
            clients[at] += 1
            few[named] = client
            named += 1
            while row < rows and moved.target[row] == page and moved.client[row] == client:
                referrer = moved.referrer[row]
                while (
                    row < rows
                    and moved.target[row] == page
                    and moved.client[row] == client
                    and moved.referrer[row] == referrer
                ):
                    row += 1
                visits[at] += 1
                if referrer != NOWHERE:
                    referred[at] += 1
                if 0 <= referrer < NOWHERE:
                    referrers[came] = referrer
                    came += 1
                    if begin <= referrer < end:
                        links[listed] = at << _PLACE_BITS | (referrer - begin)
                        listed += 1
        if clients[at] >= least_clients:
            named = unnamed
        few_bounds[at + 1] = named
    return listed, came


def _summed(links: Int64s, pages: int) -> tuple[Int64s, Int32s, Int64s]:
    """Return the bounds of each page's links, their other ends, and how often each occurs."""
    links.sort()
    begin = np.flatnonzero(np.diff(links, prepend=-1))
    link = links[begin]
    bounds = np.searchsorted(link, np.arange(pages + 1) << _PLACE_BITS)
    page = (link & ((1 << _PLACE_BITS) - 1)).astype(np.int32)
    return bounds, page, np.diff(begin, append=len(links))
