"""A rooted tree as flat arrays, parents before their children.

Here: depth, children, leaves, and what remains when some nodes become leaves. Not here: what the
nodes mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.numerics.arrays import Flags, Int32s
from temporal_assets.core.numerics.compiled import loop


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A rooted tree. Node 0 is the root; in preorder, a subtree is a range of nodes."""

    parent: Int32s
    """-1 for the root."""
    depth: Int32s
    """0 for the root."""
    end: Int32s
    """The subtree of node n is the nodes n to end[n] - 1."""

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def height(self) -> int:
        """Depth of the deepest node."""
        return int(self.depth.max())

    @property
    def is_leaf(self) -> Flags:
        """Flags of the nodes without children."""
        flags: Flags = self.end == np.arange(1, len(self) + 1)
        return flags

    def children(self, node: int) -> list[int]:
        """Return the children of a node, in their order."""
        children = []
        child, end = node + 1, int(self.end[node])
        while child < end:
            children.append(child)
            child = int(self.end[child])
        return children

    def cut(self, leaf: Flags) -> Flags:
        """Return flags of the nodes that remain when the flagged ones become leaves."""
        kept: Flags = _kept(self.end, leaf)
        return kept


def hierarchy(parent: ArrayLike) -> Hierarchy:
    """Return the tree with the given parents. Raises `ValueError` if nodes are not in preorder."""
    parents = np.asarray(parent, np.int32)
    if len(parents) == 0 or parents[0] != -1:
        raise ValueError("node 0 must be the root, with parent -1")
    depth, end, bad = _measure(parents)
    if bad >= 0:
        raise ValueError(f"node {bad} is not in preorder")
    return Hierarchy(parents, depth, end)


@loop
def _measure(parent: Int32s) -> tuple[Int32s, Int32s, int]:
    """Return depths, ends of subtrees, and the first node out of order or -1."""
    count = len(parent)
    depth = np.zeros(count, np.int32)
    end = np.full(count, count, np.int32)
    path = np.zeros(count + 1, np.int32)  # the nodes above the current one
    for node in range(1, count):
        above = parent[node]
        if not 0 <= above < node or path[depth[above]] != above or end[above] != count:
            return depth, end, node
        # Everything on the path below the parent ends here.
        for level in range(depth[above] + 1, depth[node - 1] + 1):
            end[path[level]] = node
        depth[node] = depth[above] + 1
        path[depth[node]] = node
    return depth, end, -1


@loop
def _kept(end: Int32s, leaf: Flags) -> Flags:
    kept = np.zeros(len(end), np.bool_)
    node = 0
    while node < len(end):
        kept[node] = True
        node = end[node] if leaf[node] else node + 1
    return kept
