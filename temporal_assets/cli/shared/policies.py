"""Finding the policy that a command is about: the named one, that of a day, or the latest.

Not here: reading and matching it (`policy`).
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.days import ranges
from temporal_assets.cli.shared.exits import USAGE, CommandError
from temporal_assets.cli.shared.options import check_given, existing_settings, invocation

if TYPE_CHECKING:
    from temporal_assets.policy.document import Document
    from temporal_assets.settings import Settings

PolicyPath = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        metavar="PATH",
        help="A policy.json or its folder; the state folder's latest when none is given.",
        show_default=False,
    ),
]


def policy_path(policy: Path | None, state: Path | None, day: dt.date | None = None) -> Path:
    """Return the policy that is named, else that of a day, else the latest of the state folder.

    A `CommandError` says why there is none, and what to do.
    """
    if policy is not None:
        check_given(policy)
        if day is not None:
            raise CommandError("--policy and --day exclude each other", USAGE)
        return policy
    settings = existing_settings(state)
    if day is not None:
        return _policy_folder_of(settings, day)
    latest = settings.state / "policy" / "latest"
    if not latest.exists():
        raise CommandError(_absence(settings, latest.parent))
    return latest


def latest_document(settings: Settings) -> Document | None:
    """Return the released policy, or None if there is none yet."""
    latest = settings.state / "policy" / "latest"
    return read_policy(latest) if latest.exists() else None


def _policy_folder_of(settings: Settings, day: dt.date) -> Path:
    """Return the folder of a day's policy. Raises `CommandError` if there is none."""
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.policy.crawl_policy import files_of

    store = Store.open(settings)
    manifest = store.manifest("crawl_policy", day)
    folder = files_of(store, settings, manifest) if manifest else None
    if folder is not None and folder.is_dir():
        return folder
    days = store.days("crawl_policy")
    published = (
        f"there are policies of {ranges(days, limit=3)}" if days else "there is none of any day"
    )
    build = invocation(f"materialize crawl_policy --day {day}", settings.state)
    raise CommandError(f"there is no policy of {day}; {published}. To make it: {build}")


def _absence(settings: Settings, folder: Path) -> str:
    """Return the sentence that explains why there is no policy."""
    from temporal_assets.policy.bundle import unreleased_of
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.frame.standing import standing

    if waiting := unreleased_of(folder):
        return (
            f"there is a policy of {waiting}, but it has not passed its checks:"
            f" `temporal-assets status` says why, and {console.place(folder)} holds it"
        )
    days_there = standing(Store.open(settings), settings)
    again = "materialize" if settings.sources else "ingest PATH"
    sentences = " ".join(days_there.sentences)
    return (
        f"there is no policy yet. {sentences}{' ' if sentences else ''}Next:"
        f" {invocation(again, settings.state)}"
    )


def read_policy(path: Path) -> Document:
    """Return the document of a policy. Raises `CommandError` if it cannot be used."""
    from temporal_assets.policy import Policy, PolicyError

    try:
        return Policy.load(path).document
    except PolicyError as error:
        raise CommandError(str(error)) from None
