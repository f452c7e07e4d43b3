"""Incremental update of the traffic of pages that changed between two windows (BB 2).

F_in, F_out, F_trans and clients are sums over distinct transits (referrer, target, client): the
update adds the transits of days that enter and subtracts those of days that leave. Transits are
sorted by target, client and referrer, so that one pass sees the same transit of several days
together, and all transits of one client to one page.

Not here: the selection of these transits and the numbering of pages
(`windows.traffic.changed_transits`), and the full count (`traffic`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import kernel, readonly
from temporal_assets.core.traffic.traffic import NOWHERE

_LATER: Final = 1
"""Bit of the later window; the next bit is that of the earlier one."""


class Transits(NamedTuple):
    """Transits sorted by target, client and referrer, one row for each day on which they occurred.

    Negative targets and referrers stand for URLs that are no changed page.
    """

    target: Int64s
    client: Int64s
    referrer: Int64s
    windows: Int64s
    """Bits of the windows that the day belongs to: 1 is the later one, 2 the earlier."""


class ChangedPages(NamedTuple):
    """Earlier counts of the pages that are updated."""

    site: Int32s
    """Number of each page's site."""
    is_new: Flags
    """True for pages without earlier counts."""
    visits: Int64s
    referred: Int64s
    referrals: Int64s
    clients: Int64s
    few_bounds: Int64s
    """Page i has the few clients `few_bounds[i]` to `few_bounds[i + 1]`, ascending."""
    few: Int64s


@dataclass(frozen=True, slots=True)
class ChangedTraffic:
    """Counts of the same pages in the later window."""

    visits: Int64s
    referred: Int64s
    referrals: Int64s
    clients: Int64s
    few_bounds: Int64s
    few: Int64s
    """Clients of the pages with fewer clients than the bound."""
    target: Int64s
    referrer: Int64s
    transits: Int64s
    """Change of each link's transits; links are within sites, sorted by target and referrer."""


def changed_traffic(moved: Transits, pages: ChangedPages, least_clients: int) -> ChangedTraffic:
    """Return the counts of the changed pages in the later window.

    For a page whose clients fall below `least_clients`, `moved` must hold all transits.
    """
    given, most = Transits(*map(readonly, moved)), len(moved.target)
    visits, referred, referrals, clients = (
        counts.copy() for counts in (pages.visits, pages.referred, pages.referrals, pages.clients)
    )
    target, referrer, transits = (np.empty(most, np.int64) for _ in range(3))
    links = _count(
        given, readonly(pages.site), readonly(pages.is_new), visits, referred, referrals, clients,
        target, referrer, transits,
    )  # fmt: skip
    few_bounds = np.zeros(len(clients) + 1, np.int64)
    few = np.empty(most + len(pages.few), np.int64)
    _name_few(
        given, clients, readonly(pages.few_bounds), readonly(pages.few), least_clients,
        few_bounds, few,
    )  # fmt: skip
    return ChangedTraffic(
        visits, referred, referrals, clients, few_bounds, few[: few_bounds[-1]],
        *_summed(target[:links], referrer[:links], transits[:links]),
    )  # fmt: skip


@kernel
def _count(
    moved: Transits,
    site: Int32s,
    is_new: Flags,
    visits: Int64s,
    referred: Int64s,
    referrals: Int64s,
    clients: Int64s,
    target: Int64s,
    referrer: Int64s,
    transits: Int64s,
) -> int:
    """Update the counts and list the changes of links; return the length of that list."""
    links, row, rows = 0, 0, len(moved.target)
    while row < rows:
        page, client = moved.target[row], moved.client[row]
        is_page = page >= 0
        is_here, was_here = 0, 0
        while row < rows and moved.target[row] == page and moved.client[row] == client:
            source, windows = moved.referrer[row], 0
            while (
                row < rows
                and moved.target[row] == page
                and moved.client[row] == client
                and moved.referrer[row] == source
            ):
                windows |= moved.windows[row]
                row += 1
            is_now, was = windows & _LATER, windows >> 1
            was_visit = 0 if is_page and is_new[page] else was
            if is_page:
                visits[page] += is_now - was_visit
                if source != NOWHERE:
                    referred[page] += is_now - was_visit
                is_here |= is_now
                was_here |= was_visit
            if 0 <= source < NOWHERE:
                was_referral = 0 if is_new[source] else was
                referrals[source] += is_now - was_referral
                change = is_now - min(was_visit, was_referral)
                if is_page and change != 0 and site[source] == site[page]:
                    target[links], referrer[links], transits[links] = page, source, change
                    links += 1
        if is_page:
            clients[page] += is_here - was_here
    return links


@kernel
def _name_few(
    moved: Transits,
    clients: Int64s,
    bounds: Int64s,
    before: Int64s,
    least_clients: int,
    few_bounds: Int64s,
    few: Int64s,
) -> None:
    """Write the clients of each page with few clients: new ones, and earlier ones that remain."""
    row, rows, written = 0, len(moved.target), 0
    while row < rows and moved.target[row] < 0:
        row += 1
    for page in range(len(clients)):
        is_few = clients[page] < least_clients
        old, stop = bounds[page], bounds[page + 1]
        while row < rows and moved.target[row] == page:
            client, windows = moved.client[row], 0
            while row < rows and moved.target[row] == page and moved.client[row] == client:
                windows |= moved.windows[row]
                row += 1
            while is_few and old < stop and before[old] < client:
                few[written] = before[old]
                old += 1
                written += 1
            if is_few and old < stop and before[old] == client:
                old += 1
            if is_few and windows & _LATER:
                few[written] = client
                written += 1
        while is_few and old < stop:
            few[written] = before[old]
            old += 1
            written += 1
        few_bounds[page + 1] = written


def _summed(target: Int64s, referrer: Int64s, change: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Return the changes summed by target and referrer, without those that cancel out."""
    # Both are numbers of pages, of which there are fewer than 2**31: one number, sorted at once.
    link = target << 32 | referrer
    order = np.argsort(link)
    link = link[order]
    first = np.flatnonzero(np.diff(link, prepend=-1))
    total = np.add.reduceat(change[order], first) if len(first) else change
    kept = total != 0
    link = link[first[kept]]
    return link >> 32, link & (2**32 - 1), total[kept]
