"""The transit cut: siblings with the same in-links and out-links become one pattern.

Here: Algorithm 1 of BB 3.2.2 (eqs 5-8). Not here: counting transits (`behaviour_graph`).

Nodes whose children are all leaves are taken deepest first. Two children are similar if users come
to them from the same nodes and go on from them to the same nodes. Each child thus has two vectors
over the nodes of the tree, one of transits to it and one of transits from it. A transit counts for
the leaf at its other end, and less for each ancestor of that leaf: from a node at depth d, a share
(d - 1) / H of the count passes to the parent (matrix P of eq 6; the root has depth 0, and H is the
height of the tree at that moment). The similarity of two children is the mean of the cosines of
both pairs of vectors (eq 8). If the least similar two children are more similar than the threshold,
all children merge: their parent becomes a leaf.

A merge changes the distributions p of eq 5 and the matrix P, yet transits are counted only once,
between the leaves of the given tree. A merged node is a range of these leaves: its vector is the
sum over the range, and each leaf counts as the node it has been merged into. As each set of
siblings is compared once, each vector is computed once. The cosine does not depend on scale, so
counts serve as well as shares.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse

from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.numerics.hierarchy import Hierarchy

THRESHOLD: Final = 0.8
"""Similarity above which siblings merge; BB give no number. It must be above 0.5: where all pages
are reached from the front page, in-links are alike whatever the pages are, and that is already one
half. At 0.8 both directions must agree, and partners may differ where most of them have common
parents."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about one set of siblings."""

    node: int
    """Number of the parent."""
    merged: bool
    """True if the parent became a leaf."""
    similarity: float
    """Similarity of the least similar pair; if the siblings do not merge, of the first pair found
    to prevent it."""
    pair: tuple[int, int]
    """The two children of that pair."""


@dataclass(frozen=True, slots=True)
class TransitCut:
    """The patterns after Algorithm 1, and the decisions that led to them."""

    is_pattern: Flags
    decisions: tuple[Decision, ...]
    """Decisions in the order in which they were made."""
    has_transits: bool
    """False if there were no transits: nothing was compared, and the leaves given are the
    patterns."""


def transit_cut(
    tree: Hierarchy, transits: sparse.csr_array, threshold: float = THRESHOLD
) -> TransitCut:
    """Merge siblings of a tree, given the transits from its i-th to its j-th leaf."""
    if transits.shape == (1, 1) and len(tree) == 1:
        # Most sites of a window are so small.
        return TransitCut(tree.is_leaf, (), bool(transits.data.sum() > 0))
    state = _State(tree, transits)
    decisions: list[Decision] = []
    if state.has_transits:
        for node in state.ready():
            decision = state.compare(node, threshold)
            decisions.append(decision)
            if decision.merged:
                state.merge(node)
    kept = tree.cut(state.is_leaf)
    return TransitCut(kept & state.is_leaf, tuple(decisions), state.has_transits)


class _State:
    """State of the tree after some merges.

    Attributes:
        is_leaf: True for present leaves and for the nodes below them.
        first: Number of the first given leaf under each node; one entry more than nodes.
        merged_into: Present leaf that each given leaf belongs to, by the number of the given leaf.
        outward: Transits from each given leaf, as the three arrays of a CSR matrix.
        inward: Transits to each given leaf, likewise.
        at_depth: Number of present nodes at each depth.
        open_children: Number of children of each node that are not leaves yet.
        queue: Heap of the nodes whose children are all leaves, as (-depth, node).
        sum: Scratch of `_vectors`, all zeros between calls.
    """

    def __init__(self, tree: Hierarchy, transits: sparse.csr_array) -> None:
        self.tree = tree
        self.is_leaf = tree.is_leaf.copy()
        self.has_transits = bool(transits.data.sum() > 0)
        leaves = np.flatnonzero(self.is_leaf)
        if transits.shape != (len(leaves), len(leaves)):
            raise ValueError("transits must be between the leaves of the tree")
        # Preorder makes the leaves under a node a range.
        self.first = np.searchsorted(leaves, np.arange(len(tree) + 1)).astype(np.int64)
        self.merged_into = leaves.astype(np.int32)
        self.outward = _csr_arrays(transits)
        self.inward = _csr_arrays(transits.T.tocsr())
        self.at_depth = np.bincount(tree.depth)
        self.sum = np.zeros(len(tree))
        self.open_children = np.zeros(len(tree), np.int64)
        inner = np.flatnonzero(~self.is_leaf & (tree.parent >= 0))
        np.add.at(self.open_children, tree.parent[inner], 1)
        self.queue: list[tuple[int, int]] = []
        for node in np.flatnonzero(~self.is_leaf & (self.open_children == 0)).tolist():
            self._enqueue(node)

    def _enqueue(self, node: int) -> None:
        heapq.heappush(self.queue, (-int(self.tree.depth[node]), node))

    def ready(self) -> _Ready:
        """Return an iterator over nodes whose children are all leaves, deepest first.

        A node whose children become leaves during the iteration is included.
        """
        return _Ready(self)

    @property
    def height(self) -> int:
        """H of eq 6: depth of the deepest remaining node."""
        return int(np.flatnonzero(self.at_depth)[-1])

    def compare(self, node: int, threshold: float) -> Decision:
        """Return the decision about a node's children, by the least similar two of them."""
        children = np.array(self.tree.children(node), np.int32)
        vectors = [
            _vectors(
                *csr,
                children,
                self.first,
                self.tree.end,
                self.merged_into,
                self.tree.parent,
                self.tree.depth,
                self.height,
                self.sum,
            )
            for csr in (self.inward, self.outward)
        ]
        similarity, a, b = _least_similar(*vectors[0], *vectors[1], threshold)
        pair = (int(children[a]), int(children[b]))
        return Decision(node, bool(similarity > threshold), float(similarity), pair)

    def merge(self, node: int) -> None:
        """Make a node a leaf (lines 7 to 11 of Algorithm 1)."""
        end = int(self.tree.end[node])
        below = np.arange(node + 1, end)
        is_present = self.tree.cut(self.is_leaf)[below]
        np.subtract.at(self.at_depth, self.tree.depth[below[is_present]], 1)
        self.is_leaf[node] = True
        self.merged_into[self.first[node] : self.first[end]] = node
        parent = int(self.tree.parent[node])
        if parent >= 0:
            self.open_children[parent] -= 1
            if self.open_children[parent] == 0:
                self._enqueue(parent)


class _Ready:
    """Iterator over a queue that grows during iteration."""

    def __init__(self, state: _State) -> None:
        self._queue = state.queue

    def __iter__(self) -> _Ready:
        return self

    def __next__(self) -> int:
        if not self._queue:
            raise StopIteration
        return heapq.heappop(self._queue)[1]


def _csr_arrays(matrix: sparse.csr_array) -> tuple[Int64s, Int32s, Floats]:
    """Return pointers, column numbers and values of a CSR matrix."""
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
    )


@loop
def _vectors(
    pointers: Int64s,
    partners: Int32s,
    counts: Floats,
    children: Int32s,
    first: Int64s,
    end: Int32s,
    merged_into: Int32s,
    parent: Int32s,
    depth: Int32s,
    height: int,
    total: Floats,
) -> tuple[Int64s, Int32s, Floats]:
    """Return the vectors (eq 7) of some siblings as CSR: pointers, ascending nodes, values.

    The vectors have unit length.

    Args:
        pointers: Pointers of the transits of each given leaf, into `partners` and `counts`.
        partners: Number of the given leaf at the other end of each transit.
        counts: Number of transits.
        children: The siblings, as numbers of nodes.
        first: Number of the first given leaf under each node.
        end: First node after each node's descendants.
        merged_into: Present leaf of each given leaf.
        parent: Parent of each node.
        depth: Depth of each node.
        height: Height of the present tree.
        total: Scratch, one entry per node; all zeros before and after.
    """
    starts = np.zeros(len(children) + 1, np.int64)
    nodes = np.empty(64, np.int32)
    values = np.empty(64, np.float64)
    written = 0
    for i in range(len(children)):
        begin = written
        child = children[i]
        for leaf in range(first[child], first[end[child]]):
            for entry in range(pointers[leaf], pointers[leaf + 1]):
                at = merged_into[partners[entry]]
                share = counts[entry]
                while at >= 0 and share > 0.0:
                    if total[at] == 0.0:
                        if written == len(nodes):
                            nodes = np.concatenate((nodes, np.empty_like(nodes)))
                            values = np.concatenate((values, np.empty_like(values)))
                        nodes[written] = at
                        written += 1
                    total[at] += share
                    share *= (depth[at] - 1) / height
                    at = parent[at]
        nodes[begin:written].sort()
        square = 0.0
        for j in range(begin, written):
            values[j] = total[nodes[j]]
            total[nodes[j]] = 0.0
            square += values[j] * values[j]
        for j in range(begin, written):
            values[j] /= np.sqrt(square)
        starts[i + 1] = written
    return starts, nodes[:written], values[:written]


@loop
def _cosine(starts: Int64s, nodes: Int32s, values: Floats, a: int, b: int) -> float:
    """Return the cosine of two unit vectors: 1 if both have no transits, 0 if only one has any."""
    i, j = starts[a], starts[b]
    if i == starts[a + 1] or j == starts[b + 1]:
        return 1.0 if i == starts[a + 1] and j == starts[b + 1] else 0.0
    product = 0.0
    while i < starts[a + 1] and j < starts[b + 1]:
        if nodes[i] == nodes[j]:
            product += values[i] * values[j]
            i += 1
            j += 1
        elif nodes[i] < nodes[j]:
            i += 1
        else:
            j += 1
    return product


@loop
def _least_similar(
    in_starts: Int64s,
    in_nodes: Int32s,
    in_values: Floats,
    out_starts: Int64s,
    out_nodes: Int32s,
    out_values: Floats,
    threshold: float,
) -> tuple[float, int, int]:
    """Return the least similarity (eq 8) of two siblings, and the positions of the two.

    The vectors of siblings are rows of two CSR matrices, by transits to them (`in_`) and from them
    (`out_`). The search ends at the first pair whose similarity is not above `threshold`.
    """
    rows = len(in_starts) - 1
    # An only child is like all of its siblings.
    least, first, second = (np.inf if rows > 1 else 1.0), 0, 0
    for b in range(1, rows):
        for a in range(b):
            similarity = 0.5 * (
                _cosine(in_starts, in_nodes, in_values, a, b)
                + _cosine(out_starts, out_nodes, out_values, a, b)
            )
            if similarity < least:
                least, first, second = similarity, a, b
                if least <= threshold:
                    return least, first, second
    return least, first, second
