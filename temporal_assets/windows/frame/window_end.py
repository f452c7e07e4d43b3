"""The day that the latest window ends with: the last one with a usual amount of traffic.

Logs seldom end cleanly: a few late lines carry tomorrow's date, a file holds its first minutes of a
day, clocks are wrong. A window that ended with such a day would see every page die. So the window
ends with the last usual day; the days behind it are kept, and named wherever people look.

Here: which day that is. Not here: what is told of it (`standing`), and the windows of other days,
which anybody may ask for.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store

LATEST_OF: Final = "page_views"
"""The daily asset whose days the window may end with."""

USUAL_SHARE: Final = 0.1
"""Share of the requests of a usual day (the median of the days up to the last usual one) below
which a day at the end is stray. On twelve real sets the least of the last days that are whole has
0.25 of it, the weekend of an office a fifth, and the least of all days 0.115; of the days that are
not whole the fullest have 0.078 and 0.099."""

MOST_STRAY_DAYS: Final = 0.5
"""Usual days that all stray days have together at most. Traffic that has fallen for good is the
usual one after a while: at a twentieth, after ten days."""

MOST_STRAY_SHARE: Final = 0.05
"""Share of all requests before them that stray days have together at most, for logs of few days."""


@dataclass(frozen=True, slots=True)
class WindowEnd:
    """The last usual day, and the days after it."""

    day: dt.date
    stray: tuple[dt.date, ...] = ()
    """Later days, which have next to no traffic."""
    stray_requests: int = 0
    usual_requests: int = 0
    """Requests of a usual day."""


def window_end(store: Store, settings: Settings, before: dt.date | None = None) -> WindowEnd | None:
    """Return the end of the latest window (before `before`); None where no day has views."""
    days = [day for day in store.days(LATEST_OF) if before is None or day < before]
    days = days[-settings.window.days :]
    if not days:
        return None
    requests = _requests(store, days)
    last, usual = last_usual(requests)
    return WindowEnd(days[last], tuple(days[last + 1 :]), sum(requests[last + 1 :]), round(usual))


def last_usual(requests: Sequence[int]) -> tuple[int, float]:
    """Return the index of the last usual day, and the requests of a usual day.

    Args:
        requests: Requests of each day that has any, in their order; one day at least.
    """
    for last in range(len(requests)):
        kept, rest = requests[: last + 1], requests[last + 1 :]
        usual = float(median(kept))
        most = min(MOST_STRAY_DAYS * usual, MOST_STRAY_SHARE * sum(kept))
        least = USUAL_SHARE * usual
        if requests[last] >= least > max(rest, default=0) and sum(rest) < most:
            return last, usual
    return len(requests) - 1, float(median(requests))


def _requests(store: Store, days: Sequence[dt.date]) -> list[int]:
    """Return the requests of each day; opened pages instead where `doctor clean` removed some."""
    for asset in ("requests", LATEST_OF):
        manifests = [store.manifest(asset, day) for day in days]
        rows = [manifest.rows for manifest in manifests if manifest is not None]
        if len(rows) == len(days):
            return rows
    return [1] * len(days)
