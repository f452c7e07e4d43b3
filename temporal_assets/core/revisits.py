"""How often to visit each hub, so that new pages are found while people still want them.

Here: what the days of a window say of the next ones, and intervals that share a number of visits
a day among hubs. Not here: which hubs (`hub_coverage`).

New pages appear on a hub at `rate` a day. Interest in a page is halved every `half_life` days:
of the views it gets in all, exp(-d t) are still to come at age t, with d = ln 2 / half_life. A hub
visited every T days shows a page at an age between 0 and T, all equally likely; so of the views of
its new pages, this share is still to come when the crawler finds them:

    g(x) = (1/T) * integral from 0 to T of exp(-d t) dt = (1 - exp(-x)) / x,    x = d T

This is the freshness of a page that is fetched at fixed intervals and changes at rate d (Cho,
Garcia-Molina 2003). We maximise the sum over hubs of rate * views * g(d T), where the visits a day,
the sum of 1/T, are given. A visit more a day to one hub gains

    rate * views * P(2, x) / d,    P(2, x) = 1 - (1 + x) exp(-x)

and at the optimum it gains the same everywhere, L say. P(2, .) is the distribution function of a
gamma variable with shape 2, so that every interval is a quantile of it:

    T = P^-1(2, L d / (rate * views)) / d

and the longest allowed where the argument reaches 1: there no visit is worth L. L follows from the
number of visits, which falls with it. (Azar et al. 2018 solve the same for visits at random times;
a crawler's are regular.)
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gammaincinv

from temporal_assets.core.curves import MIN_LIFE
from temporal_assets.core.histories import births_known
from temporal_assets.core.texts import Flags, Floats

_EXACT: Final = 1e-14
"""Of log L, and of a share of it: a few steps of a float."""

_SMALLEST: Final = 1e-9
"""Of the largest gain of a visit: below it every interval is the shortest."""

_NOTHING: Final = float(np.finfo(np.float64).tiny)
"""Less has no full digits, and soon no logarithm."""


def day_weights(observed: Flags, half_life: float) -> Floats:
    """What a page that was born on each day of a window adds to the new pages to expect a day.

    A mean of the births of the days on which they are known, in which a day counts half as much as
    one `half_life` days later. `observed` tells for each day, first day first, whether it is there.
    A page born on the last of them is too young for a curve, and nobody knows that it is temporal:
    so these days count only in a window that has no others, as do those whose births are unknown.
    """
    there, known = np.flatnonzero(observed), np.flatnonzero(births_known(observed))
    labelled = known[known <= there[-MIN_LIFE]] if len(there) >= MIN_LIFE else known
    counted = next(days for days in (labelled, known, there) if len(days))
    weight = np.zeros(len(observed))
    weight[counted] = np.exp2((counted - len(observed)) / half_life)
    return np.asarray(weight / weight.sum())


def intervals(
    rate: ArrayLike,
    views: ArrayLike,
    half_life: ArrayLike,
    visits: float,
    shortest: float,
    longest: float,
) -> Floats:
    """Days between visits of each hub: the best for `visits` a day to all of them together.

    `rate` is new pages a day, `views` the views of such a page in all, `half_life` in days.
    Hubs on which nothing new appears get the longest interval. Where even that takes more than
    `visits`, it is the longest everywhere; where the shortest takes fewer, the shortest.
    """
    value = np.asarray(rate, np.float64) * np.asarray(views, np.float64)
    decay = np.log(2) / np.asarray(half_life, np.float64)
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


def _dearer(log_price: float) -> float:
    """On the side of fewer visits, whatever was rounded."""
    return log_price + 2 * _EXACT * (1 + abs(log_price))


def _at(price: float, worth: Floats, decay: Floats, shortest: float, longest: float) -> Floats:
    """Intervals at which one more visit a day gains `price`, within their bounds."""
    share = np.divide(price, worth, out=np.ones(len(worth)), where=worth > price)
    wanted = np.where(share < 1, gammaincinv(2, np.minimum(share, 1 - 1e-15)) / decay, longest)
    return np.clip(wanted, shortest, longest)
