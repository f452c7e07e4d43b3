"""`temporal-assets ui`: Dagster's web interface over this state folder, on this machine only.

Dagster's web server has no log-in and runs what it is asked to, so it is bound to the local host
and cannot be bound elsewhere from here (docs/command-line.md says how to show it to others).
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from temporal_assets import same_python
from temporal_assets.cli import console
from temporal_assets.cli.exits import CommandError, command
from temporal_assets.cli.options import State, existing_settings

_HOST: Final = "127.0.0.1"
_MODULE: Final = "temporal_assets.definitions"


@command
def run(
    state: State = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 3000,
    read_only: Annotated[
        bool,
        typer.Option("--read-only", help="Only look: no runs can be started, none are scheduled."),
    ] = False,
) -> None:
    """Open the Dagster UI of a state folder; Ctrl-C ends it."""
    from temporal_assets.operate import prepare_home
    from temporal_assets.settings import STATE_VARIABLE

    settings = existing_settings(state)
    _refuse_taken(port)
    environment = same_python.environment() | {
        STATE_VARIABLE: str(settings.state),
        # An operator's own home is where the runs are, then.
        "DAGSTER_HOME": os.environ.get("DAGSTER_HOME") or str(prepare_home(settings)),
    }
    console.say(f"http://{_HOST}:{port} (state folder {settings.state}; Ctrl-C ends it)")
    sys.stderr.flush()
    # In place of this process: signals go to Dagster without a middleman.
    os.execve(  # noqa: S606 - no shell
        sys.executable, _arguments(settings.state, port, read_only), environment
    )


def _arguments(state: Path, port: int, read_only: bool) -> list[str]:
    server, *rest = ["dagster_webserver", "--read-only"] if read_only else ["dagster", "dev"]
    # The working folder, where Dagster would look for modules first, may be another checkout.
    place = ["-m", _MODULE, "-d", str(state), "-h", _HOST, "-p", str(port)]
    return [*same_python.command(server), *rest, *place]


def _refuse_taken(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            raise CommandError(
                f"port {port} cannot be used ({error.strerror}): choose another with --port"
            ) from None
