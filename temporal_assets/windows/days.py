"""Which days of a window are there, as mathematics wants to know it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.concentration import days_before
from temporal_assets.core.texts import Int64s
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.store import Store
from temporal_assets.windows.asset import Job, first_of


def observed_days(job: Job) -> NDArray[np.bool_]:
    """For each day of the window, first day first, whether its page views are there."""
    present = set(job.present("page_views"))
    days = (job.first + dt.timedelta(days=n) for n in range(job.settings.window.days))
    return np.array([day in present for day in days], dtype=np.bool_)


def made_of(store: Store, settings: Settings, day: dt.date) -> NDArray[np.bool_]:
    """The same of a window that was made, and ends with `day`."""
    observed = np.ones(settings.window.days, np.bool_)
    first = first_of(settings, day)
    for missing in store.require("page_histories", day).extra["missing_days"]:
        observed[(dt.date.fromisoformat(missing) - first).days] = False
    return observed


def made_window(histories: Manifest) -> dict[str, Any]:
    """As `window_days`, of the window that `page_histories` were made of, long as it was then."""
    first = histories.day - dt.timedelta(days=histories.extra["window_days"] - 1)
    observed = np.ones(histories.extra["window_days"], np.bool_)
    for missing in histories.extra["missing_days"]:
        observed[(dt.date.fromisoformat(missing) - first).days] = False
    return counted_days(first, observed)


def window_days(job: Job) -> dict[str, Any]:
    """Parameters of statements that count the days that are there since one of the window."""
    return counted_days(job.first, observed_days(job))


def counted_days(first: dt.date, observed: NDArray[np.bool_]) -> dict[str, Any]:
    """The same of a window by its days; `seen_before` is a list that every engine can read."""
    before = ",".join(map(str, days_before(observed).tolist()))
    return {"first": first, "days": len(observed), "seen_before": before}


def seen_before(parameters: Mapping[str, Any]) -> Int64s:
    """The list of `counted_days`, of parameters that have it."""
    return np.array([*map(int, parameters["seen_before"].split(","))], np.int64)
