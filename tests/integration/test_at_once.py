"""Two processes on one state folder, each paused where the other hurts most: nothing stays lost.

One builds with the records of logs that it has loaded; the other reads logs meanwhile. Both are
here, in one process: what one has loaded is all that it knows of the other.
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from temporal_assets.days import daily, rejects
from temporal_assets.days.asset_names import DAILY_ASSETS, DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.days.staleness import stale
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing import landing
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import LandingReport, refresh
from temporal_assets.notebook import Artifacts
from temporal_assets.ops import catalogue
from temporal_assets.settings import load_settings
from temporal_assets.storage.integrity import DamagedFile
from temporal_assets.storage.partition_errors import DamagedPartition, MissingPartition
from temporal_assets.storage.retained_days import RetainedDays, keep
from temporal_assets.storage.store import Store
from tests import logs

pytestmark = pytest.mark.slow

FIRST = dt.date(2026, 3, 1)
DAYS = [FIRST + dt.timedelta(days=n) for n in range(3)]
MIDDLE = DAYS[1]
"""Between others: without lines it would be an empty day and no error."""


class Process:
    """Process on a state folder, with a store and an engine of its own."""

    def __init__(self, state: Path) -> None:
        self.settings = load_settings(state)
        self.store, self.engine = Store.open(self.settings), DuckDBEngine(self.settings)
        self.inventory = Inventory.load(self.settings)

    def make(self, day: dt.date = MIDDLE) -> None:
        """Make a day of the records that were loaded when the process began."""
        build_requests(self.store, self.engine, self.settings, day, self.inventory)
        for asset in DERIVED:
            build_derived(self.store, self.engine, asset, day)

    def run(self) -> LandingReport:
        """Everything that is late, as the nightly run makes it."""
        report = refresh(self.settings)
        self.inventory = Inventory.load(self.settings)
        for day in sorted({day for days in self.late().values() for day in days}):
            self.make(day)
        return report

    def late(self) -> dict[str, list[dt.date]]:
        late = stale(self.store, Inventory.load(self.settings), self.settings)
        return {asset: days for asset, days in late.items() if days}

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """All rows of all daily tables; lines of a log that was renamed stay those of that log."""
        tables = {asset: self.store.read(asset, DAYS) for asset in DAILY_ASSETS}
        return {asset: _rows(table) for asset, table in tables.items()}


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    names = [name for name in table.column_names if name != "source"]
    rows: list[dict[str, Any]] = table.select(names).to_pylist()
    return sorted(rows, key=repr)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A log for each day, and one with a few lines of all of them."""
    folder = tmp_path / "logs"
    logs.write_days(folder, FIRST, len(DAYS), clients=4)
    late = [logs.line(dt.datetime.combine(day, dt.time(20)), "/late", "192.0.2.9") for day in DAYS]
    logs.write(folder / "late.log", late)
    actual = tmp_path / "state"
    actual.mkdir()
    (actual / "settings.toml").write_text(f'[[sources]]\npath = "{folder}"\nhost = "example.com"\n')
    return actual


def _lose_lines(state: Path, log: str) -> None:
    """The lines that a log has of the day between others go."""
    path = state.parent / "logs" / log
    inventory = Inventory.load(load_settings(state))
    (file,) = (file for file in inventory.files if file.sightings[0].path == str(path))
    Path(inventory.segments(file, MIDDLE)[0]).unlink()


def _when_reading_again(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Do something where a refresh has found lines missing and has not read their log again."""
    mend = landing._mend

    def paused(*arguments: Any) -> Any:
        actual = mend(*arguments)
        act()
        return actual

    monkeypatch.setattr(landing, "_mend", paused)


@pytest.mark.parametrize("log", ["late.log", f"access-{MIDDLE}.log"])
def test_a_day_that_was_made_while_a_log_is_read_again_stays_whole(
    state: Path, monkeypatch: pytest.MonkeyPatch, log: str
) -> None:
    (one := Process(state)).run()
    before = one.rows()
    _lose_lines(state, log)
    others: list[Process] = []
    _when_reading_again(monkeypatch, lambda: others.append(Process(state)))
    refresh(one.settings)
    with pytest.raises(DamagedFile, match="are left: it stays as it was published"):
        others[0].make()
    assert one.rows() == before
    others[0].run()
    assert one.rows() == before
    assert one.late() == {}


@pytest.mark.parametrize("log", ["late.log", f"access-{MIDDLE}.log"])
def test_a_day_that_is_new_while_a_log_is_read_again_is_made_whole_by_the_next_run(
    state: Path, monkeypatch: pytest.MonkeyPatch, log: str
) -> None:
    """It is short for a while: its manifest says what it was made of, and that is not all."""
    (one := Process(state)).run()
    before = one.rows()
    shutil.rmtree(state / "tables")
    _lose_lines(state, log)
    others: list[Process] = []
    _when_reading_again(monkeypatch, lambda: others.append(Process(state)))
    refresh(one.settings)
    others[0].make()
    assert one.store.require("requests", MIDDLE).rows == {"late.log": 8}.get(log, 1)
    assert MIDDLE in one.late()["requests"]
    one.run()
    assert one.rows() == before
    assert one.late() == {}


def test_a_day_of_a_log_that_grows_meanwhile_is_made_again_by_the_next_run(state: Path) -> None:
    """Its last line was torn: half of it was written when the log was read first."""
    log = state.parent / "logs" / "late.log"
    whole = log.read_text()
    when = dt.datetime.combine(MIDDLE, dt.time(21))
    last = logs.line(when, "/last/of/all", "192.0.2.10")
    log.write_text(whole + last[:30])
    (one := Process(state)).run()
    slow = Process(state)  # has loaded the records, and comes to the day only later
    logs.write(log, [*whole.splitlines(), last])
    one.run()
    before = one.rows()
    slow.make()
    assert one.rows() != before
    assert one.late()["requests"] == [MIDDLE]
    one.run()
    assert one.rows() == before
    assert one.late() == {}


def test_rejects_of_one_process_and_requests_of_another_are_made_again(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slower one publishes the rejects of what it knows after those of the other."""
    log = state.parent / "logs" / "late.log"
    (one := Process(state)).run()
    slow = Process(state)
    logs.write(log, [*log.read_text().splitlines(), "half a line"])
    refuse = rejects.refuse_wrong_format

    def paused(*arguments: Any) -> None:
        monkeypatch.setattr(daily, "refuse_wrong_format", refuse)
        slow.make()
        refuse(*arguments)

    refresh(one.settings)
    fast = Process(state)
    monkeypatch.setattr(daily, "refuse_wrong_format", paused)
    fast.make()
    assert one.store.require("requests", MIDDLE).inputs == fast.inventory.inputs(MIDDLE)
    assert one.store.require("rejects", MIDDLE).inputs == slow.inventory.inputs(MIDDLE)
    assert MIDDLE in one.late()["requests"]
    one.run()
    assert one.store.require("rejects", MIDDLE).inputs == fast.inventory.inputs(MIDDLE)
    assert one.late() == {}


def test_rejects_that_are_gone_are_made_again(state: Path) -> None:
    (one := Process(state)).run()
    before = one.rows()
    shutil.rmtree(state / "tables" / "rejects" / f"day={MIDDLE}")
    assert one.late() == {"requests": [MIDDLE]}
    one.run()
    assert one.rows() == before


def test_lines_that_another_process_has_read_again_are_not_set_aside(state: Path) -> None:
    """Under another name of the log they are other bytes, and whole all the same."""
    (one := Process(state)).run()
    before = one.rows()
    slow = Process(state)
    log = state.parent / "logs" / "late.log"
    log.rename(log.with_name("late.log.1"))
    refresh(one.settings)
    _lose_lines(state, "late.log")
    refresh(one.settings)
    log.with_name("late.log.1").unlink()
    with pytest.raises(DamagedFile, match="read again by another process"):
        slow.make()
    assert refresh(one.settings).torn == ()
    slow.run()
    slow.make()
    assert one.rows() == before


def test_a_log_that_is_gone_before_it_is_read_again_takes_no_day_with_it(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed, or its disk full, between the two; then the log was rotated away."""
    (one := Process(state)).run()
    before = one.rows()
    _lose_lines(state, "late.log")
    log = state.parent / "logs" / "late.log"
    content = log.read_text()

    def end() -> None:
        log.unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as here:
        _when_reading_again(here, end)
        with pytest.raises(KeyboardInterrupt):
            refresh(one.settings)
    for _ in range(2):
        (trouble,) = refresh(one.settings).torn
        assert "that was not found again" in trouble
        with pytest.raises(DamagedFile, match="9 log lines, of which 8 are left: it stays"):
            one.run()
        assert one.rows() == before
    logs.write(log, content.splitlines())
    assert one.run().torn == ()
    assert one.rows() == before


def _once(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], None]) -> list[str]:
    """Do something when a function of the catalogue or the store is called first; its calls."""
    calls: list[str] = []
    where: Any = Store if hasattr(Store, name) else catalogue
    real = getattr(where, name)

    def paused(*arguments: Any, **options: Any) -> Any:
        calls.append(name)
        if len(calls) == 1:
            act()
        return real(*arguments, **options)

    monkeypatch.setattr(where, name, paused)
    return calls


@pytest.mark.parametrize("moment", ["manifest", "verify_sizes", "fill", "create_view"])
def test_who_asks_by_sql_while_days_are_removed_gets_those_that_stay(
    state: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    (one := Process(state)).run()

    def remove() -> None:
        for asset in DAILY_ASSETS:
            one.store.remove(asset, FIRST)

    calls = _once(monkeypatch, moment, remove)
    asked = Artifacts(state).query("SELECT DISTINCT day FROM page_views ORDER BY day")
    assert calls
    assert asked["day"].to_pylist() == DAYS[1:]


def test_what_is_removed_between_views_and_rows_is_asked_for_again(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one := Process(state)).run()
    fill = catalogue.fill

    def removing(*arguments: Any) -> None:
        fill(*arguments)
        monkeypatch.setattr(catalogue, "fill", fill)
        one.store.remove("requests", FIRST)

    monkeypatch.setattr(catalogue, "fill", removing)
    asked = Artifacts(state).query("SELECT DISTINCT day FROM requests ORDER BY day")
    assert asked["day"].to_pylist() == DAYS[1:]


def test_a_catalogue_that_is_made_while_a_day_is_removed_has_the_others(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one := Process(state)).run()
    _once(monkeypatch, "create_view", lambda: one.store.remove("requests", FIRST))
    path = catalogue.refresh(one.store)
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.sql("SELECT count(*) FROM requests").fetchall() == [(18,)]


def test_files_that_are_gone_by_themselves_are_an_error(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No publication explains the loss: asking again would never end."""
    (one := Process(state)).run()
    (file,) = one.store.files("requests", FIRST)
    calls = _once(monkeypatch, "create_view", Path(file).unlink)
    with pytest.raises(DamagedPartition, match="is missing"):
        Artifacts(state).query("SELECT count(*) FROM requests")
    assert calls
    assert Artifacts(state).query("SELECT count(*) FROM rejects").num_rows == 1


def test_reading_all_days_while_one_is_removed_gives_the_others(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one := Process(state)).run()
    _once(monkeypatch, "require", lambda: one.store.remove("page_views", FIRST))
    table = Artifacts(state).read("page_views")
    assert sorted(set(table["day"].to_pylist())) == DAYS[1:]
    with pytest.raises(MissingPartition):
        Artifacts(state).read("page_views", FIRST)


@pytest.mark.parametrize("is_there", [True, False])
def test_lines_that_are_removed_for_their_age_meanwhile_are_not_missed(
    state: Path, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    """Neither are they read again, where their log is still there."""
    (one := Process(state)).run()
    load = RetainedDays.load

    def removing(folder: Path) -> RetainedDays:
        monkeypatch.setattr(RetainedDays, "load", load)
        before = load(folder)
        keep(folder, MIDDLE, None)
        one.inventory.drop_lines(FIRST)
        return before

    if not is_there:
        (state.parent / "logs" / f"access-{FIRST}.log").unlink()
    monkeypatch.setattr(RetainedDays, "load", removing)
    assert refresh(one.settings).torn == ()
    assert RetainedDays.load(state).requests == MIDDLE
    assert Inventory.load(one.settings).bytes_of(FIRST) == 0
