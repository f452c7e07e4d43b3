"""Keys that are lost, and logs that name nobody."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from temporal_assets.landing.landing import refresh
from tests import logs
from tests.landing import DAY, errors_of, settings_of


def test_a_key_that_was_lost_is_not_replaced_without_a_word(state: Path, folder: Path) -> None:
    settings = settings_of(state, folder)
    logs.write(folder / "a.log", logs.day_of_lines(DAY))
    assert refresh(settings).lost_keys == ()
    (key,) = (state / "secrets").glob("clients-*.key")
    key.unlink()
    logs.write(folder / "b.log", logs.day_of_lines(DAY + dt.timedelta(days=1)))
    assert refresh(settings).lost_keys == (key,)


def test_no_key_was_lost_where_no_request_was_kept(state: Path, folder: Path) -> None:
    """Lines without a host, which is named only when the first reading has shown that it lacks."""
    logs.write(folder / "a.log", logs.day_of_lines(DAY))
    (file,) = refresh(settings_of(state, folder, source={"host": None})).landed
    assert sum(day.rows for day in file.days.values()) == 0
    report = refresh(settings_of(state, folder))
    assert report.lost_keys == ()
    assert list((state / "secrets").glob("clients-*.key"))


def test_a_key_of_a_new_period_is_not_a_lost_one(state: Path, folder: Path) -> None:
    settings = settings_of(state, folder, privacy={"rotation_days": 1})
    logs.write(folder / "a.log", logs.day_of_lines(DAY))
    refresh(settings)
    logs.write(folder / "b.log", logs.day_of_lines(DAY + dt.timedelta(days=1)))
    assert refresh(settings).lost_keys == ()


@pytest.mark.parametrize("name", ["auto", "combined"])
def test_logs_without_addresses_are_read_by_agents_or_refused(
    state: Path, folder: Path, name: str
) -> None:
    """Else everybody would be one visitor, whose pages are never published."""
    lines = [
        f'- - - [02/Mar/2026:12:00:{n:02} +0000] "GET /a HTTP/1.1" 200 5 "-" "{agent}"'
        for n, agent in enumerate(("Mozilla/5.0 (X11)", "Mozilla/5.0 (Mac)", "Mozilla/5.0 (X11)"))
    ]
    log = folder / "access.log"
    log.write_text("\n".join(lines) + "\n")
    alone = settings_of(state, folder, source={"format": name})
    (error,) = errors_of(refresh(alone))
    assert 'Set `client = "address+agent"` in the section `privacy`' in error
    apart = settings_of(state, folder, source={"format": name}, privacy={"client": "address+agent"})
    (file,) = refresh(apart).landed
    assert (file.format, file.days[DAY].rows) == ("combined", 3)
    segments = (state / "landing" / "segments").rglob("*.parquet")
    clients = [row for path in segments for row in pq.read_table(path)["client"].to_pylist()]
    assert len(set(clients)) == 2
    # One line that names somebody, and the file is as any other: the rest is one client.
    log.write_text(f"{lines[0]}\n192.0.2.7{lines[1][1:]}\n")
    assert errors_of(refresh(settings_of(state, folder, source={"format": "combined"}))) == []


def test_logs_without_addresses_and_agents_are_refused(state: Path, folder: Path) -> None:
    (folder / "a.log").write_text('- - - [02/Mar/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 5\n')
    settings = settings_of(state, folder, privacy={"client": "address+agent"})
    (error,) = errors_of(refresh(settings))
    assert "no user agents either that could tell them apart" in error
