"""Pages and links as flat arrays: the form in which crawls are simulated.

Here: building the graph from pairs, turning it round, cutting a site out of it. Not here: where the
links come from (`crawl.mirror.mirror`), what is done with them (`page_rank`, `crawl_simulation`).

Ten million pages with a hundred million links take 480 MB, and about three times that while they
are being sorted by `link_graph`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Links of page u are `target[first[u]:first[u + 1]]`, in the order they stand on the page."""

    first: Int64s
    """Shape (pages + 1)."""
    target: Int32s
    """Shape (links)."""

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def links(self) -> int:
        """Number of links; a link that stands on a page twice counts twice."""
        return len(self.target)

    @property
    def counts(self) -> Int64s:
        """Links of every page."""
        return np.diff(self.first)

    def of(self, page: int) -> Int32s:
        """Targets of one page."""
        return self.target[self.first[page] : self.first[page + 1]]


def link_graph(pages: int, source: Int32s, target: Int32s) -> LinkGraph:
    """Return the graph of pairs in any order.

    Links of one page keep the order they are given in.
    """
    if len(source) != len(target):
        raise ValueError("every link needs a source and a target")
    if len(source) and not (
        min(source.min(), target.min()) >= 0 and max(source.max(), target.max()) < pages
    ):
        raise ValueError("links must be between the pages there are")
    first, ordered = _by_source(pages, source, target)
    return LinkGraph(first, ordered)


def links_of_rows(source: ArrayLike, count: ArrayLike, target: ArrayLike, pages: int) -> LinkGraph:
    """Links of some pages, in ascending order of `source`, which link to `count` pages each."""
    counts = np.zeros(pages, np.int64)
    counts[np.asarray(source, np.int64)] = count
    first = np.concatenate(([0], np.cumsum(counts)))
    return LinkGraph(first, np.asarray(target, np.int32))


def distinct_links(
    pages: int, source: Int32s, target: Int32s, flag: Flags
) -> tuple[LinkGraph, Flags]:
    """Return the graph of pairs in any order: every pair once, links of a page by target.

    The flag of a pair that is given several times is set where it is set each time. Two stable
    passes of counting, by target and then by source: no comparison, 5 bytes a link beside the
    input and as much for the result.
    """
    by_target, sources, flags = _sorted_by(pages, target, source, flag)
    first, targets, kept = _joined(by_target, sources, flags)
    return LinkGraph(first, targets), kept


def reverse(graph: LinkGraph) -> LinkGraph:
    """The same links from target to source."""
    first, ordered = _reversed(graph.first, graph.target)
    return LinkGraph(first, ordered)


def part(graph: LinkGraph, start: int, stop: int) -> LinkGraph:
    """Pages start to stop - 1 and the links among them, numbered from 0."""
    first, target = _part(graph.first, graph.target, start, stop)
    return LinkGraph(first, target)


@njit(nogil=True, cache=True)
def _by_source(pages: int, source: Int32s, target: Int32s) -> tuple[Int64s, Int32s]:
    first = np.zeros(pages + 1, np.int64)
    for link in range(len(source)):
        first[source[link] + 1] += 1
    for page in range(pages):
        first[page + 1] += first[page]
    at = first[:-1].copy()
    ordered = np.empty(len(target), np.int32)
    for link in range(len(source)):
        page = source[link]
        ordered[at[page]] = target[link]
        at[page] += 1
    return first, ordered


@njit(nogil=True, cache=True)
def _sorted_by(pages: int, key: Int32s, value: Int32s, flag: Flags) -> tuple[Int64s, Int32s, Flags]:
    """Return where each key begins, and values and flags by key, equal keys in their order."""
    first = np.zeros(pages + 1, np.int64)
    for link in range(len(key)):
        first[key[link] + 1] += 1
    for page in range(pages):
        first[page + 1] += first[page]
    at = first[:-1].copy()
    values, flags = np.empty(len(value), np.int32), np.empty(len(value), np.bool_)
    for link in range(len(key)):
        place = at[key[link]]
        values[place], flags[place] = value[link], flag[link]
        at[key[link]] = place + 1
    return first, values, flags


@njit(nogil=True, cache=True)
def _joined(by_target: Int64s, sources: Int32s, flags: Flags) -> tuple[Int64s, Int32s, Flags]:
    """Links by source and target, from links by target; equal ones follow each other: one stays."""
    pages = len(by_target) - 1
    last = np.full(pages, -1, np.int32)
    first = np.zeros(pages + 1, np.int64)
    for goal in range(pages):
        for link in range(by_target[goal], by_target[goal + 1]):
            page = sources[link]
            first[page + 1] += last[page] != goal
            last[page] = goal
    for page in range(pages):
        first[page + 1] += first[page]
    at = first[:-1].copy()
    last[:] = -1
    targets, kept = np.empty(first[-1], np.int32), np.empty(first[-1], np.bool_)
    for goal in range(pages):
        for link in range(by_target[goal], by_target[goal + 1]):
            page = sources[link]
            if last[page] == goal:
                kept[at[page] - 1] &= flags[link]
                continue
            last[page] = goal
            targets[at[page]], kept[at[page]] = goal, flags[link]
            at[page] += 1
    return first, targets, kept


@njit(nogil=True, cache=True)
def _reversed(first: Int64s, target: Int32s) -> tuple[Int64s, Int32s]:
    pages = len(first) - 1
    back = np.zeros(pages + 1, np.int64)
    for link in range(len(target)):
        back[target[link] + 1] += 1
    for page in range(pages):
        back[page + 1] += back[page]
    at = back[:-1].copy()
    ordered = np.empty(len(target), np.int32)
    for page in range(pages):
        for link in range(first[page], first[page + 1]):
            goal = target[link]
            ordered[at[goal]] = page
            at[goal] += 1
    return back, ordered


@njit(nogil=True, cache=True)
def _part(first: Int64s, target: Int32s, start: int, stop: int) -> tuple[Int64s, Int32s]:
    kept = np.empty(first[stop] - first[start], np.int32)
    pointers = np.zeros(stop - start + 1, np.int64)
    count = 0
    for page in range(start, stop):
        for link in range(first[page], first[page + 1]):
            if start <= target[link] < stop:
                kept[count] = target[link] - start
                count += 1
        pointers[page - start + 1] = count
    return pointers, kept[:count].copy()
