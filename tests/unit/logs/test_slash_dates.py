"""Dates of spreadsheets: their order, and how they are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.landing.preview import preview
from temporal_assets.landing.preview_sample import with_order_of_dates
from temporal_assets.landing.reading_options import options_digest
from temporal_assets.logs.read.records import Block
from temporal_assets.logs.read.slash_dates import in_iso, order_of
from temporal_assets.settings import LogSource, Settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"5/17/2024 7:33,a\n", ("month-first", True)),
        (b"a,17/5/2024\n5/6/2024,b\n", ("day-first", True)),
        (b"5/6/2024 10:00,a\n", (None, True)),
        (b"5/17/2024 7:33,a\n17/5/2024 7:33,a\n", (None, True)),
        (b"2024-05-17 7:33,https://a.example/5/17/2024\n", (None, False)),
        (b"/5/17/2024,x\n", (None, False)),
    ],
)
def test_a_number_above_twelve_tells_the_order(
    text: bytes, expected: tuple[str | None, bool]
) -> None:
    assert order_of(text) == expected


@pytest.mark.parametrize(
    ("order", "written", "iso"),
    [
        ("month-first", b'"5/1/2026 7:33 AM",x', b'"2026-05-01 07:33:00",x'),
        ("day-first", b"5/1/2026 19:33:12\r", b"2026-01-05 19:33:12\r"),
        ("month-first", b'a;"5/1/2026, 12:05:09 AM"', b'a;"2026-05-01 00:05:09"'),
        ("month-first", b'"5/1/2026","12:05 PM",1', b'"2026-05-01","12:05:00",1'),
        ("month-first", b"https://a.example/5/1/2026,at 5/1/2026 it", None),
    ],
)
def test_dates_and_times_are_written_as_iso(order: str, written: bytes, iso: bytes | None) -> None:
    block = Block(np.frombuffer(written + b"\n", np.uint8), 1, last=True)
    assert in_iso(block, order).data.tobytes() == (iso or written) + b"\n"


def test_one_file_tells_the_order_of_all(tmp_path: Path) -> None:
    page = "https://www.example.com/a"
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, days in (("a.csv", (2, 3)), ("b.csv", (12, 13)), ("c.csv", (4, 5))):
        rows = [f'"5/{day}/2024","{day}:07 PM","v{day}","{page}"' for day in days if day < 13]
        rows += [f'"5/{day}/2024","11:07 AM","v{day}","{page}"' for day in days if day > 12]
        lines = ['"Date","Time","Visitor ID","Page URL"', *rows]
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    source = with_order_of_dates(LogSource(path=str(folder)))
    assert source.dates == "month-first"
    settings = Settings(state=tmp_path / "state")
    shown = preview(source, settings)
    assert shown.format.endswith(", dates month-first")
    times = [f"{line.time:%m-%d %H:%M}" for line in shown.lines]
    assert times == ["05-04 16:07", "05-05 17:07"]
    plain = LogSource(path=str(folder))
    assert options_digest(plain, settings) != options_digest(source, settings)


def test_dates_that_tell_no_order_are_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "clicks.csv"
    log.write_text("time,user,url\n5/6/2024 10:00,v,https://www.example.com/a\n", "utf-8")
    ask = ["ingest", str(log), "--dry-run", "--state", str(tmp_path / "state")]
    silent = CliRunner().invoke(app, ask)
    assert silent.exit_code == 1
    assert "--dates day-first or --dates month-first" in " ".join(silent.output.split())
    named = CliRunner().invoke(app, [*ask, "--dates", "day-first"])
    assert named.exit_code == 0
    assert "2024-06-05 10:00:00" in named.output
