"""`temporal-assets materialize`: build assets for days, by default those missing or stale.

Here: which days, and showing the outcome. Not here: running (`operate`), computing (`daily`).
"""

from __future__ import annotations

import datetime as dt
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.building import build, outcome_report, show_outcome
from temporal_assets.cli.shared.days import parse_day, ranges, span
from temporal_assets.cli.shared.exits import FAILED, USAGE, CommandError, command
from temporal_assets.cli.shared.landing import gives_nothing, land, show_landing, show_troubles
from temporal_assets.cli.shared.options import Json, State, existing_settings, invocation
from temporal_assets.cli.shared.policies import latest_document
from temporal_assets.cli.shared.precompile import precompiling
from temporal_assets.cli.shared.watch import show_watch, watch_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.operate.outcome import Outcome
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store


@command
def run(
    assets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ASSET",
            help="requests, page_views, transits, page_totals, page_histories, interest_curves,"
            " calibration, page_labels, early_labels, page_flow, page_traffic, hub_seeds,"
            " prefix_trees, site_scores, section_scores, news_prefixes, site_changes, url_patterns,"
            " behaviour_graph, pattern_ranks, provisional_lists, fetches, sources, crawl_policy,"
            " released_policy, seed_evaluation,"
            " hub_evaluation, crawl_simulation, timely_simulation or evaluation_report; all of them"
            " when none is named.",
            show_default=False,
        ),
    ] = None,
    state: State = None,
    day: Annotated[
        list[dt.date] | None,
        typer.Option(
            "--day", parser=parse_day, metavar="DAY", help="A day like 2026-01-31; repeatable."
        ),
    ] = None,
    first: Annotated[
        dt.date | None,
        typer.Option("--from", parser=parse_day, metavar="DAY", help="The first of several days."),
    ] = None,
    last: Annotated[
        dt.date | None,
        typer.Option("--to", parser=parse_day, metavar="DAY", help="The last of several days."),
    ] = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="Days that are missing or stale (the default).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Read new log files, then build assets day by day, and the windows of the latest day.

    Where no days are named, those are built that are missing or stale, of the assets named and of
    what they are made from. A day that is built again is replaced whole; one that fails keeps what
    it was. Windows of other days than the latest are built when they and the days are named.
    """
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.operate.materializing import finish
    from temporal_assets.ops.upgrade import doubtful_weight
    from temporal_assets.storage.store import Store

    if sum((bool(day), bool(first or last), missing)) > 1:
        raise CommandError("--day, --from/--to and --missing exclude each other", USAGE)
    daily, windows = _assets(assets or [])
    settings = existing_settings(state)
    if doubt := doubtful_weight(Store.open(settings), settings):
        console.warn(doubt)
    report = land(settings)
    if report.landed and not as_json:
        show_landing(report)
    else:
        show_troubles(report)
    inventory = Inventory.load(settings)
    late: dict[str, list[dt.date]] = {}
    if day:
        days = sorted(set(day))
    elif first or last:
        days = _between(inventory, first, last)
    else:
        late = _late(settings, inventory, daily, windows)
        days = sorted({day for some in late.values() for day in some})
    outcome: Outcome | None
    compiling = precompiling() if windows or not daily else nullcontext()
    if day or first or last:
        with compiling:
            outcome = build(settings, days, (*daily, *windows))
    elif days or ((windows or not daily) and _is_due(settings, windows)):
        names = tuple(late) if daily or windows else ()
        with compiling:
            outcome = build(settings, days, names, windows, late)
    else:
        outcome = finish(settings)
    store = Store.open(settings)
    if as_json:
        console.write_json(outcome_report(days, outcome) | _answer(settings, store))
    elif outcome is None:
        _say_nothing_to_build(settings, store, inventory, (*daily, *windows))
    else:
        show_outcome(outcome)
    if not as_json:
        _show_answer(settings, store, outcome)
    if gives_nothing(settings) or (
        outcome is not None and not (outcome.ok and _did_something(outcome, day))
    ):
        raise typer.Exit(FAILED)


def _say_nothing_to_build(
    settings: Settings, store: Store, inventory: Inventory, named: Sequence[str]
) -> None:
    """Say why nothing has to be built, and what to do next."""
    absent = [name for name in named if not store.days(name)]
    if not inventory.days():
        name = invocation("ingest PATH", settings.state)
        console.say(f"Nothing to build: no log lines are known yet. Name logs: {name}")
    elif absent:
        console.say(f"Nothing to build: {', '.join(absent)} cannot be made yet.")
    else:
        what = (
            "what was named"
            if named
            else f"every day of the logs{_retained_words(settings, inventory)}"
        )
        console.say(f"Nothing to build: {what} is there and up to date.")


def _answer(settings: Settings, store: Store) -> dict[str, Any]:
    """Return the list to watch and the installation's standing, for JSON."""
    from temporal_assets.windows.frame.standing import standing

    document = latest_document(settings)
    return {
        "window": standing(store, settings).report,
        "watch": watch_list(document) if document else None,
        "notes": document["notes"] if document else [],
    }


def _show_answer(settings: Settings, store: Store, outcome: Outcome | None) -> None:
    """Show the list to watch if it is new, or what shows it, and what there is so far."""
    from temporal_assets.windows.frame.standing import standing

    is_new = outcome is not None and any(
        partition.asset == "crawl_policy" for partition in outcome.materialized
    )
    document = latest_document(settings)
    if document is not None and is_new:
        show_watch(document)
        console.say(f"All of it: {invocation('policy --json', settings.state)}")
    days_there = standing(store, settings)
    for sentence in days_there.of_days_outside if is_new else days_there.sentences:
        console.say(sentence)
    if document is not None and not is_new:
        console.say(f"What to watch: {invocation('policy', settings.state)}")


def _did_something(outcome: Outcome, named: Sequence[dt.date] | None) -> bool:
    """Return True if any of the named days was built; of a range, some may be left out."""
    return bool(outcome.materialized or not named)


def _assets(names: list[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the daily assets and the window assets among those named."""
    from temporal_assets.days.asset_names import DERIVED
    from temporal_assets.windows.registry import STEP_NAMES

    asset_names = ("requests", *DERIVED, *STEP_NAMES)
    # One build publishes both; to ask for the second is to ask for it.
    chosen = ["requests" if name == "rejects" else name for name in names]
    unknown = [name for name in chosen if name not in asset_names]
    if unknown:
        raise CommandError(
            f"no asset {', '.join(map(repr, unknown))}; there are {', '.join(asset_names)}", USAGE
        )
    return (
        tuple(name for name in asset_names if name in chosen and name not in STEP_NAMES),
        tuple(name for name in STEP_NAMES if name in chosen),
    )


def _between(inventory: Inventory, first: dt.date | None, last: dt.date | None) -> list[dt.date]:
    """Return the days of the logs between two. Raises `CommandError` if there are none."""
    days = inventory.days()
    if not days:
        raise CommandError("no logs were read yet: temporal-assets ingest PATH")
    wanted = span(first or days[0], last or days[-1])
    chosen = [day for day in wanted if days[0] <= day <= days[-1]]
    if not chosen:
        raise CommandError(
            f"no log holds a day of {ranges(wanted)}; the logs span {days[0]}..{days[-1]}"
        )
    return chosen


def _late(
    settings: Settings, inventory: Inventory, daily: Sequence[str], windows: Sequence[str]
) -> dict[str, list[dt.date]]:
    """Return, by daily asset to build, the days on which it is missing or stale.

    The result has the assets that were named, and the assets that these or windows are built from.
    """
    from temporal_assets.days.asset_names import DERIVED
    from temporal_assets.days.staleness import stale
    from temporal_assets.storage.store import Store

    late = stale(Store.open(settings), inventory, settings)
    if daily or windows:
        wanted = {"requests", *daily, *(DERIVED if windows else ())}
        return {
            name: days
            for name, days in late.items()
            if name in daily or (name in wanted and late[name])
        }
    return late


def _retained_words(settings: Settings, inventory: Inventory) -> str:
    """Return the first day that `doctor clean` has kept, in words, or an empty text."""
    from temporal_assets.storage.retained_days import RetainedDays

    retained = RetainedDays.load(settings.state)
    first = max((day for day in (retained.requests, retained.daily) if day), default=None)
    if first is None or all(day >= first for day in inventory.days()):
        return ""
    return f" from {first} on, before which `doctor clean` has removed something,"


def _is_due(settings: Settings, windows: Sequence[str]) -> bool:
    """Return whether any of these window assets (all when none is named) is to be made."""
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.registry import due

    due_window = due(Store.open(settings), settings)
    return due_window is not None and (not windows or bool(set(windows) & set(due_window.assets)))
