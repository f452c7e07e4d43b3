"""Work that killed runs have left unfinished, such as days that are published and not judged.

Not here: finishing it (`materializing.finish`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from temporal_assets.defs.runs import lifelines
from temporal_assets.ops import catalogue
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store
from temporal_assets.windows import registry


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Work that killed runs have left unfinished; the next run finishes it."""

    days: Mapping[str, tuple[dt.date, ...]]
    """Days by asset that are published and not judged, or judged and not released."""
    runs: int
    """Runs of Dagster whose process is gone and that were not ended."""
    catalogue: bool
    """True if `catalogue.duckdb` does not show what is published."""

    def __bool__(self) -> bool:
        return bool(self.days or self.runs or self.catalogue)


def unfinished(settings: Settings, store: Store | None = None) -> Unfinished:
    """Return what killed runs have left unfinished; changes nothing."""
    store = store or Store.open(settings)
    days = registry.unfinished(store, settings)
    is_shown = catalogue.is_moved(store) or catalogue.is_current(store)
    is_behind = bool(store.assets()) and not is_shown
    return Unfinished(days, len(lifelines.orphans(settings.state)), is_behind)
