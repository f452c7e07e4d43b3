"""Faults of Dagster's own processes, in a whole installation: web server, daemon, run workers."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.faults.kinds import Kind, Outcome
from tests.faults.world import FIRST, LAST, Lost, World, published

_ASSETS: Final = ("requests", "page_views", "transits")
_START_SECONDS: Final = 180
_RUN_SECONDS: Final = 120
_BACKFILL: Final = """
mutation Go($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) { __typename
    ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }
"""
_ROLES: Final = {
    "webserver": ("dagster_webserver",),
    "daemon": ("dagster._daemon", "dagster-daemon"),
    "worker": ("execute_run", "execute_step"),
}


def command(world: World, dice: random.Random, folder: Path) -> Outcome:
    """`kill -9` of `temporal-assets materialize`, which runs Dagster in its process."""
    state = folder / "state"
    world.settle(state, world.logs)
    process = subprocess.Popen(
        _materialize(state), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(dice.uniform(3, 25))
    struck = process.poll() is None
    process.kill()
    process.wait()
    world.is_sound(state)
    _recovers(world, state)
    return Outcome(struck, 1)


def _materialize(state: Path) -> list[str]:
    return _cli(f"materialize {' '.join(_ASSETS)}", state)


def _cli(words: str, state: Path) -> list[str]:
    return [sys.executable, "-m", "temporal_assets", *words.split(), "--state", str(state)]


def _recovers(world: World, state: Path) -> None:
    done = subprocess.run(_materialize(state), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Lost(f"a plain run failed: {done.stdout[-300:]} {done.stderr[-500:]}")
    found, asked = published(state), {*_ASSETS, "rejects"}
    wanted = {name: text for name, text in world.calm.items() if name.split("/")[0] in asked}
    if {name: text for name, text in found.items() if name.split("/")[0] in asked} != wanted:
        raise Lost("not as undisturbed")


def _kill_role(role: str) -> Kind:
    def trial(world: World, dice: random.Random, folder: Path) -> Outcome:
        state = folder / "state"
        world.settle(state, world.logs)
        subprocess.run(  # the logs are read, so that there are days to fill
            _cli(f"ingest {world.logs}", state),
            check=True,
            capture_output=True,
        )
        port = _free_port()
        with (folder / "server.log").open("wb") as log:
            server = subprocess.Popen(
                [*_cli("ui", state), "--port", str(port)],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            _await(lambda: _ask(port, "{ version }", {}), _START_SECONDS, "the server")
            _launch(port)
            struck = _strike(role, server.pid, dice)
            time.sleep(dice.uniform(0, 3))
            world.is_sound(state)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                server.wait(20)
            for process in _processes(server.pid):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            server.wait()
        world.is_sound(state)
        _recovers(world, state)
        return Outcome(struck, 1)

    trial.__doc__ = f"`kill -9` of the {role} during a backfill started in the UI."
    return trial


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await(question: Callable[[], Any], seconds: float, what: str) -> Any:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        with suppress(OSError, ValueError):
            if answer := question():
                return answer
        time.sleep(0.3)
    raise Lost(f"{what} did not come within {seconds} s")


def _ask(port: int, query: str, variables: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql",
        json.dumps({"query": query, "variables": variables}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer).get("data")


def _launch(port: int) -> None:
    days = [str(FIRST.fromordinal(n)) for n in range(FIRST.toordinal(), LAST.toordinal() + 1)]
    params = {"assetSelection": [{"path": [one]} for one in _ASSETS], "partitionNames": days}
    params["assetSelection"].append({"path": ["rejects"]})
    answer = _ask(port, _BACKFILL, {"params": params})
    if not answer or "backfillId" not in answer["launchPartitionBackfill"]:
        raise Lost(f"no backfill: {answer}")


def _strike(role: str, session: int, dice: random.Random) -> bool:
    """Kill a process of the role, at a random moment of its life."""
    limit = time.monotonic() + _RUN_SECONDS
    while time.monotonic() < limit:
        found = [pid for pid, words in _processes(session).items() if _plays(role, words)]
        if found:
            time.sleep(dice.uniform(0, 12 if role == "worker" else 25))
            with suppress(ProcessLookupError):
                os.kill(dice.choice(found), signal.SIGKILL)
                return True
            return False
        time.sleep(0.1)
    return False


def _plays(role: str, words: str) -> bool:
    return any(word in words for word in _ROLES[role])


def _processes(session: int) -> dict[int, str]:
    """Processes of the session and their command lines."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                found[int(folder.name)] = (
                    (folder / "cmdline").read_bytes().decode().replace("\0", " ")
                )
    return found


KINDS: Final[dict[str, tuple[Kind, int]]] = {
    "command": (command, 8),
    **{role: (_kill_role(role), 4) for role in _ROLES},
}
