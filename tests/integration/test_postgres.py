"""Dagster's history in PostgreSQL, as docs/postgres.md says, with a real server and the daemon."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import dagster as dg
import pytest

from temporal_assets.operate.materializing import materialize
from temporal_assets.operate.run_history import forget_runs, forgettable_runs, history
from temporal_assets.settings import load_settings
from tests import logs, postgres
from tests.browser.serving import served
from tests.dagster_internals import BulkActionStatus

pytestmark = pytest.mark.postgres

FIRST = dt.date(2026, 3, 1)
ACTIVE = (BulkActionStatus.REQUESTED, BulkActionStatus.CANCELING)

PATIENCE = 400
"""Seconds for the daemon to start, and to work off three days on a busy machine."""


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a language, without the indentation of a list."""
    matches = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", page, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(text) for _, text in matches]


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    pytest.importorskip("dagster_postgres", reason="the extra `postgres` brings it")
    programs = postgres.programs()
    if programs is None:
        pytest.skip("needs the server's programs: apt-get install postgresql")
    with postgres.running(programs) as server:
        yield server


class Site:
    """A state folder whose owner follows the page."""

    def __init__(self, root: Path, server: postgres.Server, page: str) -> None:
        self.root, self.server, self.state = root, server, root / "state"
        logs.write_days(root / "logs", FIRST, 3)
        self.state.mkdir()
        source = f'[[sources]]\npath = "{root / "logs"}"\nhost = "example.com"\n'
        (self.state / "settings.toml").write_text(source, "utf-8")
        _, self.configure, variables, _, self.try_it = blocks(page, "sh")
        (self.create,) = blocks(page, "sql")
        self.environment = dict(re.findall(r"^export (\w+)='?(.*?)'?$", variables, re.MULTILINE))
        self.environment["DAGSTER_POSTGRES_PORT"] = str(server.port)

    def shell(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a block of the page with this state folder, and with programs of this Python."""
        script = script.replace("/srv/temporal_state", str(self.state))
        programs = Path(sys.executable).parent
        environment = os.environ | self.environment | {"TEMPORAL_ASSETS_STATE": str(self.state)}
        environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
        return subprocess.run(
            ["bash", "-euc", script], cwd=self.root, env=environment, capture_output=True, text=True
        )

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of ours."""
        return self.shell(" ".join(["temporal-assets", *words]))

    def enter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Give this process the variables of the page."""
        for name, value in self.environment.items():
            monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, server: postgres.Server, repository: Path
) -> Iterator[Site]:
    page = (repository / "docs" / "postgres.md").read_text("utf-8")
    site = Site(tmp_path_factory.mktemp("site"), server, page)
    # A history in SQLite comes first, as with those who move.
    assert materialize(load_settings(site.state), [FIRST], ["log_files", "requests"]).ok
    for statement in filter(str.strip, site.create.split(";")):
        server.ask(statement)
    done = site.shell(site.configure)
    assert done.returncode == 0, done.stderr
    with pytest.MonkeyPatch.context() as patch:
        site.enter(patch)
        yield site


def test_doctor_says_where_the_history_lies(site: Site) -> None:
    content = json.loads(site.call("doctor", "--json").stdout)
    (home,) = (one for one in content if one["check"] == "dagster home")
    assert home["status"] == "ok"
    assert home["detail"].endswith("history in PostgreSQL, database dagster at 127.0.0.1")
    assert history(load_settings(site.state)).is_current
    # The packages that the page has installed agree with the lock.
    assert not re.search("psycopg", content[1]["detail"])


def test_the_daemon_works_off_a_backfill_of_three_days(site: Site) -> None:
    lines = [line for line in site.try_it.splitlines() if "ui --read-only" not in line]
    sensor = "dagster sensor start new_log_files -m temporal_assets.definitions"
    end = 'kill -TERM "$daemon"; wait "$daemon" || true'
    wait = f"{sys.executable} -c 'from tests.integration.test_postgres import wait; wait()'"
    script = "\n".join(
        f"{line}\ndaemon=$!; trap '{end}' EXIT" if line.endswith("&") else line for line in lines
    )
    path = f"export PYTHONPATH={Path(__file__).parents[2]}"
    done = site.shell(f"{path}\n{script}\n{wait}\n{sensor}")
    assert done.returncode == 0, done.stdout + done.stderr
    settings = load_settings(site.state)
    days = {(FIRST + dt.timedelta(days=n)).isoformat() for n in range(3)}
    with dg.DagsterInstance.from_config(str(settings.state / "dagster")) as instance:
        for asset in ("requests", "rejects", "page_views", "transits"):
            assert instance.get_materialized_partitions(dg.AssetKey(asset)) == days
        runs = instance.get_runs(dg.RunsFilter(job_name="daily"))
        assert {run.status for run in runs} == {dg.DagsterRunStatus.SUCCESS}
        shown = instance.fetch_materializations(dg.AssetKey("requests"), limit=10).records
        (before,) = (partition for partition in shown if partition.run_id == "")
    # What SQLite's history knew is not lost.
    actual = before.asset_materialization
    assert actual is not None
    assert actual.description == "Published before this history of Dagster began."
    # Runs, events and ticks are rows of PostgreSQL.
    for table in ("runs", "event_logs", "job_ticks", "bulk_actions"):
        ((rows,),) = site.server.ask(f"SELECT count(*) FROM {table}", "dagster")  # noqa: S608
        assert rows > 0, table


def wait() -> None:
    """Return when every backfill has ended well, and so have its runs."""
    home = os.environ["DAGSTER_HOME"]
    end = time.monotonic() + PATIENCE
    with dg.DagsterInstance.from_config(home) as instance:
        while True:
            runs = instance.get_runs(dg.RunsFilter(job_name="daily"))
            going = [backfill for backfill in instance.get_backfills() if backfill.status in ACTIVE]
            if not going and len(runs) >= 2 and all(run.is_finished for run in runs):
                for run in runs:
                    last = [entry.message for entry in instance.all_logs(run.run_id)][-9:]
                    assert run.is_success, last
                return
            assert time.monotonic() < end, (going, runs)
            time.sleep(1)


def test_status_sees_the_switches(site: Site) -> None:
    report = json.loads(site.call("status", "--json").stdout)
    assert report["recency"]["switched_on"] == ["new_log_files"]
    assert report["unfinished"]["runs"] == 0
    assert report["damaged"] == []


def test_old_runs_are_forgotten(site: Site) -> None:
    settings = load_settings(site.state, retention={"runs_days": 30})
    assert forgettable_runs(settings) == []
    (old,) = site.server.ask("SELECT run_id FROM runs WHERE pipeline_name = 'ingest'", "dagster")[0]
    site.server.ask(
        f"UPDATE runs SET create_timestamp = create_timestamp - interval '90 days'"  # noqa: S608
        f" WHERE run_id = '{old}'",
        "dagster",
    )
    assert forgettable_runs(settings) == [old]
    forget_runs(settings, [old])
    assert forgettable_runs(settings) == []
    rows = site.server.ask(f"SELECT 1 FROM event_logs WHERE run_id = '{old}'", "dagster")  # noqa: S608
    assert rows == []


def test_viewers_see_the_runs_and_change_nothing(site: Site) -> None:
    def ask(address: str, query: str) -> str:
        body = json.dumps({"query": query}).encode()
        headers = {"Content-Type": "application/json", "Origin": address}
        with urlopen(Request(f"{address}/graphql", body, headers), timeout=60) as answer:  # noqa: S310
            return bytes(answer.read()).decode()

    with served(load_settings(site.state), "--read-only") as address:
        runs = ask(address, "{ runsOrError { ... on Runs { results { jobName status } } } }")
        document = json.loads(runs)["data"]["runsOrError"]["results"]
        assert {"jobName": "daily", "status": "SUCCESS"} in document
        change = ask(address, 'mutation { terminateRun(runId: "x") { __typename } }')
        assert "UnauthorizedError" in change or "RunNotFound" in change


def test_a_server_that_is_gone_is_named(site: Site) -> None:
    site.server.stop()
    for words in (["status"], ["materialize"], ["doctor"]):
        done = site.call(*words)
        text = " ".join((done.stdout + done.stderr).split())
        assert done.returncode == 1, text
        assert "docs/postgres.md" in text.replace("│", "").replace(" ", ""), text
        assert "Traceback" not in text
        assert "Retrying" not in text
    assert "page_views" in site.call("status").stdout


def test_a_variable_that_is_not_set_is_named(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(site.environment, "DAGSTER_POSTGRES_PASSWORD")
    monkeypatch.delenv("DAGSTER_POSTGRES_PASSWORD")
    done = site.call("materialize")
    assert done.returncode == 1
    text = " ".join(done.stderr.split())
    assert "DAGSTER_POSTGRES_PASSWORD, and it is not set" in text
    assert "Traceback" not in text
