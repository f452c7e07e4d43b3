"""Links between pages or patterns as CSR adjacency: the layout of every graph.

Here: building a graph from pairs, reversing it, cutting a site out of it. Not here: where links
come from (`crawl.mirror.mirror`, `windows.hubs.link_graph`), and what is computed from them
(`page_rank`, `mutual_scores`, `reach`, `core.crawls.crawl_simulation`).

Ten million pages with a hundred million links take 480 MB, and about four times that while they
are being sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s

_GIVEN: Final = 32
"""Bits that count how often a pair is given; the bits above count how often its flag is set."""


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """CSR adjacency: links of page u are `target[first[u]:first[u + 1]]`, in their order on it."""

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
        """Return the targets of one page."""
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
    # A row of all targets, with their sources as columns: SciPy turns it round in one pass.
    row = sparse.csr_array((target, source, [0, len(target)]), shape=(1, pages))
    by_source = row.tocsc()
    return _graph(by_source.indptr, by_source.data)


def graph_of(matrix: Any) -> LinkGraph:
    """Return the graph with a link for each entry of a square SciPy matrix in CSR form."""
    return _graph(matrix.indptr, matrix.indices)


def links_of_rows(source: ArrayLike, count: ArrayLike, target: ArrayLike, pages: int) -> LinkGraph:
    """Return a graph whose sources are given in ascending order, each with its number of links."""
    counts = np.zeros(pages, np.int64)
    counts[np.asarray(source, np.int64)] = count
    first = np.concatenate(([0], np.cumsum(counts)))
    return LinkGraph(first, np.asarray(target, np.int32))


def distinct_links(
    pages: int, source: Int32s, target: Int32s, flag: Flags
) -> tuple[LinkGraph, Flags]:
    """Return the graph of pairs in any order: every pair once, links of a page by target.

    Returned flags are set for pairs whose flag is set every time they are given.
    """
    times = 1 + (flag.astype(np.int64) << _GIVEN)
    summed = sparse.coo_array((times, (source, target)), (pages, pages)).tocsr()
    given = summed.data & ((1 << _GIVEN) - 1)
    return graph_of(summed), summed.data >> _GIVEN == given


def reverse(graph: LinkGraph) -> LinkGraph:
    """Return the graph with every link reversed."""
    back = _matrix(graph).tocsc()
    return _graph(back.indptr, back.indices)


def part(graph: LinkGraph, start: int, stop: int) -> LinkGraph:
    """Return the graph of the pages from `start` to before `stop` alone, numbered from 0."""
    return graph_of(_matrix(graph)[start:stop, start:stop])


def _matrix(graph: LinkGraph) -> Any:
    ones = np.ones(graph.links, np.int8)
    return sparse.csr_array((ones, graph.target, graph.first), (len(graph), len(graph)))


def _graph(first: Any, target: Any) -> LinkGraph:
    return LinkGraph(first.astype(np.int64), target.astype(np.int32, copy=False))
