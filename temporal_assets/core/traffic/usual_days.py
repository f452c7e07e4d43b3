"""Ranges in which a day's count or share is usual, from those of the days before it.

Here: how far counts and shares vary by chance. Not here: which numbers are checked (`contracts`),
and what a finding means (`quality`).

A count is modelled as negative binomial: Poisson noise, and a spread of its level that the days
before show (over-dispersion). A share is modelled as binomial with such a spread, on the scale of
the arcsine of its root, where noise is the same for all shares. A few days say little about their
spread, so it is shrunk towards what is common among sites. A number is unusual if chance alone goes
that far with a probability of less than `_CHANCE`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, ndtri

Floats = NDArray[np.float64]

LEAST_DAYS: Final = 7
"""Days before that a range needs: fewer show neither a spread nor a weekend."""

_CHANCE: Final = 3e-6
"""Probability of a number beyond one end of its range, were the model right."""

_WEEK_CHANCE: Final = 1e-5
"""Probability of a week's number beyond one end of its range. It is larger than that of a day:
weeks that end on neighbouring days share six days, so their findings are one."""

_WEEKS_CHANCE: Final = 3e-4
"""Probability of a four weeks' number beyond one end of its range: a year has thirteen such spans
that share no day."""

_EMPTY_CHANCE: Final = 1e-5
"""Probability below which an empty day is unusual: an empty day is more likely to be a fault than
other unusual days."""

_COMMON_SPREAD: Final = 0.04
"""Variance of a day's level, relative to its square, as it is common among sites."""

_COMMON_WEEK_SPREAD: Final = 0.015
"""Variance of a week's level, relative to its square, as it is common among sites."""

_CLUMPS: Final = 3.0
"""Variance per count beyond Poisson's: a visitor opens several pages."""

_COMMON_SHARE_SPREAD: Final = 0.004
"""Common spread of a share's odds: it adds as much as the noise of one thing in 250."""

_PRIOR: Final = 7.0
"""Number of days, or weeks, that the common spread counts for."""

_WEEK: Final = 7
_WEEKDAY_ROUNDS: Final = 3
"""Weeks from which on each weekday has a level of its own."""


@dataclass(frozen=True, slots=True)
class Usual:
    """A range of usual numbers; both ends belong to it."""

    low: float
    high: float

    def around(self, other: Usual) -> Usual:
        """Return the smallest range that contains both ranges."""
        return Usual(min(self.low, other.low), max(self.high, other.high))


def usual_count(past: Sequence[float], ages: Sequence[int], factor: float) -> Usual:
    """Return the usual range of a day's count.

    Args:
        past: Counts of earlier days.
        ages: Number of days from each earlier day to this one.
        factor: Counts from expected / factor to expected * factor are always usual.
    """
    counts, weekday = np.asarray(past, np.float64), np.asarray(ages) % _WEEK
    level = max(float(np.median(counts)), counts.mean() / 2, 0.5 / len(counts))
    weekdays = _weekday_factors(counts / level, weekday)
    expected = level * weekdays[0]
    spread = _spread(counts / (level * weekdays[weekday]), level, _COMMON_SPREAD)
    spread *= max(1.0, level / expected)  # of quiet weekdays it may all be noise of counts
    return _around(expected, spread, _CHANCE, factor)


def usual_weeks(past: Sequence[float], weeks: int, factor: float) -> Usual:
    """Return the usual range of a sum over `weeks` weeks.

    Args:
        past: Sums of single earlier weeks.
        weeks: Number of weeks in the sum: 1 or 4.
        factor: Sums from expected / factor to expected * factor are always usual.

    The variance of a sum, relative to its square, falls with the root of the number of weeks, not
    with the number: neighbouring weeks have similar levels.
    """
    counts = np.asarray(past, np.float64)
    level = max(float(counts.mean()), 0.5 / len(counts))
    own = max(0.0, float((counts / level).var(ddof=1)) - 1 / level)
    spread = _shrunk(own, len(counts), _COMMON_WEEK_SPREAD + _CLUMPS / level)
    spread = spread / weeks**0.5 + (spread + 1 / level) / len(counts)
    return _around(weeks * level, spread, _WEEK_CHANCE if weeks == 1 else _WEEKS_CHANCE, factor)


def _around(expected: float, spread: float, chance: float, factor: float) -> Usual:
    """Return the range of chance around an expectation, widened to the factor."""
    noise = count_noise(expected, spread, chance)
    return noise.around(Usual(expected / factor, expected * factor))


def count_noise(expected: float, spread: float | None = None, chance: float = _CHANCE) -> Usual:
    """Return the range in which a count varies by chance around its expectation.

    Args:
        expected: Expected count.
        spread: Variance of the level relative to its square; that of a common site if None.
        chance: Probability of a count beyond each end of the range.
    """
    if spread is None:
        spread = _COMMON_SPREAD + _CLUMPS / max(expected, 0.5)
    size, share = 1 / spread, 1 / (1 + spread * expected)
    low = _first(lambda k: betainc(size, k + 1, share) >= chance, expected)
    high = _first(lambda k: betainc(k + 1, size, 1 - share) < chance, expected)
    return Usual(low, high)


def is_empty_usual(past: Sequence[float]) -> bool:
    """Return True if an empty day is usual after days with counts like these.

    The quieter half of the days counts: it contains the weekends.
    """
    quiet = np.sort(np.asarray(past, np.float64))[: (len(past) + 1) // 2]
    level = (float(quiet.sum()) + 0.5) / len(quiet)
    spread = _COMMON_SPREAD + (_CLUMPS + 1 / len(quiet)) / level
    return bool((1 + spread * level) ** (-1 / spread) >= _EMPTY_CHANCE)


def usual_share(past: Sequence[float], wholes: Sequence[float], whole: float, band: Usual) -> Usual:
    """Return the usual range of a day's share, such as the share of lines that are rejected.

    Args:
        past: Shares of earlier days.
        wholes: Number of things that each earlier share is of.
        whole: Number of things that the share of this day is of.
        band: Range in which a share is always usual.
    """
    shares, sizes = np.asarray(past, np.float64), np.maximum(np.asarray(wholes, np.float64), 1)
    total = float(sizes.sum())
    middle = (float((shares * sizes).sum()) + 0.5) / (total + 1)
    angles = _angle((shares * sizes + 0.25) / (sizes + 0.5))
    weights = 1 / (_COMMON_SHARE_SPREAD + 1 / sizes)
    centre = float((angles * weights).sum() / weights.sum())
    excess = 4 * float((weights * (angles - centre) ** 2).sum() / weights.sum())
    own = max(0.0, excess - float((weights / sizes).sum() / weights.sum()))
    spread = _shrunk(own, len(shares), _COMMON_SHARE_SPREAD)
    spread += (spread + float((1 / sizes).mean())) / len(shares)
    return share_noise(middle, whole, spread).around(Usual(max(0.0, band.low), min(1.0, band.high)))


def share_noise(expected: float, whole: float, spread: float = _COMMON_SHARE_SPREAD) -> Usual:
    """Return the range in which a share of `whole` things varies by chance."""
    whole = max(whole, 1.0)
    reach = -float(ndtri(_CHANCE)) * 0.5 * np.sqrt(spread + 1 / whole)
    angle = float(_angle(np.asarray(expected)))
    low, high = max(0.0, angle - reach), min(np.pi / 2, angle + reach)
    return Usual(
        max(0.0, float(np.sin(low) ** 2) - 0.5 / whole),
        min(1.0, float(np.sin(high) ** 2) + 0.5 / whole),
    )


def _first(holds: Callable[[int], bool], near: float) -> int:
    """Return the first whole number from which on a condition holds, searching near `near`."""
    below, above = -1, int(near) + 1
    while not holds(above):
        below, above = above, 2 * above
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above


def _weekday_factors(relative: Floats, weekday: NDArray[np.int_]) -> Floats:
    """Return the level of each weekday relative to all, as far as it is more than noise."""
    factors = np.ones(_WEEK)
    if len(relative) < _WEEK * _WEEKDAY_ROUNDS:
        return factors
    days = np.bincount(weekday, minlength=_WEEK)
    if days.min() < 2:
        return factors
    means = np.bincount(weekday, relative, _WEEK) / days
    within = float(((relative - means[weekday]) ** 2).sum()) / (len(relative) - _WEEK)
    between = max(0.0, float(means.var(ddof=1)) - within / float(days.mean()))
    trust = between / (between + within / days) if between else np.zeros(_WEEK)
    return np.maximum(1 + trust * (means - 1), 0.02)


def _spread(relative: Floats, level: float, common: float) -> float:
    """Return the variance of the next day's level, relative to its square, including count noise.

    The variance that the days show is shrunk towards the common variance. The error of the level
    itself, which is estimated from the same days, is added.
    """
    days = len(relative)
    own = max(0.0, float(relative.var(ddof=1)) - 1 / level)
    spread = _shrunk(own, days, common + _CLUMPS / level)
    return spread + (spread + 1 / level) / days


def _shrunk(own: float, days: int, common: float) -> float:
    """Return the mean of a site's own spread and the common one, which counts for `_PRIOR` days."""
    return (days * own + _PRIOR * common) / (days + _PRIOR)


def _angle(share: Floats) -> Floats:
    """Return the arcsine of the root of a share, whose noise does not depend on the share."""
    return np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0)))
