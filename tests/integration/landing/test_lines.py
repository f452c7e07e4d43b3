"""Every line is counted, located and on its day, however a file is cut and read."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from temporal_assets.landing import segments
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.logs.read import streams
from temporal_assets.settings import load_settings
from tests import logs
from tests.landing import DAY, NOON, errors_of, let_grace_pass, rows_of, settings_of


def test_a_file_of_several_days_feeds_each(state: Path, folder: Path) -> None:
    days = [DAY + dt.timedelta(days=n) for n in range(3)]
    lines = [line for day in days for line in logs.day_of_lines(day, clients=2)]
    logs.write(folder / "access.log", lines)
    report = refresh(settings_of(state, folder))
    assert report.days == tuple(days)
    (file,) = report.landed
    assert file.format == "combined"
    assert [share.lines for share in file.days.values()] == [4, 4, 4]
    assert [share.rows for share in file.days.values()] == [4, 4, 4]


def test_every_line_is_counted_and_located(state: Path, folder: Path) -> None:
    lines = [
        "GARBAGE before the first readable time",
        logs.line(NOON, "/kept"),
        logs.line(NOON, "/logo.png"),
        logs.line(NOON, "/gone", status=404),
        logs.line(NOON, "/bot", agent="Googlebot/2.1"),
        logs.line(NOON, "/post").replace("GET", "POST"),
        "",
        "garbage after it \x00 with a NUL",
        logs.line(NOON + dt.timedelta(days=1), "/next"),
        logs.line(NOON.replace(year=1990), "/ancient"),
        logs.line(NOON.replace(year=2990), "/future"),
    ]
    logs.write(folder / "access.log", lines)
    (file,) = refresh(settings_of(state, folder)).landed
    first, second = file.days[DAY], file.days[DAY + dt.timedelta(days=1)]
    assert {(loss["kind"], loss["reason"]): loss["lines"] for loss in first.losses} == {
        ("dropped", "bot_agent"): 1,
        ("dropped", "method"): 1,
        ("dropped", "static"): 1,
        ("dropped", "status"): 1,
        ("rejected", "not_the_format"): 1,
        ("rejected", "nul_bytes"): 1,
    }
    samples = {loss["reason"]: loss["samples"] for loss in (*first.losses, *second.losses)}
    assert samples["not_the_format"] == [(1, "GARBAGE before the first readable time")]
    assert samples["nul_bytes"][0][0] == 8
    assert samples["ancient"][0][0] == 10
    assert samples["future"][0][0] == 11
    for share in (first, second):
        assert share.lines == share.rows + sum(loss["lines"] for loss in share.losses)
    assert (first.lines, second.lines) == (7, 3)


def test_a_large_file_is_read_in_blocks_with_the_same_result(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "big"
    lines = [
        logs.line(NOON + dt.timedelta(seconds=n // 10), f"/page/{n % 700}", f"198.51.100.{n % 250}")
        for n in range(40_000)
    ]
    logs.write(folder / "access.log", lines)
    assert (folder / "access.log").stat().st_size > 4 << 20
    blockwise = settings_of(state, folder)
    with monkeypatch.context() as small:
        small.setattr(streams, "BLOCK_BYTES", 1 << 20)
        refresh(blockwise)
    whole = load_settings(
        tmp_path / "other",
        sources=[{"path": str(folder), "host": "example.com"}],
        engine={"threads": 1},
    )
    shutil.copytree(state / "secrets", tmp_path / "other" / "secrets")
    refresh(whole)
    tables = []
    for settings in (blockwise, whole):
        inventory = Inventory.load(settings)
        (file,) = inventory.of_day(DAY)
        table = pq.read_table(inventory.segments(file, DAY)).drop_columns(["source"])
        tables.append(table.cast(pq.read_schema(inventory.segments(file, DAY)[0]).remove(6)))
    assert tables[0].num_rows == 40_000
    assert tables[0].to_pylist() == tables[1].to_pylist()


def test_days_written_side_by_side_are_the_same_files(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_OPEN_DAYS", 3)
    folder = tmp_path / "big"
    lines = [
        logs.line(NOON + dt.timedelta(minutes=n // 2), f"/page/{n % 700}", f"198.51.100.{n % 250}")
        for n in range(40_000)
    ]
    logs.write(folder / "access.log", lines)
    actual = []
    for root, workers in ((state, 4), (tmp_path / "other", 1)):
        settings = settings_of(root, folder, engine={"threads": workers})
        if root != state:
            shutil.copytree(state / "secrets", root / "secrets")
        (file,) = refresh(settings).landed
        actual.append({day: (share.segments, share.digests) for day, share in file.days.items()})
    assert actual[0] == actual[1]
    assert len(actual[0]) > 2 * 3


def test_logs_of_another_age_are_not_read(state: Path, folder: Path) -> None:
    old = dt.date(1992, 3, 31)
    logs.write(folder / "access.log", logs.day_of_lines(old))
    settings = settings_of(state, folder)
    (error,) = errors_of(refresh(settings))
    assert "(ancient, for example line 1" in error
    assert "There were no access logs then" in error


def test_days_start_in_the_zone_of_the_partitions(state: Path, folder: Path) -> None:
    logs.write(folder / "access.log", [logs.line(dt.datetime(2026, 3, 2, 23, 30), "/late")])
    settings = settings_of(state, folder, orchestration={"timezone": "Europe/Berlin"})
    assert refresh(settings).days == (dt.date(2026, 3, 3),)


def test_a_name_that_is_no_text_is_shown_escaped(state: Path, folder: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/latin\xe9.log"))
    logs.write(path, [*logs.day_of_lines(DAY), "garbage"])
    (file,) = refresh(settings_of(state, folder)).landed
    assert file.name == "logs/latin\\udce9.log"
    path.write_bytes(b"\x00\x01 no log\n")
    (error,) = errors_of(refresh(settings_of(state, folder)))
    assert error.encode().isascii()


def test_a_clock_that_was_set_back_loses_no_day(
    state: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most lines then lie in the future: nothing is noted of them, and they are read later."""
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    settings = settings_of(state, folder)

    class Early(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Early:
            return cls(2020, 1, 1, tzinfo=tz)

    monkeypatch.setattr("temporal_assets.landing.landing.dt.datetime", Early)
    (error,) = errors_of(refresh(settings))
    assert "6 of 6 lines lie in the future: this machine's clock says 2020-01-01" in error
    monkeypatch.undo()
    let_grace_pass(state)  # that is, the record was written under another clock
    report = refresh(settings)
    assert (errors_of(report), rows_of(settings)) == ([], 6)
