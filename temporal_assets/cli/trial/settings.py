"""`temporal-assets try settings`: what other thresholds would change, without changing anything.

Here: the command and its tables. Not here: the trial (`what_if`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import USAGE, CommandError, command
from temporal_assets.cli.shared.options import Json, State, existing_settings, invocation
from temporal_assets.cli.shared.windows import Day

if TYPE_CHECKING:
    from pathlib import Path

    from temporal_assets.ops.what_if import Trial

_NAMES_SHOWN: Final = 5
"""Names shown of each kind of change; `--json` has them all."""


@command
def run(
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="SETTING=VALUE",
            help="Such as labels.q=0.8; several at once.",
            show_default=False,
        ),
    ],
    state: State = None,
    day: Day = None,
    as_json: Json = False,
) -> None:
    """Make a window with other settings beside the published one, and show what differs.

    Nothing that is published changes, and settings.toml stays as it is.
    """
    from temporal_assets.ops.what_if import what_if
    from temporal_assets.settings import SettingsError

    settings = existing_settings(state)
    wanted = dict(_pair(text) for text in changes)
    with console.progress_bar("Making the window", None) as bar:
        try:
            trial = what_if(settings, wanted, day, lambda _, done, total: bar.at(done, total))
        except SettingsError as error:
            raise CommandError(str(error), USAGE) from None
    if as_json:
        console.write_json(_report(trial, wanted))
    else:
        _show(trial, wanted, settings.state)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise CommandError(f"{text}: write SETTING=VALUE, like labels.q=0.8", USAGE)
    return name.strip(), value.strip()


def _show(trial: Trial, wanted: dict[str, str], state: Path) -> None:
    """Show how many rows other settings would change, and which entries of the policy."""
    wanted_text = ", ".join(f"{name} = {value}" for name, value in wanted.items())
    if not trial.differences:
        console.say(
            f"{wanted_text} changes nothing on {trial.day}: the settings are those already."
        )
        return
    console.show_table(
        f"{trial.day}, if {wanted_text}",
        ("asset", "rows now", "rows then", "added", "removed", "changed"),
        [
            (
                difference.asset,
                difference.before,
                difference.after,
                difference.added,
                difference.removed,
                difference.changed,
            )
            for difference in trial.differences
        ],
    )
    kinds = Counter((difference.kind, difference.change) for difference in trial.policy)
    if kinds:
        console.show_table(
            "What crawlers would be told",
            ("kind", "change", "entries", "such as"),
            [
                (kind, change, entries, ", ".join(_names(trial, kind, change)))
                for (kind, change), entries in kinds.items()
            ],
        )
    if warning := trial.warning(lambda arguments: invocation(arguments, state)):
        console.warn(warning)
    console.say(f"Look closer: {invocation('show labels', trial.settings.state)}")
    console.say("Nothing that is published was changed.")


def _names(trial: Trial, kind: str, change: str) -> list[str]:
    names = [
        policy_change.name if kind != "pattern" else f"{policy_change.site}{policy_change.name}"
        for policy_change in trial.policy
        if (policy_change.kind, policy_change.change) == (kind, change)
    ]
    return names[:_NAMES_SHOWN]


def _report(trial: Trial, wanted: dict[str, str]) -> dict[str, Any]:
    """Return the differences of a trial as JSON values."""
    from dataclasses import asdict

    return {
        "day": trial.day,
        "changes": wanted,
        "state": str(trial.settings.state),
        "assets": [asdict(difference) for difference in trial.differences],
        "policy": [asdict(difference) for difference in trial.policy],
        "outdated": trial.outdated,
    }
