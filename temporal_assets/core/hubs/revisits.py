"""Intervals of visits to hubs, so that new pages are found while people still want them.

Here: intervals that share a number of visits a day among hubs, and those that share a number of
fetches a day between visits of hubs and new pages. Not here: which hubs (`yields`), how fast
interest fades and links leave (`interest`).

**Visits.** New pages appear on a hub at `rate` a day. Interest in a page is halved every
`half_life` days: of the views it gets in all, exp(-d t) are still to come at age t, with d = ln 2 /
half_life. Its link leaves the hub at rate s, so that it is still there at age t with probability
exp(-s t); a page whose link has left before the next visit is not found. A hub visited every T days
shows a page at an age between 0 and T, all equally likely; so of the views of its new pages this
share is caught:

    (1/T) * integral from 0 to T of exp(-d t) exp(-s t) dt = g((d + s) T),  g(x) = (1 - exp(-x)) / x

and the share g(s T) of the pages is found at all. Without leaving links this is the freshness of a
page that is fetched at fixed intervals and changes at rate d (Cho, Garcia-Molina 2003). We maximise
the sum over hubs of rate * views * g((d + s) T), where the visits a day, the sum of 1/T, are given.
A visit more a day to one hub gains

    rate * views * P(2, x) / (d + s),    x = (d + s) T,    P(2, x) = 1 - (1 + x) exp(-x)

and at the optimum it gains the same everywhere, L say. P(2, .) is the distribution function of a
gamma variable with shape 2, so that every interval is a quantile of it:

    T = P^-1(2, L (d + s) / (rate * views)) / (d + s)

and the longest allowed where the argument reaches 1: there no visit is worth L. L follows from the
number of visits, which falls with it. (Azar et al. 2018 solve the same for visits at random times;
a crawler's are regular.)

**Visits and fetches** (after Lefortier et al. 2013). A visit finds pages, and each costs a fetch as
well. With L now the price of any fetch, a page of age t is worth views * exp(-d t) - L to fetch,
and not fetched from the age a on at which that is nothing. Of one hub

    (1/T) * (rate * integral from 0 to min(T, a) of (views exp(-d t) - L) exp(-s t) dt - L)

is to be largest, and its derivative is nothing where

    rate * (views P(2, (d + s) T) / (d + s) - L P(2, s T) / s) = L

The left side grows with T until a, and is constant from there: where it stays below L, no visit is
worth its price. L follows from the fetches a day, which fall with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gammainc, gammaincinv

from temporal_assets.core.numerics.arrays import Floats

_EXACT: Final = 1e-14
"""Relative error at which a search for log L, or for a share of it, ends: a few steps of a
float."""

_SMALLEST: Final = 1e-9
"""Share of the largest gain of a visit below which every interval is the shortest."""

_SLOW: Final = 1e-5
"""Argument below which P(2, x) equals x²/2 to all digits that matter."""

_HALVINGS: Final = 60

_NOTHING: Final = float(np.finfo(np.float64).tiny)
"""Smallest number with full precision; smaller ones count as 0."""


def intervals(
    rate: ArrayLike,
    views: ArrayLike,
    half_life: ArrayLike,
    visits: float,
    shortest: float,
    longest: float,
    leave: ArrayLike = 0.0,
) -> Floats:
    """Return the best days between visits of each hub, for `visits` a day to all of them together.

    Args:
        rate: New pages a day on each hub.
        views: Views of such a page in all.
        half_life: Half-life of its interest in days.
        visits: Visits a day to all hubs together.
        shortest: Shortest interval in days; used for all hubs with new pages if that takes fewer
            than `visits`.
        longest: Longest interval in days, for hubs on which nothing new appears; used for all hubs
            if even that takes more than `visits`.
        leave: Rate a day at which links leave each hub.
    """
    value = np.asarray(rate, np.float64) * np.asarray(views, np.float64)
    decay = np.log(2) / np.asarray(half_life, np.float64) + np.asarray(leave, np.float64)
    worth = value / decay  # of the first visit
    if not len(worth) or visits <= len(worth) / longest:
        return np.full(len(worth), longest)
    if visits >= len(worth) / shortest:
        return np.where(value > 0, shortest, longest)
    high = float(worth.max())
    if high * _SMALLEST < _NOTHING:
        return np.full(len(worth), longest)

    def excess(log_price: float) -> float:
        return float(np.sum(1 / _at(np.exp(log_price), worth, decay, shortest, longest))) - visits

    # Brent's method takes a dozen looks at all hubs where bisection takes a hundred.
    low, high = float(np.log(high * _SMALLEST)), _dearer(float(np.log(high)))
    if excess(low) <= 0:
        price = low
    elif excess(high) >= 0:  # all the longest, but for rounding
        price = high
    else:
        price = _dearer(brentq(excess, low, high, xtol=_EXACT, rtol=_EXACT))
    return _at(np.exp(price), worth, decay, shortest, longest)


def priced_intervals(
    rate: ArrayLike,
    views: ArrayLike,
    half_life: ArrayLike,
    price: float,
    shortest: float,
    longest: float,
    leave: ArrayLike = 0.0,
) -> Floats:
    """Return the days between visits of each hub at which one more visit a day gains `price`.

    `price` is a share of the interest in a new page, averaged over all hubs; the other arguments
    are as for `intervals`.
    """
    rates, worth = np.asarray(rate, np.float64), np.asarray(views, np.float64)
    decay = np.log(2) / np.asarray(half_life, np.float64) + np.asarray(leave, np.float64)
    total = float(rates.sum())
    if not total > 0:
        return np.full(len(rates), longest)
    average = float(rates @ worth) / total
    return _at(price * average, rates * worth / decay, decay, shortest, longest)


def _dearer(log_price: float) -> float:
    """Return a slightly higher log price, so that rounding errs to the side of fewer visits."""
    return log_price + 2 * _EXACT * (1 + abs(log_price))


def _at(price: float, worth: Floats, decay: Floats, shortest: float, longest: float) -> Floats:
    """Return the intervals at which one more visit a day gains `price`, within their bounds."""
    share = np.divide(price, worth, out=np.ones(len(worth)), where=worth > price)
    wanted = np.where(share < 1, gammaincinv(2, np.minimum(share, 1 - 1e-15)) / decay, longest)
    return np.clip(wanted, shortest, longest)


def found_share(leave: ArrayLike, days: ArrayLike) -> Floats:
    """Return the share of new pages whose link is still there at the next visit, `days` apart."""
    x = np.asarray(leave, np.float64) * np.asarray(days, np.float64)
    return np.asarray(np.where(x > _SMALLEST, -np.expm1(-x) / np.maximum(x, _SMALLEST), 1.0))


@dataclass(frozen=True, slots=True)
class Split:
    """A division of fetches between visits of hubs and new pages."""

    interval: Floats
    """Days between visits of each hub."""
    price: float
    """Number of views still to come from which on a page is worth its fetch."""


def split(
    rate: ArrayLike,
    views: ArrayLike,
    half_life: ArrayLike,
    leave: ArrayLike,
    fetches: float,
    shortest: float,
    longest: float,
) -> Split:
    """Return the best division of `fetches` a day between visits of hubs and their new pages.

    Hubs at which no visit is worth its price get the longest interval.
    """
    rates, worth = np.asarray(rate, np.float64), np.asarray(views, np.float64)
    fades = np.log(2) / np.asarray(half_life, np.float64)
    leaves = np.broadcast_to(np.asarray(leave, np.float64), rates.shape)
    most = float(np.max(worth, initial=0.0))
    if not most > 0:
        return Split(np.full(len(rates), longest), 0.0)

    def at(log_price: float) -> tuple[Floats, float]:
        price = float(np.exp(log_price))
        interval, oldest = _priced(price, rates, worth, fades, leaves, shortest, longest)
        until = np.minimum(interval, oldest)
        found_a_day = rates * until * found_share(leaves, until) / interval
        return interval, float(np.sum(1 / interval + found_a_day))

    low, high = np.log(most * _SMALLEST), np.log(most)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle)[1] > fetches else (low, middle)
    return Split(at(high)[0], float(np.exp(high)))


def _priced(
    price: float,
    rate: Floats,
    views: Floats,
    fade: Floats,
    leave: Floats,
    shortest: float,
    longest: float,
) -> tuple[Floats, Floats]:
    """Return the intervals at which a further fetch gains `price`, and the age limit of pages."""
    oldest = np.log(np.maximum(views / price, 1.0)) / fade
    low, high = np.full(len(rate), shortest), np.full(len(rate), longest)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_short = _gain(np.minimum(middle, oldest), price, rate, views, fade, leave) < price
        low, high = np.where(is_short, middle, low), np.where(is_short, high, middle)
    return high, oldest


def _gain(
    days: Floats, price: float, rate: Floats, views: Floats, fade: Floats, leave: Floats
) -> Floats:
    """Return the gain of one more visit a day at an interval, less the fetches it leads to."""
    both = fade + leave
    is_slow = leave * days < _SLOW
    left = np.where(is_slow, 1.0, leave)
    cost = np.where(is_slow, leave * days**2 / 2, gammainc(2, leave * days) / left)
    return np.asarray(rate * (views * gammainc(2, both * days) / both - price * cost))
