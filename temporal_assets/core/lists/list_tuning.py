"""Choice of weights, lengths and thresholds by F (TW 4.3), on pages that were not learned from.

Here: trying a grid, on pages that the caller splits into those to learn from and those to judge by;
rules by the flow of new pages (`core.lists.flow`) and, as in the papers, by the stock of all pages.
Not here: where the pages come from, and that they are not of the reported window
(`cli.trial.rules`).

Judged by the pages it was learned from, every list wants the smallest support: with a folder a
page, all is found. So the two sets of pages must differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from temporal_assets.core.lists.dated_sections import dated_sections
from temporal_assets.core.lists.flow import Evidence, fit_prior, flow_shares, stock_weight, worth
from temporal_assets.core.lists.prefix_tree import (
    PAPER_RULE,
    PrefixRule,
    flow_prefixes,
    news_prefixes,
)
from temporal_assets.core.lists.site_scores import Counts, Scoring, list_curve, ranking
from temporal_assets.core.numerics.arrays import Flags, Floats, Int64s
from temporal_assets.core.numerics.metrics import Outcome, outcome
from temporal_assets.core.text.url_sections import SectionTrees

ALPHAS: Final = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
"""Weights alpha out of 5; beta is the rest, and 3:2 is the paper's."""
PAGE_SHARES: Final = (1.0, 2.0, 4.0, 8.0)
THRESHOLDS: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


_CONFIDENCE: Final = 0.95
"""Confidence of the bounds of flow shares; no rule here uses them."""

Kind = Literal["flow", "confident", "paper"]


@dataclass(frozen=True, slots=True)
class LearnedFlow:
    """Flow of each section, learned from the new pages of some trees."""

    score: Floats
    """Expected share of temporal pages among its new ones."""
    pages: Floats
    """Pages that count: new ones, and older ones with their weight."""
    temporal: Floats
    """Temporal pages among them."""
    worth: float
    """Share from which a section belongs into the list with the largest F."""

    @property
    def merit(self) -> Floats:
        """Expected new temporal pages, less the number that makes these pages worth a place."""
        return self.pages * (self.score - self.worth)


@dataclass(frozen=True, slots=True)
class SiteTrial:
    """Result of one way to rank sites: a ratio of alpha and beta, the flow, or the list in use."""

    scoring: Scoring | None
    """Scoring of the stock; None if the flow ranks the sites."""
    top_k: int
    """Length with the best F; that of the settings if no other is better."""
    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class ShareTrial:
    """Result of the first K sites under one additional weight of the page share."""

    weight: float
    changed: int
    """Number of sites that the first weight does not list."""
    views: int
    """Views of the judged pages that the list covers."""
    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class PrefixTrial:
    """A rule of prefixes and its judgement."""

    kind: Kind
    rule: PrefixRule
    prefixes: int
    outcome: Outcome


def learn_flow(trees: SectionTrees, is_temporal: Flags, born: Flags, old: Flags) -> LearnedFlow:
    """Learn the flow of every section, as the assets do (`windows.lists.flow_shares`).

    Args:
        trees: The sections of all pages.
        is_temporal: One flag a page.
        born: One flag a page: new ones to learn from.
        old: One flag a page: older ones.
    """
    flow, flow_temporal, stock, stock_temporal = (
        trees.total(rows.astype(np.int64)).astype(np.float64)
        for rows in (born, born & is_temporal, old, old & is_temporal)
    )
    evidence = Evidence(flow, flow_temporal, stock, stock_temporal)
    root = trees.parent < 0
    beneath = np.flatnonzero(~root & (flow > 0))
    total = Evidence(*(column[root].sum(keepdims=True) for column in _columns(evidence)))
    prior = fit_prior(
        _rows(evidence, np.flatnonzero(root & (flow > 0))),
        _rows(evidence, beneath),
        _rows(evidence, trees.parent[beneath].astype(np.int64)),
        total,
    )
    score = flow_shares(trees.parent, evidence, prior, _CONFIDENCE).score
    weight = stock_weight(float(total.flow[0]), float(total.stock[0]))
    own = np.bincount(trees.innermost, born + weight * old, len(trees)).astype(np.float64)
    return LearnedFlow(
        score, flow + weight * stock, flow_temporal + weight * stock_temporal, worth(score, own)
    )


def _columns(evidence: Evidence) -> tuple[Floats, Floats, Floats, Floats]:
    return evidence.flow, evidence.flow_temporal, evidence.stock, evidence.stock_temporal


def _rows(evidence: Evidence, rows: Int64s) -> Evidence:
    return Evidence(*(column[rows] for column in _columns(evidence)))


def tune_sites(
    learned: Counts,
    judged: Counts,
    names: Sequence[str],
    in_use: Scoring | None,
    top_k: int,
    merit: Floats,
    alphas: Sequence[float] = ALPHAS,
) -> list[SiteTrial]:
    """Return trials of the list in use, of the flow and of every alpha, each with its best K.

    Args:
        learned: Counts of the pages to learn from, by site.
        judged: Counts of other pages of the same sites.
        names: Names of the sites.
        in_use: Scoring in use; None where the flow is in use.
        top_k: Length of the list in use.
        merit: Merit of each site by the flow (`LearnedFlow.merit`).
        alphas: Weights to try; the last is alpha and beta together.
    """
    all_temporal = int(judged.temporal_pages.sum())
    plain = in_use or Scoring()

    def trial(tried: Scoring | None, *, chooses: bool) -> SiteTrial:
        order = _by_merit(merit) if tried is None else ranking(learned, names, tried)
        curve = list_curve(order, judged, all_temporal)
        used, best = min(top_k, len(curve.f)), curve.best()
        k = best if chooses and best and curve.f[best - 1] > curve.f[used - 1] else used
        at = (curve.precision[k - 1], curve.recall[k - 1], curve.f[k - 1]) if k else (0.0,) * 3
        return SiteTrial(tried, top_k if k == used else k, *map(float, at))

    whole = alphas[-1]
    grid = [replace(plain, alpha=alpha, beta=whole - alpha) for alpha in alphas]
    return [
        trial(in_use, chooses=False),
        *(trial(scoring, chooses=True) for scoring in (None, *grid)),
    ]


def _by_merit(merit: Floats) -> Int64s:
    """Return the sites with a positive merit, the best first."""
    order = np.argsort(-merit, kind="stable")
    return np.asarray(order[merit[order] > 0], np.int64)


def page_share_effect(
    learned: Counts,
    judged: Counts,
    names: Sequence[str],
    scoring: Scoring,
    top_k: int,
    weights: Sequence[float] = PAGE_SHARES,
) -> list[ShareTrial]:
    """Return trials of additional weights of the page share, for the first K sites (TW 5.2)."""
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
    label: Flags,
    learned: Flags,
    judged: Flags,
    in_use: tuple[Kind, PrefixRule],
    flow: LearnedFlow,
    thresholds: Sequence[float] = THRESHOLDS,
) -> list[PrefixTrial]:
    """Return trials of prefix rules: the one in use, the paper's, by the flow and by the stock.

    Args:
        trees: The sections of all pages.
        label: Shape (pages): True for pages that a prefix should cover.
        learned: Shape (pages): True for pages that the stock is learned from.
        judged: Shape (pages): True for the other pages, which judge.
        in_use: Kind and numbers of the rule in use.
        flow: The flow, learned from new pages.
        thresholds: Thresholds to try for both kinds; the flow also has one of its own.
    """
    names = trees.names()
    dated = dated_sections(names)

    def trial(kind: Kind, rule: PrefixRule) -> PrefixTrial:
        if kind == "flow":
            evidence = (flow.score, flow.pages, flow.temporal)
            chosen = flow_prefixes(trees, *evidence, rule, names)
        else:
            chosen = news_prefixes(trees, label, rule, learned, dated)
        judged_outcome = outcome(label[judged], trees.covered(chosen)[judged])
        return PrefixTrial(kind, rule, int(chosen.sum()), judged_outcome)

    usual = in_use[1]
    by_flow = [replace(usual, threshold=threshold) for threshold in (flow.worth, *thresholds)]
    grid: list[tuple[Kind, PrefixRule]] = [("flow", rule) for rule in by_flow]
    grid += [("confident", PrefixRule(threshold)) for threshold in thresholds]
    return [
        trial(*in_use),
        trial("paper", PAPER_RULE),
        *(trial(*threshold) for threshold in grid if threshold != in_use),
    ]


def best_sites(trials: Sequence[SiteTrial]) -> SiteTrial:
    """Return the trial with the largest F.

    Of equal ones it is the one in use, then the flow, then the one nearest to equal weights, which
    depend on neither share alone.
    """
    in_use = trials[0]

    def nearness(trial: SiteTrial) -> float:
        return 0.0 if trial.scoring is None else -abs(trial.scoring.page_share - 0.5)

    return max(
        trials, key=lambda trial: (trial.f, trial is in_use, trial.scoring is None, nearness(trial))
    )


def best_prefixes(trials: Sequence[PrefixTrial]) -> PrefixTrial:
    """Return the trial with the largest F among the rule in use and the grid.

    Of equal ones it is the one in use, then one of the flow, then the most careful. The paper's
    rule is only shown beside them.
    """
    in_use = trials[0]
    return max(
        (trial for trial in trials if trial is in_use or trial.kind != "paper"),
        key=lambda trial: (
            trial.outcome.f_measure,
            trial is in_use,
            trial.kind == "flow",
            trial.rule.threshold,
        ),
    )
