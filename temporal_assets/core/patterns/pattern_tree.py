"""A pattern tree as arrays over its nodes, whole or with some nodes made leaves.

Here: the data structure, sums over the URLs of nodes, and cuts. Not here: how the tree of a site
is grown (`tree_builder`), which nodes users' behaviour merges (`visit_cut`, `transit_cut`), how a
pattern is written (`pattern_text`), matching of other URLs (`pattern_match`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Floats, Int8s, Int32s, Int64s
from temporal_assets.core.numerics.compiled import leaf, readonly
from temporal_assets.core.numerics.hierarchy import Hierarchy, hierarchy
from temporal_assets.core.text.url_keys import UrlKeys

MOST_PARTS: Final = 24
"""Parts up to which a merged leaf is written as a list of alternatives; a leaf with more becomes
what its parts have in common."""

OTHER: Final = -1
"""Code of the branch for values without a branch of their own; as a test: present, whatever the
value."""
SHAPED: Final = -2
"""Code of the branch for values with the shape `split_bit` of the parent."""
ROOT: Final = -3

NO_KEY: Final = -1
"""Split key of a leaf, which no key divides."""


@dataclass(frozen=True, slots=True)
class PatternTree:
    """A pattern tree as arrays over its nodes in preorder; a node's URLs are a range of `order`.

    A URL belongs to a node if it takes the branches to it and passes the tests of every node on the
    way. Tests of node n are the rows `first_test[n]` to `first_test[n + 1] - 1`.
    """

    keys: UrlKeys
    hierarchy: Hierarchy
    branch: Int32s
    """Code of the parent's split key that leads here: a value, ABSENT, OTHER, SHAPED or ROOT."""
    split_key: Int32s
    """Key that divides the node; -1 for leaves."""
    split_bit: Int32s
    """Shape of the values with a common branch (SHAPED), 0 for none."""
    order: Int32s
    """Numbers of the URLs, so that those of each node are adjacent, from `start` to `stop`."""
    start: Int64s
    stop: Int64s
    first_test: Int64s
    test_key: Int32s
    test_value: Int32s
    """Value that the key must have, ABSENT or OTHER."""
    test_bits: Int32s
    """Shape bits that the value must have."""
    test_class: Int8s
    """Class of most of the values, an index into CLASSES: the name of the wildcard."""
    parts: Parts | None = None
    """The parts that merged leaves of a cut tree stand for; None where nothing was merged."""

    def __len__(self) -> int:
        return len(self.branch)

    @property
    def leaves(self) -> Int64s:
        """Node numbers of the leaves, which are the patterns. Each URL belongs to one leaf."""
        return np.flatnonzero(self.hierarchy.is_leaf)

    @property
    def sizes(self) -> Int64s:
        """Number of URLs of each node, ||P||."""
        return self.stop - self.start

    def leaf_of_url(self) -> Int32s:
        """Return the node number of each URL's leaf."""
        return self._of_leaf(self.leaves.astype(np.int32))

    def pattern_of_url(self) -> Int32s:
        """Return the index of each URL's leaf among the leaves."""
        return self._of_leaf(np.arange(len(self.leaves), dtype=np.int32))

    def _of_leaf(self, numbers: Int32s) -> Int32s:
        """Return, for every URL, the number given to its leaf."""
        leaf_numbers = np.empty(len(self.order), np.int32)
        leaves = self.leaves
        # Leaves in preorder own consecutive ranges of `order`.
        leaf_numbers[self.order] = np.repeat(numbers, self.sizes[leaves])
        return leaf_numbers

    def totals(self, per_url: Floats | Int64s) -> Floats:
        """Return the sum of a value per URL over the URLs of each node, as F_in(P) from F_in(u)."""
        totals = np.zeros(len(self))
        above = self.hierarchy
        values = readonly(per_url.astype(np.float64, copy=False))
        _add_up(values, self.order, self.start, self.stop, above.parent, above.end, totals)
        return totals

    def cut(self, leaf: Flags) -> PatternTree:
        """Return the tree in which the flagged nodes are leaves.

        A merged leaf covers what its parts cover: the leaves below it before any cut. With more
        than MOST_PARTS parts, it covers every URL that reaches it.
        """
        if not (leaf & ~self.hierarchy.is_leaf).any():
            return self
        cut, kept = self._truncated(leaf)
        whole = self if self.parts is None else self.parts.tree
        node = kept if self.parts is None else self.parts.node[kept]
        flags = np.zeros(len(whole), np.bool_)
        flags[node[cut.hierarchy.is_leaf]] = True
        flags &= has_many_parts(whole.hierarchy)
        if flags.any():
            whole, remaining = whole._truncated(flags)
            node = np.searchsorted(remaining, node)
        if len(whole) == len(cut):
            return cut
        return replace(cut, parts=Parts(whole, node.astype(np.int32)))

    def _truncated(self, leaf: Flags) -> tuple[PatternTree, Int64s]:
        """Return the tree without the nodes below flagged ones, and the numbers of the rest."""
        kept = np.flatnonzero(self.hierarchy.cut(leaf))
        renumbered = np.full(len(self) + 1, -1, np.int32)
        renumbered[kept] = np.arange(len(kept))
        bottom = leaf[kept]
        counts = np.diff(self.first_test)[kept]
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        rows = np.arange(first[-1]) + np.repeat(self.first_test[kept] - first[:-1], counts)
        tree = PatternTree(
            self.keys,
            hierarchy(renumbered[self.hierarchy.parent[kept]]),
            self.branch[kept],
            np.where(bottom, NO_KEY, self.split_key[kept]).astype(np.int32),
            np.where(bottom, 0, self.split_bit[kept]).astype(np.int32),
            self.order,
            self.start[kept],
            self.stop[kept],
            first,
            self.test_key[rows],
            self.test_value[rows],
            self.test_bits[rows],
            self.test_class[rows],
        )
        return tree, kept


def has_many_parts(whole: Hierarchy) -> Flags:
    """Return flags of the nodes of an uncut tree that cover all their URLs when made leaves."""
    below: Int64s = np.append(0, np.cumsum(whole.is_leaf, dtype=np.int64))
    flags: Flags = below[whole.end] - below[:-1] > MOST_PARTS
    return flags


@dataclass(frozen=True, slots=True)
class Parts:
    """The uncut tree, and how its nodes correspond to the cut tree's merged leaves."""

    tree: PatternTree
    node: Int32s
    """Node of the uncut tree for each node of the cut tree."""

    def leaves_of(self, node: int) -> list[int]:
        """Return the leaves of the uncut tree below a node of the cut tree."""
        first = int(self.node[node])
        below = self.tree.hierarchy.is_leaf[first : int(self.tree.hierarchy.end[first])]
        leaves: list[int] = (first + np.flatnonzero(below)).tolist()
        return leaves

    def in_cut(self, cut: Hierarchy) -> Int32s:
        """Return, for each node of the uncut tree, the node of the cut tree that gets its URLs.

        A URL that stops at an inner node below a merged leaf is covered by none of its parts: it
        belongs to the node above the leaf, -1 if there is none.
        """
        whole = self.tree.hierarchy
        numbers = np.full(len(whole), -1, np.int32)
        numbers[self.node] = np.arange(len(self.node))
        for merged in np.flatnonzero(cut.is_leaf).tolist():
            first, end = int(self.node[merged]), int(whole.end[self.node[merged]])
            numbers[first:end] = np.where(whole.is_leaf[first:end], merged, cut.parent[merged])
        return numbers


@leaf
def _add_up(
    per_url: Floats,
    order: Int32s,
    start: Int64s,
    stop: Int64s,
    parent: Int32s,
    end: Int32s,
    totals: Floats,
) -> None:
    """Add values per URL up over leaves, and those of children over inner nodes, into `totals`."""
    for node in range(len(totals) - 1, -1, -1):
        if end[node] == node + 1:
            total = 0.0
            for i in range(start[node], stop[node]):
                total += per_url[order[i]]
            totals[node] = total
        if node > 0:
            totals[parent[node]] += totals[node]
