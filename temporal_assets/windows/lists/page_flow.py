"""`page_flow`: the pages born in the window, and what each of them turned out to be."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.labels.early_labels import EARLY_LABELS
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES

UNSEEN_DAYS: Final = 7
"""A page counts as born when nobody opened it on the first observed days of the window. Pages that
were there before come back within a week, as a rule."""

LEAST_VIEWS: Final = 3
"""Views of a young page that counts. Of pages with one or two views nearly all have had them within
their first days: they would make every section look temporal (docs/sites-and-prefixes.md). Of 3, 5
and 10 it has the best F of patterns on `mix_a` (0.838, 0.836, 0.834; with few views 0.692, 0.688,
0.687), no worse a one on `arrivals_summer` (0.964 and 0.960 for 3 and 5) and the same on
`bbc_most_read_3h_spring`, sets that are not reported."""


def flow_from(present: Sequence[dt.date]) -> dt.date:
    """Return the first day on which a page that is first seen counts as born.

    That is the day after the first observed week. In a window of less than two weeks the second
    half of its days counts, and in a window of a single day no day does.

    Args:
        present: Days of the window that are there, ascending; one at least.
    """
    unseen = min(UNSEEN_DAYS, max(len(present) // 2, 1))
    return present[unseen] if unseen < len(present) else present[-1] + dt.timedelta(days=1)


def _make(job: Job) -> Sequence[Path]:
    inputs = {name: job.files(name) for name in ("page_histories", "page_labels", "early_labels")}
    parameters = {
        "day": job.day,
        "flow_from": flow_from(job.present("page_views")),
        "least_views": LEAST_VIEWS,
    }
    return job.engine.query("page_flow", inputs, parameters, job.asset.table, job.out)


PAGE_FLOW: Final = WindowAsset(
    "page_flow",
    _make,
    days=("page_views",),
    tables=(PAGE_HISTORIES, PAGE_LABELS, EARLY_LABELS),
    sql=("page_flow",),
    settings=lambda settings: [settings.window.days],
)
