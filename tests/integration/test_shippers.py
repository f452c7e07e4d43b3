"""Logs that shippers bring from Kafka: what docs/kafka.md configures, and what it delivers."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import re
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from tests import logs
from tests.command_line import call
from tests.object_store import object_store

DAY = dt.date(2026, 3, 1)
HOURS = (
    [logs.line(dt.datetime(2026, 3, 1, 12, n), f"/{n % 3}", f"192.0.2.{n}") for n in range(20)],
    [
        logs.line(dt.datetime(2026, 3, 1, 13, n), "/3", f"192.0.2.{n}", "https://www.example.com/0")
        for n in range(20)
    ],
)
"""Lines of two hours, as a web server writes them into a topic."""


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "kafka.md").read_text("utf-8")


def ingest(page: str, place: str, state: Path, instead: str | None = None) -> dict[str, Any]:
    """Run the page's command that reads a place, there or elsewhere, and return its report."""
    (command,) = re.findall(rf"^temporal-assets (ingest {place}.*)$", page, re.MULTILINE)
    words = shlex.split(command.replace(place, instead or place))
    done = call(*words, "--state", state, "--json")
    assert done.exit_code == 0, done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def tables(state: Path) -> dict[str, list[dict[str, Any]]]:
    """Build the day and return its rows by table."""
    settings = load_settings(state)
    store, engine = Store.open(settings), DuckDBEngine(settings)
    build_requests(store, engine, settings, DAY, Inventory.load(settings))
    for asset in DERIVED:
        build_derived(store, engine, asset, DAY)
    return {asset: store.read(asset, DAY).to_pylist() for asset in ("rejects", *DERIVED)}


def lines_of(texts: Sequence[str]) -> bytes:
    """Return lines as a file holds them."""
    return "".join(f"{text}\n" for text in texts).encode()


def test_the_configurations_of_the_page_are_whole(page: str) -> None:
    """Vector's and Connect's, of docs/kafka.md: they parse, and lose and change no line."""
    (vector,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (connect,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (sink,) = tomllib.loads(vector)["sinks"].values()
    assert sink["inputs"] == list(tomllib.loads(vector)["sources"])
    assert sink["acknowledgements"]["enabled"] is True
    assert sink["encoding"]["codec"] == "text"
    config = json.loads(connect)
    assert config["value.converter"].endswith("ByteArrayConverter")
    assert {"rotate.interval.ms", "timestamp.extractor"} <= set(config)
    assert "rotate.schedule.interval.ms" not in config


@pytest.mark.parametrize("codec", ["text", "json"])
def test_what_vector_writes_twice_changes_no_view(page: str, tmp_path: Path, codec: str) -> None:
    """A file an hour, named as the page says; after a restart the end of an hour comes again."""
    (name,) = re.findall(r'^path = "/var/log/kafka/(.+)"$', page, re.MULTILINE)
    place, state = tmp_path / "kafka", tmp_path / "state"
    for hour, texts in enumerate(HOURS, 12):
        sent = texts if codec == "text" else [json.dumps({"message": text}) for text in texts]
        logs.write(place / dt.datetime(2026, 3, 1, hour).strftime(name), sent)
    report = ingest(page, "/var/log/kafka", state, str(place))
    assert sum(file["kept"] for file in report["files"]) == 40
    before = tables(state)
    assert before["rejects"] == []

    first, second = sorted(place.iterdir())
    first.write_bytes(first.read_bytes() + b"".join(first.read_bytes().splitlines(True)[-5:]))
    (place / f"{second.name}.1.gz").write_bytes(gzip.compress(second.read_bytes()))
    second.unlink()
    again = ingest(page, "/var/log/kafka", state, str(place))
    assert [file["lines"] for file in again["files"]] == [25], "the packed file is known"
    after = tables(state)
    assert {asset: after[asset] for asset in DERIVED} == {asset: before[asset] for asset in DERIVED}


def test_what_connect_writes_is_read_once(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects of two partitions by date; a task that begins anew writes lines into another one."""
    state = tmp_path / "state"
    config = json.loads(re.findall(r"```json\n(.*?)```", page, re.DOTALL)[0])
    topic, bucket = config["topics"], config["s3.bucket.name"]
    with object_store(monkeypatch) as store:
        for partition, texts in enumerate(HOURS):
            key = f"topics/{topic}/date={DAY}/{topic}+{partition}+0000000000.bin"
            store.put(key, lines_of(texts), bucket=bucket)
        report = ingest(page, f"s3://{bucket}/topics/{topic}", state)
        assert sum(file["kept"] for file in report["files"]) == 40
        before = tables(state)
        assert before["rejects"] == []

        store.put(key, lines_of(HOURS[1]), bucket=bucket)  # the same object, under its name
        again = f"topics/{topic}/date={DAY}/{topic}+1+0000000015.bin"
        store.put(again, lines_of(HOURS[1][15:]), bucket=bucket)
        store.keys_read.clear()
        ingest(page, f"s3://{bucket}/topics/{topic}", state)
        assert store.keys_read == [f"/{bucket}/{again}"]
        after = tables(state)
    assert [(row["reason"], row["lines"]) for row in after["rejects"]] == [
        ("duplicate_in_other_file", 5)
    ]
    assert {asset: after[asset] for asset in DERIVED} == {asset: before[asset] for asset in DERIVED}
