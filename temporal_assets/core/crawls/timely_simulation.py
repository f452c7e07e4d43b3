"""Simulation of crawls while pages are born, judged by the interest left at each fetch.

Here: the world, the crawler with its budget, and what it is judged by (Lefortier et al., CIKM 2013:
a page fetched late has lost the interest it had before). Not here: where births and interest
come from, the strategies' knowledge.

Time is in hours. Interest in page i after its birth is spread as log-normal in days, as everywhere
in this project (TW 4.1), and sums to `interest[i]`. A hub shows the newest pages of its list, and
each no longer than it stays there; any other page links what it links, as soon as that is born.

The crawler knows every page born before hour 0 and has fetched it. Its fetches are 1 / budget hours
apart, or more where nothing is due; then the next is made in the moment in which it is. A page seen
for the first time is new; fetched pages are fetched again when their interval is over. It never
sees births, only links.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import erf, log, sqrt
from typing import Any, Final

import numpy as np
from scipy.special import bdtr

from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.numerics.rounding import rounded_down

NEVER: Final = np.inf
"""Interval of pages that are not fetched again, in hours."""

DECREASE: Final = 0.2
INCREASE: Final = 0.4
"""Relative changes of an interval after a fetch that found a change, and after one that did not:
the defaults of Nutch's AdaptiveFetchSchedule (`db.fetch.schedule.adaptive.dec_rate`, `.inc_rate`).
"""

SHORTEST: Final = 1.0 / 60.0
LONGEST: Final = 365.0 * 24.0
"""Longest and shortest interval in hours: Nutch's `max_interval` of a year, `min_interval` of a
minute."""

_KNOWN_AT: Final = -np.finfo(np.float64).tiny
"""Hour at which pages born before hour 0 count as fetched: what is born at 0 is new to whoever
looks again."""

GOLDEN: Final = 0.6180339887498949
"""Golden ratio: its multiples modulo 1 are spread evenly over the unit interval."""

_DRAWS: Final = 200
"""Number of samples of the bootstrap."""


@dataclass(frozen=True, slots=True)
class TimelyWorld:
    """Pages and what becomes of them; arrays have an entry a page."""

    links: LinkGraph
    """Links of each page in the order of birth: of a hub its whole list, of other pages what they
    link."""
    shown: Int64s
    """Number of its newest links that a page shows; 0: all that are born."""
    birth: Floats
    """Hour of birth; below 0 for pages that the crawler knows already."""
    mu: Floats
    """Mean of the log-normal interest, in log days."""
    sigma: Floats
    """Standard deviation of the log-normal interest; above 0."""
    interest: Floats
    """Visits a page draws over its life; hubs have 0."""
    is_temporal: Flags
    stay: Floats | None = None
    """Hours after the birth of its target at which each link leaves; None where none ever does."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """The way a crawler spends its fetches; arrays have an entry a page."""

    interval: Floats
    """Hours after which a fetched page is fetched again, at first; `NEVER` if not at all."""
    score: Floats
    """Priority of new pages: the highest is fetched first, of equal ones the one seen first."""
    new_first: bool
    """True if new pages come before any page is fetched again; else all wait in one queue by time
    due."""
    is_adaptive: bool
    """True if intervals shrink when something new was found and grow when nothing was."""
    is_allowed: Flags
    """Pages whose links are followed and that may be fetched."""


@dataclass(frozen=True, slots=True)
class TimelyResult:
    """Result of a crawl, over the pages born from hour 0 on."""

    first_fetch: Floats
    """Hour of each page's first fetch; NaN if it never was."""
    remaining: float
    """Share of all interest that was still to come when its page was fetched, in [0, 1]."""
    remaining_low: float
    remaining_high: float
    """Bounds of `remaining` that hold with 95 % probability over samples of pages (bootstrap)."""
    temporal_remaining: float
    """`remaining` of the temporal pages alone."""
    temporal_fetched: float
    """Share of the temporal pages that were fetched at all."""
    median_delay: float
    """Hours from birth to first fetch of temporal pages that were fetched; NaN without any."""
    median_delay_low: float
    median_delay_high: float
    """Bounds of `median_delay` with 95 % probability, by order statistics (the extremes below six
    pages)."""
    delay_90: float
    """90th percentile of these delays."""
    fetches: int
    wasted: int
    """Fetches of known pages that showed nothing new."""


def simulate_timely(
    world: TimelyWorld, strategy: Strategy, budget: float, hours: float
) -> TimelyResult:
    """Crawl for some hours with `budget` fetches an hour."""
    if budget <= 0 or hours <= 0:
        raise ValueError("a crawl needs a budget and time")
    if (world.sigma <= 0).any():
        raise ValueError("interest needs a spread: sigma must be above 0")
    birth_of_link = world.birth[world.links.target]
    if not _is_in_order(world.links.first, birth_of_link):
        raise ValueError("links of a page must be in the order of birth of their targets")
    stay = np.full(len(birth_of_link), np.inf) if world.stay is None else world.stay
    first_fetch, fetches, wasted = _simulate(
        world.links.first,
        world.links.target,
        birth_of_link,
        birth_of_link + stay,
        world.shown,
        world.birth,
        strategy.interval,
        strategy.score,
        strategy.is_allowed,
        strategy.new_first,
        strategy.is_adaptive,
        budget,
        hours,
        int(rounded_down(budget * hours)),
    )
    return _judged(world, first_fetch, hours, int(fetches), int(wasted))


def _is_in_order(first: Int64s, birth: Floats) -> bool:
    """Return whether births of the links of each page never go back."""
    is_later = np.ones(len(birth) + 1, np.bool_)
    is_later[1:-1] = birth[1:] >= birth[:-1]
    is_later[first] = True  # another page
    return bool(is_later.all())


def _judged(
    world: TimelyWorld, first_fetch: Floats, hours: float, fetches: int, wasted: int
) -> TimelyResult:
    """Return the measures of a crawl, from the hour of each page's first fetch."""
    born = (world.birth >= 0) & (world.birth < hours)
    temporal = born & world.is_temporal
    delay, left = first_fetch - world.birth, left_at(world, first_fetch)
    waits = delay[temporal & ~np.isnan(delay)]
    median, late = np.percentile(waits, [50, 90]) if len(waits) else (np.nan, np.nan)
    low, high = _bounds(world.interest[born], left[born])
    soonest, latest = median_bounds(waits)
    return TimelyResult(
        first_fetch=first_fetch,
        remaining=_share(world.interest, left, born),
        remaining_low=low,
        remaining_high=high,
        temporal_remaining=_share(world.interest, left, temporal),
        temporal_fetched=len(waits) / max(int(temporal.sum()), 1),
        median_delay=float(median),
        median_delay_low=soonest,
        median_delay_high=latest,
        delay_90=float(late),
        fetches=fetches,
        wasted=wasted,
    )


def median_bounds(values: Floats) -> tuple[float, float]:
    """Return the order statistics that hold the median with 95 %; NaN without values.

    The values below the median are binomial with one half, whatever their distribution is.
    """
    if not len(values):
        return np.nan, np.nan
    count = len(values)
    place = int(np.searchsorted(bdtr(np.arange(count), count, 0.5), 0.025))
    outside = max(place - 1, 0)
    ordered = np.sort(values)
    return float(ordered[outside]), float(ordered[count - 1 - outside])


def left_at(world: TimelyWorld, first_fetch: Floats) -> Floats:
    """Return the share of each page's interest after its first fetch; 0 for pages never fetched."""
    delay = first_fetch - world.birth
    fetched = np.flatnonzero(~np.isnan(delay) & (world.birth >= 0))
    left = np.zeros(len(delay))
    left[fetched] = 1.0 - _accumulated(delay[fetched], world.mu[fetched], world.sigma[fetched])
    return left


@dataclass(frozen=True, slots=True)
class Lead:
    """Difference between the shares of two crawls of the same world, with its 95 % interval."""

    share: float
    low: float
    high: float


def lead_of(world: TimelyWorld, ahead: TimelyResult, behind: TimelyResult, hours: float) -> Lead:
    """Return how much more of the interest the crawl `ahead` catches than the crawl `behind`.

    The interval is of a bootstrap over the pages that were born, the same ones in both crawls.
    """
    born = (world.birth >= 0) & (world.birth < hours)
    more = left_at(world, ahead.first_fetch) - left_at(world, behind.first_fetch)
    return Lead(_share(world.interest, more, born), *_bounds(world.interest[born], more[born]))


def _share(interest: Floats, left: Floats, among: Flags) -> float:
    total = float(interest[among].sum())
    return float((interest * left)[among].sum()) / total if total > 0 else 0.0


def _bounds(interest: Floats, left: Floats) -> tuple[float, float]:
    """Return the bounds of the share still to come in 95 of 100 samples of such pages."""
    if not interest.sum() > 0:
        return 0.0, 0.0
    dice = np.random.default_rng(0)
    drawn = dice.multinomial(len(interest), np.full(len(interest), 1 / len(interest)), _DRAWS)
    whole = drawn @ interest
    shares = np.divide(drawn @ (interest * left), whole, out=np.zeros(_DRAWS), where=whole > 0)
    low, high = np.percentile(shares, [2.5, 97.5])
    return float(low), float(high)


@loop
def _accumulated(delay: Floats, mu: Floats, sigma: Floats) -> Floats:
    """Return the share of the interest that is over after some hours: Φ of TW 4.2."""
    over = np.zeros(len(delay))
    for i in range(len(delay)):
        if delay[i] > 0:
            z = (log(delay[i] / 24.0) - mu[i]) / sigma[i]
            over[i] = 0.5 * (1.0 + erf(z / sqrt(2.0)))
    return over


@loop
def _simulate(
    first: Int64s,
    target: Int32s,
    birth_of_link: Floats,
    end_of_link: Floats,
    shown: Int64s,
    birth: Floats,
    interval: Floats,
    score: Floats,
    is_allowed: Flags,
    new_first: bool,
    is_adaptive: bool,
    budget: float,
    hours: float,
    most: int,
) -> tuple[Floats, int, int]:
    """Return the hour of each page's first fetch, the number of fetches and of wasted ones."""
    pages = len(birth)
    first_fetch = np.full(pages, np.nan)
    last_fetch = np.full(pages, _KNOWN_AT)
    every = interval.copy()
    is_seen = birth < 0
    new: list[tuple[Any, Any, Any]] = [(0.0, np.int64(0), np.int64(0)) for _ in range(0)]
    again: list[tuple[Any, Any, Any]] = [(0.0, np.int64(0), np.int64(0)) for _ in range(0)]
    for page in np.flatnonzero((birth < 0) & is_allowed & (every < np.inf)):
        # As if they had been fetched evenly over their interval until now.
        due = every[page] * ((page * GOLDEN) % 1.0)
        heapq.heappush(again, (due, np.int64(len(again)), page))
    ticket = np.int64(len(again))
    fetches = wasted = 0
    now = 0.0
    while fetches < most and len(new) + len(again) > 0:
        if len(new) > 0:
            page = heapq.heappop(new)[2]
        else:
            due, _, page = heapq.heappop(again)
            now = max(now, due)
        if now >= hours:
            break
        fetches += 1
        is_first = birth[page] >= 0 and np.isnan(first_fetch[page])
        listed = slice(first[page], first[page + 1])
        changed, unseen = _look(
            target[listed],
            birth_of_link[listed],
            end_of_link[listed],
            shown[page],
            now,
            last_fetch[page],
            is_seen,
            is_allowed,
        )
        for goal in unseen:
            if new_first:
                heapq.heappush(new, (-score[goal], ticket, goal))
            else:
                heapq.heappush(again, (now, ticket, goal))
            ticket += 1
        last_fetch[page] = now
        if is_first:
            first_fetch[page] = now
        else:
            wasted += not changed
            if is_adaptive:
                every[page] *= 1.0 - DECREASE if changed else 1.0 + INCREASE
                every[page] = min(max(every[page], SHORTEST), LONGEST)
        if every[page] < np.inf:
            heapq.heappush(again, (now + every[page], ticket, page))
            ticket += 1
        now += 1.0 / budget
    return first_fetch, fetches, wasted


@loop
def _look(
    listed: Int32s,
    birth: Floats,
    end: Floats,
    shown: int,
    now: float,
    last: float,
    is_seen: Flags,
    is_allowed: Flags,
) -> tuple[bool, list[Any]]:
    """Return True if a page has changed since its last fetch, and the pages first seen on it.

    The list is read from the newest link on. What was born before the last fetch was seen then, or
    before hour 0, or had left the list before: reading stops there.
    """
    unseen = [np.int64(0) for _ in range(0)]
    changed = False
    born = int(np.searchsorted(birth, now, side="right"))
    oldest = max(born - shown, 0) if shown > 0 else 0
    for link in range(born - 1, oldest - 1, -1):
        if birth[link] < last:
            break
        if end[link] <= now:
            continue
        goal = np.int64(listed[link])
        changed = changed or birth[link] > last
        if not is_seen[goal] and is_allowed[goal]:
            is_seen[goal] = True
            unseen.append(goal)
    return changed, unseen
