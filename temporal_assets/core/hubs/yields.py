"""Expected new temporal pages of a hub for tomorrow, from what it led to day by day.

Here: the half-life of evidence, learned from the window itself, and the number to expect of each
hub with its interval. Not here: links (`windows.hub_links`), and which hubs are listed.

A link counts on the day on which somebody first followed it, for the probability that its page is
temporal, and only if the page was born within the window. On the evening of day t, hub i has the
decayed count

    A_i(t) = sum over days s <= t of 2^(-(t - s) / h) * new_i(s)

and as many days of evidence E(t), the sum of the same weights over the days whose births are known.
Tomorrow's number is expected to be

    m_i = s * (a + A_i) / E

`a` is what a hub without any evidence has (shrinkage: the prior of a Gamma-Poisson model), and `s`
the level of all hubs. Half-life and `a` are those under which each of the last days was most
probable given the days before it (Poisson likelihood; the level of these days has a closed form).
Numbers of one day scatter more than Poisson, by the factor f; the expected number itself is then
uncertain like a gamma variable of mean m and variance (f - 1) m, at least that of the counts
behind it.

The order of hubs wants evidence that decays; their level does not, because evidence of few days
knows few weekdays: on a Friday it expects a week of Fridays. So s is such that all hubs together
are expected to lead to the mean of the last seven days, times the share that hubs known before had
of the new pages of the last days (links of articles dry up, and other hubs follow them).

Nothing of this was tuned: sites whose front page leads to everything learn long half-lives, and a
portal whose articles lead to each other learns one of hours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.special import gammaincinv

from temporal_assets.core.numerics.arrays import Flags, Floats, Int64s
from temporal_assets.core.numerics.compiled import loop

UNIT: Final = 1_000_000
"""Pages and weights of days are counted in millionths, so that no sum depends on an order."""

HALF_LIVES: Final = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 7.0, 14.0, 28.0)
"""Days among which the window chooses; the first is hardly more than yesterday."""

_PRIORS: Final = (0.01, 0.03, 0.1, 0.3, 1.0)
_FIRST_PRIOR: Final = 0.1
"""Prior `a` under which the half-lives are compared."""

_OUTCOMES: Final = 14
"""Last days of the window that are predicted from the days before them."""

_LEAST_DAYS: Final = 3
"""Days with known births before anything can be learned: one to predict, two to predict from."""

_UNLEARNED_DAYS: Final = 1.0
"""Half-life where nothing can be learned: chosen on the first four days of a portal's clicks, where
0.5 and 1 were best at every length of the list, at days of 4, 6 and 8 hours (docs/hubs.md)."""

_WEEK: Final = 7
"""Days that the level of all hubs is the mean of, so that it depends on no weekday."""

_CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class NewLinks:
    """New links by hub and day; those of a hub are together, in the order of days."""

    hub: Int64s
    day: Int64s
    """Day of the window, from 0."""
    new: Int64s
    """Expected temporal pages among them, in millionths."""


@dataclass(frozen=True, slots=True)
class HubYield:
    """Model that turns decayed counts of new links into expected new pages a day."""

    half_life: float
    """Days after which evidence counts half."""
    prior: float
    """New pages that every hub has a priori (`a`)."""
    level: float
    """Factor on all expected numbers (`s`)."""
    scatter: float
    """`f`: variance of a day's number by its mean, at least 1."""
    weights: Int64s
    """Weight of each day of the window, in millionths."""
    evidence_days: float
    """`E` at the end of the window."""
    outcomes: int
    """Number of days that the model was fitted to; 0 if the half-life is a default."""

    def expected(self, counts: Int64s) -> Floats:
        """Return the expected new temporal pages a day, from decayed counts in `UNIT` squared."""
        pages = np.asarray(counts, np.float64) / UNIT**2
        return np.asarray(self.level * (self.prior + pages) / self.evidence_days)

    def interval(self, expected: Floats) -> tuple[Floats, Floats]:
        """Return the bounds of the expected numbers with 95 % probability."""
        scale = max(self.scatter - 1.0, self.level / self.evidence_days)
        tail = (1 - _CONFIDENCE) / 2
        low, high = (gammaincinv(expected / scale, p) * scale for p in (tail, 1 - tail))
        # Of a hub that hardly anything is expected of, nearly all chance lies below the mean.
        return np.asarray(low), np.asarray(np.maximum(high, expected))


def known_births(observed: Flags) -> Flags:
    """Return flags of the days whose new pages count as new: all observed days but the first.

    After a missing day they may be a day older. Left out, hubs would have no evidence of the day
    that says most where yesterday follows a gap.
    """
    there = np.asarray(observed, np.bool_)
    has_birth = there & (np.cumsum(there) > 1)
    return has_birth if has_birth.any() else there


def day_weights(days: int, half_life: float) -> Int64s:
    """Return the weight of a link first followed on each day of a window, in millionths."""
    return np.asarray(np.rint(np.exp2(-np.arange(days)[::-1] / half_life) * UNIT), np.int64)


def learn(links: NewLinks, observed: Flags) -> HubYield:
    """Return the model under which the last days were most probable given the days before.

    Args:
        links: New links of all hubs, or of a sample of hubs.
        observed: For each day of the window, True if it is published.
    """
    has_birth = known_births(observed)
    outcomes = _outcomes(has_birth) if len(links.hub) else np.zeros(0, np.int64)
    if not len(outcomes):
        return _model(has_birth, _UNLEARNED_DAYS, _FIRST_PRIOR, 1.0, 1.0, 0)
    best = max(
        (_fitted(links, has_birth, outcomes, h, _FIRST_PRIOR) for h in HALF_LIVES), key=_likelihood
    )
    best = max((_fitted(links, has_birth, outcomes, best[1], a) for a in _PRIORS), key=_likelihood)
    _, half_life, prior, followed_pages, scatter = best
    new = np.bincount(links.day, links.new, len(has_birth)) / UNIT
    if not followed_pages > 0:  # nothing new on any of the days
        return _model(has_birth, _UNLEARNED_DAYS, _FIRST_PRIOR, 1.0, 1.0, 0)
    model = _model(has_birth, half_life, prior, 1.0, scatter, len(outcomes))
    hubs = 1 + int(np.count_nonzero(np.diff(links.hub)))
    decayed_pages = (hubs * prior + float(new @ model.weights) / UNIT) / model.evidence_days
    week_pages = float(new[np.flatnonzero(has_birth)[-_WEEK:]].mean())
    followed_share = followed_pages / float(new[outcomes].sum())
    return replace(model, level=followed_share * week_pages / decayed_pages)


def _outcomes(has_birth: Flags) -> Int64s:
    """Return the days to predict: the last ones, at most half of those with known births."""
    days = np.flatnonzero(has_birth)
    if len(days) < _LEAST_DAYS:
        return np.zeros(0, np.int64)
    return np.asarray(days[-min(_OUTCOMES, len(days) // 2) :])


_Fit = tuple[float, float, float, float, float]
"""Log-likelihood, half-life, prior, new pages of hubs known before, and scatter of one fit."""


def _likelihood(fit: _Fit) -> float:
    return fit[0]


def _fitted(
    links: NewLinks, has_birth: Flags, outcomes: Int64s, half_life: float, prior: float
) -> _Fit:
    """Return the likelihood of a half-life and a prior, with the level that fits them best."""
    is_outcome = np.zeros(len(has_birth), np.bool_)
    is_outcome[outcomes] = True
    decay = 2.0 ** (-1.0 / half_life)
    before = _evidence_before(has_birth, decay)
    logs, found_pages, means, squares, products, found_squares = _sums(
        links.hub, links.day, links.new, is_outcome, before, decay, prior
    )
    if not found_pages > 0 or not means > 0:
        return -np.inf, half_life, prior, 0.0, 1.0
    level = found_pages / means
    likelihood = logs + found_pages * np.log(level) - found_pages
    scatter = (found_squares - 2 * level * products + level**2 * squares) / found_pages
    return likelihood, half_life, prior, found_pages, max(scatter, 1.0)


def _evidence_before(has_birth: Flags, decay: float) -> Floats:
    """Return the days of evidence E on the evening before each day."""
    days = np.zeros(len(has_birth) + 1)
    for day, is_known in enumerate(has_birth):
        days[day + 1] = days[day] * decay + is_known
    return days[:-1]


def _model(
    has_birth: Flags, half_life: float, prior: float, level: float, scatter: float, outcomes: int
) -> HubYield:
    weights = _weights(has_birth, half_life)
    days = float(weights[has_birth].sum()) / UNIT
    return HubYield(half_life, prior, level, scatter, weights, max(days, 1.0 / UNIT), outcomes)


def _weights(has_birth: Flags, half_life: float) -> Int64s:
    """Return the weight of each day; the last day whose births are known counts in full.

    Days missing at the end do not age the evidence: after some of them, a half-life of hours would
    leave nothing to divide by.
    """
    birth_days = np.flatnonzero(has_birth)
    days = int(birth_days[-1]) + 1 if len(birth_days) else len(has_birth)
    weights = np.full(len(has_birth), UNIT, np.int64)
    weights[:days] = day_weights(days, half_life)
    return weights


@loop
def _sums(
    hub: Int64s,
    day: Int64s,
    new: Int64s,
    is_outcome: Flags,
    before: Floats,
    decay: float,
    prior: float,
) -> tuple[float, float, float, float, float, float]:
    """Return the sums of y log m, y, m, m², y m and y², over hubs with an earlier link.

    y is the number of an outcome day, m its mean for s = 1. Days without a link are many: their m
    and m squared are geometric and summed by day.
    """
    days = before.size
    logs = found_pages = products = found_squares = 0.0
    mean_of = np.zeros(days + 1)  # by day: sum of decayed counts on the evening, over hubs
    square_of = np.zeros(days + 1)
    hubs = np.zeros(days + 1)  # with a link by the evening
    count, last = 0.0, 0
    for row in range(hub.size):
        pages = new[row] / 1e6
        if row == 0 or hub[row] != hub[row - 1]:
            hubs[day[row]] += 1
            count = 0.0
        else:
            count *= decay ** (day[row] - last)  # evidence on the morning, one decay too many
            if is_outcome[day[row]] and before[day[row]] > 0:
                mean = (prior + count / decay) / before[day[row]]
                logs += pages * np.log(mean)
                found_pages += pages
                products += pages * mean
                found_squares += pages * pages
        # What this adds to the sums of all hubs; they decay from day to day by themselves.
        mean_of[day[row]] += pages
        square_of[day[row]] += (count + pages) ** 2 - count**2
        count += pages
        last = day[row]
    means = squares = 0.0
    total = total_squares = some = 0.0
    for now in range(days):
        if is_outcome[now] and before[now] > 0:
            means += (prior * some + total) / before[now]
            squares += (prior**2 * some + 2 * prior * total + total_squares) / before[now] ** 2
        total = total * decay + mean_of[now]
        total_squares = total_squares * decay**2 + square_of[now]
        some += hubs[now]
    return logs, found_pages, means, squares, products, found_squares
