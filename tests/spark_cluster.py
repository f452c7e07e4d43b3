"""Spark in processes of their own on this machine: a master and its workers, a Connect server.

Here: starting, killing and ending them. Not here: what runs on it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

_START_SECONDS = 90
BRIEF_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for a Java that works for seconds: it compiles less, and on one core."""

_CLASSES = "org.apache.spark.deploy"


class Cluster:
    """Ends with the block it is used in, each process by its own id."""

    def __init__(self, root: Path, workers: int = 2) -> None:
        pyspark = pytest.importorskip("pyspark")
        self._class = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self._root = root
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self._page = free_port()
        options = ("--port", str(port), "--webui-port", str(self._page))
        self._master = self._start("master", f"{_CLASSES}.master.Master", *options)
        self.workers = [self.add_worker(n) for n in range(workers)]
        _wait_for(root / "master.log", "Registering worker", workers)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self._master):
            end(process)

    def add_worker(self, number: int) -> subprocess.Popen[bytes]:
        """Another machine, so to speak."""
        work = self._root / f"work-{number}"
        limits = ("--cores", "1", "--memory", "1g", "--work-dir", str(work))
        return self._start(
            f"worker-{number}", f"{_CLASSES}.worker.Worker", *limits, self.url, "--webui-port", "0"
        )

    def hold(self) -> None:
        """Keep the workers, and what they run, as they are."""
        for worker in self.workers:
            os.killpg(worker.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """After `hold`."""
        for worker in self.workers:
            os.killpg(worker.pid, signal.SIGCONT)

    def applications(self) -> list[dict[str, Any]]:
        """Return the applications that the master knows to be under way."""
        with urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=30) as answer:
            return list(json.load(answer)["activeapps"])

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [str(self._class), *arguments, "--host", "127.0.0.1"]
        return _run(command, self._root / f"{name}.log")


class ConnectServer:
    """A Spark Connect server with its own executors; ends with the block it is used in."""

    def __init__(self, root: Path, more: Mapping[str, str] = {}) -> None:
        """Start a server whose application has `more` options."""
        pyspark = pytest.importorskip("pyspark")
        port = free_port()
        self.url = f"sc://127.0.0.1:{port}"
        options = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.extraJavaOptions": BRIEF_JAVA,
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            **more,
        }
        command = [
            str(Path(pyspark.__file__).parent / "bin" / "spark-submit"),
            *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
            *("--master", "local[2]"),
            *(part for name, value in options.items() for part in ("--conf", f"{name}={value}")),
        ]
        self._log = root / "connect.log"
        self._process = _run(command, self._log, memory="1g")
        _wait_for(self._log, "Spark Connect server started")

    def __enter__(self) -> ConnectServer:
        return self

    def __exit__(self, *_: object) -> None:
        end(self._process)


def _run(command: list[str], output: Path, memory: str = "256m") -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": memory,
        "SPARK_DAEMON_JAVA_OPTS": BRIEF_JAVA,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    with output.open("wb") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, start_new_session=True
        )


def _wait_for(output: Path, words: str, times: int = 1) -> None:
    until = time.monotonic() + _START_SECONDS
    while output.read_text("utf-8", "replace").count(words) < times:
        if time.monotonic() > until:
            raise TimeoutError(output.read_text("utf-8", "replace"))
        time.sleep(0.2)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process we started with all that it started, as the death of a machine does."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    with socket.socket() as actual:
        actual.bind(("127.0.0.1", 0))
        return int(actual.getsockname()[1])
