"""Rates of visits to sources, from what their visits have brought.

Here: a Gamma posterior over the new wanted pages of an hour, and the interval that follows. Not
here: what counts as a page of a source, or when a visit is made.

New pages of a source are counted as a Poisson process that is watched since its first visit. With a
Gamma(a, b) prior, n pages in t hours make Gamma(a + n, b + t). The interval is the time in which
half a new page is expected, so that there are two visits for each: at shorter intervals most visits
are in vain, at longer ones pages wait for each other. A source that repeats what others showed
before finds nothing by this count, and is visited ever less often.
"""

from __future__ import annotations

from typing import Final

from scipy.special import gammaincinv

PRIOR_PAGES: Final = 1.0
PRIOR_HOURS: Final = 0.5
"""A new source is visited as if it had shown one new page in its first half an hour."""

VISITS_PER_PAGE: Final = 2.0
"""Visits for each new page that is expected (docs/hubs.md)."""

SHORTEST: Final = 300.0
LONGEST: Final = 86_400.0
"""Seconds between two visits."""


def pages_an_hour(pages: float, hours: float) -> float:
    """Return the expected rate of new pages after `pages` of them in `hours`."""
    return (PRIOR_PAGES + pages) / (PRIOR_HOURS + hours)


def interval(pages: float, hours: float) -> float:
    """Return the seconds until the next visit of a source is worth it."""
    wanted = 3600.0 / (VISITS_PER_PAGE * pages_an_hour(pages, hours))
    return min(max(wanted, SHORTEST), LONGEST)


def bounds(pages: float, hours: float) -> tuple[float, float]:
    """Return the rates between which the true one lies with 95 % probability."""
    shape, scale = PRIOR_PAGES + pages, PRIOR_HOURS + hours
    low, high = gammaincinv(shape, (0.025, 0.975)) / scale
    return float(low), float(high)
