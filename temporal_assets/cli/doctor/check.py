"""`temporal-assets doctor`: whether this machine, installation and state folder can work.

Here: the command and the order of the checks. Not here: the checks (`machine_checks`,
`data_checks`, `service_checks`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from temporal_assets import __version__
from temporal_assets.cli.doctor.data_checks import (
    check_contents,
    check_keys,
    check_logs,
    check_policy,
    check_published,
    check_records,
    check_schemas,
    check_sources,
    check_state_folder,
    check_unfinished,
)
from temporal_assets.cli.doctor.findings import BROKEN, Finding, guarded
from temporal_assets.cli.doctor.machine_checks import (
    check_disk,
    check_engine,
    check_packages,
    check_python,
    check_sql_files,
)
from temporal_assets.cli.doctor.service_checks import check_alerts, check_dagster_home
from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import FAILED, command
from temporal_assets.cli.shared.options import Json, State


@command
def run(
    state: State = None,
    contents: Annotated[
        bool,
        typer.Option(
            "--contents",
            help="Read every file of the state folder and compare it with what was written, too;"
            " not in a bucket.",
        ),
    ] = False,
    alert: Annotated[
        bool, typer.Option("--alert", help="Send a test message to everybody alerts go to, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check Python, packages, settings, the state folder, keys, disk, engine, published files."""
    findings = list(_findings(state, contents, alert))
    if as_json:
        console.write_json(
            [{"check": f.check, "status": f.status, "detail": f.detail} for f in findings]
        )
    else:
        console.show_table(
            f"temporal-assets {__version__}",
            ("check", "status", "detail"),
            [(f.check, f.status, f.detail) for f in findings],
        )
    if any(finding.status == BROKEN for finding in findings):
        raise typer.Exit(FAILED)


def _findings(state: Path | None, contents: bool, alert: bool) -> Iterator[Finding]:
    """Yield the result of each check; without valid settings only the first ones."""
    yield guarded("python", check_python)
    yield guarded("packages", check_packages)
    yield guarded("sql files", check_sql_files)
    try:
        from temporal_assets.settings import load_settings

        settings = load_settings(state)
    except ValueError as error:
        yield Finding("settings", BROKEN, str(error))
        return
    yield guarded("settings", lambda: check_sources(settings))
    yield guarded("state folder", lambda: check_state_folder(settings))
    yield guarded("keys", lambda: check_keys(settings))
    yield guarded("disk", lambda: check_disk(settings.state))
    yield guarded("engine", lambda: check_engine(settings))
    yield guarded("logs", lambda: check_logs(settings))
    yield guarded("log records", lambda: check_records(settings))
    yield guarded("published files", lambda: check_published(settings, contents))
    if contents:
        yield guarded("contents", lambda: check_contents(settings))
    yield guarded("unfinished work", lambda: check_unfinished(settings))
    yield guarded("policy", lambda: check_policy(settings.state / "policy"))
    yield guarded("schema versions", lambda: check_schemas(settings))
    yield guarded("dagster home", lambda: check_dagster_home(settings))
    yield guarded("alerts", lambda: check_alerts(settings, alert))
