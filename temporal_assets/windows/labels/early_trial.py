"""A trial of early labels on pages whose outcome is known already.

Known pages of a window are judged as if they were young, by a model learned from pages born before
them: out of time. Not here: the comparison (`core.labels.early_comparison`), the labels
(`early_labels`).
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Final

import numpy as np

from temporal_assets.core.graph.reach import groups_of
from temporal_assets.core.labels.early import Score
from temporal_assets.core.labels.early_comparison import compare
from temporal_assets.core.labels.labels import Thresholds
from temporal_assets.engines.base import Engine
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import job_as_it_is
from temporal_assets.windows.labels.early_labels import EARLY_LABELS, learn_from
from temporal_assets.windows.labels.first_days import first_days

_EARLIER: Final = 2 / 3
"""Share of the known pages, the first born, that the model learns from."""


def early_trial(
    store: Store, engine: Engine, settings: Settings, day: dt.date, scratch: Path
) -> list[Score]:
    """Return the scores of every method at every age; none where there is nothing to learn from."""
    pages, _ = first_days(job_as_it_is(store, engine, settings, EARLY_LABELS, day, scratch))
    earlier = round(_EARLIER * len(pages))
    known_pages, later = pages.take(slice(0, earlier)), pages.take(slice(earlier, None))
    model = learn_from(known_pages, settings)
    if not model.knows_views or not len(later):
        return []
    labels = settings.labels
    _, site = np.unique(later.sites, return_inverse=True)
    _, groups = groups_of(site.astype(np.int64), later.born.astype(np.int64))
    return compare(
        model,
        later.first_views,
        later.is_temporal,
        later.sites,
        later.sections,
        thresholds=Thresholds(labels.n, labels.q, labels.m, labels.p),
        groups=groups,
    )
