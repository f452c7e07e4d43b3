"""Logs in object stores: read once, listed little, and a sentence for whatever goes wrong."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import random
import re
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from temporal_assets.engines.base import Item, Result
from temporal_assets.landing import landing, listings
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.logs.read import fingerprint, objects, packed, streams
from temporal_assets.logs.read.objects import ObjectFile, forget_listings
from temporal_assets.machine import filesystems
from temporal_assets.settings import load_settings
from temporal_assets.storage.sealed import sealed, unsealed
from temporal_assets.storage.store import Store
from tests.command_line import call
from tests.integration.test_landing_spread import elsewhere
from tests.logs import line
from tests.object_store import BUCKET, ObjectStore, forget_connections, object_store
from tests.packing import PACKERS

URL = f"s3://{BUCKET}/site"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    """Yield a bucket of this test's own."""
    forget_listings()
    with object_store(monkeypatch) as server:
        yield server


def day_of_log(day: int, lines: int = 40) -> bytes:
    """Lines of a day of January 2026."""
    start = dt.datetime(2026, 1, day, 8, tzinfo=dt.UTC)
    texts = (
        line(start + dt.timedelta(minutes=n), f"/page/{n % 5}", address=f"192.0.2.{n}")
        for n in range(lines)
    )
    return "".join(f"{text}\n" for text in texts).encode()


def ingest(state: Path, *arguments: str) -> dict[str, Any]:
    """Ingest, and return the report."""
    result = call("ingest", *arguments, "--host", "example.com", "--state", state, "--json")
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def test_objects_are_read_as_files_are(store: ObjectStore, tmp_path: Path) -> None:
    store.put("site/a.log", day_of_log(1))
    store.put("site/b.log.gz", gzip.compress(day_of_log(2)))
    store.put("site/c.log.zst", zstandard.compress(day_of_log(3)))
    report = ingest(tmp_path / "state", URL)
    assert sorted((file["file"], file["lines"]) for file in report["files"]) == [
        (f"{URL}/{name}", 40) for name in ("a.log", "b.log.gz", "c.log.zst")
    ]
    assert report["days"] == ["2026-01-01", "2026-01-02", "2026-01-03"]


def test_rows_of_a_parquet_object_are_read_as_those_of_a_file(
    store: ObjectStore, tmp_path: Path
) -> None:
    moment = dt.datetime(2026, 1, 2, 8, tzinfo=dt.UTC)
    table = pa.table(
        {
            "time": [moment + dt.timedelta(minutes=n) for n in range(40)],
            "url": [f"https://example.com/page/{n % 5}" for n in range(40)],
            "client_ip": [f"192.0.2.{n}" for n in range(40)],
        }
    )
    content = BytesIO()
    pq.write_table(table, content, row_group_size=10)
    store.put("site/2026-01-02/part-0.parquet", content.getvalue())
    local = tmp_path / "logs" / "part-0.parquet"
    local.parent.mkdir()
    local.write_bytes(content.getvalue())

    def read(where: str, state: str) -> tuple[Any, list[Any]]:
        report = ingest(tmp_path / state, where)
        inventory = Inventory.load(load_settings(tmp_path / state))
        rows = [
            pq.read_table(path, columns=["ts", "url", "site"]).to_pylist()
            for file in inventory.active
            for day in file.days
            for path in inventory.segments(file, day)
        ]
        return [(file["format"], file["lines"], file["error"]) for file in report["files"]], rows

    actual = read(URL, "of-object")
    assert actual == read(str(local.parent), "of-file")
    assert actual[0] == [("parquet", 40, None)]
    assert sum(map(len, actual[1])) == 40
    keys = [f"/{BUCKET}/site/2026-01-02/part-0.parquet"] * 3
    assert store.keys_read == keys, "its beginning, a preview of rows, and the reading"


def test_nothing_is_fetched_twice(store: ObjectStore, tmp_path: Path) -> None:
    """Objects that have not changed cost a listing; so does a copy, or the same bytes put again."""
    state = tmp_path / "state"
    store.put("site/a.log", day_of_log(1))
    store.put("site/b.log", day_of_log(2))
    ingest(state, URL)
    store.asked.clear()
    report = ingest(state, URL)
    assert (report["files"], report["unchanged"]) == ([], 2)
    assert store.asked.keys() == {"LIST"}

    store.put("site/copy-of-a.log", day_of_log(1))
    store.put("site/b.log", day_of_log(2))
    report = ingest(state, URL)
    assert (report["files"], report["unchanged"]) == ([], 2)
    assert store.asked.keys() == {"LIST"}


def test_changed_objects_are_read_again(store: ObjectStore, tmp_path: Path) -> None:
    """An object that has grown replaces its beginning, and is fetched once."""
    state = tmp_path / "state"
    store.put("site/a.log", day_of_log(1))
    store.put("site/b.log", day_of_log(2))
    ingest(state, URL)
    store.keys_read.clear()
    store.put("site/a.log", day_of_log(1) + day_of_log(3))
    report = ingest(state, URL)
    assert [file["lines"] for file in report["files"]] == [80]
    assert report["unchanged"] == 1
    assert store.keys_read == [f"/{BUCKET}/site/a.log"]
    status = json.loads(call("status", "--state", state, "--json").stdout)
    assert status["log_files"]["read"] == 2
    assert status["log_files"]["lines"] == 120


def test_an_object_goes_while_it_is_to_be_read(store: ObjectStore, tmp_path: Path) -> None:
    for day in (1, 2, 3):
        store.put(f"site/{day}.log", day_of_log(day))

    def gone(method: str, path: str) -> None:
        if method == "GET" and "list-type" in path:
            return
        if path.startswith(f"/{BUCKET}/site/2.log"):
            store.delete("site/2.log")
        return

    ingest(tmp_path / "state", URL, "--dry-run")
    store.fault = gone
    report = ingest(tmp_path / "state", URL)
    assert [Path(file["file"]).name for file in report["files"]] == ["1.log", "3.log"]
    assert (report["faults"], report["missing"]) == ([], [])


def test_damaged_objects_do_not_keep_others_from_being_read(
    store: ObjectStore, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    store.put("site/a.log", day_of_log(1))
    store.put("site/cut.log.gz", gzip.compress(day_of_log(2, 400))[:-600])
    store.put("site/noise.log", bytes(range(256)) * 64)
    store.put("site/broken.parquet", b"PAR1" + bytes(400) + b"PAR1")
    store.put("site/ELBAccessLogTestFile", b"Enable AWSLogs for ELB")
    report = ingest(state, URL)
    files = {Path(file["file"]).name: file for file in report["files"]}
    assert sorted(files) == ["a.log", "broken.parquet", "cut.log.gz", "noise.log"]
    assert files["a.log"]["error"] is None
    assert "truncated gzip after line" in files["cut.log.gz"]["problem"]
    for name in ("noise.log", "broken.parquet"):
        error = files[name]["error"]
        assert error.startswith(f"{URL}/{name}: ")
        assert ".object" not in error
    store.keys_read.clear()
    assert ingest(state, URL)["unchanged"] == 2
    assert store.keys_read == [], "what is damaged is not fetched again either"


def test_a_store_that_is_slow_is_asked_again(store: ObjectStore, tmp_path: Path) -> None:
    store.put("site/a.log", day_of_log(1))
    asked: dict[str, int] = {}

    def slow(method: str, path: str) -> int | None:
        asked[path] = asked.get(path, 0) + 1
        return 503 if asked[path] <= 2 else None

    store.fault = slow
    report = ingest(tmp_path / "state", URL)
    assert [file["lines"] for file in report["files"]] == [40]


def test_a_store_that_never_answers_is_given_up(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the tries of s3fs is sent three times, with seconds of silence each."""
    limits = dict(filesystems._S3["config_kwargs"], read_timeout=0.1)
    assert filesystems._S3["config_kwargs"]["read_timeout"] == 10
    monkeypatch.setitem(filesystems._S3, "config_kwargs", limits)
    monkeypatch.setattr("s3fs.core.S3FileSystem.retries", 1)
    forget_connections()
    over = threading.Event()
    store.fault = lambda _method, _path: over.wait(20) and None  # type: ignore[func-returns-value]
    bucket = Store(f"s3://{BUCKET}/tables", tmp_path)
    began = time.monotonic()
    try:
        with pytest.raises(OSError, match=r"[Tt]imed? ?out"):
            bucket.fs.pipe_file(f"{BUCKET}/tables/pointer.json", b"{}")
        assert time.monotonic() - began < 15
        assert store.asked["PUT"] == 3
    finally:
        over.set()


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (403, "AccessDenied: give the credentials the right to read the object"),
        (503, "the store does not answer, also after several tries"),
    ],
)
def test_an_object_that_is_refused_is_tried_again_later(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, sentence: str
) -> None:
    monkeypatch.setattr("s3fs.core.S3FileSystem.retries", 1)
    state = tmp_path / "state"
    store.put("site/a.log", day_of_log(1))
    store.put("site/b.log", day_of_log(2))
    store.fault = lambda _, path: status if "/site/b.log" in path else None
    report = ingest(state, URL)
    errors = [file["error"] for file in report["files"] if file["error"]]
    assert len(errors) == 1
    assert sentence in errors[0]
    assert errors[0].startswith(f"{URL}/b.log: ")
    store.fault = lambda _method, _path: None
    assert [file["lines"] for file in ingest(state, URL)["files"]] == [40]


def test_what_keeps_a_bucket_from_being_listed_is_said(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    monkeypatch.setattr("s3fs.core.S3FileSystem.retries", 1)

    def refusal(url: str) -> str:
        forget_listings()
        result = call("ingest", url, "--state", state)
        assert result.exit_code == 2
        assert not (state / "settings.toml").exists()
        return " ".join(result.stderr.split())

    assert "s3://nowhere/site: no such bucket, folder or object" in refusal("s3://nowhere/site")
    assert f"{URL}: there are no log files" in refusal(URL)
    store.fault = lambda _method, _path: 403
    assert "give the credentials the right to list the bucket" in refusal(URL)
    store.fault = lambda _method, _path: 503
    assert "the store does not answer, also after several tries" in refusal(URL)
    store.fault = lambda _method, _path: None
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    forget_connections()
    assert "no credentials were found" in refusal(URL)


@pytest.mark.parametrize(
    ("url", "extra"), [("s3://b/x", "s3"), ("gs://b/x", "gcs"), ("abfs://c/x", "azure")]
)
def test_a_missing_package_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, extra: str
) -> None:
    def missing(_: str) -> None:
        raise ImportError("Install it")

    monkeypatch.setattr("fsspec.url_to_fs", missing)
    result = call("ingest", url, "--state", tmp_path / "state")
    assert result.exit_code == 2
    assert f"pip install -c requirements.lock '.[{extra}]'" in " ".join(result.stderr.split())


def test_commands_know_sources_in_stores(store: ObjectStore, tmp_path: Path) -> None:
    state = tmp_path / "state"
    store.put("site/a.log", day_of_log(1))
    store.put("site/b.log", day_of_log(2))
    preview = ingest(state, f"{URL}/", "--dry-run")[0]
    assert (preview["path"], preview["files"], preview["format"]) == (URL, 2, "combined")
    assert preview["kept"] > 0
    assert not (state / "landing").exists()
    call("ingest", f"{URL}/", "--host", "example.com", "--state", state)
    (source,) = json.loads(call("sources", "--state", state, "--json").stdout)
    assert (source["path"], source["files"], source["lines"]) == (URL, 2, 80)
    assert source["options"] == {"host": "example.com"}
    store.put("site/c.log", day_of_log(3))
    forget_listings()
    status = json.loads(call("status", "--state", state, "--json").stdout)
    assert status["log_files"]["new"] == 1
    doctor = call("doctor", "check", "--state", state)
    assert "1 source, 3 log files" in " ".join(doctor.stdout.split())
    call("sources", "remove", URL, "--forget", "--state", state)
    assert json.loads(call("sources", "--state", state, "--json").stdout) == []


def test_globs_and_single_objects(store: ObjectStore, tmp_path: Path) -> None:
    store.put("site/2026/a.log", day_of_log(1))
    store.put("site/2026/a.txt", day_of_log(2))
    store.put("site/2027/b.log", day_of_log(3))
    single = ingest(tmp_path / "one", f"{URL}/2026/a.txt")
    assert [file["file"] for file in single["files"]] == [f"{URL}/2026/a.txt"]
    some = ingest(tmp_path / "some", f"{URL}/*/*.log")
    assert sorted(Path(file["file"]).name for file in some["files"]) == ["a.log", "b.log"]
    folders = ingest(tmp_path / "folders", f"{URL}/*6")
    assert sorted(Path(file["file"]).name for file in folders["files"]) == ["a.log", "a.txt"]


LAYOUTS = {
    "CloudFront": ("E2EXAMPLE.{day:%Y-%m-%d}-10.1a2b3c4d.gz", "E2EXAMPLE.%Y-%m-%d"),
    "CloudFront by partitions": ("E2EXAMPLE/{day:%Y/%m/%d}/10/x.gz", "E2EXAMPLE/%Y/%m/%d"),
    "a load balancer": (
        "202601310123/elasticloadbalancing/eu-west-1/{day:%Y/%m/%d}/a_{day:%Y%m%d}T0005Z_x.log.gz",
        "202601310123/elasticloadbalancing/eu-west-1/%Y/%m/%d",
    ),
    "S3": ("{day:%Y-%m-%d}-10-20-30-79A59DF900B949E5", "%Y-%m-%d"),
    "Hive": ("year={day:%Y}/month={day:%m}/day={day:%d}/p.parquet", "year=%Y/month=%m/day=%d"),
    "a folder a day": ("day={day:%Y-%m-%d}/x.log", "day=%Y-%m-%d"),
    "no hyphens": ("web-{day:%Y%m%d}.log", "web-%Y%m%d"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_days_are_found_in_keys(layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key, form = LAYOUTS[layout]
    monkeypatch.setattr(listings, "_ONE_ANSWER", 0)
    days = [dt.date(2026, 1, 1) + dt.timedelta(days=n) for n in range(40)]
    known = [ObjectFile(f"s3://b/x/{key.format(day=day)}", 1, 1, "e") for day in days]
    since, today = dt.date(2026, 1, 30), dt.date(2026, 2, 1)
    recent = [dt.date(2026, 1, 30) + dt.timedelta(days=n) for n in range(4)]
    wanted = [day.strftime(form) for day in recent]
    assert listings.recent("s3://b/x/", known, since, today) == sorted(wanted)
    undated = ObjectFile("s3://b/x/access.log", 1, 1, "e")
    assert listings.recent("s3://b/x/", [*known, undated], since, today) is None


def test_listing_all_is_preferred_where_it_costs_less() -> None:
    known = [ObjectFile(f"s3://b/x/2026-01-{n:02}.log", 1, 1, "e") for n in range(1, 32)]
    day = dt.date(2026, 1, 31)
    assert listings.recent("s3://b/x/", known, day, day) is None


@pytest.mark.parametrize("layout", ["CloudFront", "a load balancer", "S3"])
def test_days_that_have_settled_are_not_listed_again(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    monkeypatch.setattr(listings, "_ONE_ANSWER", 0)
    state, key = tmp_path / "state", LAYOUTS[layout][0]
    today = dt.datetime.now(dt.UTC).date()

    def put(back: int, day: int) -> None:
        name = key.format(day=today - dt.timedelta(days=back))
        content = day_of_log(day)
        store.put(f"site/{name}", gzip.compress(content) if name.endswith(".gz") else content)

    def actual() -> int:
        report = refresh(load_settings(state))
        assert report.failed == ()
        return len(report.landed)

    for day in range(1, 8):
        put(20 + day, day)
    assert len(ingest(state, URL)["files"]) == 7
    put(0, 10)
    put(15, 11)  # copied into an old day
    asked: list[str] = []
    store.fault = lambda _method, path: asked.append(path)  # type: ignore[func-returns-value]
    assert actual() == 1
    listed = [path for path in asked if "list-type" in path]
    assert len(listed) == 5, "three days before the last refresh, today and tomorrow"
    assert actual() == 0
    assert json.loads(call("status", "--state", state, "--json").stdout)["log_files"]["new"] == 0
    file = state / "landing" / "listings.json"
    marks = unsealed(file.read_text())
    marks[URL]["listed"] = (dt.datetime.now(dt.UTC) - dt.timedelta(days=8)).isoformat()
    file.write_text(sealed(marks))
    assert actual() == 1, "once a week all of it is listed"
    put(16, 12)
    assert len(ingest(state, URL)["files"]) == 1, "whoever names it has all of it listed"
    put(17, 13)
    file.write_text(
        re.sub(r"T(\d)", lambda hour: f"T{int(hour[1]) ^ 1}", file.read_text(), count=1)
    )
    assert actual() == 1, "a damaged watermark is none"
    assert len(Inventory.load(load_settings(state)).active) == 11


def test_what_was_not_read_is_listed_again(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old object that was replaced while it was read does not fall behind the watermark."""
    monkeypatch.setattr(listings, "_ONE_ANSWER", 0)
    state = tmp_path / "state"
    store.put("site/2026-01-01.log", day_of_log(1))
    store.put("site/2026-01-02.log", day_of_log(2))
    replaced = iter([True])

    def replace(method: str, path: str) -> None:
        if method == "GET" and path.startswith(f"/{BUCKET}/site/2026-01-02") and next(replaced, 0):
            store.put("site/2026-01-02.log", day_of_log(2, 50))

    ingest(state, URL, "--dry-run")
    forget_listings()
    refreshed = ingest(state, f"{URL}/2026-01-01.log")
    assert len(refreshed["files"]) == 1
    store.fault = replace  # type: ignore[assignment]
    ingest(state, URL)
    store.fault = lambda _method, _path: None
    refresh(load_settings(state))
    lines = {file.name: file.lines for file in Inventory.load(load_settings(state)).active}
    assert lines == {"site/2026-01-01.log": 40, "site/2026-01-02.log": 50}


@pytest.mark.parametrize("where", ["processes", "executors"])
def test_other_processes_and_executors_fetch_objects(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr(landing, "_MUCH", 0)
    state = tmp_path / "state"
    state.mkdir()
    (state / "settings.toml").write_text(
        f'[engine]\nthreads = 2\n[[sources]]\npath = "{URL}"\nhost = "example.com"\n'
    )
    for day in (1, 2, 3, 4):
        store.put(f"site/{day}.log", day_of_log(day))
    settings = load_settings(state)
    report = refresh(settings, spread=elsewhere if where == "executors" else None)
    assert sorted(file.lines for file in report.landed) == [40] * 4
    assert sorted(store.keys_read) == [f"/{BUCKET}/site/{day}.log" for day in (1, 2, 3, 4)]
    assert not list(state.glob("tmp/**/*.object"))


class Counting:
    """`elsewhere` with room for several tasks, noting the bytes that each has fetched."""

    cores = 4

    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.fetched: list[int] = []

    def __call__(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[Result]:
        for item in items:
            before = self.store.bytes_read
            yield from elsewhere(function, [item])
            self.fetched.append(self.store.bytes_read - before)


@pytest.mark.parametrize("kind", ["plain", "bzip2", "zstd", "bgzf", "gzip"])
def test_a_task_fetches_its_range_of_a_large_object(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(landing, "_SHARE", 1000)
    monkeypatch.setattr(fingerprint, "BEGINNING", 1000)
    monkeypatch.setattr(packed, "READ", 8 << 10)
    monkeypatch.setattr(objects, "_OPEN_BYTES", 8 << 10)
    monkeypatch.setattr(objects, "RANGE_BYTES", 16 << 10)
    monkeypatch.setattr(streams, "HEAD_BYTES", 8 << 10)
    noise = random.Random(1)
    start = dt.datetime(2026, 1, 2, 8, tzinfo=dt.UTC)
    texts = [
        line(
            start + dt.timedelta(seconds=n), f"/page/{noise.random()}", address=f"192.0.2.{n % 99}"
        )
        for n in range(12_000)
    ]
    text = "\n".join([*texts[:9000], "no line of a log", *texts[9000:], ""]).encode()
    pieces = [text[at : at + 20_000] for at in range(0, len(text), 20_000)]
    data = gzip.compress(text) if kind == "gzip" else PACKERS[kind](pieces)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_bytes(data)
    store.put("site/a.log", data)
    reports = {}
    counting = Counting(store)
    for name, place, spread in (
        ("here", str(tmp_path / "logs"), None),
        ("there", URL, counting),
    ):
        settings = load_settings(
            tmp_path / name, sources=[{"path": place, "host": "www.example.com"}]
        )
        reports[name] = refresh(settings, spread=spread)
    ours, theirs = (report.landed[0] for report in reports.values())
    assert theirs.lines == 12_001
    assert (theirs.id.partition("-")[0], theirs.size) == (ours.id.partition("-")[0], ours.size)
    losses = [file.days[dt.date(2026, 1, 2)].losses for file in (ours, theirs)]
    assert losses[0] == losses[1]
    if kind == "gzip":
        assert counting.fetched == [len(data)]
    else:
        assert len(counting.fetched) == 4
        # Its range, the log's beginning twice, and what is asked for ahead.
        assert max(counting.fetched) < len(data) / 4 + 120_000
        assert sum(counting.fetched) < 2 * len(data)
    assert not list((tmp_path / "there").glob("tmp/**/*.object"))


def test_an_object_that_is_replaced_between_two_ranges_is_left_for_the_next_time(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landing, "_SHARE", 1000)
    monkeypatch.setattr(fingerprint, "BEGINNING", 1000)
    store.put("site/a.log", day_of_log(1, 400))
    settings = load_settings(tmp_path, sources=[{"path": URL, "host": "example.com"}])

    class Replacing(Counting):
        def __call__(
            self, function: Callable[[Item], Result], items: Sequence[Item]
        ) -> Iterator[Result]:
            yield from elsewhere(function, items[:2])
            store.put("site/a.log", day_of_log(2, 400))
            yield from elsewhere(function, items[2:])

    assert refresh(settings, spread=Replacing(store)).landed == ()
    (file,) = refresh(settings, spread=Counting(store)).landed
    assert list(file.days) == [dt.date(2026, 1, 2)]


@pytest.mark.parametrize("count", [150, pytest.param(50_000, marks=pytest.mark.long)])
def test_many_small_objects(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Each is fetched once, and a listing finds that nothing is new.

    This server sorts all keys for each thousand, which takes it seconds.
    """
    patient = dict(filesystems._S3["config_kwargs"], read_timeout=300)
    monkeypatch.setattr(filesystems, "_S3", {"config_kwargs": patient})
    monkeypatch.delitem(fsspec.config.conf, "s3", raising=False)
    state = tmp_path / "state"
    state.mkdir()
    (state / "settings.toml").write_text(f'[[sources]]\npath = "{URL}"\nhost = "example.com"\n')
    moment = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    for n in range(count):
        when = moment + dt.timedelta(seconds=n)
        store.put(f"site/{n % 40}/{n}.log", f"{line(when, f'/page/{n % 97}')}\n".encode())
    began = time.monotonic()
    report = refresh(load_settings(state))
    seconds = time.monotonic() - began
    assert (len(report.landed), report.failed, report.missing) == (count, (), ())
    assert len(store.keys_read) == len(set(store.keys_read)) == count
    print(f"{count} objects in {seconds:.1f} s: {dict(store.asked)}")
    store.asked.clear()
    began = time.monotonic()
    assert refresh(load_settings(state)).landed == ()
    print(f"nothing new in {time.monotonic() - began:.1f} s: {dict(store.asked)}")
    assert store.asked == {"LIST": -(-count // 1000)}
    monkeypatch.delitem(fsspec.config.conf, "s3", raising=False)


@pytest.mark.slow
def test_the_page_can_be_followed(store: ObjectStore, tmp_path: Path, repository: Path) -> None:
    """Every command of docs/object-stores.md, in its order, against a bucket of that name."""
    page = (repository / "docs" / "object-stores.md").read_text("utf-8")
    commands = re.findall(
        r"^ *\$ (?:zcat old\.log\.gz \| )?temporal-assets (.+)$", page, re.MULTILINE
    )
    assert len(commands) == 4
    store.bucket.create_bucket("my-logs", "us-east-1")
    for day in (1, 2, 3):
        store.put(f"site/{day}.log.gz", gzip.compress(day_of_log(day)), bucket="my-logs")
    for command in commands:
        arguments = [*shlex.split(command), "--state", str(tmp_path / "state")]
        piped = day_of_log(4).decode() if " - " in command else None
        assert call(*arguments, stdin=piped).exit_code == 0, command
    status = json.loads(call("status", "--state", tmp_path / "state", "--json").stdout)
    assert status["log_files"]["read"] == 4
