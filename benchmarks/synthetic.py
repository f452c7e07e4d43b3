"""Pages with known interest curves, drawn from a seed.

Here: a population to measure fitters and labels on. Not here: logs, sites and visitors (`demo`),
the measuring (`truncation`).

News, features, pages that never age, slow pages and threads; births are spread over the window and
before it, so that lives cross both edges; a share of the pages keeps a base of readers; all pages
follow the week; views are Poisson.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

# Share of the pages, median life (exp mu, days) and its spread, range of sigma, oldest birth
# before the window (days).
_KINDS: Final = (
    (0.40, 0.82, 0.55, 0.8, 1.4, 10.0),
    (0.15, 2.3, 0.4, 0.6, 1.0, 15.0),
    (0.20, 700.0, 0.3, 0.8, 1.2, 900.0),
    (0.15, 55.0, 0.4, 1.8, 2.1, 10.0),
    (0.10, 40.0, 0.6, 1.5, 2.0, 300.0),
)
_POPULARITY: Final = 1.2
_BASE_SHARE: Final = 0.2
_WEEKEND: Final = 0.6
"""Views on a weekend day per view on a weekday."""
_DAY_NOISE: Final = 0.08


@dataclass(frozen=True, slots=True)
class Population:
    """A population of pages with known curves, one row per page.

    Each has at least one view a day of the window on average.
    """

    views: NDArray[np.uint32]
    """pages x days."""
    birth: Floats
    """b; negative for pages born before the window."""
    mu: Floats
    sigma: Floats
    base: Floats
    """Base views a day per unit of A."""
    inside: Floats
    """Share of the curve's interest that lies inside the window."""

    def accumulated(self, n: float) -> Floats:
        """True accumulated interest after n days, a base counting for one window."""
        days = self.views.shape[1]
        curve = ndtr((np.log(n) - self.mu) / self.sigma)
        result: Floats = (curve + self.base * n) / (1 + self.base * days)
        return result


def draw(
    pages: int,
    days: int = 60,
    *,
    seed: int,
    weekend: float = _WEEKEND,
    base: float = _BASE_SHARE,
    day_noise: float = _DAY_NOISE,
) -> Population:
    """Draw pages; fewer than asked for remain, as unreliable ones are left out."""
    rng = np.random.default_rng(seed)
    shares, medians, spreads, lows, highs, before = (
        np.array(column) for column in zip(*_KINDS, strict=True)
    )
    kind = rng.choice(len(_KINDS), pages, p=shares)
    mu = rng.normal(np.log(medians[kind]), spreads[kind])
    sigma = rng.uniform(lows[kind], highs[kind])
    birth = rng.uniform(-before[kind], days - 3.0)
    edges = np.arange(days + 1)
    age = np.maximum(edges - birth[:, None], 1e-12)
    mass = np.diff(ndtr((np.log(age) - mu[:, None]) / sigma[:, None]), axis=1)
    inside = mass.sum(axis=1)
    level = np.where(rng.random(pages) < base, rng.uniform(0.001, 0.01, pages), 0.0)
    alive = np.clip(edges[1:] - birth[:, None], 0.0, 1.0)
    expected = mass + level[:, None] * alive
    popularity = days * np.exp(np.abs(rng.normal(0.0, _POPULARITY, pages)))
    expected *= (popularity / np.maximum(expected.sum(axis=1), 1e-9))[:, None]
    week = np.where(np.arange(days) % 7 >= 5, weekend, (7 - 2 * weekend) / 5)
    views = rng.poisson(expected * week * np.exp(rng.normal(0.0, day_noise, days)))
    kept = views.sum(axis=1) >= days
    return Population(
        views[kept].astype(np.uint32),
        birth[kept],
        mu[kept],
        sigma[kept],
        level[kept],
        inside[kept],
    )
