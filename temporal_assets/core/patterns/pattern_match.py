"""Matching of unseen URLs of one site to their most specific pattern, in bulk.

Here: a tree compiled for matching, and the loop over URLs. Not here: the walk of one URL
(`pattern_forest`), how patterns are written (`pattern_text`).

A URL is *covered* if the node where its walk ends is a leaf.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes, Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import constant, leaf
from temporal_assets.core.patterns import pattern_forest
from temporal_assets.core.patterns.pattern_forest import (
    Desk,
    Forest,
    PortableTree,
    desk_for,
    plant,
    portable,
    walk,
)
from temporal_assets.core.patterns.pattern_tree import NO_KEY, PatternTree
from temporal_assets.core.text.texts import Texts

NOWHERE: Final = pattern_forest.NOWHERE
"""Result for a URL that is not even under the root: of another site, or of a form the site never
had."""

_ONLY: Final = constant(0)
"""Index of the only tree of a forest."""


@dataclass(frozen=True, slots=True)
class PatternMatcher:
    """A compiled pattern tree."""

    _forest: Forest
    is_leaf: Flags
    """Flags of the nodes of the tree that are leaves."""
    _in_cut: Int32s | None = None
    """Node of the cut tree for each node of the tree before the cut; None without a cut."""

    def match(self, urls: Texts) -> Int32s:
        """Return the most specific node of each canonical URL, or NOWHERE."""
        nodes = np.empty(len(urls), np.int32)
        _match(urls.data, urls.offsets, self._forest, desk_for(self._forest), nodes)
        if self._in_cut is None:
            return nodes
        return np.where(nodes < 0, NOWHERE, self._in_cut[nodes]).astype(np.int32)

    def match_leaves(self, urls: Texts) -> Int32s:
        """Return the leaf of each canonical URL, or NOWHERE if none covers it."""
        nodes = self.match(urls)
        covered = (nodes >= 0) & self.is_leaf[nodes]
        return np.where(covered, nodes, NOWHERE).astype(np.int32)


def compile_matcher(tree: PatternTree) -> PatternMatcher:
    """Compile a tree, whole or cut."""
    if tree.parts is None:
        return portable_matcher(portable(tree))
    walked, in_cut = plant([portable(tree.parts.tree)]), tree.parts.in_cut(tree.hierarchy)
    return PatternMatcher(walked, tree.hierarchy.is_leaf, in_cut)


def portable_matcher(tree: PortableTree) -> PatternMatcher:
    """Compile a tree that was written down."""
    return PatternMatcher(plant([tree]), np.array(tree["key"], np.int64) == NO_KEY)


@leaf
def _match(data: Bytes, offsets: Int64s, forest: Forest, desk: Desk, nodes: Int32s) -> None:
    """Walk every URL through the only tree of the forest."""
    for url in range(len(nodes)):
        nodes[url] = walk(forest, _ONLY, data, offsets[url], offsets[url + 1], desk)
