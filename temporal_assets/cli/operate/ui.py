"""`temporal-assets ui`: Dagster's web interface over this state folder, on this machine only.

Dagster's web server has no log-in and runs what it is asked to. So it is bound to the local host,
cannot be bound elsewhere from here (docs/command-line.md says how to show it to others), and stands
behind `temporal_assets.guard`, which refuses what other web pages make a browser ask.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import CommandError, command
from temporal_assets.cli.shared.options import State, existing_settings
from temporal_assets.machine import child_process

_HOST: Final = "127.0.0.1"
_MODULE: Final = "temporal_assets.definitions"
_PATIENCE: Final = 60
"""Seconds for runs to hand over and open pages to be answered, before a process is killed."""


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
    from temporal_assets.operate.home import dagster_home
    from temporal_assets.settings import STATE_VARIABLE

    settings = existing_settings(state)
    _refuse_taken(port)
    environment = child_process.environment() | {
        STATE_VARIABLE: str(settings.state),
        # An operator's own home is where the runs are, then.
        "DAGSTER_HOME": str(dagster_home(settings)),
    }
    console.say(f"http://{_HOST}:{port} (state folder {settings.state}; Ctrl-C ends it)")
    sys.stderr.flush()
    # The working folder, where Dagster would look for modules first, may be another checkout.
    place = ["-m", _MODULE, "-d", str(settings.state)]
    server = [*child_process.command("temporal_assets.guard"), *place, "-h", _HOST, "-p", str(port)]
    if read_only:
        # In place of this process: signals go to Dagster without a middleman.
        os.execve(sys.executable, [*server, "--read-only"], environment)  # noqa: S606 - no shell
    daemon = [*child_process.command("dagster._daemon"), "run", *place]
    _run_together([server, daemon], environment)


def _run_together(commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> None:
    """Run programs until one ends or somebody ends us, and end the others then."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    started = [subprocess.Popen(each, env=environment) for each in commands]  # noqa: S603 - ours
    try:
        while all(process.poll() is None for process in started):
            time.sleep(0.5)
        raise CommandError("Dagster's web server or its daemon has ended; see above")
    except KeyboardInterrupt:
        console.say("ending Dagster's web server and its daemon")
    finally:
        for process in started:
            process.terminate()
        for process in started:
            _await_end(process)


def _await_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


def _refuse_taken(port: int) -> None:
    """Raise `CommandError` if another program listens on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            raise CommandError(
                f"port {port} cannot be used ({error.strerror}): choose another with --port"
            ) from None
