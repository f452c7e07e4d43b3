"""Comparison of answers: measures with 95 % intervals, and who is ahead.

Here: the paired bootstrap and the tables that are printed. Not here: the answers.

Every answer to the same question is judged on the same pages. The bootstrap draws the independent
units (a site, or what was born on a site on a day, in all windows that it is judged in) with
replacement, the same draws for all answers; the interval is that of the middle 95 % of the draws.
Of few units the scatter is hardly known, so no interval is narrower than that of single pages,
drawn as if one said nothing of another; by these alone there is a second mark. Ours is compared
with the best baseline, chosen on the very data that is reported, which is to our disadvantage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]

ROUNDS: Final = 400
LEAST: Final = 20
"""Pages below which nothing is said: the bootstrap of a handful promises too much."""

_SEED: Final = 1
_TAILS: Final = (0.025, 0.975)
_CERTAIN: Final = 1e-6
_BINS: Final = 10
_AT_ONCE: Final = 1 << 23
"""Numbers in memory at once."""

Measure = Callable[[Floats], Floats]
"""Function from sums of columns (draws x columns) to a number a draw."""


@dataclass(frozen=True, slots=True)
class Value:
    """Measure of an answer."""

    value: float
    draws: Floats
    """Ways of drawing x draws, or the draws of the only way: units, then single pages."""

    @property
    def interval(self) -> tuple[float, float]:
        """The middle 95 % of the draws of units; never less than where single pages are drawn."""
        ends = self._middle(0), self._middle(-1)
        return min(low for low, _ in ends), max(high for _, high in ends)

    @property
    def interval_of_pages(self) -> tuple[float, float]:
        """The same where single pages are drawn."""
        return self._middle(-1)

    def _middle(self, way: int) -> tuple[float, float]:
        low, high = np.nanquantile(np.atleast_2d(self.draws)[way], _TAILS)
        return float(low), float(high)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.3f} [{low:.2f}, {high:.2f}]"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Ours beside the best baseline."""

    baseline: str
    difference: Value
    higher_is_better: bool

    @property
    def mark(self) -> str:
        """`win` or `loss` where the interval of the difference does not hold 0, else `level`."""
        return self._mark(*self.difference.interval)

    @property
    def mark_of_pages(self) -> str:
        """The same where single pages are drawn."""
        return self._mark(*self.difference.interval_of_pages)

    def _mark(self, low: float, high: float) -> str:
        if low <= 0 <= high or np.isnan(low):
            return "level"
        return "win" if (low > 0) == self.higher_is_better else "**loss**"

    def __str__(self) -> str:
        low, high = self.difference.interval
        return f"{self.difference.value:+.3f} [{low:+.2f}, {high:+.2f}] | {self.baseline}"


class Draws:
    """Number of times each row is drawn in each round; rows of a unit are drawn together."""

    def __init__(self, units: ArrayLike, pages: ArrayLike | None = None) -> None:
        """Draw units, and single pages as well where they are given: each is of one unit."""
        unit = _numbered(units)
        self.unit = unit if pages is None else _numbered(pages)
        self.units = int(self.unit.max(initial=-1)) + 1
        self.times = _drawn(int(unit.max(initial=-1)) + 1)
        if pages is not None:
            of_page = np.zeros(self.units, np.int64)
            of_page[self.unit] = unit
            self.times = np.concatenate([self.times[:, of_page], _drawn(self.units)])

    def summed(self, columns: Sequence[ArrayLike], measure: Measure) -> Value:
        """Return a measure of sums of columns (one number a row)."""
        table = np.stack([np.asarray(column, np.float64) for column in columns], axis=1)
        by_unit = np.zeros((self.units, table.shape[1]))
        np.add.at(by_unit, self.unit, table)
        value = float(measure(by_unit.sum(axis=0)[None])[0])
        return Value(value, measure(self.times @ by_unit).reshape(-1, ROUNDS))

    def share(self, part: ArrayLike, whole: ArrayLike | None = None) -> Value:
        """Return the sum of one column as a share of that of another (of the rows)."""
        of = np.ones(len(self.unit)) if whole is None else whole
        return self.summed([part, of], _share)

    def f_measure(self, listed: ArrayLike, wanted: ArrayLike) -> Value:
        """Return the harmonic mean of precision and recall."""
        both = np.asarray(listed, np.bool_) & np.asarray(wanted, np.bool_)
        return self.summed([2 * both, np.asarray(listed) * 1 + np.asarray(wanted) * 1], _share)

    def auc(self, truth: ArrayLike, score: ArrayLike) -> Value:
        """Return the probability that a true row has a higher score than a false one."""
        t, s = np.asarray(truth, np.bool_), np.asarray(score, np.float64)
        order = np.argsort(s, kind="stable")
        _, start = np.unique(s[order], return_index=True)
        t, unit = t[order], self.unit[order]

        def measured(times: Floats) -> Floats:
            weight = times[:, unit]
            false = np.add.reduceat(weight * ~t, start, axis=1)
            true = np.add.reduceat(weight * t, start, axis=1)
            below = np.cumsum(false, axis=1) - false / 2
            pairs = true.sum(axis=1) * false.sum(axis=1)
            wins = (true * below).sum(axis=1)
            unknown: Floats = np.full(len(times), np.nan)
            return np.asarray(np.divide(wins, pairs, out=unknown, where=pairs > 0))

        step = max(1, _AT_ONCE // max(len(t), 1))
        parts = [measured(self.times[i : i + step]) for i in range(0, len(self.times), step)]
        draws = np.concatenate(parts).reshape(-1, ROUNDS)
        return Value(float(measured(np.ones((1, self.units)))[0]), draws)

    def median(self, values: ArrayLike) -> Value:
        """Return the median."""
        v = np.asarray(values, np.float64)
        order = np.argsort(v)
        upto = np.cumsum(self.times[:, self.unit[order]], axis=1)
        middle = (upto < upto[:, -1:] / 2).sum(axis=1)
        draws = v[order][np.minimum(middle, len(v) - 1)].reshape(-1, ROUNDS)
        return Value(float(np.median(v)), draws)

    def brier(self, truth: ArrayLike, probability: ArrayLike) -> Value:
        """Return the mean squared distance of probabilities from what happened."""
        return self.share((np.asarray(probability) - np.asarray(truth, np.float64)) ** 2)

    def log_loss(self, truth: ArrayLike, probability: ArrayLike) -> Value:
        """Return the mean surprise in nats."""
        p = np.clip(np.asarray(probability, np.float64), _CERTAIN, 1 - _CERTAIN)
        return self.share(-np.where(np.asarray(truth, np.bool_), np.log(p), np.log1p(-p)))

    def calibration(self, truth: ArrayLike, probability: ArrayLike) -> Value:
        """Return the mean distance of observed from promised shares, in ten bins."""
        t, p = np.asarray(truth, np.float64), np.asarray(probability, np.float64)
        which = np.minimum((p * _BINS).astype(np.int64), _BINS - 1)
        inside = [which == part for part in range(_BINS)]
        return self.summed(
            [*((t - p) * is_inside for is_inside in inside), np.ones(len(t))], _distance
        )


def _numbered(names: ArrayLike) -> Int64s:
    return np.asarray(np.unique(np.asarray(names), return_inverse=True)[1], np.int64)


def _drawn(units: int) -> Floats:
    """How often each unit is drawn, rounds x units."""
    if not units:
        return np.zeros((ROUNDS, 0))
    share = np.full(units, 1 / units)
    return np.random.default_rng(_SEED).multinomial(units, share, ROUNDS).astype(np.float64)


def _share(sums: Floats) -> Floats:
    zeros: Floats = np.zeros(len(sums))
    return np.divide(sums[:, 0], sums[:, 1], out=zeros, where=sums[:, 1] > 0)


def _distance(sums: Floats) -> Floats:
    parts = np.abs(sums[:, :-1]).sum(axis=1)
    return np.asarray(parts / np.maximum(sums[:, -1], 1e-12))


def verdict(
    ours: Value, baselines: Mapping[str, Value], *, higher_is_better: bool = True
) -> Verdict:
    """Compare ours with the best of the baselines."""
    measured = {
        name: baseline for name, baseline in baselines.items() if not np.isnan(baseline.value)
    }
    sign = 1 if higher_is_better else -1
    name = max(measured, key=lambda baseline: sign * measured[baseline].value)
    best = measured[name]
    difference = Value(ours.value - best.value, ours.draws - best.draws)
    return Verdict(name, difference, higher_is_better)


class Table:
    """A Markdown table of answers, one row a question; columns are the answers."""

    def __init__(self, title: str, head: Sequence[str], *, higher_is_better: bool = True) -> None:
        self.title, self.head, self.higher = title, list(head), higher_is_better
        self.rows: list[tuple[list[str], Value, dict[str, Value]]] = []

    def add(self, cells: Sequence[Any], ours: Value, baselines: Mapping[str, Value]) -> None:
        """Add a row."""
        self.rows.append(([str(cell) for cell in cells], ours, dict(baselines)))

    @property
    def verdicts(self) -> list[Verdict]:
        """Ours beside the best baseline, for each row."""
        return [verdict(ours, rest, higher_is_better=self.higher) for _, ours, rest in self.rows]

    def text(self) -> str:
        """Return the table."""
        names = list(dict.fromkeys(name for _, _, rest in self.rows for name in rest))
        head = [*self.head, "ours [95 %]", *names, "difference [95 %]", "best baseline"]
        head += ["by pages", "mark"]
        lines = [f"### {self.title}", "", _row(head), _row(["---"] * len(head))]
        for (cells, ours, rest), against in zip(self.rows, self.verdicts, strict=True):
            values = [f"{rest[name].value:.3f}" if name in rest else "" for name in names]
            marks = [against.mark_of_pages, against.mark]
            lines.append(_row([*cells, str(ours), *values, str(against), *marks]))
        return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
