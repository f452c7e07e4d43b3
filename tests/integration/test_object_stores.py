"""Logs in object stores: read once, listed little, and a sentence for whatever goes wrong."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from temporal_assets.logs.read.objects import forget_listings
from tests.command_line import call
from tests.logs import line
from tests.object_store import BUCKET, ObjectStore, object_store

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


def test_nothing_is_fetched_twice(store: ObjectStore, tmp_path: Path) -> None:
    """What has not changed costs a listing; a copy of it, or the same bytes put again, no more."""
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
    """One that has grown takes the place of its beginning, and is fetched once."""
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


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (403, "AccessDenied: give the credentials the right to read the object"),
        (503, "the store does not answer, also after several tries"),
    ],
)
def test_an_object_that_is_refused_is_tried_again_later(
    store: ObjectStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    sentence: str,
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
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
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
    one = ingest(tmp_path / "one", f"{URL}/2026/a.txt")
    assert [file["file"] for file in one["files"]] == [f"{URL}/2026/a.txt"]
    some = ingest(tmp_path / "some", f"{URL}/*/*.log")
    assert sorted(Path(file["file"]).name for file in some["files"]) == ["a.log", "b.log"]
    folders = ingest(tmp_path / "folders", f"{URL}/*6")
    assert sorted(Path(file["file"]).name for file in folders["files"]) == ["a.log", "a.txt"]
