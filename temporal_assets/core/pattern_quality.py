"""Whether patterns are any good: the measures of BB 5.2.

Here: size and height (Table 3); coverage, layout and traffic (Table 4); reliability in later
months (Figure 6). Not here: where later months and mirrors come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from temporal_assets.core.page_layout import layout_similarity
from temporal_assets.core.pattern_match import NOWHERE, PatternMatcher
from temporal_assets.core.pattern_tree import PatternTree
from temporal_assets.core.texts import Flags, Floats, Int32s, Texts


@dataclass(frozen=True, slots=True)
class TreeSize:
    """A row of BB Table 3."""

    leaves: int
    height: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """What part of other URLs is known, each share between 0 and 1."""

    urls: float
    traffic: float
    """By visits; equal to `urls` if all URLs are visited alike."""


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


def pattern_coverage(
    matcher: PatternMatcher, urls: Texts, visits: Floats | None = None
) -> Coverage:
    """Mirror coverage, or reliability if the URLs are those of a later month: in some leaf."""
    return _coverage(matcher.match_leaves(urls) != NOWHERE, visits)


def url_coverage(
    known: frozenset[str] | set[str], urls: Texts, visits: Floats | None = None
) -> Coverage:
    """The same for single URLs: seen in the training month."""
    seen = np.fromiter((urls[i] in known for i in range(len(urls))), np.bool_, len(urls))
    return _coverage(seen, visits)


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


def _coverage(covered: Flags, visits: Floats | None) -> Coverage:
    if len(covered) == 0:
        return Coverage(0.0, 0.0)
    share = float(covered.mean())
    if visits is None or visits.sum() <= 0:
        return Coverage(share, share)
    return Coverage(share, float(visits[covered].sum() / visits.sum()))


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
