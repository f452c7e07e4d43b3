"""A run that is cancelled in Dagster leaves nothing on the cluster.

The webserver launches the run and ends it, as its buttons do. The workers are made to hold still
meanwhile, so that the job runs when its run is cancelled, whatever the machine's speed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from temporal_assets.days.daily import build_requests
from temporal_assets.engines.engine_choice import engine_of
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from tests.spark_cluster import Cluster, end, free_port
from tests.spark_run import SMALL, installation, on_spark

pytestmark = pytest.mark.spark

_PATIENCE = 240
"""Seconds for a web server, a run and a session to start on a busy machine."""


def test_a_cancelled_run_leaves_nothing_on_the_cluster(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java")
    from dagster_graphql import DagsterGraphQLClient

    state = installation(tmp_path, SMALL)
    day = requests_of_a_day(load_settings(state))
    with Cluster(tmp_path) as cluster:
        ui = free_port()
        choose_spark(state, on_spark(state, cluster.url), ui)
        with served(state, tmp_path / "dagster") as port:
            client = DagsterGraphQLClient("127.0.0.1", port_number=port)
            run = client.submit_job_execution(
                "daily", asset_selection=[["page_views"]], tags={"dagster/partition": day}
            )
            wait(lambda: running_jobs(ui), "no job of Spark was seen")
            cluster.hold()
            assert running_jobs(ui), "the job was over before it could be held"
            assert [application["name"] for application in cluster.applications()] == [
                "temporal-assets"
            ]
            client.terminate_run(run)
            wait(lambda: str(client.get_run_status(run).value) == "CANCELED", "it goes on")
            assert running_jobs(ui) == []
            cluster.go_on()
            wait(lambda: not cluster.applications(), "the application is still on the cluster")
            log = log_of(client, run)
    assert any(f"at {cluster.url}, UI http://127.0.0.1:{ui}" in line for line in log), log
    assert Store.open(load_settings(state)).days("page_views") == []


def requests_of_a_day(settings: Settings) -> str:
    """Something to make page views of, by DuckDB; the day it is for."""
    refresh(settings)
    engine, inventory = engine_of(settings), Inventory.load(settings)
    day = inventory.days()[0]
    build_requests(Store.open(settings), engine, settings, day, inventory)
    engine.close()
    return day.isoformat()


def choose_spark(state: Path, settings: Settings, ui: int) -> None:
    spark = settings.spark
    config = spark.config | {"spark.ui.enabled": "true", "spark.ui.port": str(ui)}
    lines = [
        "[engine]",
        'name = "spark"',
        "[spark]",
        f'master = "{spark.master}"',
        "[spark.config]",
        *(f'"{name}" = "{value}"' for name, value in config.items()),
    ]
    with (state / "settings.toml").open("a") as file:
        file.write("\n" + "\n".join(lines) + "\n")


@contextmanager
def served(state: Path, home: Path) -> Iterator[int]:
    """Dagster's web server, without the queue that a daemon would have to empty."""
    home.mkdir()
    (home / "dagster.yaml").write_text(
        "telemetry: {enabled: false}\n"
        "run_coordinator:\n"
        "  module: dagster._core.run_coordinator\n"
        "  class: DefaultRunCoordinator\n"
    )
    port = free_port()
    command = ["-m", "dagster_webserver", "-m", "temporal_assets.definitions", "--port"]
    paths = os.pathsep.join(path for path in sys.path if path)
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, *command, str(port)],
            env=os.environ
            | {"DAGSTER_HOME": str(home), "PYTHONPATH": paths, "TEMPORAL_ASSETS_STATE": str(state)},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait(lambda: asked(f"http://127.0.0.1:{port}/server_info") is not None, "no web server")
        yield port
    finally:
        end(server)


def running_jobs(ui: int) -> list[Any]:
    """Return jobs of an asset on the driver whose UI is there; none where there is no driver."""
    api = f"http://127.0.0.1:{ui}/api/v1/applications"
    applications = asked(api) or []
    jobs = [
        job
        for application in applications
        for job in asked(f"{api}/{application['id']}/jobs?status=running") or []
    ]
    return [job for job in jobs if "temporal-assets-" in " ".join(job.get("jobTags", ()))]


def log_of(client: Any, run: str) -> list[str]:
    query = (
        "query Q($run: ID!) { logsForRun(runId: $run) { ... on EventConnection"
        " { events { ... on MessageEvent { message } } } } }"
    )
    execute = client._execute(query, {"run": run})
    return [event.get("message", "") for event in execute["logsForRun"]["events"]]


def asked(url: str) -> Any:
    try:
        with urlopen(url, timeout=10) as answer:  # noqa: S310 - our own servers
            return json.load(answer)
    except (OSError, ValueError):  # nobody is there, or is not ready yet
        return None


def wait(holds: Callable[[], object], what: str) -> None:
    until = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(0.2)
