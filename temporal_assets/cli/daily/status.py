"""`temporal-assets status`: what is there, what is missing or out of date, what went wrong.

Here: gathering and showing. It reads manifests and records only, never the data itself. What is
damaged is named and keeps nothing else from being said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from temporal_assets.cli.doctor import upgrade
from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.checks import check_report, show_checks
from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.days import ranges
from temporal_assets.cli.shared.exits import FAILED, CommandError, command, explained
from temporal_assets.cli.shared.options import Json, State, existing_settings, invocation
from temporal_assets.cli.shared.unfinished import unfinished_report, unfinished_words
from temporal_assets.cli.shared.windows import say_standing

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store


Answer = TypeVar("Answer")


@command
def run(
    state: State = None,
    as_json: Json = False,
    data_docs: Annotated[
        Path | None,
        typer.Option(
            "--data-docs",
            metavar="FOLDER",
            help="Write the checks of the latest day as a project of Great Expectations, with"
            " suites, results and pages.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show what is there per asset, what is missing or stale, and the last checks."""
    from temporal_assets import contracts
    from temporal_assets.days.staleness import stale
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.operate.checks import last_checks
    from temporal_assets.operate.leftovers import unfinished
    from temporal_assets.ops.upgrade import plan
    from temporal_assets.storage.store import LookingStore
    from temporal_assets.windows.frame.standing import standing
    from temporal_assets.windows.registry import due

    settings = existing_settings(state)
    if data_docs is not None:
        _write_data_docs(settings, data_docs)
        return
    store, inventory = LookingStore.open(settings), Inventory.load(settings)
    damages: list[str] = []
    late = _answer_or_none(lambda: stale(store, inventory, settings), damages) or {}
    windows = _answer_or_none(lambda: due(store, settings), damages)
    if windows:
        late |= {asset: [windows.day] for asset in windows.assets}
    assets = {
        table.name: _asset(store, table.name, late.get(table.name, []), _awaited(late, table.name))
        for table in contracts.TABLES
    }
    logs = _logs(inventory, settings)
    checks = last_checks(settings, inventory, store)
    left = unfinished(settings, store)
    latest = assets["page_views"]["last"]
    recency = _recency(settings, latest, _switched_on(settings, damages))
    # It reads the same manifests as `stale`, which has noted their damage.
    outdated = _answer_or_none(lambda: plan(store, inventory, settings), []) or ()
    damages += store.damages.values()
    if as_json:
        report = {
            "state": str(settings.state),
            "log_files": logs,
            "assets": assets,
            "recency": recency,
            "window": standing(store, settings).report,
            "outdated": [upgrade.report(outdated_asset) for outdated_asset in outdated],
            "checks": [check_report(check) for check in checks],
            "unfinished": unfinished_report(left),
            "damaged": damages,
        }
        console.write_json(report)
    else:
        console.say(f"State folder {console.place(settings.state)}")
        build = invocation("materialize", settings.state)
        _show_logs(logs, inventory.days(), build)
        _show_recency(recency)
        _show_assets(assets, build)
        say_standing(store, settings)
        upgrade.show(outdated, settings.state)
        show_checks(checks)
        if left:
            console.warn(unfinished_words(left, settings.state))
        for damage in damages:
            console.fail(damage)
    if damages or logs["damaged"] or logs["gives_nothing"]:
        raise typer.Exit(FAILED)


def _answer_or_none(ask: Callable[[], Answer], damages: list[str]) -> Answer | None:
    """Return an answer, or None (and note the damage) if a record it needs is damaged."""
    from temporal_assets.storage.integrity import DamagedFile

    try:
        return ask()
    except DamagedFile as error:
        damages.append(str(error))
        return None


def _switched_on(settings: Settings, damages: list[str]) -> Sequence[str] | None:
    """Return the sensors and schedules that are on.

    None if they cannot be read: Dagster writes to its databases to read them, which not all users
    may.
    """
    from temporal_assets.machine.error_sentences import is_of_database, sentence_of
    from temporal_assets.operate.run_history import switched_on

    try:
        return switched_on(settings)
    except Exception as error:  # whatever its YAML, its databases and itself raise
        if not is_of_database(error) and (isinstance(error, OSError) or sentence_of(error)):
            return None  # no rights, or a full disk
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        damages.append(
            explained(error)
            or f"Dagster's home {settings.state / 'dagster'} cannot be read ({why}): if that stays,"
            " restore it from a backup or move it away; it holds runs and switches, and no data"
        )
        return None


def _recency(
    settings: Settings, latest: dt.date | None, switched_on: Sequence[str] | None
) -> dict[str, Any]:
    """Return the age of the data; it is too old only if a switched-on sensor should renew it."""
    import datetime as dt
    from zoneinfo import ZoneInfo

    current = dt.datetime.now(ZoneInfo(settings.orchestration.timezone)).date()
    age = (current - latest).days if latest else None
    limit = settings.alerts.max_age_days
    return {
        "latest_day": latest,
        "age_days": age,
        "switched_on": None if switched_on is None else list(switched_on),
        "is_old": bool(switched_on and age is not None and limit and age > limit),
    }


def _show_recency(recency: dict[str, Any]) -> None:
    """Show the age of the latest day, and the schedules and sensors that are switched on."""
    on = recency["switched_on"]
    unknown = "unknown, because Dagster's history cannot be read"
    names = unknown if on is None else ", ".join(on) or "nothing"
    if recency["latest_day"] is None:
        console.say(f"Switched on: {names}")
        return
    text = f"The latest day of page_views is {recency['latest_day']}"
    age = f"{text}, {counted(recency['age_days'], 'day')} ago. Switched on: {names}"
    if recency["is_old"]:
        console.warn(f"{age}. Do log files still arrive?")
    else:
        console.say(age)


def _write_data_docs(settings: Settings, folder: Path) -> None:
    """Write the data docs of the latest day into a folder."""
    from temporal_assets import contracts
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.quality.data_docs import write_project
    from temporal_assets.quality.inspect import Inspector
    from temporal_assets.storage.store import Store

    store = Store.open(settings)
    days = store.days("page_views")
    if not days:
        build = invocation("materialize", settings.state)
        raise CommandError(f"no day has been built yet: {build}")
    inspector = Inspector(store, engine_of(settings), settings)
    page = write_project(inspector, contracts.TABLES, days[-1:], folder.absolute())
    console.say(f"The data docs of {days[-1]}: {console.place(page)}")


def _awaited(late: Mapping[str, list[dt.date]], name: str) -> list[dt.date]:
    """Return the days on which an asset should be built; `rejects` are built with `requests`."""
    return late.get("requests" if name == "rejects" else name, [])


def _asset(store: Store, name: str, late: list[dt.date], awaited: list[dt.date]) -> dict[str, Any]:
    """Return the state of an asset: its days, rows and bytes, and days missing or stale."""
    days = store.days(name)
    manifests = [manifest for day in days if (manifest := store.manifest(name, day))]
    published = set(days)
    return {
        "days": len(days),
        "first": days[0] if days else None,
        "last": days[-1] if days else None,
        "rows": sum(manifest.rows for manifest in manifests),
        "bytes": sum(manifest.size for manifest in manifests),
        "missing": [day for day in awaited if day not in published],
        "stale": [day for day in late if day in published],
    }


def _logs(inventory: Inventory, settings: Settings) -> dict[str, Any]:
    """Return the state of the log files that have been read, with their faults."""
    from temporal_assets.landing.source_files import pending_files
    from temporal_assets.landing.source_verdicts import messages, verdicts
    from temporal_assets.logs.read.paths import NoSuchLogError

    days = inventory.days()
    source_verdicts = verdicts(inventory, settings)
    wrong = list(messages(source_verdicts))
    report: dict[str, Any] = {
        "read": len(inventory.active),
        "lines": sum(file.lines for file in inventory.active),
        "counts": sum(file.is_counted for file in inventory.active),
        "first": days[0] if days else None,
        "last": days[-1] if days else None,
        "unreadable": [
            {"file": file.sightings[-1].path, "error": file.error} for file in inventory.failed
        ],
        "partial": [
            {"file": file.sightings[-1].path, "problem": file.problem}
            for file in inventory.active
            if file.problem
        ],
        "faults": [text for is_fault, text in wrong if is_fault],
        "warnings": [text for is_fault, text in wrong if not is_fault],
        "gives_nothing": [
            verdict.source.path for verdict in source_verdicts if verdict.gives_nothing
        ],
        "damaged": list(inventory.troubles),
        "new": None,
        "source_error": None,
    }
    try:
        report["new"] = len(pending_files(inventory, settings))
    except NoSuchLogError as error:
        report["source_error"] = str(error)
    return report


def _show_logs(logs: dict[str, Any], days: Sequence[dt.date], build: str) -> None:
    """Show the state of the log files."""
    span = f" of {ranges(days, limit=3)}" if days else ""
    console.say(f"{counted(logs['read'], 'log file')} read, {counted(logs['lines'], 'line')}{span}")
    if logs["counts"]:
        console.say(
            f"{counted(logs['counts'], 'file')} of them count views and name no client: pages are"
            " named from a floor of views on (docs/counts.md)"
        )
    if logs["new"]:
        console.say(f"{counted(logs['new'], 'log file')} new or changed: {build}")
    if logs["source_error"]:
        console.warn(logs["source_error"])
    for file in logs["partial"]:
        console.warn(console.plain(f"{file['file']}: {file['problem']}"))
    for text in logs["warnings"]:
        console.warn(console.plain(text))
    for trouble in logs["damaged"]:
        console.fail(trouble)
    for text in logs["faults"]:
        console.fail(console.plain(text))


def _show_assets(assets: dict[str, dict[str, Any]], build: str) -> None:
    """Show a table of the assets, with columns for missing and stale days if there are any."""
    # Columns that need somebody come first, for narrow terminals, and only where there are any.
    wrong = [name for name in ("missing", "stale") if any(row[name] for row in assets.values())]
    console.show_table(
        "Assets",
        ("asset", "days", *wrong, "from", "to", "rows", "MiB"),
        [
            (
                name,
                asset["days"],
                *(ranges(asset[kind], limit=3) for kind in wrong),
                asset["first"],
                asset["last"],
                asset["rows"],
                round(asset["bytes"] / (1 << 20), 2),
            )
            for name, asset in assets.items()
        ],
    )
    if any(asset["missing"] or asset["stale"] for asset in assets.values()):
        console.say(f"Build what is missing or stale: {build}")
