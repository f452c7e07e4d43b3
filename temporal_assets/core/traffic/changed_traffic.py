"""Incremental update of the traffic of pages that changed between two windows (BB 2).

F_in, F_out, F_trans and clients are sums over distinct transits (referrer, target, client): the
update adds the transits of days that enter and subtracts those of days that leave. Transits are
sorted by target, client and referrer, so that one pass sees the same transit of several days
together, and all transits of one client to one page.

Not here: the selection of these transits and the numbering of pages
(`windows.traffic.changed_transits`), and the full count (`traffic`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import kernel, readonly
from temporal_assets.core.traffic.traffic import NOWHERE

_LATER: Final = 1
"""The bit of the later window; the next is that of the earlier one."""


class Transits(NamedTuple):
    """Transits by target, client and referrer, each repeated for every day of it.

    Negative targets and referrers stand for URLs that are no changed page.
    """

    target: Int64s
    client: Int64s
    referrer: Int64s
    windows: Int64s
    """Bits of the windows that its day belongs to: 1 is the later one, 2 the other."""


class ChangedPages(NamedTuple):
    """Counts of the changed pages in the earlier window."""

    site: Int32s
    """Pages of one site have the same number."""
    is_new: Flags
    """The earlier window counted nothing there."""
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
    """Clients of the pages that have fewer than the bound."""
    target: Int64s
    referrer: Int64s
    transits: Int64s
    """Links within sites by target and referrer: how many more people took them, or less."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Some pages, and the transits to them."""

    first: int
    stop: int
    """The page behind the last."""
    row: int
    end: int
    """The row behind the last."""


class _Counted(NamedTuple):
    """Counts of a part that belong to pages of other parts."""

    referrals: Int64s
    """Changes of referrals, for all pages."""
    few_sizes: Int64s
    few: Int64s
    target: Int64s
    referrer: Int64s
    transits: Int64s


def changed_traffic(
    moved: Transits, pages: ChangedPages, least_clients: int, threads: int = 1
) -> ChangedTraffic:
    """Return the traffic of the changed pages in the later window.

    For a page whose clients fall below `least_clients`, `moved` must hold all transits.
    """
    given = Transits(*map(readonly, moved))
    site, is_new = readonly(pages.site), readonly(pages.is_new)
    bounds, before = readonly(pages.few_bounds), readonly(pages.few)
    visits, referred, clients = (
        counts.copy() for counts in (pages.visits, pages.referred, pages.clients)
    )

    def count(part: _Part) -> _Counted:
        """Changes the counts of these pages, and no others."""
        rows = Transits(*(column[part.row : part.end] for column in given))
        # Transits lead from any page: what they add up to there is put together in the end.
        referrals = np.zeros(len(clients), np.int64)
        target, referrer, transits = (np.empty(len(rows.target), np.int64) for _ in range(3))
        links = _count(
            rows, site, is_new, visits, referred, referrals, clients,
            target, referrer, transits,
        )  # fmt: skip
        few_bounds = np.zeros(part.stop - part.first + 1, np.int64)
        most = len(rows.target) + pages.few_bounds[part.stop] - pages.few_bounds[part.first]
        few = np.empty(most, np.int64)
        _name_few(rows, clients, bounds, before, least_clients, part.first, few_bounds, few)
        return _Counted(
            referrals, np.diff(few_bounds), few[: few_bounds[-1]],
            *_summed(target[:links], referrer[:links], transits[:links]),
        )  # fmt: skip

    with ThreadPoolExecutor(threads) as pool:
        counted = list(pool.map(count, _parts(given.target, len(clients), threads)))
    few_sizes, few, target, referrer, transits = (
        np.concatenate(parts) for parts in list(zip(*counted, strict=True))[1:]
    )
    return ChangedTraffic(
        visits, referred,
        pages.referrals + sum(part.referrals for part in counted), clients,
        np.concatenate(([0], np.cumsum(few_sizes))), few, target, referrer, transits,
    )  # fmt: skip


def _parts(target: Int64s, pages: int, count: int) -> list[_Part]:
    """Yield all pages and transits in parts that have about as many transits each."""
    rows = len(target) * np.arange(1, count) // count
    inner = np.maximum(target[rows], 0) if len(target) else np.zeros(count - 1, np.int64)
    bounds = [0, *inner.tolist(), pages]
    starts = [0, *np.searchsorted(target, inner).tolist(), len(target)]
    return [
        _Part(*pair, *where) for pair, where in zip(pairwise(bounds), pairwise(starts), strict=True)
    ]


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
    first: int,
    few_bounds: Int64s,
    few: Int64s,
) -> None:
    """Write the clients of each page that has few: those who came, and earlier ones who remain.

    The pages are those from `first` on, one for each of `few_bounds` but the first.
    """
    row, rows, written = 0, len(moved.target), 0
    while row < rows and moved.target[row] < 0:
        row += 1
    for page in range(first, first + len(few_bounds) - 1):
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
        few_bounds[page - first + 1] = written


def _summed(target: Int64s, referrer: Int64s, change: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Return sums by target and referrer, without links whose changes cancel out."""
    # Both are numbers of pages, of which there are fewer than 2**31: one number, sorted at once.
    link = target << 32 | referrer
    order = np.argsort(link)
    link = link[order]
    first = np.flatnonzero(np.diff(link, prepend=-1))
    total = np.add.reduceat(change[order], first) if len(first) else change
    kept = total != 0
    link = link[first[kept]]
    return link >> 32, link & (2**32 - 1), total[kept]
