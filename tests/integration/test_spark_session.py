"""One session of Spark serves all steps of a run: read from Spark's own log of events."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.spark_cluster import ConnectServer
from tests.spark_run import SMALL, installation, on_spark

pytestmark = pytest.mark.spark

ASSETS = ("requests", "page_views")
"""A step each, behind the reading of the logs, which is a task of Spark's, too."""


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Folder in which Spark logs what its applications do."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java")
    folder = tmp_path / "events"
    folder.mkdir()
    return folder


def test_one_application_serves_a_run(tmp_path: Path, events: Path) -> None:
    state = installation(tmp_path, SMALL)
    materialize(state, "local[2]", events)
    assert seen(events)["SparkListenerApplicationStart"] == 1
    assert seen(events)["SparkListenerJobStart"] > len(ASSETS)


def test_one_session_of_connect_serves_a_run(tmp_path: Path, events: Path) -> None:
    state = installation(tmp_path, SMALL)
    with ConnectServer(tmp_path, logged(events)) as server:
        materialize(state, server.url, events)
    assert seen(events)["SparkListenerConnectSessionStarted"] == 1
    assert seen(events)["SparkListenerConnectOperationStarted"] > len(ASSETS)


def materialize(state: Path, master: str, events: Path) -> None:
    """Make the assets as a user does, in a process of its own."""
    settings = on_spark(state, master).spark
    config = settings.config | ({} if master.startswith("sc:") else logged(events))
    lines = [
        '[engine]\nname = "spark"\n[spark]',
        f'master = "{master}"\n[spark.config]',
        *(f'"{name}" = "{value}"' for name, value in config.items()),
    ]
    with (state / "settings.toml").open("a") as file:
        file.write("\n" + "\n".join(lines) + "\n")
    subprocess.run(
        [sys.executable, "-m", "temporal_assets", "materialize", *ASSETS, "--state", str(state)],
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )


def logged(events: Path) -> dict[str, str]:
    """Return options with which an application logs its events."""
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
    }


def seen(events: Path) -> Counter[str]:
    """Return how often each event was logged, by the last part of its name."""
    return Counter(name.rpartition(".")[2] for name in _names(events))


def _names(events: Path) -> Iterator[str]:
    for file in events.rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            for line in file.read_text("utf-8").splitlines():
                if line.startswith("{"):
                    yield str(json.loads(line)["Event"])
