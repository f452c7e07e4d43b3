"""How good early labels are, without waiting four weeks for today's young pages.

Complete pages of a window are judged as if they were young, by what those born before them teach:
out of time. Not here: what is compared (`core.early_comparison`), the labels (`early_labels`).
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Final

from temporal_assets.core.early import Score
from temporal_assets.core.early_comparison import compare
from temporal_assets.core.labels import PageThresholds
from temporal_assets.engines.base import Engine
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.complete_pages import complete_pages
from temporal_assets.windows.days import made_of
from temporal_assets.windows.early_labels import learn_from

_EARLIER: Final = 2 / 3
"""Share of the complete pages, the first born, that the others are judged by."""


def early_trial(
    store: Store, engine: Engine, settings: Settings, day: dt.date, scratch: Path
) -> list[Score]:
    """Scores of every answer at every age; none where there are too few complete pages."""
    inputs = {name: store.files(name, day) for name in ("page_histories", "page_labels")}
    first, observed = made_of(store.require("page_histories", day))
    pages = complete_pages(engine, inputs, observed, first, settings.early.complete_days, scratch)
    earlier = round(_EARLIER * len(pages))
    known, later = pages.take(slice(0, earlier)), pages.take(slice(earlier, None))
    model = learn_from(known)
    if not model.knows_views or not len(later):
        return []
    return compare(
        model,
        later.first_views,
        later.is_temporal,
        later.sites,
        later.sections,
        # Those that the truth was made with.
        thresholds=PageThresholds(settings.labels.n, later.q, later.m, later.p),
    )
