"""A web server of ours for browsers and proxies of tests, started as people start it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from temporal_assets.settings import Settings

PATIENCE = 300
"""Seconds for a server to come up or down and for a run to end: build machines are busy."""


@contextmanager
def served(settings: Settings, *options: str) -> Iterator[str]:
    """The command `ui` on a free port; its address once it answers."""
    port = free_port()
    command = [sys.executable, "-m", "temporal_assets", "ui", "--port", str(port), *options]
    output = settings.state / "ui.log"
    with output.open("wb") as log:
        server = subprocess.Popen(
            [*command, "--state", str(settings.state)],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=log,
            stderr=log,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait(lambda: _answers(address, server), f"no answer; {output} says why")
        yield address
    finally:
        server.terminate()
        # `dagster dev` itself waits a minute each for its web server, which waits for answers that
        # an open page still asks for, and for its daemon, before it kills them.
        server.wait(timeout=PATIENCE)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait(holds: Callable[[], bool], what: str) -> None:
    """Return once it holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.5)


def _answers(address: str, server: subprocess.Popen[bytes]) -> bool:
    assert server.poll() is None, "the server has ended"
    try:
        with urlopen(f"{address}/server_info", timeout=10):  # noqa: S310 - our own server
            return True
    except (URLError, OSError):
        return False
