"""Which days of a window are there, as mathematics wants to know it."""

from __future__ import annotations

import datetime as dt

import numpy as np
from numpy.typing import NDArray

from temporal_assets.windows.asset import Job


def observed_days(job: Job) -> NDArray[np.bool_]:
    """For each day of the window, first day first, whether its page views are there."""
    present = set(job.present("page_views"))
    days = (job.first + dt.timedelta(days=n) for n in range(job.settings.window.days))
    return np.array([day in present for day in days], dtype=np.bool_)
