"""PageRank on a mirror, against which BB 5.3 compares.

Here: the scores. Not here: crawling by them (`crawl_simulation`).

A page passes the damped part of its score in equal parts to its links; the rest, and the score of
pages without links, goes to all pages alike. BB does not give its damping: 0.85 is what everybody
uses.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from temporal_assets.core.link_graph import LinkGraph, reverse
from temporal_assets.core.texts import Flags, Floats, Int32s, Int64s

DAMPING: Final = 0.85
TOLERANCE: Final = 1e-6
"""Sum of all movements in a round, of scores that sum to one: the order is settled long before."""
ROUNDS: Final = 200
"""0.85**200 is 1e-14; nothing needs more."""


def page_rank(
    graph: LinkGraph, damping: float = DAMPING, tolerance: float = TOLERANCE, rounds: int = ROUNDS
) -> Floats:
    """One score a page; they sum to one."""
    if not len(graph):
        return np.zeros(0)
    back = reverse(graph)
    inverse = 1.0 / np.maximum(np.diff(graph.first), 1)
    has_links = np.diff(graph.first) > 0
    scores: Floats = _scores(
        back.first, back.target, inverse, has_links, damping, tolerance, rounds
    )
    return scores


@njit(nogil=True, cache=True)
def _scores(
    first: Int64s,
    source: Int32s,
    inverse: Floats,
    has_links: Flags,
    damping: float,
    tolerance: float,
    rounds: int,
) -> Floats:
    """Gauss-Seidel on the links into each page: a round uses what it has found so far.

    It needs about half the rounds of the power method. `sent`: what each link of a page passes on.
    """
    pages = len(inverse)
    score = np.full(pages, 1.0 / pages)
    sent = score * inverse
    for _ in range(rounds):
        idle = 0.0
        for page in range(pages):
            if not has_links[page]:
                idle += score[page]
        base = (1.0 - damping + damping * idle) / pages
        movement = 0.0
        for page in range(pages):
            inward = 0.0
            for link in range(first[page], first[page + 1]):
                inward += sent[source[link]]
            value = base + damping * inward
            movement += abs(value - score[page])
            score[page] = value
            sent[page] = value * inverse[page]
        total = score.sum()
        score /= total
        for page in range(pages):
            sent[page] = score[page] * inverse[page]
        if movement < tolerance:
            break
    return score
