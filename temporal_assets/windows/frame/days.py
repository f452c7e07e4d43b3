"""Published days of a window, as flags for mathematics and as parameters for SQL statements."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.labels.concentration import days_before
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job


def observed_days(job: Job) -> NDArray[np.bool_]:
    """Return, for each day of the window, first day first, True if its page views are published."""
    present = set(job.present("page_views"))
    days = (job.first + dt.timedelta(days=n) for n in range(job.settings.window.days))
    return np.array([day in present for day in days], dtype=np.bool_)


def histories_window(histories: Manifest) -> tuple[dt.date, NDArray[np.bool_]]:
    """Return the window that `page_histories` were made from: its first day and flags of its days.

    The length is taken from the manifest, because settings may have changed since.
    """
    days = histories.extra["window_days"]
    first = histories.day - dt.timedelta(days=days - 1)
    observed = np.ones(days, np.bool_)
    for missing in histories.extra["missing_days"]:
        observed[(dt.date.fromisoformat(missing) - first).days] = False
    return first, observed


def histories_parameters(histories: Manifest) -> dict[str, Any]:
    """Return `window_parameters` for the window that `page_histories` were made from."""
    return day_parameters(*histories_window(histories))


def window_parameters(job: Job) -> dict[str, Any]:
    """Return `day_parameters` for the job's window."""
    return day_parameters(job.first, observed_days(job))


def day_parameters(first: dt.date, observed: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the parameters of statements that count the published days since a day of the window.

    `seen_before` lists, for each day, the number of published days before it; as text, because
    every engine can split that.
    """
    before = ",".join(map(str, days_before(observed).tolist()))
    return {"first": first, "days": len(observed), "seen_before": before}
