"""The days of a window that are there, in the form that mathematics wants."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.labels.concentration import days_before
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job


def observed_days(job: Job) -> NDArray[np.bool_]:
    """Return, for each day of the window, first day first, whether its page views are there."""
    present = set(job.present("page_views"))
    days = (job.first + dt.timedelta(days=n) for n in range(job.settings.window.days))
    return np.array([day in present for day in days], dtype=np.bool_)


def made_of(histories: Manifest) -> tuple[dt.date, NDArray[np.bool_]]:
    """Return first day of the window that `page_histories` were made of, and the same of its days.

    It is as long as it was then: settings may say something else by now.
    """
    days = histories.extra["window_days"]
    first = histories.day - dt.timedelta(days=days - 1)
    observed = np.ones(days, np.bool_)
    for missing in histories.extra["missing_days"]:
        observed[(dt.date.fromisoformat(missing) - first).days] = False
    return first, observed


def made_window(histories: Manifest) -> dict[str, Any]:
    """Return the window that `page_histories` were made of, as `window_days` does."""
    return counted_days(*made_of(histories))


def window_days(job: Job) -> dict[str, Any]:
    """Parameters of statements that count the days that are there since one of the window."""
    return counted_days(job.first, observed_days(job))


def counted_days(first: dt.date, observed: NDArray[np.bool_]) -> dict[str, Any]:
    """The same of a window by its days; `seen_before` is a list that every engine can read."""
    before = ",".join(map(str, days_before(observed).tolist()))
    return {"first": first, "days": len(observed), "seen_before": before}
