"""Building days with a progress bar, and showing the outcome: shared by `demo` and `materialize`.

Not here: building itself (`operate`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.checks import check_report, show_checks
from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.days import ranges
from temporal_assets.cli.shared.exits import interruptions

if TYPE_CHECKING:
    from temporal_assets.defs.events import Event
    from temporal_assets.operate.outcome import Failed, Outcome
    from temporal_assets.settings import Settings

_REASONS_SHOWN: Final = 3
"""Reasons shown for an asset; with more, it is mostly the same log or setting."""


def build(
    settings: Settings,
    days: Sequence[dt.date],
    assets: Sequence[str] = (),
    latest_windows: Sequence[str] = (),
    late: Mapping[str, Collection[dt.date]] | None = None,
) -> Outcome:
    """Build `assets` for `days`, then `latest_windows` for the latest day, through Dagster.

    If neither is named, all daily assets and all window assets are built. `late` restricts single
    daily assets: it maps their names to the only days for which they are built.
    """
    from temporal_assets.days.asset_names import DAILY_ASSETS
    from temporal_assets.operate.materializing import materialize
    from temporal_assets.windows.registry import STEP_NAMES

    everything = not assets and not latest_windows
    wanted = DAILY_ASSETS if everything else tuple(assets)
    latest = STEP_NAMES if everything else tuple(latest_windows)
    done: set[tuple[str, dt.date | None]] = set()
    total = len(wanted) * len(days) + len(latest)
    with interruptions() as interrupted, console.progress_bar("Building days", total) as bar:

        def advance(event: Event) -> None:
            """Show an event on the progress bar, and end the run if it was interrupted."""
            # Thousands of checks are reported at once, after the days that they judged.
            if event.kind in ("reading", "checked"):
                return
            if interrupted():
                raise KeyboardInterrupt
            if event.kind == "waiting":
                console.warn(f"{event.asset}: {event.message}")
            if event.kind in ("published", "failed"):
                done.add((event.asset, event.day))
                bar.at(min(len(done), total), total)

        # With `log_files`, so that Dagster knows which days their files have changed.
        outcome = materialize(settings, days, ("log_files", *wanted), advance, latest, late)
        if interrupted():
            raise KeyboardInterrupt
    return outcome


def outcome_report(days: Sequence[dt.date], outcome: Outcome | None) -> dict[str, Any]:
    """Return the outcome as JSON values; it is empty if there was nothing to do."""
    if outcome is None:
        return {"ok": True, "days": days, "built": [], "failed": [], "skipped": [], "checks": []}
    return {
        "ok": outcome.ok,
        "days": days,
        "built": [
            {
                "asset": partition.asset,
                "day": partition.day,
                "rows": partition.rows,
                "bytes": partition.bytes,
            }
            for partition in outcome.materialized
        ],
        "failed": [
            {"asset": partition.asset, "days": partition.days, "message": partition.message}
            for partition in outcome.failures
        ],
        "skipped": [
            {"day": partition.day, "reason": partition.reason} for partition in outcome.skipped
        ],
        "checks": [check_report(partition) for partition in outcome.checks],
    }


def show_outcome(outcome: Outcome) -> None:
    """Print a row for each asset that was built, then the checks, then the failures."""
    if outcome.materialized:
        _show_built(outcome)
    else:
        console.say("Nothing was built.")
    show_checks(outcome.checks)
    for skipped in outcome.skipped:
        console.warn(f"{skipped.day} was left out: {skipped.reason}")
    _show_failures(outcome.failures)


def _show_failures(failures: Sequence[Failed]) -> None:
    """Show the first failures of each asset, and how many more there are."""
    of_asset: dict[str, list[Failed]] = {}
    for failed in failures:
        of_asset.setdefault(failed.asset, []).append(failed)
    for asset, some in of_asset.items():
        for failed in some[:_REASONS_SHOWN]:
            where = f"{asset} of {ranges(failed.days, limit=3)}" if failed.days else asset
            console.fail(f"{where}: {failed.message}")
        if rest := some[_REASONS_SHOWN:]:
            days = ranges(sorted({day for failed in rest for day in failed.days}), limit=3)
            where = f"{asset} of {days}" if days else asset
            console.fail(f"and {counted(len(rest), 'more reason')}, {where}: the UI has them all")


def _show_built(outcome: Outcome) -> None:
    """Show days, rows and size of what was built, by asset."""
    built: dict[str, list[tuple[dt.date, int, int]]] = {}
    for partition in outcome.materialized:
        built.setdefault(partition.asset, []).append(
            (partition.day, partition.rows, partition.bytes)
        )
    console.show_table(
        f"Built for {ranges(sorted({built.day for built in outcome.materialized}), limit=3)}",
        ("asset", "days", "rows", "MiB"),
        [
            (
                asset,
                len({day for day, _, _ in parts}),
                sum(rows for _, rows, _ in parts),
                round(sum(size for _, _, size in parts) / (1 << 20), 2),
            )
            for asset, parts in built.items()
        ],
    )
