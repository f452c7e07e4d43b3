"""`temporal-assets policy`: what is in a policy, and what changed since another.

Here: the command and its tables. Not here: comparing (`policy`), the list to watch (`watch`).
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.days import day_option
from temporal_assets.cli.shared.exits import command
from temporal_assets.cli.shared.options import Json, State, check_given, existing_settings
from temporal_assets.cli.shared.policies import PolicyPath, policy_path, read_policy
from temporal_assets.cli.shared.watch import show_watch, watch_list

if TYPE_CHECKING:
    from temporal_assets.policy.document import Document


@command
def run(
    policy: PolicyPath = None,
    state: State = None,
    day: Annotated[
        dt.date | None,
        day_option("--day", "The policy of that day; the latest when none is given."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="PATH",
            help="An older policy: show what changed since.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what the crawl policy says to watch, or how it differs from an older one."""
    check_given(against)
    path = policy_path(policy, state, day)
    document = read_policy(path)
    if against is not None:
        _show_changes(read_policy(against), document, as_json)
        return
    if as_json:
        console.write_json(_report(document, path))
        return
    _show(document, path)
    if policy is None:
        _say_what_waits(path, state, day)


def _show(document: Document, path: Path) -> None:
    """Show the numbers of entries of a policy, and the list to watch."""
    summary = _summary(document, path)
    console.show_table(
        f"Crawl policy of {document['day']}{' (provisional)' if document['provisional'] else ''}",
        ("", "entries", "now", "later", "skip"),
        [tuple(entry.values()) for entry in summary["lists"]],
    )
    show_watch(document)
    console.say(
        f"{summary['bytes']:,} bytes, from {summary['days'] - summary['missing']} of the"
        f" {console.counted(summary['days'], 'day')} up to {document['day']};"
        f" {document['generator']}"
    )


def _say_what_waits(path: Path, state: Path | None, day: dt.date | None) -> None:
    """Warn of newer policies, and of days of the logs that are in no window."""
    from temporal_assets.policy.bundle import unreleased_of
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.frame.standing import standing

    settings = existing_settings(state)
    for sentence in standing(Store.open(settings), settings).of_days_outside:
        console.say(sentence)
    if day is None and (later := unreleased_of(path.parent)):
        console.warn(
            f"a policy of {later} was made too; crawlers get it when it has passed its checks"
            " (temporal-assets status)"
        )


def _report(document: Document, path: Path) -> dict[str, Any]:
    """Return everything for JSON: the counts, the lists, and why they are as they are."""
    lists = ("sites", "hubs", "sources", "prefixes", "patterns")
    return {
        **_summary(document, path),
        "provisional": document["provisional"],
        "notes": document["notes"],
        "watch": watch_list(document),
        **{name: document[name] for name in lists},  # type: ignore[literal-required]
    }


def _summary(document: Document, path: Path) -> dict[str, Any]:
    """Return the numbers of entries of each list by decision, as JSON values."""
    from temporal_assets.policy.document import policy_file, tier_of_action

    lists = []
    for name in ("sites", "hubs", "prefixes", "patterns"):
        tiers: list[Any] = document[name]
        counts = Counter(tier_of_action(entry["tier"]) for entry in tiers)
        decided = {decision: counts[decision] for decision in ("now", "later", "skip")}
        lists.append({"list": name, "entries": len(tiers), **decided})
    return {
        "day": document["day"],
        "bytes": policy_file(path).stat().st_size,
        "days": document["window"]["days"],
        "missing": len(document["window"]["missing_days"]),
        "lists": lists,
    }


def _show_changes(before: Document, after: Document, as_json: bool) -> None:
    """Show the entries that differ between two policies."""
    from dataclasses import asdict

    from temporal_assets.policy.difference import changes

    differences = changes(before, after)
    if as_json:
        console.write_json([asdict(change) for change in differences])
        return
    rows = [
        (change.list, change.kind, change.name, _fields(change.before), _fields(change.after))
        for change in differences
    ]
    console.show_table(
        f"Changes from {before['day']} to {after['day']}",
        ("list", "change", "what", "before", "after"),
        rows,
    )
    console.say(console.counted(len(differences), "change"))


def _fields(values: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
