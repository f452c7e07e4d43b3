"""Files as shippers of logs write them from Kafka, and what docs/kafka.md says of their counts."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from temporal_assets.landing.landing import refresh
from tests import logs
from tests.integration.test_daily import NOON, SITE, A, B, C, Installation


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def lines(*clients: str, minute: int = 0) -> list[str]:
    return [
        logs.line(NOON + dt.timedelta(minutes=minute, seconds=n), f"/{n}", client, f"{SITE}/hub")
        for n, client in enumerate(clients)
    ]


def counts(here: Installation) -> tuple[dict[object, object], int, int]:
    """Views by page, and how many transits and requests there are."""
    here.build()
    return here.views(), len(here.rows("transits")), len(here.rows("requests"))


THREE = {f"{SITE}/{n}": 1 for n in range(3)}


def test_a_line_that_is_being_written_is_read_once_it_is_whole(here: Installation) -> None:
    """Vector appends: the file is read again in place of its beginning."""
    path = here.logs / "access-2026-03-02-12.log"
    text = "".join(f"{line}\n" for line in lines(A, B, C, A, B, C))
    path.write_text(text[:-40])
    assert counts(here)[2] == 5
    assert {row["reason"] for row in here.rows("rejects")} == {"truncated"}
    path.write_text(text)
    assert counts(here)[1:] == (6, 6)
    assert here.rows("rejects") == []


def test_an_hour_that_grows_and_is_rotated_is_counted_once(here: Installation) -> None:
    path = here.logs / "access-2026-03-02-12.log"
    some = lines(A, B, C)
    logs.write(path, some[:2])
    assert counts(here)[2] == 2
    logs.write(path, some)  # a late line
    assert counts(here) == (THREE, 3, 3)
    (here.logs / f"{path.name}.1.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert counts(here) == (THREE, 3, 3)


def test_lines_that_come_again_in_another_file_count_once(here: Installation) -> None:
    """Connect restarted, and its objects begin elsewhere."""
    some = lines(A, B, C)
    here.write("access-log+0+0000000000.bin", some[:2])
    here.write("access-log+0+0000000001.bin", some[1:])
    assert counts(here) == (THREE, 3, 3)
    (lost,) = here.rows("rejects")
    assert (lost["reason"], lost["lines"]) == ("duplicate_in_other_file", 1)


def test_lines_that_come_again_in_the_same_file_change_no_view(here: Installation) -> None:
    """Vector restarted, and appends what it had not committed."""
    some = lines(A, B, C)
    here.write("access-2026-03-02-12.log", [*some, *some[1:]])
    assert counts(here) == (THREE, 3, 5)


def test_an_object_that_is_written_again_is_known(here: Installation) -> None:
    for name in ("access-log+0+0000000000.bin", "again/access-log+0+0000000000.bin"):
        here.write(name, lines(A, B, C))
    assert counts(here) == (THREE, 3, 3)
    assert refresh(here.settings).landed == ()


@pytest.mark.parametrize(
    "envelope",
    [
        {"message": None, "offset": 7, "partition": 0, "source_type": "kafka", "topic": "t"},
        {"schema": {"type": "string", "optional": False}, "payload": None},
        {"value": None, "key": None, "offset": 7, "timestamp": "2026-03-02T12:00:00Z"},
        {"log": None, "stream": "stdout", "time": "2026-03-02T12:00:00Z"},
    ],
    ids=["vector", "connect", "aiven", "fluent"],
)
def test_envelopes_are_taken_off(here: Installation, envelope: dict[str, Any]) -> None:
    key = next(name for name, value in envelope.items() if value is None and name != "key")
    here.write("kafka.log", [json.dumps(envelope | {key: line}) for line in lines(A, B, C)])
    assert counts(here) == (THREE, 3, 3)


def test_the_configurations_of_the_page_are_whole(repository: Path) -> None:
    """Vector's and Connect's, of docs/kafka.md: they parse, and lose and change no line."""
    page = (repository / "docs" / "kafka.md").read_text("utf-8")
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
