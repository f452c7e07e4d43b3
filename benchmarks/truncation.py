"""A comparison of answers that label pages when the window cuts their lives (TW 5.1).

Here: labels by raw share, by concentration and by every variant of the curve, against the truth
of a population, by which edge cuts. Not here: the population (`synthetic`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.synthetic import Population
from temporal_assets.core.curves.curves import Method, Options, fit
from temporal_assets.core.curves.weekdays import weekday_factors
from temporal_assets.core.labels.concentration import concentration
from temporal_assets.core.labels.labels import PAPERS, Thresholds
from temporal_assets.core.numerics.metrics import Outcome, outcome

Views = NDArray[np.uint32]
Labeller = Callable[[Views], NDArray[np.bool_]]

_WHOLE: Final = 0.9
"""Share of its interest inside the window that makes a life whole."""
METHODS: Final[tuple[Method, ...]] = ("least_squares", "likelihood")


@dataclass(frozen=True, slots=True)
class Row:
    """Row of the table: an answer on one part of the population."""

    answer: str
    part: str
    """`all`, `whole`, `cut left` (born before the window) or `cut right`."""
    outcome: Outcome


def answers(thresholds: Thresholds = PAPERS) -> dict[str, Labeller]:
    """Every way to label pages, by name."""
    labellers: dict[str, Labeller] = {
        "raw share": lambda views: (
            concentration(views, round(thresholds.n)).first_share > thresholds.q
        ),
        "concentration": lambda views: concentration(views, thresholds.m).value > thresholds.p,
    }
    for method in METHODS:
        options, name = Options(method=method, n=thresholds.n), method.replace("_", " ")
        labellers[name] = _by_curve(options, thresholds.q, weekdays=False)
        labellers[f"{name} - weekdays"] = _by_curve(options, thresholds.q, weekdays=True)
    return labellers


def _by_curve(options: Options, q: float, *, weekdays: bool) -> Labeller:
    def label(views: Views) -> NDArray[np.bool_]:
        table: NDArray[np.float64] = views.astype(np.float64)
        if weekdays:
            table = without_weekdays(table, weekday_factors(table.sum(axis=0), 0), 0)
        result: NDArray[np.bool_] = fit(table, options).is_above(q)
        return result

    return label


def compare(population: Population, thresholds: Thresholds = PAPERS) -> list[Row]:
    """Score every answer on every part. The truth is the known curve's Phi(n) > q."""
    truth = population.accumulated(thresholds.n) > thresholds.q
    rows = []
    for name, labeller in answers(thresholds).items():
        label = labeller(population.views)
        for part, member in _parts(population):
            rows.append(Row(name, part, outcome(truth[member], label[member])))
    return rows


def _parts(population: Population) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    left = population.birth < 0
    whole = ~left & (population.inside >= _WHOLE)
    yield "all", np.ones(len(left), np.bool_)
    yield "whole", whole
    yield "cut left", left
    yield "cut right", ~left & ~whole


def without_weekdays(
    views: NDArray[np.float64], factors: NDArray[np.float64], first_weekday: int
) -> NDArray[np.float64]:
    """Views (pages x days) divided by their weekday's factor."""
    table = np.asarray(views, np.float64)
    weekday = (first_weekday + np.arange(table.shape[1])) % 7
    result: NDArray[np.float64] = table / np.asarray(factors, np.float64)[weekday]
    return result
