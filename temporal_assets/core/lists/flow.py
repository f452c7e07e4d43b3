"""Expected share of temporal pages among a section's new ones, judged by its flow.

Here: shares of the flow shrunk from each section towards the sections above it and towards all
sites, and the share from which a section is worth a place in a list. Not here: which pages are
the flow (`sql/lists/page_flow.sql`), and the walk over the tree (`prefix_tree`).

A crawler meets pages that are born now. The flow of a section are the pages born in the observed
part of the window; its stock are all reliable pages, those included that were there before. Where a
section has little flow its share is drawn towards what is known otherwise (empirical Bayes):

    share = (k + w K + s above) / (n + w N + s)

n and k are pages and temporal pages of the flow, N and K those of the older stock, `above` is the
share of the section above, or of everything for a root. The weights w and s are those under which
the flow is most probable, each section predicted from the others: old pages count for as much as
they have told about new ones. Where the whole flow is small, that cannot be learned, and old pages
count for as much as they must: for all of it where there is no flow (`stock_weight`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, ndtri

from temporal_assets.core.numerics.arrays import Floats, Int32s
from temporal_assets.core.numerics.compiled import loop

_STRENGTHS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_USUAL: Final = 4.0
"""The strength that is likely before any section is seen: a few sections do not say much of it.
With 1 and with 16 every list has the same F, to three digits, on `mix_a`, `arrivals_summer` and
`bbc_most_read_3h_spring`, sets that are not reported: their sections have flow of their own."""

_STOCK_WEIGHTS: Final = (0.01, 0.03, 0.1, 0.3, 1.0)

FEW_PAGES: Final = 10.0
"""Pages of a flow that is trusted as much as all of the stock together. With 3 and with 30 every
list has the same F, to three digits, on the sets named above."""

LEAST_WORTH: Final = 0.05
"""Share of temporal pages below which nothing is worth a place, whatever F says: where one page in
two hundred is temporal, F is largest for a list of everything, and a crawler would hurry for it."""

_TINY: Final = 1e-300

BASES: Final = ("flow", "stock", "above", "everywhere", "nothing")
"""Evidence that weighs most in a share: `FlowShares.basis` holds places in this list."""

FLOW, STOCK, ABOVE, EVERYWHERE, NOTHING = range(len(BASES))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Pages of sections, by kind; arrays of one length."""

    flow: Floats
    flow_temporal: Floats
    """Expected temporal pages of the flow: young pages count with their probability."""
    stock: Floats
    """Reliable pages that are not of the flow."""
    stock_temporal: Floats

    def __len__(self) -> int:
        return len(self.flow)


@dataclass(frozen=True, slots=True)
class FlowPrior:
    """Strength with which shares are drawn towards what is known otherwise."""

    everywhere: float
    """Share of temporal pages in all sections; NaN where there is nothing to learn from."""
    root_strength: float = 4.0
    """Pages that the share of everything counts for at a root."""
    strength: float = 4.0
    """Pages that the share of the section above counts for."""
    stock_weight: float = 0.0
    """Pages of the flow that one older page counts for."""


@dataclass(frozen=True, slots=True)
class FlowShares:
    """Shares of temporal pages among new ones, one row per section."""

    score: Floats
    """Expected share of temporal pages among its new ones."""
    bound: Floats
    """Lower bound of `score`."""
    basis: NDArray[np.int8]


def stock_weight(flow_pages: float, old_pages: float) -> float:
    """Return the least weight of an old page in units of flow pages, given the numbers of both.

    The weight is 1 without flow. Where flow and stock are large all old pages together count for
    few.
    """
    return FEW_PAGES**2 / (FEW_PAGES**2 + flow_pages * max(old_pages, FEW_PAGES))


def fit_prior(roots: Evidence, sections: Evidence, above: Evidence, total: Evidence) -> FlowPrior:
    """Return the prior under which the flow of every section is most probable.

    Args:
        roots: Evidence of roots, of all or of a sample.
        sections: Evidence of sections beneath a root, of all or of a sample.
        above: Evidence of the section above each of `sections`, all beneath it included.
        total: Evidence of all roots; one row.
    """
    flow, stock = float(total.flow.sum()), float(total.stock.sum())
    if flow + stock == 0:
        return FlowPrior(float("nan"))
    least = stock_weight(flow, stock)
    every, every_temporal = (
        flow + least * stock,
        float(total.flow_temporal.sum() + least * total.stock_temporal.sum()),
    )
    everywhere = (every_temporal + 0.5) / (every + 1)
    rest = np.maximum(every - roots.flow - least * roots.stock, 0.0)
    rest_temporal = every_temporal - roots.flow_temporal - least * roots.stock_temporal
    of_roots = (np.clip(rest_temporal, 0.0, rest) + everywhere) / (rest + 1)
    # The section above, without the pages of the section that it predicts.
    others = np.maximum(above.flow - sections.flow, 0.0)
    others_temporal = np.clip(above.flow_temporal - sections.flow_temporal, 0.0, others)
    of_sections = (others_temporal + everywhere) / (others + 1)
    best: tuple[float, FlowPrior] | None = None
    for weight in (least, *(candidate for candidate in _STOCK_WEIGHTS if candidate > least)):
        likelihood, root_strength = _most_likely(roots, of_roots, weight)
        beneath, strength = _most_likely(sections, of_sections, weight)
        prior = FlowPrior(everywhere, root_strength, strength, weight)
        if best is None or likelihood + beneath > best[0]:
            best = (likelihood + beneath, prior)
    return best[1] if best else FlowPrior(everywhere)


def _most_likely(evidence: Evidence, centre: Floats, weight: float) -> tuple[float, float]:
    """Return the maximum beta-binomial likelihood over all strengths, and its strength."""
    if not len(evidence):
        return 0.0, _STRENGTHS[2]
    n, k = evidence.flow, evidence.flow_temporal
    tried: list[tuple[float, float]] = []
    for strength in _STRENGTHS:
        a = weight * evidence.stock_temporal + strength * centre
        b = weight * (evidence.stock - evidence.stock_temporal) + strength * (1 - centre)
        likelihood = float(np.sum(betaln(k + a, n - k + b) - betaln(a, b)))
        tried.append((likelihood - np.log(strength / _USUAL) ** 2 / 2, strength))
    return max(tried)


def flow_shares(
    parent: Int32s, evidence: Evidence, prior: FlowPrior, confidence: float
) -> FlowShares:
    """Return the shrunk share of each section.

    Args:
        parent: The section above each, -1 for a root; parents come before their children.
        evidence: One row a section, with all that is beneath it.
        prior: How far to shrink (`fit_prior`).
        confidence: Of the lower bound.
    """
    if np.isnan(prior.everywhere):
        nothing = np.zeros(len(parent))
        return FlowShares(nothing, nothing, np.full(len(parent), NOTHING, np.int8))
    score, weight, basis = _shrink(
        parent,
        *(evidence.flow, evidence.flow_temporal, evidence.stock, evidence.stock_temporal),
        *(prior.everywhere, prior.root_strength, prior.strength, prior.stock_weight),
    )
    z = float(ndtri(confidence))
    # A normal bound of the Beta distribution that the counts and the prior make.
    reach = z * np.sqrt(score * (1 - score) / (weight + 1))
    return FlowShares(score, np.clip(score - reach, 0.0, score), basis)


@loop
def _shrink(
    parent: Int32s,
    flow: Floats,
    flow_temporal: Floats,
    stock: Floats,
    stock_temporal: Floats,
    everywhere: float,
    root_strength: float,
    strength: float,
    stock_weight: float,
) -> tuple[Floats, Floats, NDArray[np.int8]]:
    """Return score, weight and basis of each section; parents precede their children."""
    count = len(parent)
    score, weight = np.empty(count), np.empty(count)
    basis = np.empty(count, np.int8)
    for section in range(count):
        above = parent[section]
        drawn = root_strength if above < 0 else strength
        centre = everywhere if above < 0 else score[above]
        old = stock_weight * stock[section]
        weight[section] = flow[section] + old + drawn
        temporal = flow_temporal[section] + stock_weight * stock_temporal[section]
        score[section] = min(max((temporal + drawn * centre) / weight[section], 0.0), 1.0)
        if flow[section] >= max(old, drawn):
            basis[section] = FLOW
        elif old >= drawn:
            basis[section] = STOCK
        elif above < 0:
            basis[section] = EVERYWHERE
        else:
            basis[section] = ABOVE
    return score, weight, basis


def worth(share: Floats, pages: Floats) -> float:
    """Return the share from which a section belongs into the list with the largest F.

    F is largest where everything is taken whose share is above half of the best F (Lipton, Elkan,
    Naryanaswamy, Optimal thresholding of classifiers to maximize F1, 2014). The best F is the one
    to be expected of these pages, were their shares true. It is `LEAST_WORTH` at least.

    Args:
        share: Expected share of temporal pages of some parts that do not overlap.
        pages: Pages of each part.
    """
    order = np.argsort(-share, kind="stable")
    temporal = np.cumsum((share * pages)[order])
    taken = np.cumsum(pages[order])
    if not len(taken) or taken[-1] == 0:
        return LEAST_WORTH
    # F = 2 found / (taken + wanted): half of it is what to compare with.
    best = float(np.max(temporal / np.maximum(taken + temporal[-1], _TINY)))
    return max(best, LEAST_WORTH)
