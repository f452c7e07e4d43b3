"""Descriptions of assets in the UI before any data exists, taken from their contracts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg

from temporal_assets.contracts import ColumnSpec, Table
from temporal_assets.days import daily
from temporal_assets.defs.stages import documentation, group_of
from temporal_assets.engines.sql import sql_file, sql_path, sql_place
from temporal_assets.settings import Settings
from temporal_assets.storage.sealed import digest_of
from temporal_assets.windows.frame.asset import WindowAsset, learned_days


def table_spec(
    table: Table,
    settings: Settings,
    *,
    deps: Sequence[str],
    sql: Sequence[str],
    reader: int = 0,
) -> dg.AssetSpec:
    """Return the spec of a daily table, made from `deps` by SQL files and a reader's version."""
    return dg.AssetSpec(
        table.name,
        deps=deps,
        description=f"{table.description}\n\nOne row: {table.grain}. One partition: one day.",
        group_name=group_of(table.name),
        owners=[settings.orchestration.owner],
        kinds={settings.engine.name, "parquet"},
        tags={"grain": "day"},
        code_version=_code_version(table, sql, reader),
        metadata=_metadata(table, settings) | _code(daily.build_requests if reader else None, sql),
    )


def window_spec(asset: WindowAsset, settings: Settings) -> dg.AssetSpec:
    """Return the spec of a window asset with its dependencies on days and other windows."""
    table = asset.table
    # In units of days, which the partitions are on both sides.
    window = dg.TimeWindowPartitionMapping(start_offset=-(settings.window.days - 1))
    return dg.AssetSpec(
        table.name,
        deps=[
            *(dg.AssetDep(name, partition_mapping=window) for name in asset.daily),
            *_tables(asset, settings),
        ],
        description=(
            f"{table.description}\n\nOne row: {table.grain}. One partition: the"
            f" {settings.window.days} days that end with it. Each night makes the latest."
        ),
        group_name=group_of(table.name),
        owners=[settings.orchestration.owner],
        kinds={settings.engine.name, "parquet"},
        tags={"grain": "window"},
        code_version=_code_version(table, asset.sql, 0),
        metadata=_metadata(table, settings) | _code(asset.make, asset.sql),
    )


def _tables(asset: WindowAsset, settings: Settings) -> list[dg.AssetDep]:
    """Return the dependencies on tables: of the same day, and of earlier days that are judged."""
    today = dt.date.max
    back = [(today - day).days for day in learned_days(settings, today).values()]
    since = dg.TimeWindowPartitionMapping(start_offset=-max(back, default=0))
    learned = {earlier_asset.name for earlier_asset in asset.learned}
    return [
        dg.AssetDep(earlier_asset.name, partition_mapping=since)
        if earlier_asset.name in learned
        else dg.AssetDep(earlier_asset.name)
        for earlier_asset in asset.tables
    ]


def _code_version(table: Table, sql: Sequence[str], reader: int) -> str:
    """Return a version that changes with the schema, the statements and the reader."""
    statements = [
        [line for line in sql_file(name).text.splitlines() if not line.startswith("--")]
        for name in sql
    ]
    return f"{table.version}-{digest_of([statements, reader])[:8]}"


def _metadata(table: Table, settings: Settings) -> dict[str, Any]:
    """Return the metadata of a table's definition: documentation, columns and lineage."""
    metadata: dict[str, Any] = {
        "documentation": documentation(table.name, settings),
        "dagster/table_name": table.name,
        "dagster/column_schema": dg.TableSchema([_column(column) for column in table.columns]),
    }
    lineage = {
        column.name: [_source(source) for source in column.sources]
        for column in table.columns
        if column.sources
    }
    if lineage:
        metadata["dagster/column_lineage"] = dg.TableColumnLineage(lineage)
    return metadata


def _code(make: Callable[..., Any] | None, sql: Sequence[str]) -> dict[str, Any]:
    """Return references to the function and the statements that make a table."""
    references: list[dg.LocalFileCodeReference | dg.UrlCodeReference] = []
    if make is not None:
        file, line = make.__code__.co_filename, make.__code__.co_firstlineno
        references.append(_place(file, line, make.__module__))
    references.extend(_place(str(sql_path(name)), 1, sql_place(name)) for name in sql)
    return {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=references)}


def _place(file: str, line: int, label: str) -> dg.LocalFileCodeReference:
    return dg.LocalFileCodeReference(file_path=file, line_number=line, label=label)


def _column(column: ColumnSpec) -> dg.TableColumn:
    return dg.TableColumn(
        column.name,
        type=column.sql_type,
        description=_described(column),
        constraints=dg.TableColumnConstraints(nullable=column.nullable),
    )


def _described(column: ColumnSpec) -> str:
    """Return a column's description with its source columns, as the UI draws no column lineage."""
    made_from = ", ".join(f"`{source}`" for source in column.sources)
    return f"{column.description} From {made_from}." if made_from else column.description


def _source(name: str) -> dg.TableColumnDep:
    table, column = name.split(".")
    return dg.TableColumnDep(asset_key=dg.AssetKey(table), column_name=column)
