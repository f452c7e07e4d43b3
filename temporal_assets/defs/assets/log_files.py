"""The asset `log_files`: reads new log files into the landing zone and notes which days change.

A Dagster shell. Not here: reading (`landing.landing`), building the days (`requests`).
"""

# No `from __future__ import annotations`: Dagster evaluates the annotations of its functions.

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import dagster as dg

from temporal_assets.days import staleness
from temporal_assets.defs.events import Event
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.logs_and_releases import of_logs
from temporal_assets.defs.metadata.metadata import MAX_ROWS, grid, plottable
from temporal_assets.defs.runs.retries import can_retry, is_transient, retry
from temporal_assets.defs.runs.step_log import step_log
from temporal_assets.defs.runs.tags import LANDING_POOL
from temporal_assets.defs.stages import documentation, group_of
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landed_files import LandedFile
from temporal_assets.landing.landing import LandingReport, refresh
from temporal_assets.logs.read.objects import LogPath
from temporal_assets.settings import Settings
from temporal_assets.storage.sealed import digest_of

_COLUMNS = {
    "file": "string",
    "format": "string",
    "lines": "int",
    "bytes": "int",
    "days": "string",
    "trouble": "string",
}


class _Batch(NamedTuple):
    """The batch of an event, with the names that Dagster gives its parts."""

    id: str
    is_end: bool


def log_file_assets(
    settings: Settings, days: dg.PartitionsDefinition[str]
) -> Sequence[dg.AssetsDefinition | dg.AssetSpec]:
    """Return the asset `log_files`, and the asset `landed_days` with the days it changes.

    Reading a file changes some days and not others. Dagster would mark every day of `requests` as
    stale with every new file; through `landed_days` it marks those that the file changes.
    """
    owners = [settings.orchestration.owner]

    @dg.asset(
        name="log_files",
        description=(
            "Access logs, each read once: cleaned, pseudonymised and split by day into the landing"
            " zone. Materialising reads the files of the configured sources that are new or have"
            " changed; with nothing new it costs a look at the folders."
        ),
        kinds={"file", "parquet"},
        pool=LANDING_POOL,
        group_name=group_of("log_files"),
        owners=owners,
        metadata={"documentation": documentation("log_files", settings)},
    )
    def log_files(
        context: dg.AssetExecutionContext, installation: dg.ResourceParam[Installation]
    ) -> dg.MaterializeResult[Any]:
        report = _read_new_files(context, installation)
        for warning in report.warnings:
            context.log.warning(warning)
        inventory = Inventory.load(installation.settings)
        _announce_days(context, installation, inventory, report)
        return dg.MaterializeResult(
            metadata=plottable(_metadata(report, inventory) | of_logs(inventory)),
            # What has changed is told per day, by `landed_days`.
            data_version=dg.DataVersion("see landed_days"),
        )

    landed_days = dg.AssetSpec(
        "landed_days",
        deps=["log_files"],
        description=(
            "What the log files hold of each day. Changes with every file that adds to the day,"
            " however late it comes; the day of `requests` is then stale."
        ),
        kinds={"file", "parquet"},
        partitions_def=days,
        group_name=group_of("landed_days"),
        owners=owners,
        metadata={"documentation": documentation("landed_days", settings)},
    )
    return [log_files, landed_days]


def _read_new_files(context: dg.AssetExecutionContext, installation: Installation) -> LandingReport:
    """Return what was read; ask for another attempt where a fault may pass."""

    def progress(path: LogPath, done: int, total: int) -> None:
        installation.report(Event("reading", "log_files", path=str(path), done=done, total=total))

    patient, spread = can_retry(context), installation.engine.spread
    try:
        with step_log(context):
            return refresh(installation.settings, progress, patient=patient, spread=spread)
    except Exception as error:
        if not patient or not is_transient(error):
            raise
        # Files that were read before this one are known to the next attempt.
        why = f"{type(error).__name__}: {error}"
        raise retry(context, installation, "log_files", why) from error


def _announce_days(
    context: dg.AssetExecutionContext,
    installation: Installation,
    inventory: Inventory,
    report: LandingReport,
) -> None:
    """Tell Dagster the version of every day that this or an unfinished earlier run changed."""
    stale = staleness.stale(installation.store, inventory, installation.settings)["requests"]
    days = sorted({*report.days, *stale})
    for day in days:
        inputs = inventory.inputs(day)
        observation = dg.AssetObservation(
            asset_key="landed_days",
            partition=day.isoformat(),
            metadata={
                "files": len(inputs),
                "log_lines": sum(file.days[day].lines for file in inventory.of_day(day)),
            },
            tags={"dagster/data_version": digest_of([item.digest for item in inputs])},
        )
        # As `context.log_event` does, but that the event log may store them together.
        step, batch = context.get_step_execution_context(), _Batch("landed_days", day == days[-1])
        dg.DagsterEvent.asset_observation(step, observation, cast("Any", batch))


def _metadata(report: LandingReport, inventory: Inventory) -> dict[str, Any]:
    """Return the metadata of a reading: numbers of files and the span of days."""
    days = inventory.days()
    span = {"first_day": str(days[0]), "last_day": str(days[-1])} if days else {}
    return {
        "files_read": len(report.landed),
        "files_known": report.unchanged,
        "files_unreadable": len(inventory.failed),
        "days": len(days),
        **({"warnings": "\n".join(report.warnings)} if report.warnings else {}),
        **span,
        "log_lines": sum(file.lines for file in inventory.active),
        "bytes": sum(file.size for file in inventory.active),
        "read_now": grid(_rows([*report.failed, *report.landed]), _COLUMNS),
    }


def _rows(files: Iterable[LandedFile]) -> list[dict[str, Any]]:
    return [_row(file) for file in list(files)[:MAX_ROWS]]


def _row(file: LandedFile) -> dict[str, Any]:
    """Return a log file as a row of the table in the metadata."""
    days = sorted(file.days)
    return {
        "file": file.name,
        "format": file.format,
        "lines": file.lines,
        "bytes": file.size,
        "days": f"{days[0]} to {days[-1]}" if days else "",
        "trouble": file.error or file.problem or "",
    }
