"""Options that several commands share, such as `--state`, and the settings behind them."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from temporal_assets.cli.shared.console import place
from temporal_assets.cli.shared.exits import USAGE, CommandError

if TYPE_CHECKING:
    from temporal_assets.settings import Settings

_NAME: Final = "temporal-assets"

State = Annotated[
    Path | None,
    typer.Option(
        "--state",
        help="The folder everything is kept in "
        "(else $TEMPORAL_ASSETS_STATE, else ./temporal_state).",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write the result as JSON.")]


def settings_of(state: Path | None) -> Settings:
    """Return the settings of a state folder, which need not exist yet."""
    from temporal_assets.settings import load_settings

    settings = load_settings(state)
    if settings.state.exists() and not settings.state.is_dir():
        raise CommandError(f"{settings.state} is a file: name a folder with --state", USAGE)
    return settings


def existing_settings(state: Path | None) -> Settings:
    """Return the settings of a state folder. Raises an error if it does not exist."""
    settings = settings_of(state)
    if not settings.state.is_dir():
        raise CommandError(
            f"there is no state folder {settings.state}: name one with --state, or begin with "
            "`temporal-assets ingest PATH` or `temporal-assets demo`"
        )
    return settings


def check_given(*paths: Path | None) -> None:
    """Refuse input files that do not exist."""
    for path in paths:
        if path is not None and not path.exists():
            raise CommandError(f"there is no {place(path)}", USAGE)


def check_results(*files: Path | None) -> None:
    """Refuse output files that cannot be written, before any work is done."""
    for file in files:
        if file is None:
            continue
        if not file.parent.is_dir():
            raise CommandError(f"{file}: there is no folder {file.parent}", USAGE)
        if file.is_dir():
            raise CommandError(f"{file} is a folder: name a file in it", USAGE)
        if not os.access(file if file.exists() else file.parent, os.W_OK):
            raise CommandError(f"{file} cannot be written", USAGE)


def invocation(arguments: str, state: Path) -> str:
    """Return a command to copy that works on this state folder from this working folder."""
    from temporal_assets.settings import state_folder

    option = "" if state == state_folder() else f" --state {shlex.quote(str(state))}"
    return f"{_program()} {arguments}{option}"


def _program() -> str:
    """Return the name of this program, with its folder if it is not on the PATH."""
    called = sys.argv[0]
    if Path(called).name == _NAME and os.sep in called and shutil.which(_NAME) is None:
        return shlex.quote(called)
    return _NAME
