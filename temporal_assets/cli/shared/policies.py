"""Finding the policy that a command is about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import CommandError
from temporal_assets.cli.shared.options import check_given, existing_settings

if TYPE_CHECKING:
    from temporal_assets.policy.document import Document

PolicyPath = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        metavar="PATH",
        help="A policy.json or its folder; the state folder's latest when none is given.",
        show_default=False,
    ),
]


def policy_path(policy: Path | None, state: Path | None) -> Path:
    """The policy that is named, else the latest of the state folder."""
    if policy is not None:
        check_given(policy)
        return policy

    latest = existing_settings(state).state / "policy" / "latest"
    if not latest.exists():
        from temporal_assets.policy.bundle import unreleased_of

        if waiting := unreleased_of(latest.parent):
            raise CommandError(
                f"there is a policy of {waiting}, but it has not passed its checks:"
                f" `temporal-assets status` says why, and {console.place(latest.parent)} holds it"
            )
    return latest


def read_policy(path: Path) -> Document:
    """The document of a policy that can be used; a `CommandError` says why there is none."""
    from temporal_assets.policy import Policy, PolicyError

    try:
        return Policy.load(path).document
    except PolicyError as error:
        raise CommandError(str(error)) from None
