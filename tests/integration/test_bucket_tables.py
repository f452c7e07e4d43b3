"""Tables in a bucket: few requests, a guarded pointer, and nothing torn whatever happens when."""

from __future__ import annotations

import datetime as dt
import json
import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from temporal_assets.cli.shared.exits import explained
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.settings import load_settings
from temporal_assets.storage import bucket, manifest_cache
from temporal_assets.storage.bucket import Bucket
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import build
from temporal_assets.windows.registry import WINDOW_ASSETS
from tests import logs
from tests.command_line import call
from tests.object_store import BUCKET, ObjectStore, environment, object_store
from tests.unit.storage.test_store import DAY, publish, views

URL = f"s3://{BUCKET}/tables"
FIRST = dt.date(2026, 1, 1)
SOURCE = """\
storage = "{url}"
[window]
days = {days}
min_days = 2
min_views_per_day = 0.1
[[sources]]
path = "{logs}"
host = "example.com"
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    """Yield a bucket that no process knows yet."""
    as_another_process()
    with object_store(monkeypatch) as actual:
        yield actual


def as_another_process() -> None:
    """Forget what this process knows of buckets; what is on its disk stays."""
    bucket._buckets.clear()
    manifest_cache.forget()


def other_installation(folder: Path) -> Store:
    """A store of the same tables that shares neither locks nor memory with others."""
    actual = Store(URL, folder)
    actual._bucket = Bucket(actual.fs, actual.root)
    return actual


@pytest.mark.parametrize(
    ("days", "windows", "most"), [(6, 1, 150), pytest.param(60, 24, 3000, marks=pytest.mark.long)]
)
def test_requests_are_few(
    server: ObjectStore, tmp_path: Path, days: int, windows: int, most: int
) -> None:
    """Daily tables and windows of a small site, and what a look at them and a trial ask for."""
    state = tmp_path / "state"
    state.mkdir()
    text = SOURCE.format(url=URL, logs=tmp_path / "logs", days=days)
    (state / "settings.toml").write_text(text)
    settings = load_settings(state)
    tables, engine = Store.open(settings), DuckDBEngine(settings)
    actual = logs.write_days(tmp_path / "logs", FIRST, days, clients=6)
    refresh(settings)
    inventory = Inventory.load(settings)
    for day in actual:
        build_requests(tables, engine, settings, day, inventory)
        for asset in DERIVED:
            build_derived(tables, engine, asset, day)
    for day in actual[-windows:]:
        for window in WINDOW_ASSETS:
            build(tables, engine, settings, window, day)
    manifests = len([key for key in server.keys("tables/") if key.endswith("/manifest.json")])
    print(f"{server.asked.total()} requests for {manifests} manifests: {dict(server.asked)}")
    assert manifests > 3 * days + 20 * windows
    assert server.asked.total() < most

    as_another_process()
    server.asked.clear()
    for table in tables.assets():
        for day in tables.days(table):
            assert tables.intact(table, day)
    pages = -(-len(server.keys("tables/")) // 1000)
    assert server.asked["LIST"] <= 2 * pages
    assert server.asked.total() == server.asked["LIST"], "manifests are on this machine's disk"

    server.asked.clear()
    done = call("try", "settings", "labels.q=0.5", "--state", state, "--json")
    assert done.exit_code == 0, done.output
    trial = json.loads(done.stdout)
    assert trial["day"] == str(actual[-1])
    assert trial["assets"]
    assert "PUT" not in server.asked, "nothing of the real tables is written to"
    assert (Path(trial["state"]) / "tables" / "page_views").is_dir()


def test_another_machine_reads_each_manifest_once(server: ObjectStore, tmp_path: Path) -> None:
    first = Store(URL, tmp_path / "first")
    days = [DAY - dt.timedelta(days=n) for n in range(20)]
    for day in days:
        publish(first, day, views(day, x=1))
    for _ in range(3):
        as_another_process()
        other = Store(URL, tmp_path / "other")
        assert len(other.window("page_views", DAY, days=20, min_days=20).present) == 20
    gets = [key for key in server.keys_read if key.endswith("manifest.json")]
    assert len(gets) == len(set(gets)) == 20
    server.keys_read.clear()
    for _ in range(3):
        assert other.read("page_views", days, ["views"]).num_rows == 20
    assert len(server.keys_read) == 20, "files are fetched once, too"


def test_the_pointer_is_replaced_only_as_it_was_seen(server: ObjectStore, tmp_path: Path) -> None:
    """A publication that came in between is met, and replaced: the last publisher wins."""
    ours, theirs = other_installation(tmp_path / "a"), other_installation(tmp_path / "b")
    publish(ours, DAY, views(DAY, x=1))
    ours.require("page_views", DAY)
    publish(theirs, DAY, views(DAY, x=2))
    server.asked.clear()
    publish(ours, DAY, views(DAY, x=3))
    assert server.asked["PUT"] == 4, "the first pointer was refused"
    as_another_process()
    for folder in ("a", "b", "c"):
        assert other_installation(tmp_path / folder).read("page_views", DAY)[
            "views"
        ].to_pylist() == [3]
    fresh = other_installation(tmp_path / "d")
    publish(fresh, DAY, views(DAY, x=3))
    assert fresh.read("page_views", DAY)["views"].to_pylist() == [3]


def test_two_first_publications_leave_one(server: ObjectStore, tmp_path: Path) -> None:
    ours, theirs = other_installation(tmp_path / "a"), other_installation(tmp_path / "b")
    assert ours.manifest("page_views", DAY) is None
    publish(theirs, DAY, views(DAY, x=2))
    publish(ours, DAY, views(DAY, x=1))
    assert other_installation(tmp_path / "c").read("page_views", DAY)["views"].to_pylist() == [1]


def test_a_server_without_conditions_will_do(server: ObjectStore, tmp_path: Path) -> None:
    tables = other_installation(tmp_path)
    refused = iter([501])
    server.fault = lambda method, path: (
        next(refused, None) if method == "PUT" and "manifest" in path else None
    )
    publish(tables, DAY, views(DAY, x=1))
    assert tables.read("page_views", DAY)["views"].to_pylist() == [1]


@pytest.mark.parametrize("failing", ["part-", "manifest.json"])
def test_a_publication_that_fails_leaves_what_was(
    server: ObjectStore, tmp_path: Path, failing: str
) -> None:
    tables = other_installation(tmp_path)
    publish(tables, DAY, views(DAY, x=1))
    server.fault = lambda method, path: 403 if method == "PUT" and failing in path else None
    with pytest.raises(PermissionError) as refused:
        publish(tables, DAY, views(DAY, x=2))
    sentence = explained(refused.value)
    assert sentence is not None
    assert "the store that `storage` in settings.toml names says: " in sentence
    assert "(AccessDenied) when calling the PutObject operation" in sentence
    assert "the right to list, read, write and delete" in sentence
    server.fault = lambda _method, _path: None
    for installation in (tables, other_installation(tmp_path / "other")):
        assert installation.read("page_views", DAY)["views"].to_pylist() == [1]
    publish(tables, DAY, views(DAY, x=3))
    assert tables.read("page_views", DAY)["views"].to_pylist() == [3]


def test_an_answer_that_is_lost_is_no_conflict(server: ObjectStore, tmp_path: Path) -> None:
    """The pointer is there although the store seemed to fail; the request is sent again."""
    tables = other_installation(tmp_path)
    lost = iter([True])

    def lose(method: str, path: str) -> None:
        if method == "PUT" and "manifest" in path and next(lost, False):
            raise ConnectionError("hung up")

    server.after = lose
    publish(tables, DAY, views(DAY, x=1))
    assert tables.read("page_views", DAY)["views"].to_pylist() == [1]
    parts = [key for key in server.keys("tables/") if "part-" in key]
    assert len(parts) == 1


def _publish_many(variables: dict[str, str], folder: Path, worker: int, turns: int) -> None:
    os.environ.update(variables)
    tables = Store(URL, folder)
    for turn in range(turns):
        publish(tables, DAY, views(DAY, **{f"w{worker}": turn + 1}))


@pytest.mark.slow
def test_two_installations_that_publish_one_day_leave_it_whole(
    server: ObjectStore, tmp_path: Path
) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(
            target=_publish_many, args=(environment(server.url), tmp_path / str(n), n, 10)
        )
        for n in (1, 2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    tables = other_installation(tmp_path / "reader")
    (url,) = tables.read("page_views", DAY)["url"].to_pylist()
    assert url in ("https://a.example/w1", "https://a.example/w2")


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_a_whole_day(server: ObjectStore, tmp_path: Path) -> None:
    tables = other_installation(tmp_path / "reader")
    publish(tables, DAY, views(DAY, x=1))
    context = multiprocessing.get_context("spawn")
    for pause in (0.0, 0.02, 0.05, 0.1, 0.2):
        puts = server.asked["PUT"]
        worker = context.Process(
            target=_publish_many, args=(environment(server.url), tmp_path / "killed", 1, 50)
        )
        worker.start()
        while server.asked["PUT"] == puts and worker.is_alive():
            time.sleep(0.005)
        time.sleep(pause)
        worker.kill()
        worker.join()
        reader = other_installation(tmp_path / f"reader-{pause}")
        assert reader.read("page_views", DAY).num_rows == 1
        assert not reader.damaged()
    publish(tables, DAY, views(DAY, x=2))
    assert tables.read("page_views", DAY)["views"].to_pylist() == [2]
