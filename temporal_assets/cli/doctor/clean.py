"""`temporal-assets doctor clean`: remove what is older than the settings allow.

Here: the command and its table. Not here: what is old (`retention`), runs (`operate`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.days import ranges
from temporal_assets.cli.shared.exits import command
from temporal_assets.cli.shared.options import Json, State, existing_settings, invocation

if TYPE_CHECKING:
    from pathlib import Path

    from temporal_assets.ops.retention import Plan


@command
def run(
    state: State = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove it. Without, only show what would be removed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove days, policies and runs that are older than `retention` in settings.toml allows.

    Days are counted back from the latest that is there. What is removed is not made again.
    """
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.operate.run_history import forget_runs, forgettable_runs
    from temporal_assets.ops import catalogue
    from temporal_assets.ops.retention import carry_out, plan
    from temporal_assets.storage.store import Store

    settings = existing_settings(state)
    store, inventory = Store.open(settings), Inventory.load(settings).whole()
    clean_plan, runs = plan(store, inventory, settings), forgettable_runs(settings)
    if yes:
        carry_out(clean_plan, store, inventory, settings)
        forget_runs(settings, runs)
        if clean_plan.old:
            catalogue.refresh(store)
    if as_json:
        console.write_json(_report(clean_plan, runs, yes))
        return
    if not any(settings.retention.model_dump().values()):
        console.say(
            "Everything is kept: settings.toml has no `retention`. For example:\n\n"
            "[retention]\nrequests_days = 30\ndaily_days = 400\nwindows_days = 90\nruns_days = 90\n"
        )
        return
    _show(clean_plan, runs)
    _warn_of_unmade(clean_plan, settings.state, yes)
    if not clean_plan.old and not runs:
        console.say("Nothing is older than `retention` allows.")
    elif yes:
        console.say("Removed.")
    else:
        console.say(f"Nothing was removed yet: {invocation('doctor clean --yes', settings.state)}")


def _warn_of_unmade(clean_plan: Plan, state: Path, removed: bool) -> None:
    """Warn of days whose log lines are removed although tables of them are missing."""
    if not clean_plan.unmade:
        return
    days = ranges(clean_plan.unmade, limit=3)
    console.warn(
        f"views or transits of {days} were missing or out of date, and their log lines are gone now"
        if removed
        else f"views or transits of {days} are missing or out of date, and cannot be made once"
        f" their log lines are gone: {invocation('materialize', state)} first"
    )


def _show(clean_plan: Plan, runs: list[str]) -> None:
    """Show what is older than the settings allow."""
    if clean_plan.old:
        console.show_table(
            "Older than `retention` allows",
            ("what", "days", "which", "MiB"),
            [
                (
                    asset_days.name,
                    len(asset_days.days),
                    ranges(asset_days.days, limit=3),
                    round(asset_days.bytes / 2**20, 2),
                )
                for asset_days in clean_plan.old
            ],
        )
        console.say(f"{round(clean_plan.bytes / 2**20, 2)} MiB in all")
    if runs:
        console.say(f"{counted(len(runs), 'run')} in Dagster's history")


def _report(clean_plan: Plan, runs: list[str], removed: bool) -> dict[str, Any]:
    """Return what was or would be removed as JSON values."""
    return {
        "removed": removed,
        "kept_from": {
            "requests": clean_plan.requests,
            "daily": clean_plan.daily,
            "windows": clean_plan.windows,
        },
        "old": [
            {"name": asset_days.name, "days": asset_days.days, "bytes": asset_days.bytes}
            for asset_days in clean_plan.old
        ],
        "bytes": clean_plan.bytes,
        "unmade": clean_plan.unmade,
        "runs": runs,
    }
