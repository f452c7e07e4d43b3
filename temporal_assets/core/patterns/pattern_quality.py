"""Measures of the quality of URL patterns (BB 5.2).

Here: size and height (Table 3); layout and traffic (Table 4). Not here: coverage and reliability,
which count the URLs that a matcher knows (`windows.patterns.pattern_quality`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from temporal_assets.core.numerics.arrays import Floats, Int32s, Int64s
from temporal_assets.core.patterns.pattern_tree import PatternTree
from temporal_assets.core.text.page_layout import layout_similarity


@dataclass(frozen=True, slots=True)
class TreeSize:
    """A row of BB Table 3."""

    leaves: int
    height: int


@dataclass(frozen=True, slots=True)
class LayoutSimilarity:
    """Mean similarity of pages, 0 to 1; NaN without pairs."""

    within: float
    """Mean over pairs of pages of one pattern."""
    random: float
    """Mean over pairs of pages of two different patterns of one site: the control."""
    pairs_within: int
    pairs_random: int


def tree_size(tree: PatternTree) -> TreeSize:
    """Return the number of leaves and the height of a tree."""
    return TreeSize(len(tree.leaves), tree.hierarchy.height)


def traffic_divergence(pattern_of_url: Int32s, visits: Floats) -> float:
    """Return the Jensen-Shannon divergence between visits and visits smoothed over patterns.

    The divergence is in bits: 0 if the URLs of each pattern are visited equally, 1 at most.
    `visits` is F_in of each URL.
    """
    total = visits.sum()
    if total <= 0:
        return 0.0
    volume = np.bincount(pattern_of_url)
    traffic = np.bincount(pattern_of_url, weights=visits)
    p = visits / total
    q = (traffic / np.maximum(volume, 1))[pattern_of_url] / total
    return divergence(p, q)


def divergence(p: Floats, q: Floats) -> float:
    """Return the Jensen-Shannon divergence of two distributions in bits, at most 1."""
    middle = 0.5 * (p + q)
    return 0.5 * (_divergence(p, middle) + _divergence(q, middle))


def layout_consistency(
    pages: Mapping[tuple[int, int], list[dict[str, float]]], pairs: int, seed: int
) -> LayoutSimilarity:
    """Compare the layout of pairs of pages within patterns, and across patterns of one site.

    Pages of two sites differ whatever their patterns are, and would flatter the patterns. Pairs are
    drawn uniformly from all pairs of either kind.

    Args:
        pages: Tag paths of the pages of each pattern, by numbers of the site and the pattern.
        pairs: Number of pairs of each kind.
        seed: Seed of the draw.
    """
    draw = np.random.default_rng(seed)
    kept = [(site, group) for (site, _), group in sorted(pages.items()) if group]
    groups = [group for _, group in kept]
    within = _within(groups, pairs, draw)
    across = _across(np.array([site for site, _ in kept], np.int64), groups, pairs, draw)
    return LayoutSimilarity(_mean(within), _mean(across), len(within), len(across))


def _divergence(p: Floats, q: Floats) -> float:
    """Return the Kullback-Leibler divergence in bits; q must be positive where p is."""
    some = p > 0
    return float((p[some] * np.log2(p[some] / q[some])).sum())


def _within(
    groups: list[list[dict[str, float]]], pairs: int, draw: np.random.Generator
) -> list[float]:
    possible = np.array([len(group) * (len(group) - 1) / 2 for group in groups])
    if possible.sum() == 0:
        return []
    similarities = []
    for chosen in draw.choice(len(groups), pairs, p=possible / possible.sum()).tolist():
        a, b = draw.choice(len(groups[chosen]), 2, replace=False).tolist()
        similarities.append(layout_similarity(groups[chosen][a], groups[chosen][b]))
    return similarities


def _across(
    site: Int64s,
    groups: list[list[dict[str, float]]],
    pairs: int,
    draw: np.random.Generator,
) -> list[float]:
    sizes = np.array([len(group) for group in groups], np.int64)
    others = np.bincount(site, sizes)[site] - sizes if len(groups) else sizes
    chances = (sizes * others).astype(np.float64)  # pairs that begin in the pattern
    if not chances.any():
        return []
    similarities: list[float] = []
    for first in draw.choice(len(groups), pairs, p=chances / chances.sum()).tolist():
        beside = (site == site[first]) & (np.arange(len(groups)) != first)
        weights = np.where(beside, sizes, 0)
        second = int(draw.choice(len(groups), p=weights / weights.sum()))
        a, b = int(draw.integers(sizes[first])), int(draw.integers(sizes[second]))
        similarities.append(layout_similarity(groups[first][a], groups[second][b]))
    return similarities


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
