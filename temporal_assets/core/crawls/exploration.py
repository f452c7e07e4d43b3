"""Thompson sampling: which of many unknown places the next exploring fetch goes to.

Here: Beta posteriors over the share of fetches that pay, and the choice among them. Not here: what
a place is and when a fetch pays (`crawl.instant.explore`).

Each *arm* (a section, a host, a pattern) has a Beta(1 + wins, 1 + losses) posterior. A number is
drawn from each and the largest wins, so an arm is tried as often as it is likely to be the best
(Thompson 1933; for sources of news: doi 10.1145/3543873.3587574). Arms of which nothing is known
are tried, arms that never pay are tried less and less, and no parameter has to be chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

PRIOR: Final = (1.0, 1.0)
"""Wins and losses that every arm begins with: any share is as likely as any other."""

FORGETTING: Final = 0.98
"""Factor on what was known at each new fetch, so that an arm is judged by its last fifty."""


def choose(wins: Sequence[float], losses: Sequence[float], random: np.random.Generator) -> int:
    """Return the index of the arm to try next."""
    draws = random.beta(np.asarray(wins) + PRIOR[0], np.asarray(losses) + PRIOR[1])
    return int(np.argmax(draws))


def learned(wins: float, losses: float, *, paid: bool) -> tuple[float, float]:
    """Return the wins and losses of an arm after one more fetch."""
    return FORGETTING * wins + paid, FORGETTING * losses + (not paid)
