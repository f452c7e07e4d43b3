"""Intervals of precision, recall and F: a bootstrap by site.

Here: resampling counts of sites. Not here: what is counted (`list_judgement`).

Pages of one site stand or fall together, so it is sites that are drawn again, with replacement,
as many as there are. All lists are judged on the same draws; the difference between two lists
moves far less than each of them, and has an interval of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.arrays import Floats, Int64s

ROUNDS: Final = 1000
"""Draws: enough for two digits of the ends of an interval."""

_SEED: Final = 1
_AT_ONCE: Final = 1 << 22
"""Weights in memory at a time."""


@dataclass(frozen=True, slots=True)
class SiteCounts:
    """Numbers of pages of each site that decide the measures of a list."""

    found: Int64s
    """Wanted pages that the list covers."""
    pages: Int64s
    """Pages that the list covers."""
    wanted: Int64s
    """Wanted pages, covered or not."""


@dataclass(frozen=True, slots=True)
class Draws:
    """Measures of a list in every draw, shape (rounds)."""

    precision: Floats
    recall: Floats
    f: Floats


def draw(counts: SiteCounts, rounds: int = ROUNDS) -> Draws:
    """Return the measures of a list in `rounds` draws of the sites.

    The draws are the same for all lists over the same number of sites.
    """
    table = np.stack([counts.found, counts.pages, counts.wanted], axis=1).astype(np.float64)
    sites = len(table)
    dice = np.random.default_rng(_SEED)
    sums = np.zeros((rounds, 3))
    step = max(1, _AT_ONCE // max(sites, 1))
    for first in range(0, rounds if sites else 0, step):
        some = min(step, rounds - first)
        weights = dice.multinomial(sites, np.full(sites, 1 / sites), some)
        sums[first : first + some] = weights @ table
    found_right, pages, wanted = sums.T
    return Draws(
        _ratio(found_right, pages),
        _ratio(found_right, wanted),
        _ratio(2 * found_right, pages + wanted),
    )


def interval(values: Floats, confidence: float = 0.95) -> tuple[float, float]:
    """Return the bounds of the middle part of the draws, by `confidence`."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return `part / whole`, or 0 if `whole` is 0; F = 2 found / (pages + wanted)."""
    zeros: NDArray[np.float64] = np.zeros(len(whole))
    return np.divide(part, whole, out=zeros, where=whole > 0)
