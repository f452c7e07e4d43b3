"""Which days of a window are there, as mathematics wants to know it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from temporal_assets.windows.asset import Job


def observed_days(job: Job) -> NDArray[np.bool_]:
    """For each day of the window, first day first, whether its page views are there."""
    present = set(job.present("page_views"))
    days = (job.first + dt.timedelta(days=n) for n in range(job.settings.window.days))
    return np.array([day in present for day in days], dtype=np.bool_)


def days_before(observed: NDArray[np.bool_]) -> list[int]:
    """How many days of a window are there before each of them, and in all."""
    return [0, *np.cumsum(observed).tolist()]


def window_days(job: Job) -> dict[str, Any]:
    """Parameters of statements that count the days of the window that are there since one of them.

    `seen_before` is `days_before` as a list that every engine can read.
    """
    observed = observed_days(job)
    seen_before = ",".join(map(str, days_before(observed)))
    return {"first": job.first, "days": len(observed), "seen_before": seen_before}
