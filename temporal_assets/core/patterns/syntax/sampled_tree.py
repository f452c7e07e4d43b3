"""The pattern tree of a site with too many URLs, learned from a sample of them.

Here: drawing the sample, and sorting the other URLs into the tree. Not here: learning
(`tree_builder`).

Memory for learning grows with the URLs, some 400 bytes each. The sample takes URLs at equal
distances in their order, so that each section has its share; pages are counted, visits summed and
nodes merged over all URLs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.patterns.pattern_match import compile_matcher
from temporal_assets.core.patterns.pattern_tree import PatternTree
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import Texts
from temporal_assets.core.traffic.audience import Audience


def site_tree(
    urls: Texts,
    options: TreeOptions | None = None,
    audience: Audience | None = None,
    born: Int32s | None = None,
) -> PatternTree:
    """Return T_syn of a site, learned from at most `options.most_urls` of its URLs."""
    most = (options or TreeOptions()).most_urls
    if len(urls) <= most:
        return pattern_tree(urls, options, audience, born)
    chosen = np.arange(most) * len(urls) // most
    tree = pattern_tree(
        _texts_at(urls, chosen),
        options,
        None if audience is None else _audience_at(audience, chosen),
        None if born is None else born[chosen],
    )
    return _with_all(tree, urls)


def _texts_at(urls: Texts, chosen: Int64s) -> Texts:
    """Return copies of some of the URLs."""
    starts, stops = urls.offsets[chosen], urls.offsets[chosen + 1]
    offsets = np.append(0, np.cumsum(stops - starts)).astype(np.int64)
    data = np.empty(offsets[-1], np.uint8)
    for place, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        data[offsets[place] : offsets[place + 1]] = urls.data[start:stop]
    return Texts(data, offsets)


def _audience_at(audience: Audience, chosen: Int64s) -> Audience:
    """Return the audience of some of the URLs."""
    starts, counts = audience.first[chosen], np.diff(audience.first)[chosen]
    first = np.append(0, np.cumsum(counts)).astype(np.int64)
    rows = np.arange(first[-1]) + np.repeat(starts - first[:-1], counts)
    return Audience(audience.least, audience.clients[chosen], audience.few[rows], first)


def _with_all(tree: PatternTree, urls: Texts) -> PatternTree:
    """Return the tree with all URLs assigned to its leaves.

    A URL that no leaf covers is counted with the last leaf below the node where it stops, which is
    that of its rare values.
    """
    node = np.maximum(compile_matcher(tree).match(urls), 0)
    # The last node of a subtree is a leaf.
    leaf = tree.hierarchy.end[node] - 1
    bounds = np.append(0, np.cumsum(np.bincount(leaf, minlength=len(tree)))).astype(np.int64)
    return replace(
        tree,
        order=np.argsort(leaf, kind="stable").astype(np.int32),
        start=bounds[:-1],
        stop=bounds[tree.hierarchy.end],
    )
