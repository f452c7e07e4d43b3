"""Interest in a page over time: the log-normal curve of TW 4.1 and its daily noise.

What belongs here: drawing curve parameters, expected and drawn views per page and day. What
does not: who the viewers are and how they came (`visits`).

Time is in days since 0:00 UTC of the window's first day; day i covers [i, i + 1).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.seeds import generator
from temporal_assets.demo.sites import NEWS_POPULARITY, PageKind, Site

Floats = NDArray[np.float32]

POPULARITY_SPREAD: Final = 1.8
"""Standard deviation of the logarithm of a page's views: the top percent of the pages draws
about a third of them."""

_DAY_NOISE: Final = 0.08
"""Standard deviation of the logarithm of a site's day, besides weekday and chance (TW 5.1)."""

_TINY: Final = np.float32(1e-9)

# Median of the curve's mu in days (exp mu), its spread, and the range of sigma, by page kind.
_NEWS: Final = (0.82, 0.55, 0.8, 1.4)
"""TW 4.2, figure 5: most news pages have more than 80 % of their interest on the first day."""
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

_BEFORE: Final = {PageKind.NEWS: 10, PageKind.FEATURE: 15, PageKind.FRESH: 0, PageKind.THREAD: 300}
"""Days before the window in which pages of a kind may have been born: some are cut by its edge."""

_EVERGREEN_AGE: Final = (120.0, 900.0)
_OFFICE_HOURS: Final = (6.0, 22.0)
"""Pages are published between these hours (UTC)."""


def accumulated(
    age: NDArray[np.floating], mu: NDArray[np.floating], sigma: NDArray[np.floating]
) -> Floats:
    """Share of a page's interest up to `age` days after its birth; 0 before it (TW 4.2)."""
    positive = np.maximum(age, _TINY)
    share = ndtr((np.log(positive) - mu) / sigma)
    return np.where(age > 0, share, 0).astype(np.float32)


def draw_births(
    kind: PageKind, count: int, site: Site, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Birth times in days, ascending."""
    first, last = float(site.opens), float(site.closes)
    if kind is PageKind.EVERGREEN:
        youngest, oldest = _EVERGREEN_AGE
        return np.sort(rng.uniform(-oldest, -youngest, count))
    days = np.floor(rng.uniform(first - (0 if site.opens else _BEFORE[kind]), last, count))
    opens, closes = _OFFICE_HOURS
    return np.sort(days + rng.uniform(opens, closes, count) / 24)


def draw_curves(
    kind: PageKind, speed: float, count: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Parameters mu and sigma of `count` pages."""
    median, spread, low, high = CURVES[kind]
    mu = rng.normal(math.log(median) + speed, spread, count)
    return mu.astype(np.float32), rng.uniform(low, high, count).astype(np.float32)


def amplitudes(
    kind: NDArray[np.int8],
    birth: Floats,
    mu: Floats,
    sigma: Floats,
    days: int,
    rng: np.random.Generator,
) -> Floats:
    """A of each page, up to a common factor.

    Popularity is the views a page draws in as many days as the window has: of its life, or, for
    pages older than the window, of the window itself.
    """
    popularity = rng.lognormal(0.0, POPULARITY_SPREAD, len(kind)).astype(np.float32)
    popularity[kind == PageKind.NEWS] *= np.float32(NEWS_POPULARITY)
    start = np.where(kind == PageKind.EVERGREEN, np.maximum(-birth, 0), 0).astype(np.float32)
    seen = accumulated(start + days, mu, sigma) - accumulated(start, mu, sigma)
    return np.where(kind == PageKind.HUB, 0, popularity / np.maximum(seen, 1e-4)).astype(np.float32)


def expected_views(
    birth: Floats, mu: Floats, sigma: Floats, amplitude: Floats, first: float, last: float
) -> Floats:
    """Views between two times, before noise: A times the mass of the curve."""
    mass = accumulated(last - birth, mu, sigma) - accumulated(first - birth, mu, sigma)
    return amplitude * mass


def day_factor(options: DemoOptions, site: Site, day: int) -> float:
    """Noise all pages of a site share on a day: weekday, season of the news, weather."""
    if not site.opens <= day < site.closes:
        return 0.0
    weekend = site.blueprint.weekend
    is_weekend = (options.first_day.toordinal() + day - 1) % 7 >= 5
    weekday = (weekend if is_weekend else 1.0) * 7 / (5 + 2 * weekend)
    noise = generator(options.seed, "noise", site.index, day).normal(0.0, _DAY_NOISE)
    return weekday * math.exp(noise - _DAY_NOISE**2 / 2)
