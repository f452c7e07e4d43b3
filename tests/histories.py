"""A store with the windows of pages whose daily views are given, as if their logs had been read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.engines.base import Engine
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import WindowAsset, build
from temporal_assets.windows.registry import WINDOW_ASSETS
from tests.tables import write_table

FIRST = dt.date(2026, 3, 1)
ONE = dt.timedelta(days=1)


def made_of_views() -> list[WindowAsset]:
    """Window assets that need no transits."""

    def is_one(asset: WindowAsset) -> bool:
        return set(asset.daily) <= {"page_views"} and all(map(is_one, asset.tables))

    return [asset for asset in WINDOW_ASSETS if is_one(asset)]


class Histories:
    """Windows of pages `https://a.example/00000`, ... or of those named; days may be missing."""

    def __init__(
        self,
        engine: Engine,
        root: Path,
        views: np.ndarray,
        missing: int | Collection[int] | None = None,
        urls: list[str] | None = None,
        **settings: Any,
    ) -> None:
        self.views = views.astype(np.int32)
        self.days = views.shape[1]
        self.settings: Settings = load_settings(
            root, window={"days": self.days, "min_days": 1}, **settings
        )
        self.urls = urls or [f"https://a.example/{page:05}" for page in range(len(views))]
        self.store, self.engine = Store.open(self.settings), engine
        self.day = FIRST + (self.days - 1) * ONE
        absent = {missing} if isinstance(missing, int) else set(missing or ())
        self.observed = np.array([n not in absent for n in range(self.days)])
        self.views[:, ~self.observed] = 0
        for n in np.flatnonzero(self.observed):
            self._publish_views(FIRST + int(n) * ONE, self.views[:, n])
        for asset in made_of_views():
            build(self.store, engine, self.settings, asset, self.day)

    def _publish_views(self, day: dt.date, views: np.ndarray) -> None:
        rows = [
            {"day": day, "site": url.split("/")[2], "url": url, "views": count}
            for url, count in sorted(zip(self.urls, views.tolist(), strict=True))
            if count
        ]
        table = pa.Table.from_pylist(rows, contracts.PAGE_VIEWS.arrow_schema)
        with self.store.scratch() as scratch:
            path = scratch / "page_views.parquet"
            write_table(table, path)
            self.store.publish("page_views", day, [path], inputs=[], settings_digest="")

    def column(self, asset: str, name: str) -> np.ndarray:
        column = self.store.read(asset, self.day).column(name)
        return np.array(column.to_pylist(), dtype=None)
