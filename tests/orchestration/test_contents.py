"""`doctor --contents` finds a flipped bit in every kind of file of a state folder."""

from __future__ import annotations

import datetime as dt
import json
import random
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

import temporal_assets
from temporal_assets.cli.app import app
from temporal_assets.crawl.mirror import mirror
from temporal_assets.logs.privacy.key_periods import NOTES
from temporal_assets.logs.urls.url_rules import DEFAULT
from temporal_assets.ops import catalogue
from temporal_assets.ops.contents import damages
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.partition_errors import DamagedPartition
from temporal_assets.storage.retained_days import keep
from temporal_assets.storage.store import Store
from tests.orchestration.conftest import settings_of

WRITTEN_BY_PEOPLE = {"settings.toml", "dagster.yaml"}
STRUCTURE = 16
"""Byte of a SQLite file from which its header says how it is built."""


@pytest.fixture(scope="module")
def copied(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A state folder with a file of every kind."""
    root = tmp_path_factory.mktemp("copied")
    shutil.copytree(whole, root, dirs_exist_ok=True, symlinks=True)
    settings = settings_of(root)
    builder = mirror.MirrorBuilder(DEFAULT)
    builder.page("https://example.com/", [("https://example.com/a", False)])
    builder.page("https://example.com/a", [("https://example.com/", True)])
    mirror.save(builder.build(), settings.state)
    keep(settings.state, dt.date(2025, 1, 1), None)
    return settings


def kind_of(path: Path) -> str:
    """Files of one kind differ in digests, days and numbers."""
    return re.sub(r"[0-9a-f-]*[0-9][0-9a-f-]*", "*", str(path))


def files_of(state: Path) -> Iterator[Path]:
    """Return a file of each kind that the product writes; locks and shared memory hold nothing."""
    seen = set()
    for path in sorted(state.rglob("*")):
        name = path.relative_to(state)
        is_other = path.name in WRITTEN_BY_PEOPLE or "latest" in name.parts or "tmp" in name.parts
        if (
            is_other
            or path.suffix in (".lock", ".db-shm")
            or not path.is_file()
            or not path.stat().st_size
        ):
            continue
        if (kind := kind_of(name)) not in seen:
            seen.add(kind)
            yield path


def flip(path: Path, dice: random.Random) -> None:
    content = bytearray(path.read_bytes())
    at = STRUCTURE if path.suffix == ".db" else dice.randrange(len(content))
    content[at] ^= 1 << (7 if path.suffix == ".db" else dice.randrange(8))
    path.write_bytes(content)


def test_an_undamaged_folder_has_no_damage(copied: Settings) -> None:
    assert list(damages(copied)) == []


def test_every_room_of_the_state_folder_is_among_the_files(copied: Settings) -> None:
    rooms = {path.relative_to(copied.state).parts[0] for path in files_of(copied.state)}
    assert rooms == {
        *("tables", "landing", "verdicts", "policy", "report", "mirror", "secrets", "dagster"),
        *("catalogue.duckdb", "catalogue.json", "kept.json", "keys.json"),
    }


def test_a_flipped_bit_is_found_in_every_kind_of_file(copied: Settings) -> None:
    dice, missed = random.Random(48), []
    for path in files_of(copied.state):
        before = path.read_bytes()
        flip(path, dice)
        paths = [damage.path for damage in damages(copied)]
        # Of a list of sums and the files it is of, one is wrong, and nobody can tell which.
        names = [str(path.parent if path.name == "SHA256SUMS" else path)]
        if path.name == NOTES:
            names.append(str(path.parent / "secrets"))
        if not any(path in name or name in path for path in paths for name in names):
            missed.append(f"{path.relative_to(copied.state)}: {paths}")
        path.write_bytes(before)
    assert missed == []


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_database_that_can_only_be_read_is_found(tmp_path: Path, journal: str) -> None:
    """SQLite takes an unknown version to write by for a wish, and Dagster could not go on."""
    file = tmp_path / "dagster" / "runs.db"
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as database:
        database.execute(f"PRAGMA journal_mode = {journal}")
        database.execute("CREATE TABLE runs (body TEXT)")
        database.commit()
    settings, before = load_settings(tmp_path), file.read_bytes()
    assert list(damages(settings)) == []
    for at in range(16, 20):
        file.write_bytes(before[:at] + bytes([before[at] ^ 128]) + before[at + 1 :])
        assert [damage.path for damage in damages(settings)] == [str(file)], at


def test_doctor_says_which_file_it_is_and_what_to_do(copied: Settings) -> None:
    (victim,) = (copied.state / "policy").glob("2026-*/hubs.parquet")
    before = victim.read_bytes()
    flip(victim, random.Random(1))
    done = CliRunner().invoke(app, ["doctor", "--contents", "--json", "--state", str(copied.state)])
    victim.write_bytes(before)
    assert done.exit_code == 1
    (actual,) = [one for one in json.loads(done.output) if one["check"] == "contents"]
    assert actual["status"] == "broken"
    assert str(victim) in actual["detail"]
    assert "materialize crawl_policy --day 2026-03-04" in actual["detail"]


def test_a_footer_that_cannot_be_read_is_found_without_reading_contents(copied: Settings) -> None:
    (victim,) = (copied.state / "tables" / "pattern_ranks").glob("*/part-*")
    before = victim.read_bytes()
    victim.write_bytes(before[:-6] + bytes([before[-6] ^ 128]) + before[-5:])
    done = CliRunner().invoke(app, ["doctor", "--json", "--state", str(copied.state)])
    victim.write_bytes(before)
    (actual,) = [one for one in json.loads(done.output) if one["check"] == "published files"]
    assert (actual["status"], str(victim) in actual["detail"]) == ("broken", True)


SQL = "SELECT * FROM page_views ORDER BY ALL"


def test_no_query_gives_a_wrong_answer_whatever_bit_is_flipped(copied: Settings) -> None:
    dice, state = random.Random(3), copied.state
    right = temporal_assets.open(state).query(SQL)
    for _ in range(25):
        victim = dice.choice(sorted((state / "tables" / "page_views").glob("*/part-*")))
        before = victim.read_bytes()
        flip(victim, dice)
        with pytest.raises(DamagedPartition, match="cannot be used: make it again"):
            temporal_assets.open(state).query(SQL)
        assert temporal_assets.open(state).query("SELECT count(*) AS n FROM transits").num_rows
        victim.write_bytes(before)
    assert temporal_assets.open(state).query(SQL).equals(right)


def test_who_must_not_wait_need_not(copied: Settings) -> None:
    """A bit behind the rows, which DuckDB does not look at."""
    (victim, *_) = sorted((copied.state / "tables" / "page_views").glob("*/part-*"))
    before = victim.read_bytes()
    victim.write_bytes(bytes([before[0] ^ 1]) + before[1:])
    try:
        count = "SELECT count(*) AS n FROM page_views"
        assert temporal_assets.open(copied.state, verify=False).query(count).num_rows == 1
        place = ["--state", str(copied.state)]
        result = CliRunner().invoke(app, ["query", count, *place])
        assert (result.exit_code, "does not hold the bytes" in result.stderr) == (1, True)
        assert CliRunner().invoke(app, ["query", count, "--no-verify", *place]).exit_code == 0
    finally:
        victim.write_bytes(before)


def test_a_footer_that_cannot_be_read_stops_its_own_view_alone(copied: Settings) -> None:
    """Four nights in a row it had kept everything from being published and asked."""
    (victim,) = (copied.state / "tables" / "pattern_ranks").glob("*/part-*")
    before = victim.read_bytes()
    victim.write_bytes(before[:-6] + bytes([before[-6] ^ 128]) + before[-5:])
    try:
        catalogue.refresh(Store.open(copied))
        actual = temporal_assets.open(copied.state)
        assert actual.query("SELECT count(*) AS n FROM page_views").num_rows == 1
        with pytest.raises(DamagedPartition):
            actual.query("SELECT * FROM pattern_ranks")
    finally:
        victim.write_bytes(before)
        catalogue.refresh(Store.open(copied))


def test_a_day_that_goes_while_views_are_made_is_no_damage(
    copied: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`clean` had removed it between the look at manifests and the view: it is asked again."""
    store, actual = Store.open(copied), catalogue.create_view
    first = store.days("page_views")[0]

    def late(connection: object, name: str, files: object) -> None:
        if name == "page_views" and first in store.days("page_views"):
            store.remove("page_views", first)
        actual(connection, name, files)  # type: ignore[arg-type]

    monkeypatch.setattr(catalogue, "create_view", late)
    sql = "SELECT min(day) AS day FROM page_views"
    for verify in (True, False):
        rows = temporal_assets.open(copied.state, verify=verify).query(sql).to_pylist()
        assert rows == [{"day": first + dt.timedelta(days=1)}]
