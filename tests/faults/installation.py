"""Dagster's web server and daemon over a state folder, kept alive as the units of deploy/ do it.

Here: starting, killing and asking them. Not here: what must hold afterwards (`servers`).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

from tests.faults.world import Lost

START_SECONDS: Final = 400
"""A server loads every definition; machines are busy."""
SETTLE_SECONDS: Final = 600
"""The daemon looks at backfills and at lost runs twice a minute."""

SHOWN_SECONDS: Final = 240
"""The sensor that shows what lost runs published ticks every 30 seconds."""

_LAUNCH: Final = """
mutation Launch($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) { __typename
    ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }
"""
_RUN: Final = """
mutation Run($params: ExecutionParams!) {
  launchRun(executionParams: $params) { __typename
    ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }
"""
_SCHEDULE: Final = """
mutation Start($selector: ScheduleSelector!) {
  startSchedule(scheduleSelector: $selector) { __typename ... on PythonError { message } } }
"""
_UNFINISHED: Final = """
{ runsOrError(filter: {statuses: [QUEUED, STARTING, STARTED, CANCELING]})
    { ... on Runs { results { runId status } } }
  partitionBackfillsOrError(status: REQUESTED)
    { ... on PartitionBackfills { results { id } } } }
"""
_FAILED: Final = """
{ runsOrError(filter: {statuses: [FAILURE]}) { ... on Runs { results { runId
    eventConnection { events {
        ... on RunFailureEvent { message } ... on EngineEvent { message } } } } } } }
"""
_KNOWN: Final = """
query Known($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
    assetPartitionStatuses { ... on TimePartitionStatuses { ranges { status startKey endKey } } }
} } }
"""
_REPOSITORY: Final = {
    "repositoryLocationName": "temporal_assets.definitions",
    "repositoryName": "__repository__",
}
_WORKER: Final = "spawn_main"
"""Runs are processes that the code server of the daemon spawns."""


class Installation:
    """A web server and a daemon, each with its own code server, as systemd would start them."""

    def __init__(self, state: Path) -> None:
        self.state, self.port = state, _free_port()
        self._log = (state.parent / "servers.log").open("ab")
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, role: str) -> None:
        """Start a server; `Restart=always` of its unit."""
        words = {
            "webserver": f"dagster_webserver -h 127.0.0.1 -p {self.port}",
            "daemon": "dagster._daemon run",
        }[role]
        home = self.state / "dagster"
        self._processes[role] = subprocess.Popen(
            [sys.executable, "-P", "-m", *words.split(), "-m", "temporal_assets.definitions"],
            cwd=self.state,
            env=os.environ
            | {"DAGSTER_HOME": str(home), "TEMPORAL_ASSETS_STATE": str(self.state)}
            | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )

    def up(self) -> None:
        """Start what is not running, and wait until the web server answers."""
        for role in ("webserver", "daemon"):
            if role not in self._processes or self._processes[role].poll() is not None:
                self.start(role)
        self.wait(lambda: self.ask("{ version }"), START_SECONDS, "the web server")

    def close(self) -> None:
        """End both and all they started."""
        for role in list(self._processes):
            self.kill(role, everything=True)
        self._log.close()

    def kill(self, role: str, *, everything: bool) -> None:
        """`kill -9`; `everything` that it started as well, as systemd does before a restart."""
        server = self._processes.pop(role)
        victims = _session(server.pid) if everything else {}
        for pid in {server.pid, *victims}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        server.wait()

    def workers(self) -> list[int]:
        """Processes that execute runs."""
        daemon = self._processes["daemon"]
        return [pid for pid, words in _session(daemon.pid).items() if _WORKER in words]

    def ask(self, query: str, variables: dict[str, Any] | None = None) -> Any:
        """An answer of the web server."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql",
            json.dumps({"query": query, "variables": variables or {}}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
            document = json.load(answer)
        if document.get("errors"):
            raise Lost(f"the web server: {str(document['errors'])[:500]}")
        return document["data"]

    def backfill(self, assets: Sequence[str], days: Sequence[str]) -> str:
        """Start a backfill as the button of the UI does; its id."""
        selection = [{"path": [asset]} for asset in assets]
        params = {"assetSelection": selection, "partitionNames": list(days)}
        answer = self.ask(_LAUNCH, {"params": params})["launchPartitionBackfill"]
        if "backfillId" not in answer:
            raise Lost(f"no backfill: {answer}")
        return str(answer["backfillId"])

    def run(self, job: str, tags: dict[str, str]) -> str:
        """Start a job as the launchpad of the UI does; the id of its run."""
        selector = {**_REPOSITORY, "jobName": job}
        listed = [{"key": key, "value": value} for key, value in tags.items()]
        params = {"selector": selector, "executionMetadata": {"tags": listed}}
        answer = self.ask(_RUN, {"params": params | {"mode": "default", "runConfigData": {}}})
        if "run" not in answer["launchRun"]:
            raise Lost(f"no run: {answer}")
        return str(answer["launchRun"]["run"]["runId"])

    def switch_on(self, schedule: str) -> None:
        """Start a schedule as the switch of the UI does, once definitions are loaded."""
        selector = {**_REPOSITORY, "scheduleName": schedule}

        def is_on() -> bool:
            answer = self.ask(_SCHEDULE, {"selector": selector})["startSchedule"]
            return str(answer["__typename"]) == "ScheduleStateResult"

        self.wait(is_on, START_SECONDS, f"the schedule {schedule}")

    def is_idle(self) -> bool:
        """Return whether no run and no backfill is waiting or under way.

        A run that was written down when the web server died, and is in no queue, is neither.
        """
        answer = self.ask(_UNFINISHED)
        return not (
            answer["runsOrError"]["results"] or answer["partitionBackfillsOrError"]["results"]
        )

    def failures(self) -> dict[str, str]:
        """Runs that failed, and what their pages say of it."""
        return {
            run["runId"]: " ".join(
                event["message"] for event in run["eventConnection"]["events"] if event
            )
            for run in self.ask(_FAILED)["runsOrError"]["results"]
        }

    def known(self, asset: str) -> list[tuple[str, str]]:
        """Ranges of days that the UI shows as made."""
        answer = self.ask(_KNOWN, {"key": {"path": [asset]}})["assetNodeOrError"]
        ranges = answer["assetPartitionStatuses"]["ranges"]
        return [
            (one["startKey"], one["endKey"]) for one in ranges if one["status"] == "MATERIALIZED"
        ]

    def wait(self, question: Callable[[], Any], seconds: float, what: str) -> Any:
        """The answer to a question, once there is one."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            with suppress(OSError, ValueError, HTTPException):
                if answer := question():
                    return answer
            time.sleep(0.5)
        raise Lost(f"{what}: nothing within {seconds:.0f} s; {self._log.name}")


UNREACHABLE: Final = (OSError, HTTPException, urllib.error.URLError)
"""Errors of requests to a web server that was killed."""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _session(leader: int) -> dict[int, str]:
    """Processes of a session and their command lines."""
    return dict(_processes(leader))


def _processes(session: int) -> Iterator[tuple[int, str]]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                words = (folder / "cmdline").read_bytes().decode(errors="replace")
                yield int(folder.name), words.replace("\0", " ")
