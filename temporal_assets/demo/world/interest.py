"""Interest in a page over time: the log-normal curve of TW 4.1 and its daily noise.

What belongs here: drawing curve parameters, expected and drawn views per page and day. What
does not: who the viewers are and how they came (`visits`).

Time is in days since 0:00 UTC of the window's first day; day i covers [i, i + 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.seeds import generator
from temporal_assets.demo.world.sites import NEWS_POPULARITY, PageKind, Site

Floats = NDArray[np.float32]

# Constants named after a real set were fitted to it by `python -m benchmarks.demo_world`, which
# prints each statistic of the real sets beside the corpus'; docs/demo.md has the table.

_NEWS_SPREAD: Final = 2.6
"""Standard deviation of the logarithm of a news page's views."""
_LASTING_SPREAD: Final = 2.3
"""Standard deviation of the logarithm of a lasting page's views."""
_MOST_POPULAR: Final = 2.5
"""Largest number of these standard deviations that a page has. Of a week's clicks on a portal the
first percent of the pages has 71 % and the first page 2 % (`globo_clicks`), on a small site 26 %
and 11 % (`elastic_logs`). A wider spread would give a site of a few hundred pages to one of
them."""

_DAY_NOISE: Final = 0.15
"""Standard deviation of the logarithm of a site's day, besides weekday and chance (`wiki`: 0.12
to 0.22 for five sets; TW 5.1 speaks of it)."""
_PAGE_NOISE: Final = 0.13
"""Standard deviation of the logarithm of a page's day, besides its site's (`wiki`: 0.13
to 0.19 with both)."""

# Pages of lasting interest with a day of many more views than usual (`wiki`: 10 % have one of more
# than three times as many, 6 % above four, a tenth of those above 17).
_BURSTS: Final = 0.10
"""Share of lasting pages that have such a day within 60 days."""
_LEAST_BURST: Final = 2.0
"""Least number of views beyond the usual on that day, as a multiple of these."""
_BURST_TAIL: Final = 1.4
"""Exponent of the Pareto distribution of that multiple."""
_BURST_FADES: Final = 0.7
"""Days in which a burst falls by 1/e (`wiki`: a quarter is left on the next day)."""

_TINY: Final = np.float32(1e-9)

# Median of the curve's mu in days (exp mu), its spread, and the range of sigma, by page kind.
_NEWS: Final = (0.22, 0.59, 0.65, 1.4)
"""Parameters of news curves. `globo_clicks`, pages born within it: half of the interest has come
after 5 hours, 92 % after a day; TW 4.2, figure 5: most news pages have more than 80 % of their
interest on the first day."""
_FEATURE: Final = (2.3, 0.15, 0.6, 0.9)
_EVERGREEN: Final = (700.0, 0.3, 0.8, 1.2)
_FRESH: Final = (55.0, 0.4, 1.8, 2.1)
_THREAD: Final = (40.0, 0.6, 1.5, 2.0)

CURVES: Final = {
    PageKind.NEWS: _NEWS,
    PageKind.FEATURE: _FEATURE,
    PageKind.EVERGREEN: _EVERGREEN,
    PageKind.FRESH: _FRESH,
    PageKind.THREAD: _THREAD,
}

_LONG_STORIES: Final = 0.15
_LONG_STORY_MU: Final = math.log(4.0)
"""Share of the news that people follow for days, and mu of those: with them the mean concentration
of news is near NP 4.1's 9.11, which a window of eight days (`globo_clicks`) cannot show."""

_BEFORE: Final = {PageKind.NEWS: 10, PageKind.FEATURE: 15, PageKind.FRESH: 0, PageKind.THREAD: 300}
"""Longest time in days before the window at which pages of a kind are born: some are cut by its
edge."""

_EVERGREEN_AGE: Final = (120.0, 900.0)
OLDEST: Final = 1_000
"""Largest age in days of any page at the window's first day."""

_WEEKEND_BIRTHS: Final = 0.65
_BIRTH_NOISE: Final = 0.2
"""New pages of a day of the weekend relative to a weekday, and the standard deviation of the
logarithm of a day's births besides that (`top_news_arrivals`)."""
_BIRTHS_BY_HOUR: Final = np.array(
    [65, 51, 40, 31, 40, 94, 139, 107, 124, 138, 121, 131,
     145, 118, 131, 114, 131, 136, 139, 136, 124, 111, 107, 50], np.float64,
)  # fmt: skip
"""Relative number of births by hour (`top_news_arrivals`, in the zone of the sites; here UTC)."""
_BIRTH_CLOCK: Final = np.append(0.0, np.cumsum(_BIRTHS_BY_HOUR) / _BIRTHS_BY_HOUR.sum())


def accumulated(
    age: NDArray[np.floating], mu: NDArray[np.floating], sigma: NDArray[np.floating]
) -> Floats:
    """Return the share of a page's interest up to `age` days after its birth (TW 4.2).

    The share is 0 before the birth.
    """
    positive = np.maximum(age, _TINY)
    share = ndtr((np.log(positive) - mu) / sigma)
    return np.where(age > 0, share, 0).astype(np.float32)


def draw_births(
    options: DemoOptions, kind: PageKind, count: int, site: Site, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the birth times in days, ascending."""
    if kind is PageKind.EVERGREEN:
        youngest, oldest = _EVERGREEN_AGE
        return np.sort(rng.uniform(-oldest, -youngest, count))
    days = np.arange(site.opens - (0 if site.opens else _BEFORE[kind]), site.closes)
    weights = np.where(_is_weekend(options, days), _WEEKEND_BIRTHS, 1.0)
    weights *= np.exp(rng.normal(0.0, _BIRTH_NOISE, len(days)))
    day = rng.choice(days, count, p=weights / weights.sum())
    hour = np.interp(rng.random(count), _BIRTH_CLOCK, np.arange(25))
    return np.sort(day + hour / 24)


def draw_curves(
    kind: PageKind, speed: float, count: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return parameters mu and sigma of `count` pages."""
    median, spread, low, high = CURVES[kind]
    mu = rng.normal(math.log(median) + speed, spread, count)
    if kind is PageKind.NEWS:
        mu[rng.random(count) < _LONG_STORIES] = _LONG_STORY_MU
    return mu.astype(np.float32), rng.uniform(low, high, count).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Bursts:
    """Pages of lasting interest that have a day with many more views than usual."""

    row: NDArray[np.int64]
    """Rows of the page table, each once."""
    day: NDArray[np.int64]
    size: Floats
    """Views of the day beyond the usual, as a multiple of these."""

    def factor(self, day: int) -> NDArray[np.float64]:
        """Return the factor of each row's usual views on a day."""
        since = day - self.day
        return 1.0 + np.where(since >= 0, self.size * np.exp(-since / _BURST_FADES), 0.0)


def draw_bursts(kind: NDArray[np.int8], site: Site, rng: np.random.Generator) -> Bursts:
    """Return which pages have a burst, when, and how large it is."""
    lasting = np.flatnonzero((kind == PageKind.EVERGREEN) | (kind == PageKind.FRESH))
    length = site.closes - site.opens
    share = 1 - (1 - _BURSTS) ** (length / 60)
    row = lasting[rng.random(len(lasting)) < share]
    day = site.opens + rng.integers(0, length, len(row))
    size = _LEAST_BURST * rng.random(len(row)) ** (-1 / _BURST_TAIL)
    return Bursts(row, day, np.minimum(size, 50.0).astype(np.float32))


def amplitudes(
    kind: NDArray[np.int8],
    birth: Floats,
    mu: Floats,
    sigma: Floats,
    days: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the amplitude A of each page, up to a common factor.

    Popularity is the views a page draws in as many days as the window has: of its life, or, for
    pages older than the window, of the window itself.
    """
    place = np.minimum(rng.normal(0.0, 1.0, len(kind)), _MOST_POPULAR)
    spread = np.where(kind == PageKind.NEWS, _NEWS_SPREAD, _LASTING_SPREAD)
    popularity = np.exp(spread * place - spread**2 / 2).astype(np.float32)
    popularity[kind == PageKind.NEWS] *= np.float32(NEWS_POPULARITY)
    start = np.where(kind == PageKind.EVERGREEN, np.maximum(-birth, 0), 0).astype(np.float32)
    seen = accumulated(start + days, mu, sigma) - accumulated(start, mu, sigma)
    return np.where(kind == PageKind.HUB, 0, popularity / np.maximum(seen, 1e-4)).astype(np.float32)


def expected_views(
    birth: Floats, mu: Floats, sigma: Floats, amplitude: Floats, first: float, last: float
) -> Floats:
    """Return views between two times, before noise: A times the mass of the curve."""
    mass = accumulated(last - birth, mu, sigma) - accumulated(first - birth, mu, sigma)
    return amplitude * mass


def day_factor(options: DemoOptions, site: Site, day: int) -> float:
    """Return the noise of a day that all pages of a site share: weekday, season, weather."""
    if not site.opens <= day < site.closes:
        return 0.0
    weekend = site.blueprint.weekend
    weekday = (weekend if _is_weekend(options, day) else 1.0) * 7 / (5 + 2 * weekend)
    noise = generator(options.seed, "noise", site.index, day).normal(0.0, _DAY_NOISE)
    return weekday * math.exp(noise - _DAY_NOISE**2 / 2)


def page_noise(rng: np.random.Generator, count: int) -> Floats:
    """Return a random factor for each of `count` pages on a day, with mean 1."""
    noise = rng.normal(-(_PAGE_NOISE**2) / 2, _PAGE_NOISE, count)
    return np.exp(noise).astype(np.float32)


def _is_weekend(options: DemoOptions, day: Any) -> Any:
    """Return True if a day (or each of an array) of the corpus is a Saturday or a Sunday."""
    return (options.first_day.toordinal() + day - 1) % 7 >= 5
