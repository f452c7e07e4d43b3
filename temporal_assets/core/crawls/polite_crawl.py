"""A crawl that fetches at most so many pages of a host in a round.

Here: the frontier of such a crawl. Not here: the crawl without this limit, and scores
(`crawl_simulation`).

Pages of one host may wait for as many rounds as there are pages, so a round must not look at all
that wait. Every host has a heap of its own, and one heap holds the best page of each host that has
not been used up. A page is represented by a key: its level, then its place among the pages seen. An
entry of the one heap may be out of date (a better page of its host was seen, or the host is used
up): it is skipped, and the present best page of its host has an entry of its own.
"""

from __future__ import annotations

import heapq
from typing import Any, Final

import numpy as np

from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop

_PLACES: Final = 32
"""Bits of a key that are the place among the pages seen."""
_PLACE: Final = (1 << _PLACES) - 1


@loop
def polite_crawl(
    first: Int64s,
    target: Int32s,
    start: Int32s,
    level: Int32s,
    fetches: int,
    host: Int32s,
    most: int,
    round_of: int,
) -> tuple[Int32s, Int32s, Int64s]:
    """Return the pages fetched and seen, in order, and the number seen after 0, 1, ... fetches.

    `level` is the rank of each page's score. In every round of `round_of` fetches, at most `most`
    pages of one host (`host`) are fetched.
    """
    pages = len(level)
    begin, size, taken = _room(host)
    heaps = np.empty(pages, np.int64)
    best: list[Any] = [np.int64(0) for _ in range(0)]
    used: list[Any] = [np.int32(0) for _ in range(0)]
    is_seen = np.zeros(pages, np.bool_)
    fetched, seen = np.empty(fetches, np.int32), np.empty(pages, np.int32)
    seen_after = np.empty(fetches + 1, np.int64)
    done, seen_count, left = 0, 0, round_of
    for page in start:
        if not is_seen[page]:
            is_seen[page] = True
            seen[seen_count] = page
            _enter(level[page], seen_count, host[page], heaps, begin, size, best)
            seen_count += 1
    seen_after[0] = seen_count
    while done < fetches:
        place = _next(best, seen, host, heaps, begin, size, taken, most) if left > 0 else -1
        if place < 0:
            # A new round: the best pages of hosts that were used up stand in the queue again.
            for own in used:
                if taken[own] >= most and size[own] > 0:
                    heapq.heappush(best, heaps[begin[own]])
                taken[own] = 0
            used.clear()
            left = round_of
            if len(best) == 0:
                break
            continue
        page = seen[place]
        own = host[page]
        if taken[own] == 0:
            used.append(own)
        taken[own] += 1
        left -= 1
        _take(own, heaps, begin, size)
        if size[own] > 0:
            heapq.heappush(best, heaps[begin[own]])
        fetched[done] = page
        done += 1
        for link in range(first[page], first[page + 1]):
            goal = target[link]
            if not is_seen[goal]:
                is_seen[goal] = True
                seen[seen_count] = goal
                _enter(level[goal], seen_count, host[goal], heaps, begin, size, best)
                seen_count += 1
        seen_after[done] = seen_count
    return fetched[:done].copy(), seen[:seen_count].copy(), seen_after[: done + 1].copy()


@loop
def _room(host: Int32s) -> tuple[Int64s, Int64s, Int64s]:
    """Return, for each host, the start of its heap, its size, and its fetches in the round."""
    hosts = host.max() + 1
    begin = np.zeros(hosts + 1, np.int64)
    for own in host:
        begin[own + 1] += 1
    return np.cumsum(begin), np.zeros(hosts, np.int64), np.zeros(hosts, np.int64)


@loop
def _next(
    best: list[Any],
    seen: Int32s,
    host: Int32s,
    heaps: Int64s,
    begin: Int64s,
    size: Int64s,
    taken: Int64s,
    most: int,
) -> int:
    """Return the place of the best page that may be fetched in this round, or -1."""
    while len(best) > 0:
        key = heapq.heappop(best)
        place = key & _PLACE
        own = host[seen[place]]
        if taken[own] < most and size[own] > 0 and heaps[begin[own]] == key:
            return int(place)
    return -1


@loop
def _enter(
    level: int,
    place: int,
    own: int,
    heaps: Int64s,
    begin: Int64s,
    size: Int64s,
    best: list[Any],
) -> None:
    """Add a page that has been seen to the heap of its host."""
    key = (np.int64(level) << _PLACES) | place
    at = size[own]
    size[own] += 1
    base = begin[own]
    while at > 0 and heaps[base + (at - 1) // 2] > key:
        heaps[base + at] = heaps[base + (at - 1) // 2]
        at = (at - 1) // 2
    heaps[base + at] = key
    if at == 0:
        heapq.heappush(best, key)


@loop
def _take(own: int, heaps: Int64s, begin: Int64s, size: Int64s) -> None:
    """Remove the best page of a host from its heap."""
    size[own] -= 1
    base, length = begin[own], size[own]
    key = heaps[base + length]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= length:
            break
        if child + 1 < length and heaps[base + child + 1] < heaps[base + child]:
            child += 1
        if heaps[base + child] >= key:
            break
        heaps[base + at] = heaps[base + child]
        at = child
    if length > 0:
        heaps[base + at] = key
