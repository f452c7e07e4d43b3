"""The visit cut: siblings whose URLs are visited alike become one pattern.

Here: minimum description length over all cuts of a tree, exactly (BB 3.2.1, eqs 1-4; Li & Abe
1998). Not here: who visits, or what a node is.

A cut is a set of nodes that holds every URL once. Its cost in bits is

    (K - 1) / 2 * log2 F  -  sum over patterns P of F(P) * log2( F(P) / (||P|| * F) )

with K patterns and F visits. The second term is the data term of Li and Abe: every visit counts.
Equation 3 as printed in BB has neither the logarithm nor the visits. The cost is a sum over
nodes, so the best cut of a subtree is its root alone or the best cuts of its children.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.numerics.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class VisitCut:
    """The best cut and its cost."""

    is_pattern: Flags
    """Flags of the nodes in the cut."""
    merged: Int64s
    """Inner nodes of the tree that became patterns."""
    saved_bits: Floats
    """Bits that the best division of each would cost more."""
    model_bits: float
    """(K - 1) / 2 * log2 F: eq 2."""
    data_bits: float
    """Eq 3, weighted by visits."""


def visit_cut(tree: Hierarchy, urls: Int64s, visits: Floats) -> VisitCut:
    """Return the cut of least cost, given the URLs and visits of each node; ties take the smaller.

    Without visits URLs do not differ, and the root is the pattern. The data term grows with the
    visits and the model term only with their logarithm, so that much traffic leaves the tree nearly
    whole.
    """
    parameter = 0.5 * np.log2(visits[0]) if visits[0] > 0 else 0.0
    data = data_bits(urls, visits)
    alone = parameter + data
    best, divided = _best(tree.end, tree.parent, alone)
    kept = tree.cut(best >= alone)
    pattern = kept & (best >= alone)
    merged = np.flatnonzero(pattern & ~tree.is_leaf)
    return VisitCut(
        pattern,
        merged,
        divided[merged] - alone[merged],
        parameter * (int(np.count_nonzero(pattern)) - 1),
        float(data[pattern].sum()),
    )


def data_bits(urls: Int64s, visits: Floats) -> Floats:
    """Return the bits of each node's visits if all its URLs are equally likely (eq 4)."""
    bits = np.zeros(len(visits))
    seen = visits > 0
    bits[seen] = -visits[seen] * np.log2(visits[seen] / (urls[seen] * visits[0]))
    return bits


@loop
def _best(end: Int32s, parent: Int32s, alone: Floats) -> tuple[Floats, Floats]:
    """Return the cost of the best cut of each subtree, and of the best that divides its root."""
    best = alone.copy()
    divided = np.zeros(len(alone), np.float64)
    # Children follow their parents, so backwards every child is ready before its parent.
    for node in range(len(alone) - 1, -1, -1):
        if end[node] > node + 1:
            # A relative 1e-12 makes equal sums equal.
            if divided[node] < alone[node] - 1e-12 * abs(alone[node]):
                best[node] = divided[node]
        else:
            divided[node] = alone[node]
        if node > 0:
            divided[parent[node]] += best[node]
    return best, divided
