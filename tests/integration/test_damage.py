"""What disks and people do to stored files: noticed where it matters, mended by a plain re-run."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from temporal_assets import notebook
from temporal_assets.daily import DERIVED, build_derived, build_requests, stale
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.storage import catalogue
from temporal_assets.storage.integrity import DamagedFile
from temporal_assets.storage.inventory import Inventory
from temporal_assets.storage.landing import LandingReport, refresh
from temporal_assets.storage.store import DamagedPartition, Store
from temporal_assets.windows.asset import build
from temporal_assets.windows.page_totals import PAGE_TOTALS
from tests import logs

FIRST = dt.date(2026, 3, 1)
DAYS = [FIRST + dt.timedelta(days=n) for n in range(3)]
LAST = DAYS[-1]


class Here:
    """A state folder and what is done with it every day."""

    def __init__(self, root: Path) -> None:
        self.state, self.logs = root / "state", root / "logs"
        logs.write_days(self.logs, FIRST, len(DAYS), clients=4)
        self.state.mkdir()
        (self.state / "settings.toml").write_text(
            "[window]\ndays = 3\nmin_days = 3\nmin_views_per_day = 0.1\n"
            f'[[sources]]\npath = "{self.logs}"\nhost = "example.com"\n'
        )
        self.settings = load_settings(self.state)
        self.store, self.engine = Store.open(self.settings), DuckDBEngine(self.settings)

    def run(self) -> LandingReport:
        """Everything that is late, as the nightly run makes it."""
        report = refresh(self.settings)
        inventory = Inventory.load(self.settings)
        late = stale(self.store, inventory, self.settings)
        for day in late["requests"]:
            build_requests(self.store, self.engine, self.settings, day, inventory)
        for asset in DERIVED:
            for day in sorted({*late["requests"], *late[asset]}):
                build_derived(self.store, self.engine, asset, day)
        build(self.store, self.engine, self.settings, PAGE_TOTALS, LAST)
        catalogue.refresh(self.store)
        return report

    def build_upon(self, asset: str) -> None:
        """What reads a daily asset."""
        if asset == "requests":
            build_derived(self.store, self.engine, "page_views", FIRST)
        else:
            build(self.store, self.engine, self.settings, PAGE_TOTALS, LAST)

    def published(self) -> dict[str, bytes]:
        root = self.state / "tables"
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and not path.name.endswith(".damaged")
        }

    def part(self, asset: str, day: dt.date) -> Path:
        (path,) = self.store.files(asset, day)
        return Path(path)

    def segment(self, day: dt.date) -> Path:
        return next((self.state / "landing" / "segments").rglob(f"{day}-*.parquet"))


@pytest.fixture
def here(tmp_path: Path) -> Here:
    made = Here(tmp_path)
    made.run()
    return made


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def empty(path: Path) -> None:
    path.write_bytes(b"")


Damage = Callable[[Path], None]
ANY = pytest.mark.parametrize("damage", [flip, truncate, empty, Path.unlink])


@ANY
@pytest.mark.parametrize("asset", ["requests", "page_views"])
def test_damaged_partitions_are_never_built_upon(here: Here, asset: str, damage: Damage) -> None:
    before = here.published()
    damage(path := here.part(asset, FIRST))
    manifest = here.store.require(asset, FIRST)
    with pytest.raises(DamagedPartition, match=f"materialize {asset} --day 2026-03-01") as caught:
        here.build_upon(asset)
    assert str(path) in str(caught.value)
    assert here.store.require(asset, FIRST) == manifest
    here.run()
    assert here.published() == before


@ANY
def test_damaged_lines_are_read_again(here: Here, damage: Damage) -> None:
    before = here.published()
    shutil.rmtree(here.state / "tables")
    damage(path := here.segment(FIRST))
    if path.exists():  # that it is missing shows without reading it
        with pytest.raises(DamagedFile, match="run the same command again"):
            here.run()
    report = here.run()
    assert report.torn == (
        f"lines of logs/access-{FIRST}.log were damaged or missing: it is read again",
    )
    assert here.published() == before
    assert here.run().torn == ()


def test_damaged_lines_of_a_log_that_is_gone_are_named(here: Here) -> None:
    here.segment(FIRST).unlink()
    (here.logs / f"access-{FIRST}.log").unlink()
    (message,) = here.run().torn
    assert f"access-{FIRST}.log" in message
    assert "restore" in message


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"id": 1}', "\0" * 40])
def test_records_that_are_none_are_set_aside(here: Here, text: str) -> None:
    before = here.published()
    record = sorted((here.state / "landing" / "files").glob("*.json"))[0]
    record.write_text(text)
    with pytest.raises(DamagedFile, match="is no record of a log file any more"):
        Inventory.load(here.settings)
    (message,) = here.run().torn
    assert str(record) in message
    assert here.published() == before


def test_a_record_with_another_day_in_it_is_set_aside(here: Here) -> None:
    before = here.published()
    record = next(
        path
        for path in sorted((here.state / "landing" / "files").glob("*.json"))
        if f'"{FIRST}"' in path.read_text()
    )
    record.write_text(
        record.read_text().replace(f'"{FIRST}"', f'"{FIRST - dt.timedelta(days=10)}"')
    )
    (message,) = here.run().torn
    assert str(record) in message
    assert here.published() == before


def _lie(here: Here, old: str, new: str) -> Path:
    path = here.part("page_views", FIRST).parent / "manifest.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"page_views"', '"transits"'),
        ('"day": "2026-03-01"', '"day": "2026-03-02"'),
        ('"day": "2026-03-01"', '"day": "2026-33-01"'),
        ("part-", "../../../secrets/part-"),
        ('"rows": ', '"rows": "many", "r": '),
        ("{", ""),
    ],
)
def test_manifests_that_lie_are_refused_and_made_again(here: Here, old: str, new: str) -> None:
    before = here.published()
    path = _lie(here, old, new)
    with pytest.raises(DamagedPartition, match="materialize page_views --day 2026-03-01") as caught:
        here.store.require("page_views", FIRST)
    assert str(path) in str(caught.value)
    assert here.store.days("page_views") == DAYS  # the day is not lost
    assert here.store.damaged() == [str(path)]
    here.run()
    assert here.published() == before


def test_a_manifest_that_lies_about_its_file_is_found_by_the_bytes(here: Here) -> None:
    before = here.published()
    digest = here.store.require("page_views", FIRST).files[0].digest
    _lie(here, f'"digest": "{digest}"', f'"digest": "{"0" * 16}"')
    with pytest.raises(DamagedPartition, match="does not hold the bytes"):
        build(here.store, here.engine, here.settings, PAGE_TOTALS, LAST)
    here.run()
    assert here.published() == before


def test_reading_verifies_and_changes_nothing(here: Here) -> None:
    flip(path := here.part("page_views", FIRST))
    content = path.read_bytes()
    with pytest.raises(DamagedPartition, match="does not hold the bytes"):
        notebook.Artifacts(here.state).read("page_views", FIRST)
    assert path.read_bytes() == content


def test_other_tables_can_be_asked_meanwhile(here: Here) -> None:
    truncate(here.part("page_views", FIRST))
    catalogue.refresh(here.store)
    artifacts = notebook.Artifacts(here.state)
    assert artifacts.query("SELECT count(*) AS n FROM transits").to_pylist()[0]["n"] > 0
    with pytest.raises(Exception, match="materialize page_views --day 2026-03-01"):
        artifacts.query("SELECT count(*) FROM page_views")
    with pytest.raises(Exception, match="materialize page_views --day 2026-03-01"):
        artifacts.query("SELECT max(views) FROM page_views")


def test_a_key_that_is_gone_is_told_by_the_tables_alone(here: Here) -> None:
    """Without the landing zone, the tables still say that there was a key."""
    shutil.rmtree(here.state / "landing")
    shutil.rmtree(here.state / "secrets")
    report = refresh(here.settings)
    assert [path.name for path in report.lost_keys] == ["clients.key"]
    (warning,) = report.warnings
    assert "Restore it from a backup" in warning


def test_a_record_of_removed_days_that_is_damaged_is_named(here: Here) -> None:
    (here.state / "kept.json").write_text("{")
    with pytest.raises(DamagedFile, match=r"kept\.json cannot be read"):
        refresh(here.settings)


def test_nothing_is_written_between_the_lines_of_a_result(here: Here) -> None:
    """DuckDB draws a bar on standard output when a statement takes long, also into a pipe."""
    query = "SELECT CAST(current_setting('enable_progress_bar') AS VARCHAR) AS bar"
    assert notebook.Artifacts(here.state).query(query).to_pylist() == [{"bar": "false"}]
    assert here.engine.rows(query, {}) == [{"bar": "false"}]
