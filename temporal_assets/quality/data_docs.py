"""The contracts' checks as a project of Great Expectations that its users can open.

Written beside the daily checks, for who asks for it: a suite of real expectations per table,
validation results by table and day, and data docs as pages. There is also a suite for the rows
of each table, with the Parquet files of each day as batches (`row_suites`). The numbers are
measured by the engine as always (`inspect`) and compared with the same ranges as by the checks
(`expectations`), here with expectations of their own for each. Not here: the checks that runs
depend on.
"""

from __future__ import annotations

import datetime as dt
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.contracts import Table
from temporal_assets.quality.data_docs_pages import without_network
from temporal_assets.quality.evaluate import Expected
from temporal_assets.quality.expectations import Days, great_expectations, no_less
from temporal_assets.quality.inspect import Inspector
from temporal_assets.quality.row_suites import row_suite
from temporal_assets.storage.store import Store

if TYPE_CHECKING:
    import pandas as pd

_SOURCE: Final = "measured"
"""Name of the data source with one row of measured numbers for each day."""

ROWS: Final = "tables"
"""Name of the data source with the tables' own files, for people: the checks do not read it."""

_MINIMUM: Final = " minimum"
_MAXIMUM: Final = " maximum"
"""Ending of a check's name for the columns of limits that differ from day to day."""

Checks = Mapping[str, Mapping[dt.date, Expected]]
"""Numbers and ranges of each check by day."""


def write_project(
    inspector: Inspector, tables: Iterable[Table], days: Sequence[dt.date], folder: Path
) -> Path:
    """Write suites, results and data docs of published days; return the first page.

    Days are added to an existing project; its owner's own suites stay.
    """
    package = great_expectations()
    folder.mkdir(parents=True, exist_ok=True)
    with _Quiet():
        context = package.get_context(mode="file", project_root_dir=str(folder))
        from great_expectations.data_context.types.base import ProgressBarsConfig

        context.variables.progress_bars = ProgressBarsConfig(globally=False)
        source = context.data_sources.add_or_update_pandas(_SOURCE)
        for table in tables:
            numbers = {
                day: judged
                for day in days
                if inspector.store.manifest(table.name, day) is not None
                and (judged := _judged(inspector, table, day))
            }
            if numbers:
                _validate(package, context, source, table, numbers)
                _add_rows(context, inspector.store, table, sorted(numbers))
        (pages,) = context.build_data_docs().values()
    return without_network(folder, Path(str(pages).removeprefix("file://")).parent)


def _judged(inspector: Inspector, table: Table, day: dt.date) -> list[Expected]:
    """Return measured numbers with their ranges, without those that have none."""
    return [expected for expected in inspector.expected(table, day) if expected.can_be_judged]


def _validate(
    package: Any,
    context: Any,
    source: Any,
    table: Table,
    numbers: Mapping[dt.date, Sequence[Expected]],
) -> None:
    """Write the suite of a table, and a result for each day."""
    checks = _numbers_by_check(numbers)
    expectations = [each for check, days in checks.items() for each in _expectations(check, days)]
    expected = context.suites.add_or_update(
        package.ExpectationSuite(name=table.name, expectations=expectations)
    )
    asset = source.add_dataframe_asset(table.name)
    batch = asset.add_batch_definition_whole_dataframe("day")
    definition = context.validation_definitions.add_or_update(
        package.ValidationDefinition(name=table.name, data=batch, suite=expected)
    )
    for day in sorted(numbers):
        midnight = dt.datetime.combine(day, dt.time(), dt.UTC)
        definition.run(
            batch_parameters={"dataframe": _frame(checks, day)},
            run_id=package.RunIdentifier(run_name=str(day), run_time=midnight),
            result_format="SUMMARY",
        )


def _numbers_by_check(days: Days) -> dict[str, dict[dt.date, Expected]]:
    """Return the numbers of each check by day."""
    checks: dict[str, dict[dt.date, Expected]] = {}
    for day, numbers in days.items():
        for expected in numbers:
            checks.setdefault(expected.name, {})[day] = expected
    return checks


def _expectations(check: str, days: Mapping[dt.date, Expected]) -> Iterable[Any]:
    """Yield expectations that a check's numbers are within their range, which may vary by day."""
    from great_expectations.expectations.core.expect_column_values_to_be_between import (
        ExpectColumnValuesToBeBetween,
    )

    ranges = {(limits.minimum, limits.maximum) for limits in days.values()}
    if len(ranges) == 1:
        ((minimum, maximum),) = ranges
        yield ExpectColumnValuesToBeBetween(column=check, min_value=minimum, max_value=maximum)
        return
    yield no_less(check, check + _MINIMUM)
    yield no_less(check + _MAXIMUM, check)


def _frame(checks: Checks, day: dt.date) -> pd.DataFrame:
    """Return a data frame of one row with a day's numbers and limits; NaN where there are none."""
    import pandas as pd

    row: dict[str, float | None] = {}
    for check, days in checks.items():
        limits = days.get(day)
        row[check] = limits.value if limits else None
        row[check + _MINIMUM] = limits.minimum if limits else None
        row[check + _MAXIMUM] = limits.maximum if limits else None
    return pd.DataFrame([row], dtype="float64")


def _add_rows(context: Any, store: Store, table: Table, days: Sequence[dt.date]) -> None:
    """Write the suite of a table's rows, and a batch for every file of its days.

    Only where the tables are files of this machine: the library would ask a bucket in its own way.
    """
    context.suites.add_or_update(row_suite(table))
    if not store.is_local:
        return
    asset = _files(context, table, Path(store.root))
    for day in days:
        paths = sorted(Path(path).relative_to(store.root) for path in store.files(table.name, day))
        for number, path in enumerate(paths, 1):
            name = str(day) if number == 1 else f"{day} {number}"
            if any(definition.name == name for definition in asset.batch_definitions):
                asset.delete_batch_definition(name)
            asset.add_batch_definition_path(name, path)


def _files(context: Any, table: Table, folder: Path) -> Any:
    """Return the library's list of a table's files, adding those of a folder."""
    sources = context.data_sources
    source = (
        sources.get(ROWS)
        if ROWS in sources.all()
        else sources.add_pandas_filesystem(ROWS, base_directory=folder)
    )
    return (
        source.get_asset(table.name)
        if table.name in source.get_asset_names()
        else source.add_parquet_asset(table.name)
    )


class _Quiet:
    """Hides the library's own messages from the terminal."""

    def __enter__(self) -> None:
        os.environ.setdefault("TQDM_DISABLE", "1")
        self._level = logging.getLogger("great_expectations").level
        logging.getLogger("great_expectations").setLevel(logging.ERROR)

    def __exit__(self, *_: object) -> None:
        logging.getLogger("great_expectations").setLevel(self._level)
