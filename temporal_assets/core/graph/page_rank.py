"""PageRank on a mirror, against which BB 5.3 compares.

Here: the scores. Not here: crawling by them (`crawl_simulation`).

A page passes the damped part of its score in equal parts to its links; the rest, and the score of
pages without links, goes to all pages alike. BB does not give its damping: 0.85 is what everybody
uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.graph.link_graph import LinkGraph, reverse
from temporal_assets.core.numerics.arrays import Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop

DAMPING: Final = 0.85
TOLERANCE: Final = 1e-12
"""Sum of all movements in a round, of scores that sum to one. What is left is far below `_DIGITS`,
so that pages whose scores are equal stay equal and are crawled in the order they are seen."""
ROUNDS: Final = 400
"""0.85**400 is 1e-28; nothing needs more."""
_DIGITS: Final = 9
"""Decimals of a score that count, in units of the average score."""


@dataclass(frozen=True, slots=True)
class PageRank:
    """Scores and how they were found."""

    scores: Floats
    """Scores, one a page; they sum to one."""
    rounds: int
    movement: float
    """Sum of all changes of scores in the last round."""
    is_converged: bool
    """The movement fell below what was asked for."""


def page_rank(
    graph: LinkGraph, damping: float = DAMPING, tolerance: float = TOLERANCE, rounds: int = ROUNDS
) -> Floats:
    """Return one PageRank score per page; they sum to one."""
    return page_rank_run(graph, damping, tolerance, rounds).scores


def page_rank_run(
    graph: LinkGraph, damping: float = DAMPING, tolerance: float = TOLERANCE, rounds: int = ROUNDS
) -> PageRank:
    """Return the scores, and whether they have converged."""
    if not len(graph):
        return PageRank(np.zeros(0), 0, 0.0, True)
    links = np.diff(graph.first)
    idle = np.flatnonzero(links == 0).astype(np.int32)
    inverse = 1.0 / np.maximum(links, 1)
    back = reverse(graph)
    scores, used, movement = _scores(
        back.first, back.target, inverse, idle, damping, tolerance, rounds
    )
    rounded = np.round(scores * len(graph), _DIGITS) / len(graph)
    return PageRank(rounded, int(used), float(movement), bool(movement < tolerance))


@loop
def _scores(
    first: Int64s,
    source: Int32s,
    inverse: Floats,
    idle: Int32s,
    damping: float,
    tolerance: float,
    rounds: int,
) -> tuple[Floats, int, float]:
    """Return scores, rounds and last movement of a Gauss-Seidel iteration over the links.

    A round uses the values it has computed so far, and so needs about half the rounds of the power
    method. `sent` is what each link of a page passes on.
    """
    pages = len(inverse)
    score = np.full(pages, 1.0 / pages)
    sent = score * inverse
    movement = np.inf
    used = 0
    while used < rounds and movement >= tolerance:
        lost = 0.0
        for page in idle:
            lost += score[page]
        base = (1.0 - damping + damping * lost) / pages
        movement = 0.0
        total = 0.0
        for page in range(pages):
            inward = 0.0
            for link in range(first[page], first[page + 1]):
                inward += sent[source[link]]
            value = base + damping * inward
            movement += abs(value - score[page])
            total += value
            score[page] = value
            sent[page] = value * inverse[page]
        used += 1
        for page in range(pages):
            score[page] /= total
            sent[page] = score[page] * inverse[page]
    return score, used, movement
