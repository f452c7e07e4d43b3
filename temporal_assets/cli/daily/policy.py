"""`temporal-assets policy`: what is in a policy, and what changed since another."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import command
from temporal_assets.cli.shared.options import Json, State, check_given
from temporal_assets.cli.shared.policies import PolicyPath, policy_path, read_policy

if TYPE_CHECKING:
    from temporal_assets.policy.document import Document


@command
def run(
    policy: PolicyPath = None,
    state: State = None,
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
    """Show what the crawl policy holds, or how it differs from an older one."""
    check_given(against)
    path = policy_path(policy, state)
    document = read_policy(path)
    if against is not None:
        _show_changes(read_policy(against), document, as_json)
        return
    said = _summary(document, path)
    if as_json:
        console.write_json(said)
        return
    from temporal_assets.policy.bundle import unreleased_of

    console.show_table(
        f"Crawl policy of {document['day']}",
        ("", "entries", "now", "later", "skip"),
        [tuple(one.values()) for one in said["lists"]],
    )
    console.say(
        f"{said['bytes']:,} bytes, from {console.counted(said['days'], 'day')} up to"
        f" {document['day']}, {said['missing']} of them missing; {document['generator']}"
    )
    if policy is None and (later := unreleased_of(path.parent)):
        console.warn(
            f"a policy of {later} was made too; crawlers get it when it has passed its checks"
            " (temporal-assets status)"
        )


def _summary(document: Document, path: Path) -> dict[str, Any]:
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
    from dataclasses import asdict

    from temporal_assets.policy.difference import changes

    found = changes(before, after)
    if as_json:
        console.write_json([asdict(change) for change in found])
        return
    rows = [
        (change.list, change.kind, change.name, _fields(change.before), _fields(change.after))
        for change in found
    ]
    console.show_table(
        f"Changes from {before['day']} to {after['day']}",
        ("list", "change", "what", "before", "after"),
        rows,
    )
    console.say(console.counted(len(found), "change"))


def _fields(values: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
