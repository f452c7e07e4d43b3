"""`temporal-assets doctor upgrade`: what an earlier release wrote, and bringing it up to date.

Here: the command and its table. Not here: what is out of date (`temporal_assets.ops.upgrade`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.checks import check_report, show_checks
from temporal_assets.cli.shared.days import ranges
from temporal_assets.cli.shared.exits import FAILED, command
from temporal_assets.cli.shared.options import Json, State, existing_settings, invocation
from temporal_assets.cli.shared.unfinished import unfinished_report, unfinished_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from temporal_assets.ops.upgrade import Outdated


@command
def run(
    state: State = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Migrate what can be. Without, only show what there is.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what an earlier release wrote in another schema, and migrate what can be migrated."""
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.operate.leftovers import unfinished
    from temporal_assets.operate.materializing import finish
    from temporal_assets.ops.upgrade import migrate, plan
    from temporal_assets.quality.verdicts import blockers
    from temporal_assets.storage.store import Store

    settings = existing_settings(state)
    store, inventory = Store.open(settings), Inventory.load(settings).whole()
    outdated = plan(store, inventory, settings)
    failed = migrate(store, DuckDBEngine(settings), settings, outdated) if yes else ()
    if yes:
        finish(settings)  # also what an earlier one was killed in
    remains = unfinished(settings)
    left = plan(store, inventory, settings) if yes else outdated
    if as_json:
        console.write_json(
            {
                "migrated": sum(len(outdated_asset.days) for outdated_asset in outdated)
                - sum(len(o.days) for o in left),
                "outdated": [report(outdated_asset) for outdated_asset in left],
                "checks": [check_report(outdated_asset) for outdated_asset in failed],
                "unfinished": unfinished_report(remains),
            }
        )
    else:
        show(left, settings.state)
        if yes and len(left) < len(outdated):
            console.say("Migrated what could be.")
        show_checks(failed)
        if remains:
            console.warn(unfinished_words(remains, settings.state))
        if not left:
            console.say("Everything is of the schema of this release.")
    if blockers(failed):
        raise typer.Exit(FAILED)


def report(outdated: Outdated) -> dict[str, Any]:
    """Return one line, for JSON."""
    return {
        "asset": outdated.asset,
        "version": outdated.version,
        "way": outdated.remedy.value,
        "days": list(outdated.days),
    }


def show(outdated: Sequence[Outdated], state: Path) -> None:
    """Show the partitions of another schema, with the command for each."""
    if not outdated:
        return
    from temporal_assets import contracts

    console.show_table(
        "Written in another schema, and not there for readers until brought up to date",
        ("asset", "version", "now", "days", "which", "what to do"),
        [
            (
                outdated_asset.asset,
                outdated_asset.version,
                contracts.table(outdated_asset.asset).version,
                len(outdated_asset.days),
                ranges(outdated_asset.days, limit=3),
                _advice(outdated_asset, state),
            )
            for outdated_asset in outdated
        ],
    )


def _advice(outdated: Outdated, state: Path) -> str:
    """Return what to do about partitions of another version."""
    from temporal_assets.ops.upgrade import Remedy

    if outdated.remedy is Remedy.MIGRATE:
        return invocation("doctor upgrade --yes", state)
    if outdated.remedy is Remedy.REBUILD:
        days = f"--from {outdated.days[0]} --to {outdated.days[-1]}"
        return invocation(f"materialize {outdated.asset} {days}", state)
    if outdated.remedy is Remedy.NEWER:
        return "use the later release that wrote it, or make it again"
    return "its log lines are gone: ingest the logs again, or read it with the release before"
