"""Reading artifacts without Dagster: `temporal_assets.open(state).read("page_views", day)`."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Sequence

import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.engines.duckdb import connect
from temporal_assets.settings import load_settings
from temporal_assets.storage import catalogue
from temporal_assets.storage.store import MissingPartition, Store

Day = dt.date | str


class Artifacts:
    """The published artifacts of one state folder. Reading never changes anything."""

    def __init__(self, state: str | os.PathLike[str] | None = None) -> None:
        self.settings = load_settings(state)
        if not self.settings.state.is_dir():
            raise FileNotFoundError(
                f"there is no state folder {self.settings.state}; `temporal-assets ingest PATH` or "
                "`temporal-assets demo` makes one"
            )
        self.store = Store.open(self.settings)

    def assets(self) -> list[str]:
        """Names that `read` takes."""
        return sorted(table.name for table in contracts.TABLES)

    def days(self, asset: str) -> list[dt.date]:
        """Days published for an asset, ascending."""
        return self.store.days(asset)

    def read(
        self,
        asset: str,
        day: Day | Sequence[Day] | None = None,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """An asset as an Arrow table: one day, several, or all that are published.

        `.to_pandas()` on the result gives a data frame.
        """
        if day is None:
            return self._read_all(asset, columns)
        if isinstance(day, str | dt.date):
            return self.store.read(asset, [_day(day)], columns)
        return self.store.read(asset, [_day(one) for one in day], columns)

    def _read_all(self, asset: str, columns: Sequence[str] | None) -> pa.Table:
        while True:
            days = self.store.days(asset)
            try:
                return self.store.read(asset, days, columns)
            except MissingPartition:
                if self.store.days(asset) == days:  # else one was removed meanwhile
                    raise

    def query(self, sql: str) -> pa.Table:
        """The result of a SQL query over all assets."""
        return catalogue.asked(
            self.store,
            lambda: connect(self.settings),
            lambda connection: connection.sql(sql).to_arrow_table(),
        )


def _day(value: Day) -> dt.date:
    if isinstance(value, dt.datetime):  # as pandas has days
        return value.date()
    if isinstance(value, dt.date):
        return value
    try:
        return dt.date.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value!r} is no day; write it like 2026-01-31") from None
