"""Whether patterns are any good: the measures of BB 5.2.

Here: size and height (Table 3); layout and traffic (Table 4). Not here: coverage and reliability,
which count the URLs that a matcher knows (`windows.pattern_quality`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from temporal_assets.core.page_layout import layout_similarity
from temporal_assets.core.pattern_tree import PatternTree
from temporal_assets.core.texts import Floats, Int32s


@dataclass(frozen=True, slots=True)
class TreeSize:
    """A row of BB Table 3."""

    leaves: int
    height: int


@dataclass(frozen=True, slots=True)
class LayoutSimilarity:
    """Mean similarity of pages, 0 to 1; NaN without pairs."""

    within: float
    """Pairs of pages of one pattern."""
    random: float
    """Pairs of pages of any two different patterns: the control."""
    pairs_within: int
    pairs_random: int


def tree_size(tree: PatternTree) -> TreeSize:
    """Leaves and height."""
    return TreeSize(len(tree.leaves), tree.hierarchy.height)


def traffic_divergence(pattern_of_url: Int32s, visits: Floats) -> float:
    """Jensen-Shannon divergence in bits between visits and visits smoothed over patterns.

    0 if every pattern's URLs are visited alike; at most 1. `visits` is F_in of each URL.
    """
    total = visits.sum()
    if total <= 0:
        return 0.0
    volume = np.bincount(pattern_of_url)
    traffic = np.bincount(pattern_of_url, weights=visits)
    p = visits / total
    q = (traffic / np.maximum(volume, 1))[pattern_of_url] / total
    middle = 0.5 * (p + q)
    return 0.5 * (_divergence(p, middle) + _divergence(q, middle))


def layout_consistency(
    pages: Mapping[int, list[dict[str, float]]], pairs: int, seed: int
) -> LayoutSimilarity:
    """Compare `pairs` pairs of pages within patterns, and as many across.

    `pages` are the tag paths of the pages of each pattern.

    Pairs within are drawn from all pairs of two pages of one pattern, each as likely.
    """
    draw = np.random.default_rng(seed)
    groups = [group for _, group in sorted(pages.items()) if group]
    within = _within(groups, pairs, draw)
    across = _across(groups, pairs, draw)
    return LayoutSimilarity(_mean(within), _mean(across), len(within), len(across))


def _divergence(p: Floats, q: Floats) -> float:
    """Kullback-Leibler divergence in bits; q is positive where p is."""
    some = p > 0
    return float((p[some] * np.log2(p[some] / q[some])).sum())


def _within(
    groups: list[list[dict[str, float]]], pairs: int, draw: np.random.Generator
) -> list[float]:
    possible = np.array([len(group) * (len(group) - 1) / 2 for group in groups])
    if possible.sum() == 0:
        return []
    found = []
    for chosen in draw.choice(len(groups), pairs, p=possible / possible.sum()).tolist():
        a, b = draw.choice(len(groups[chosen]), 2, replace=False).tolist()
        found.append(layout_similarity(groups[chosen][a], groups[chosen][b]))
    return found


def _across(
    groups: list[list[dict[str, float]]], pairs: int, draw: np.random.Generator
) -> list[float]:
    if len(groups) < 2:
        return []
    owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    page = np.concatenate([np.arange(len(group)) for group in groups])
    found: list[float] = []
    while len(found) < pairs:
        a, b = draw.integers(len(owner), size=2).tolist()
        if owner[a] != owner[b]:
            first, second = groups[owner[a]][page[a]], groups[owner[b]][page[b]]
            found.append(layout_similarity(first, second))
    return found


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
