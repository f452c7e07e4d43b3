"""A crawl of a mirror, page by page, in the order a policy asks for (BB 5.3).

Here: the frontier, the order in which pages are fetched, and the curves of what was fetched and
what was seen. Not here: the scores of policies (`crawl_policies`), the frontier where hosts are
limited (`polite_crawl`), time and change (`timely_simulation`).

The crawl begins with the start pages. Of the pages seen and not fetched it always fetches the one
with the highest score; equal scores are fetched in the order they were first seen. A page is seen
when it is a start page or a fetched page links it. Nothing is random, so a policy has one curve.

Scores do not change during a crawl, so a page enters the frontier once, in the queue of its level
(the rank of its score). A tree of bits finds the best level that has pages. That makes a step
constant in time, however large the frontier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.crawls.polite_crawl import polite_crawl
from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.numerics.arrays import Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import inlined, loop

_WORD: Final = 64
_STRIDE: Final = 6
"""Base-2 logarithm of the bits in a word."""


@dataclass(frozen=True, slots=True)
class HostLimit:
    """At most `most` pages of a host in every `fetches` fetches, as Nutch's `generate.max.count`.

    A page whose host is used up waits until the next round begins, and then has its place in the
    order again.
    """

    host: Int32s
    """Number of each page's host, from 0."""
    most: int
    """Pages of one host in a round."""
    fetches: int
    """Fetches in a round; at least the number of pages makes `most` a limit of the whole crawl."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """The pages that a crawl fetched and saw, in order."""

    fetched: Int32s
    """Pages in the order they were fetched; those that cannot be reached are missing."""
    seen: Int32s
    """Pages in the order they were seen."""
    seen_after: Int64s
    """Shape (fetched + 1): how many pages had been seen after so many fetches."""

    def fetched_traffic(self, traffic: Floats) -> Floats:
        """Return the fetched traffic after 0, 1, ... fetches: comprehensive fetch (BB 5.3.1)."""
        return np.concatenate((np.zeros(1), np.cumsum(traffic[self.fetched])))

    def seen_traffic(self, traffic: Floats) -> Floats:
        """Return the seen traffic after 0, 1, ... fetches: timely discovery (BB 5.3.2)."""
        summed = np.concatenate((np.zeros(1), np.cumsum(traffic[self.seen])))
        return summed[self.seen_after]


def levels_of(score: ArrayLike) -> tuple[Int32s, int]:
    """Return the rank of each page's score, 0 for the highest, and the number of different ranks.

    NaN, the score of pages about which a policy knows nothing, is below all others.
    """
    values = np.asarray(score, np.float64)
    distinct, level = np.unique(np.where(np.isnan(values), np.inf, -values), return_inverse=True)
    return level.astype(np.int32), len(distinct)


def crawl(
    graph: LinkGraph,
    start: ArrayLike,
    score: ArrayLike,
    limit: HostLimit | None = None,
    most: int | None = None,
) -> Crawl:
    """Crawl until nothing is left to fetch, or `most` pages have been fetched.

    Args:
        graph: Links of the mirror.
        start: Numbers of the pages the crawl begins with.
        score: One score per page; equal scores make a breadth-first crawl.
        limit: Limit of pages per host, if any.
        most: Most pages to fetch.
    """
    pages = len(graph)
    starts = np.asarray(start, np.int32)
    if pages == 0 or len(starts) == 0 or starts.min() < 0 or starts.max() >= pages:
        raise ValueError("a crawl needs pages, and start pages among them")
    level, levels = levels_of(score)
    if len(level) != pages:
        raise ValueError("every page needs a score")
    fetches = pages if most is None else min(most, pages)
    if limit is None:
        return Crawl(*_crawl(graph.first, graph.target, starts, level, levels, fetches))
    if len(limit.host) != pages or limit.most < 1 or limit.fetches < 1:
        raise ValueError("a limit needs a host for every page, and at least 1 page and 1 fetch")
    host = np.asarray(limit.host, np.int32)
    return Crawl(
        *polite_crawl(
            graph.first, graph.target, starts, level, fetches, host, limit.most, limit.fetches
        )
    )


@loop
def _crawl(
    first: Int64s,
    target: Int32s,
    start: Int32s,
    level: Int32s,
    levels: int,
    fetches: int,
) -> tuple[Int32s, Int32s, Int64s]:
    """Return pages as fetched, pages as seen, and how many are seen after each fetch."""
    pages = len(first) - 1
    is_seen = np.zeros(pages, np.bool_)
    # The frontier: one queue a level, linked through `behind`.
    head, tail = np.full(levels, -1, np.int32), np.full(levels, -1, np.int32)
    behind = np.full(pages, -1, np.int32)
    bits, offset = _bit_tree(levels)
    fetched = np.empty(fetches, np.int32)
    seen = np.empty(pages, np.int32)
    seen_after = np.empty(fetches + 1, np.int64)
    done, seen_count = 0, 0
    for page in start:
        if not is_seen[page]:
            is_seen[page] = True
            seen[seen_count] = page
            seen_count += 1
            _append(page, level[page], head, tail, behind, bits, offset)
    seen_after[0] = seen_count
    while done < fetches:
        best = _lowest(bits, offset)
        if best < 0:
            break
        page = _take(best, head, tail, behind, bits, offset)
        fetched[done] = page
        done += 1
        for link in range(first[page], first[page + 1]):
            goal = target[link]
            if not is_seen[goal]:
                is_seen[goal] = True
                seen[seen_count] = goal
                seen_count += 1
                _append(goal, level[goal], head, tail, behind, bits, offset)
        seen_after[done] = seen_count
    return fetched[:done].copy(), seen[:seen_count].copy(), seen_after[: done + 1].copy()


@loop
def _bit_tree(levels: int) -> tuple[Int64s, Int64s]:
    """Return the words of a tree of bits over the levels, lowest layer first, and layer offsets."""
    sizes = [(levels + _WORD - 1) // _WORD]
    while sizes[-1] > 1:
        sizes.append((sizes[-1] + _WORD - 1) // _WORD)
    offset = np.zeros(len(sizes) + 1, np.int64)
    for layer in range(len(sizes)):
        offset[layer + 1] = offset[layer] + sizes[layer]
    return np.zeros(offset[-1], np.uint64), offset


@inlined
def _append(
    page: int, level: int, head: Int32s, tail: Int32s, behind: Int32s, bits: Int64s, offset: Int64s
) -> None:
    """Put a page at the end of its level's queue, and mark the level as not empty."""
    behind[page] = -1
    if head[level] >= 0:
        behind[tail[level]] = page
        tail[level] = page
        return
    head[level] = tail[level] = page
    at = np.int64(level)
    for layer in range(len(offset) - 1):
        bits[offset[layer] + (at >> _STRIDE)] |= np.uint64(1) << np.uint64(at & (_WORD - 1))
        at >>= _STRIDE


@inlined
def _take(
    level: int, head: Int32s, tail: Int32s, behind: Int32s, bits: Int64s, offset: Int64s
) -> int:
    """Remove and return the first page of a level; mark the level if it is now empty."""
    page = head[level]
    head[level] = behind[page]
    if head[level] < 0:
        tail[level] = -1
        at = np.int64(level)
        for layer in range(len(offset) - 1):
            word = offset[layer] + (at >> _STRIDE)
            bits[word] &= ~(np.uint64(1) << np.uint64(at & (_WORD - 1)))
            if bits[word] != np.uint64(0):
                break
            at >>= _STRIDE
    return int(page)


@inlined
def _lowest(bits: Int64s, offset: Int64s) -> int:
    """Return the lowest level that has pages, -1 if none has."""
    at = np.int64(0)
    for layer in range(len(offset) - 2, -1, -1):
        word = bits[offset[layer] + at]
        if word == np.uint64(0):
            return -1
        at = (at << _STRIDE) + _first_bit(word)
    return int(at)


@inlined
def _first_bit(word: np.uint64) -> int:
    """Return the number of the lowest bit of a word that is not zero."""
    number = 0
    for width in (32, 16, 8, 4, 2, 1):
        low = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
        if word & low == np.uint64(0):
            word >>= np.uint64(width)
            number += width
    return number


def reachable(graph: LinkGraph, start: ArrayLike) -> Int32s:
    """Return pages that a crawl can reach, in breadth-first order."""
    return crawl(graph, start, np.zeros(len(graph))).fetched
