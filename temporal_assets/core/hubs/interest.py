"""The speed at which interest in new pages of a hub fades, and its share after their links left.

Here: both from sums of daily views by hub. Not here: how often to visit the hub (`revisits`).

**Half-life.** A page is born at some moment of its first day, all equally likely, and the ages at
which it is opened are log-normal with median exp(mu) days (TW 4.1). With F the distribution
function of the ages, its first k days hold the share

    P_k = integral from k-1 to k of F(t) dt
    integral from 0 to T of F = T N((ln T - mu) / s) - exp(mu + s^2/2) N((ln T - mu - s^2) / s)

of its views. The shares of one and of three days, pooled over all complete temporal pages of a hub,
give mu and s; so a page that was opened on one day only says as much as any other, where a curve
cannot be fitted to it. Pages that are younger than the days looked at are left out, all alike.

**Links that leave.** Of the views from the day on which a link was first followed on, the share L
came after the day on which it was last followed. If interest fades at rate d and links leave at
rate s independently, L = s / (d + s), so that s = d L / (1 - L). It is measured against interest
and not as a time on purpose: editors leave what is read where it is, and links that leave early
have little interest left. On a front page with hourly truth 0.10 of the interest came later; the
mean time that links stayed there, as a rate beside that of interest, would have said 0.26.

Hubs with few pages are drawn towards all of them, as if a few pages like the average were added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import log_ndtr, ndtr

from temporal_assets.core.numerics.arrays import Flags, Floats, Int64s

_SHORTEST: Final = 1.0 / 24
"""Shortest half-life in days: shorter ones cannot be told from daily views."""
_LONGEST: Final = 60.0
_UNKNOWN: Final = 0.5
"""Half-life in days where no page of the window is complete: news (docs/hubs.md)."""
_UNKNOWN_MISSED: Final = 0.1
"""`L` where no page is complete: that of the front page with hourly truth."""
_MOST_MISSED: Final = 0.9
_PAGES_BEHIND: Final = 5.0
"""Number of average pages that are added to every hub (shrinkage)."""

_SIGMAS: Final = np.exp(np.linspace(np.log(0.25), np.log(4.0), 61))
_MUS: Final = np.linspace(np.log(_SHORTEST) - 1.5, np.log(_LONGEST), 241)


@dataclass(frozen=True, slots=True)
class HubInterest:
    """Interest in the new pages of hubs, one entry for each hub."""

    views: Floats
    """Views of a temporal page over its life."""
    half_life: Floats
    """Half-life of the interest, in days."""
    missed: Floats
    """Share of the interest that comes after the link has left (`L`)."""

    @property
    def leave(self) -> Floats:
        """Rate a day at which links leave (`s`)."""
        return np.asarray(np.log(2) / self.half_life * self.missed / (1 - self.missed))

    def of(self, some: Flags) -> HubInterest:
        """Return the entries of some hubs."""
        return HubInterest(self.views[some], self.half_life[some], self.missed[some])


def interest_of(sums: Mapping[str, Int64s]) -> HubInterest:
    """Return the interest of hubs from sums over the temporal pages that each links to.

    Columns of `sums` (`hub_facts`), one entry per hub: number of `temporal_pages` and their
    `views`; for complete pages the views of `one_day`, `three_days` and `all_days`; `shown`, views
    from the first day of a link on, and `missed`, views after its last day.
    """
    pages, views = sums["temporal_pages"], sums["views"]
    usual = _ratio(views.sum(), pages.sum(), 1.0)
    behind = _PAGES_BEHIND * usual
    first, three, everything = (sums[name] for name in ("one_day", "three_days", "all_days"))
    if everything.sum() == 0:
        half_life = np.full(len(pages), _UNKNOWN)
    else:
        whole = float(everything.sum())
        shares = [
            (part + behind * part.sum() / whole) / (everything + behind) for part in (first, three)
        ]
        half_life = half_lives(*shares)
    missed = np.full(len(pages), _UNKNOWN_MISSED)
    shown = float(sums["shown"].sum())
    if shown > 0:
        usual_missed = sums["missed"].sum() / shown
        missed = (sums["missed"] + behind * usual_missed) / (sums["shown"] + behind)
    return HubInterest(
        np.asarray((views + behind) / (pages + _PAGES_BEHIND)),
        half_life,
        np.clip(missed, 0.0, _MOST_MISSED),
    )


def _ratio(part: float, whole: float, unknown: float) -> float:
    return float(part) / float(whole) if whole else unknown


def half_lives(one_day: Floats, three_days: Floats) -> Floats:
    """Return half-lives in days, one per hub.

    For each sigma of a grid, the share of the first day gives mu. The result is exp(mu) for the
    sigma whose share of three days is nearest to the given one.

    Args:
        one_day: Share of the views on the first day.
        three_days: Share of the views on the first three days.
    """
    # A sigma under which no mu gives the share of the first day is charged with that gap as well.
    best, nearest = np.full(len(one_day), _UNKNOWN), np.full(len(one_day), np.inf)
    for sigma in _SIGMAS:
        first = share_of_day(1, _MUS, sigma)
        mu = np.interp(-one_day, -first, _MUS)
        away = np.abs(share_of_day(3, mu, sigma) - three_days)
        away += np.abs(np.clip(one_day, first[-1], first[0]) - one_day)
        closer = away < nearest
        best[closer], nearest[closer] = np.exp(mu[closer]), away[closer]
    return np.asarray(np.clip(best, _SHORTEST, _LONGEST))


def share_of_day(days: int, mu: Floats, sigma: float) -> Floats:
    """Return the share `P_k` of the views within the first `days` days, over births in one day."""
    return np.asarray(_area(days, mu, sigma) - _area(days - 1, mu, sigma))


def _area(days: int, mu: Floats, sigma: float) -> Floats:
    if days == 0:
        return np.zeros(len(mu))
    at = (np.log(days) - mu) / sigma
    return np.asarray(days * ndtr(at) - np.exp(mu + sigma**2 / 2 + log_ndtr(at - sigma)))
