"""Rates of visits to sources, from what their visits have brought.

Here: a Gamma posterior over the new wanted pages of an hour, the interval that follows, and how
much longer the interval of a hub becomes that brings less than was promised. Not here: what counts
as a page of a source, or when a visit is made.

New pages of a source are counted as a Poisson process that is watched since its first visit. With a
Gamma(a, b) prior, n pages in t hours make Gamma(a + n, b + t). The interval is the time in which
two thirds of a new page are expected, so that there are three visits for two pages: half of the
visits find something then. At shorter intervals most are in vain, at longer ones pages wait for
each other. A source that repeats what others showed before finds nothing by this count, and is
visited ever less often.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

from scipy.special import gammaincinv

PRIOR_PAGES: Final = 1.0
PRIOR_HOURS: Final = 0.5
"""A new source is visited as if it had shown one new page in its first half an hour."""

VISITS_PER_PAGE: Final = 1.5
"""Visits for each new page that is expected (docs/evidence.md)."""

SHORTEST: Final = 300.0
LONGEST: Final = 86_400.0
"""Seconds between two visits."""

MOST_STRETCH: Final = 8.0
"""Largest factor on the interval of a hub that brings nothing new."""


def pages_an_hour(pages: float, hours: float) -> float:
    """Return the expected rate of new pages after `pages` of them in `hours`."""
    return (PRIOR_PAGES + pages) / (PRIOR_HOURS + hours)


def days_watched(pages: float, pages_a_day: float) -> float:
    """Return the days in which a source was watched, from the rate that was expected of it."""
    return max((PRIOR_PAGES + pages) / pages_a_day - PRIOR_HOURS / 24.0, 0.0)


def interval(pages: float, hours: float) -> float:
    """Return the seconds until the next visit of a source pays."""
    wanted = 3600.0 / (VISITS_PER_PAGE * pages_an_hour(pages, hours))
    return min(max(wanted, SHORTEST), LONGEST)


def stretch(expected: float, found: float) -> float:
    """Return the factor by which the interval of a hub grows for what it has brought.

    `expected` pages were promised since it is watched, and `found` came that no other source had
    shown before. The best interval goes with 1 / sqrt(rate) (`core.hubs.revisits`, for intervals
    that are short beside the life of interest); one page is added to both counts as a prior. The
    factor is never below 1: the policy's budget decides about shorter intervals.
    """
    return min(max(sqrt((1.0 + expected) / (1.0 + found)), 1.0), MOST_STRETCH)


def bounds(pages: float, hours: float) -> tuple[float, float]:
    """Return the rates between which the true one lies with 95 % probability."""
    shape, scale = PRIOR_PAGES + pages, PRIOR_HOURS + hours
    low, high = gammaincinv(shape, (0.025, 0.975)) / scale
    return float(low), float(high)
