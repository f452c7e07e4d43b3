"""Weights, lengths and thresholds with the best F (TW 4.3), on pages that were not learned from.

Here: trying a grid, on pages that the caller splits into those to learn from and those to judge
by. Not here: where the pages come from, and that they are not of the reported window
(`cli.operate.tune`).

Judged by the pages it was learned from, every list wants the smallest support: with a folder a
page, all is found. So the two sets of pages must differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.lists.dated_sections import dated_sections
from temporal_assets.core.lists.prefix_tree import PAPER_RULE, PrefixRule, news_prefixes
from temporal_assets.core.lists.site_scores import Counts, Scoring, list_curve, ranking
from temporal_assets.core.numerics.metrics import Outcome, outcome
from temporal_assets.core.text.url_sections import SectionTrees

ALPHAS: Final = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
"""Of 5: beta is what is left; 3:2 is the paper's."""
PAGE_SHARES: Final = (1.0, 2.0, 4.0, 8.0)
THRESHOLDS: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
CONFIDENCES: Final = (0.5, 0.8, 0.9, 0.95, 0.99)
SUPPORTS: Final = (1, 3, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class SiteTrial:
    """One ratio of alpha and beta with its best length of the list; or those in use."""

    scoring: Scoring
    top_k: int
    """That of the settings, where no shorter or longer list is better."""
    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class ShareTrial:
    """The first K sites under one additional weight of the page share."""

    weight: float
    changed: int
    """Sites that the first weight does not list."""
    views: int
    """Of the judged pages that the list covers."""
    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class PrefixTrial:
    """One rule, judged."""

    rule: PrefixRule
    prefixes: int
    outcome: Outcome


def tune_sites(
    learned: Counts,
    judged: Counts,
    names: Sequence[str],
    scoring: Scoring,
    top_k: int,
    alphas: Sequence[float] = ALPHAS,
) -> list[SiteTrial]:
    """The scoring and K in use, then every alpha with its best K, in the order of `alphas`.

    `learned` and `judged` count different pages of the same sites.
    """
    all_temporal = int(judged.temporal_pages.sum())

    def trial(tried: Scoring, chooses: bool) -> SiteTrial:
        curve = list_curve(ranking(learned, names, tried), judged, all_temporal)
        used, best = min(top_k, len(curve.f)), curve.best()
        k = best if chooses and best and curve.f[best - 1] > curve.f[used - 1] else used
        at = (curve.precision[k - 1], curve.recall[k - 1], curve.f[k - 1]) if k else (0.0,) * 3
        return SiteTrial(tried, top_k if k == used else k, *map(float, at))

    whole = alphas[-1]
    grid = (replace(scoring, alpha=alpha, beta=whole - alpha) for alpha in alphas)
    return [trial(scoring, chooses=False), *(trial(tried, chooses=True) for tried in grid)]


def page_share_effect(
    learned: Counts,
    judged: Counts,
    names: Sequence[str],
    scoring: Scoring,
    top_k: int,
    weights: Sequence[float] = PAGE_SHARES,
) -> list[ShareTrial]:
    """What the additional weight of the page share does to the first K sites (TW 5.2)."""
    all_temporal = int(judged.temporal_pages.sum())
    trials: list[ShareTrial] = []
    plain: set[int] = set()
    for weight in weights:
        tried = replace(scoring, page_share_weight=weight)
        order = ranking(learned, names, tried)[:top_k]
        curve = list_curve(order, judged, all_temporal)
        at = (curve.precision[-1], curve.recall[-1], curve.f[-1]) if len(order) else (0.0,) * 3
        chosen = set(order.tolist())
        plain = plain if trials else chosen
        views = int(judged.views[order].sum())
        trials.append(ShareTrial(weight, len(chosen - plain), views, *map(float, at)))
    return trials


def tune_prefixes(
    trees: SectionTrees,
    is_news: ArrayLike,
    learned: ArrayLike,
    judged: ArrayLike,
    in_use: PrefixRule,
    thresholds: Sequence[float] = THRESHOLDS,
    confidences: Sequence[float] = CONFIDENCES,
    supports: Sequence[int] = SUPPORTS,
) -> list[PrefixTrial]:
    """The rule in use, the paper's and those of the grid.

    `learned` and `judged` flag different pages of `trees`.
    """
    news, judge = np.asarray(is_news, np.bool_), np.asarray(judged, np.bool_)
    trials = []
    dated = dated_sections(trees.names())
    grid = (PrefixRule(*cell) for cell in product(thresholds, supports, confidences))
    for rule in (in_use, PAPER_RULE, *(one for one in grid if one != in_use)):
        chosen = news_prefixes(trees, news, rule, learned, dated)
        found = outcome(news[judge], trees.covered(chosen)[judge])
        trials.append(PrefixTrial(rule, int(chosen.sum()), found))
    return trials


def best_sites(trials: Sequence[SiteTrial]) -> SiteTrial:
    """The largest F; of equals the first, which is in use, or the nearest to equal weights.

    Equal weights depend on neither share alone.
    """
    in_use = trials[0]
    return max(trials, key=lambda one: (one.f, one is in_use, -abs(one.scoring.page_share - 0.5)))


def best_prefixes(trials: Sequence[PrefixTrial]) -> PrefixTrial:
    """The rule in use or of the grid with the largest F; of equals that in use.

    Of others that are equal the most careful; the paper's is shown beside them.
    """
    in_use = trials[0]
    return max(
        (one for one in trials if one is in_use or one.rule != PAPER_RULE),
        key=lambda one: (
            one.outcome.f_measure,
            one is in_use,
            one.rule.confidence,
            one.rule.min_pages,
            one.rule.threshold,
        ),
    )
