"""Damage by disks and people to stored files: noticed in time, mended by a plain re-run."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from temporal_assets import notebook
from temporal_assets.build import build_defs
from temporal_assets.cli.app import app
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.days.staleness import stale
from temporal_assets.defs.partitions import first_day
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import LandingReport, refresh
from temporal_assets.ops import catalogue
from temporal_assets.quality import verdicts
from temporal_assets.settings import load_settings
from temporal_assets.storage.integrity import DamagedFile
from temporal_assets.storage.partition_errors import DamagedPartition
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import WindowAsset, build, job_of
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
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
        """Build an asset that reads a daily asset."""
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

    def requests(self) -> dict[str, bytes]:
        partition = self.published()
        return {name: partition[name] for name in partition if name.startswith("requests/")}

    def part(self, asset: str, day: dt.date) -> Path:
        (path,) = self.store.files(asset, day)
        return Path(path)

    def segment(self, day: dt.date) -> Path:
        return next((self.state / "landing" / "segments").rglob(f"{day}-*.parquet"))


@pytest.fixture
def here(tmp_path: Path) -> Here:
    actual = Here(tmp_path)
    actual.run()
    return actual


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def call(*arguments: str | Path) -> Any:
    """Run a command in this process; a fault of the program fails the test with its traceback."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


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


def test_damaged_lines_of_a_log_that_was_renamed_are_read_again(here: Here) -> None:
    before = here.published()
    here.segment(FIRST).unlink()
    log = here.logs / f"access-{FIRST}.log"
    log.rename(here.logs / "access.log.1")
    assert here.run().torn == (
        f"lines of logs/access-{FIRST}.log were damaged or missing: it is read again",
    )
    assert here.segment(FIRST).exists()
    assert here.published() == before
    assert here.run().torn == ()


def test_what_is_left_of_a_log_stays_when_another_has_its_name(here: Here) -> None:
    """Lines of two days, of which one loses them; the log is emptied where it lies, and goes on."""
    log = here.logs / "access.log"
    days = [LAST + dt.timedelta(days=n) for n in (1, 2, 3)]
    logs.write(log, [line for day in days[:2] for line in logs.day_of_lines(day)])
    refresh(here.settings)
    lost, whole = here.segment(days[0]), here.segment(days[1])
    lost.unlink()
    logs.write(log, logs.day_of_lines(days[2]))
    (message,) = refresh(here.settings).torn
    assert "the log is not there any more" in message
    assert whole.exists()
    assert here.segment(days[2]).exists()
    inventory = Inventory.load(here.settings)
    build_requests(here.store, here.engine, here.settings, days[1], inventory)
    with pytest.raises(DamagedFile, match="is missing"):
        build_requests(here.store, here.engine, here.settings, days[0], inventory)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"id": 1}', "\0" * 40])
def test_records_that_are_none_are_set_aside(here: Here, text: str) -> None:
    before = here.published()
    record = sorted((here.state / "landing" / "files").glob("*.json"))[0]
    record.write_text(text)
    with pytest.raises(DamagedFile, match="is no record of a log file any more"):
        Inventory.load(here.settings).whole()
    (message,) = here.run().torn
    assert message == f"{record} was damaged: its log is read again"
    assert here.published() == before
    assert here.run().torn == ()


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


def records(here: Here) -> list[Path]:
    return sorted((here.state / "landing" / "files").iterdir())


def test_one_damaged_record_keeps_no_command_from_reading_the_logs(here: Here) -> None:
    before, names = here.requests(), records(here)
    ingest = ("ingest", here.logs, "--host", "example.com")
    for arguments in (ingest, ("materialize", "requests")):
        empty(record := names[0])
        result = call(*arguments, "--state", here.state)
        assert result.exit_code == 0, result.output
        assert "was damaged: its log is read again" in result.output
        assert records(here) == names
        assert Inventory.load(here.settings).whole().find(record.stem)
    assert here.requests() == before


@pytest.mark.slow
def test_a_demo_mends_its_damaged_records_as_well(tmp_path: Path) -> None:
    demo = ("demo", "--days", "2", "--requests", "300", "--state", tmp_path)
    assert call(*demo).exit_code == 0
    for record in (tmp_path / "landing" / "files").iterdir():
        empty(record)
    assert call(*demo, "--seed", "2").exit_code == 2  # what was read of the first is still known
    result = call(*demo)
    assert result.exit_code == 0, result.output
    assert "was damaged: its log is read again" in result.output


def test_those_who_only_look_name_damaged_records(here: Here) -> None:
    empty(record := records(here)[0])
    names = records(here)
    status = json.loads(call("status", "--json", "--state", here.state).stdout)
    assert [damage.split(" ")[0] for damage in status["log_files"]["damaged"]] == [str(record)]
    assert call("status", "--state", here.state).exit_code == 1
    doctor = json.loads(call("doctor", "--json", "--state", here.state).stdout)
    (checks,) = [check for check in doctor if check["check"] == "log records"]
    assert checks["status"] == "broken"
    assert str(record) in checks["detail"]
    assert records(here) == names


def test_status_says_all_it_can_and_names_what_is_damaged(here: Here) -> None:
    """Name every broken manifest, as `doctor` does."""
    whole = json.loads(call("status", "--json", "--state", here.state).stdout)
    assert whole["damaged"] == []
    broken = [("page_totals", LAST), ("page_views", FIRST), ("transits", LAST)]
    for asset, day in broken:
        truncate(here.part(asset, day).with_name("manifest.json"))
    result = call("status", "--json", "--state", here.state)
    assert result.exit_code == 1
    content = json.loads(result.stdout)
    for (asset, day), one in zip(broken, sorted(content["damaged"]), strict=True):
        assert f"materialize {asset} --day {day}" in one
    assert content["assets"]["page_views"]["days"] == len(DAYS)  # as before
    assert content["assets"]["page_views"]["stale"] == [str(FIRST)]
    assert content["assets"]["requests"] == whole["assets"]["requests"]
    answer = call("status", "--state", here.state)
    assert answer.exit_code == 1
    assert answer.stderr.count("is no manifest any more") == 3
    assert "page_histories" in answer.stdout
    doctor = json.loads(call("doctor", "--json", "--state", here.state).stdout)
    (checks,) = [check for check in doctor if check["check"] == "published files"]
    assert checks["status"] == "broken"


def test_damage_to_the_urls_of_a_day_is_damage_to_the_day(here: Here) -> None:
    """Rows name them by number: without them they say nothing."""
    reader = WindowAsset("page_traffic", lambda _: [], windows=("transits",))
    urls = Path(here.store.paths_beside(here.store.require("transits", FIRST))[0])
    flip(urls)
    with here.store.scratch() as out, pytest.raises(DamagedFile, match="make it again"):
        job_of(here.store, here.engine, here.settings, reader, LAST, out)
    assert (urls.exists(), len(list(urls.parent.glob("*.damaged")))) == (False, 1)
    assert stale(here.store, Inventory.load(here.settings), here.settings)["transits"] == [FIRST]
    build_derived(here.store, here.engine, "transits", FIRST)
    assert here.store.damaged(contents=True) == []
    assert urls.exists()


def test_status_goes_on_beside_other_damage(here: Here) -> None:
    (here.state / "kept.json").write_text("{")
    (here.state / "mirror").mkdir()
    (here.state / "mirror" / "current.json").write_text("{}")
    (here.state / "dagster" / "schedules").mkdir(parents=True)
    (here.state / "dagster" / "dagster.yaml").write_text("- 1")
    result = call("status", "--json", "--state", here.state)
    assert result.exit_code == 1
    damaged = json.loads(result.stdout)["damaged"]
    assert [any(name in damage for damage in damaged) for name in ("kept.json", "dagster")] == [
        True
    ] * 2
    assert "Assets" in call("status", "--state", here.state).stdout


def test_a_verdict_that_cannot_be_read_is_none(here: Here) -> None:
    verdict = here.state / "verdicts" / "page_views" / f"{FIRST}.json"
    verdict.parent.mkdir(parents=True, exist_ok=True)
    manifest = here.store.require("page_views", FIRST)
    own = json.dumps({"digest": manifest.digest, "checks": 1})
    for text in ("{}", "[]", "{", '{"digest": 1}', own):
        verdict.write_text(text)
        assert verdicts.read(here.state, manifest) == ()


def test_lines_whose_record_is_gone_are_named(here: Here) -> None:
    def actual() -> tuple[str, str]:
        doctor = json.loads(call("doctor", "--json", "--state", here.state).stdout)
        (one,) = [check for check in doctor if check["check"] == "log records"]
        return one["status"], one["detail"]

    assert actual() == ("ok", "3 log files known")
    gone = records(here)[0]
    text = gone.read_text()
    gone.unlink()
    status, detail = actual()
    assert status == "warning"
    assert "2 log files known; 1 folder of lines without a record" in detail
    assert str(here.state / "landing" / "segments" / gone.stem) in detail
    aside = Path(f"{gone}.damaged")
    aside.write_text(text)
    status, detail = actual()
    assert status == "broken"
    assert "without a record" not in detail  # it has one, which is told of by itself
    aside.unlink()
    gone.write_text(text)
    assert actual()[0] == "ok"


@pytest.mark.parametrize("name", ["clean", "upgrade"])
def test_what_removes_or_judges_by_records_wants_all_of_them(here: Here, name: str) -> None:
    empty(records(here)[0])
    result = call("doctor", name, "--yes", "--state", here.state)
    assert result.exit_code == 1
    assert "`temporal-assets materialize` reads the log again" in " ".join(result.output.split())


def test_definitions_load_beside_a_damaged_record(here: Here) -> None:
    for record in records(here):
        empty(record)
    assert first_day(here.settings) == FIRST
    days = build_defs(here.settings).resolve_assets_def("requests").partitions_def
    assert days is not None
    assert days.get_first_partition_key() == str(FIRST)


def _shared_by(here: Here, name: str, minutes: int) -> Path:
    """A second log of the first day, and everything made with it."""
    when = dt.datetime.combine(FIRST, dt.time(15, minutes))
    path = logs.write(here.logs / name, [logs.line(when, "/late", "192.0.2.77")])
    here.run()
    return path


def _record_of(here: Here, log: Path) -> Path:
    return next(path for path in records(here) if f'"{log}"' in path.read_text())


def test_a_day_keeps_lines_of_a_log_that_is_gone_with_its_record(here: Here) -> None:
    log = _shared_by(here, "late.log", 0)
    before, content, record = here.requests(), log.read_text(), _record_of(here, log)
    log.unlink()
    empty(record)
    for _ in range(2):
        with pytest.raises(DamagedFile, match="9 log lines, of which 8 are left: it stays"):
            here.run()
        assert here.requests() == before
        (trouble,) = refresh(here.settings).torn
        assert f"{record}.damaged is the damaged record of a log that was not found" in trouble
    with pytest.raises(DamagedFile, match="9 log lines"):
        build_requests(here.store, here.engine, here.settings, FIRST, Inventory.load(here.settings))
    logs.write(log, content.splitlines())
    assert here.run().torn == ()
    assert here.requests() == before
    assert not Path(f"{record}.damaged").exists()


def test_a_day_whose_only_record_is_gone_is_not_emptied(here: Here) -> None:
    day = DAYS[1]  # between others: without lines it would be an empty day
    before = here.published()
    empty(_record_of(here, log := here.logs / f"access-{day}.log"))
    log.unlink()
    with pytest.raises(DamagedFile, match="8 log lines, of which 0 are left"):
        here.run()
    assert here.published() == before


def test_people_may_go_on_without_the_lines_of_a_lost_log(here: Here) -> None:
    log = _shared_by(here, "late.log", 0)
    empty(record := _record_of(here, log))
    log.unlink()
    refresh(here.settings)
    Path(f"{record}.damaged").unlink()
    assert here.run().torn == ()
    assert here.store.require("requests", FIRST).rows == 8


def test_the_log_of_a_damaged_record_may_have_grown(here: Here) -> None:
    log = _shared_by(here, "late.log", 0)
    empty(record := _record_of(here, log))
    when = dt.datetime.combine(FIRST, dt.time(16))
    logs.write(log, [*log.read_text().splitlines(), logs.line(when, "/more", "192.0.2.78")])
    (trouble,) = here.run().torn
    assert str(record) in trouble
    assert here.store.require("requests", FIRST).rows == 10
    assert here.run().torn == ()
    assert not Path(f"{record}.damaged").exists()


def test_a_record_of_what_could_not_be_read_is_no_loss(here: Here) -> None:
    (here.logs / "none.log").write_text("no log\n" * 20)
    here.run()
    empty(record := next(path for path in records(here) if path.name.startswith("failed-")))
    (here.logs / "none.log").unlink()
    (message,) = here.run().torn
    assert message == f"{record} was damaged: its log is read again"
    assert here.run().torn == ()


def _lie(here: Here, old: str, new: str) -> Path:
    """Change a manifest that has no seal, as older releases wrote them."""
    path = here.part("page_views", FIRST).parent / "manifest.json"
    text, seals = re.subn(r' "record_digest": "[0-9a-f]+",\n', "", path.read_text())
    assert seals == 1
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


def test_status_shows_the_rest_beside_a_damaged_manifest(here: Here) -> None:
    def status(ends_with: int = 0) -> dict[str, Any]:
        result = call("status", "--json", "--state", here.state)
        assert result.exit_code == ends_with, result.output
        document: dict[str, Any] = json.loads(result.stdout)
        return document

    before = status()
    path = here.part("page_views", LAST).parent / "manifest.json"
    text = path.read_text()
    path.write_text(text[:40])
    actual = status(1)
    (answer,) = actual["damaged"]
    assert answer.startswith(str(path))
    assert f"materialize page_views --day {LAST}" in answer
    assert actual["assets"]["page_views"]["stale"] == [str(LAST)]
    assert actual["assets"]["requests"] == before["assets"]["requests"]
    assert str(path) in call("status", "--state", here.state).output
    path.write_text(text)
    assert status() == before


def test_a_record_may_go_while_they_are_read(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """Superseded readings go while others look."""
    first, *others = records(here)
    read = Path.read_text

    def going(path: Path, *options: Any) -> str:
        first.unlink(missing_ok=True)
        return read(path, *options)

    monkeypatch.setattr(Path, "read_text", going)
    document = Inventory.load(here.settings)
    assert [file.id for file in document.files] == [path.stem for path in others]
    assert not document.troubles


def test_a_manifest_with_a_flipped_bit_is_made_again(here: Here) -> None:
    """Also where the bit changes nothing that anybody compares."""
    before = here.published()
    path = here.part("page_views", FIRST).parent / "manifest.json"
    path.write_text(path.read_text().replace('"settings_digest": "4', '"settings_digest": "5'))
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


def test_nothing_is_read_to_know_which_days_there_are(here: Here, tmp_path: Path) -> None:
    """Readers of a damaged day fail before they have made anything of it."""
    flip(here.part("page_views", FIRST))
    asks = WindowAsset("page_totals", lambda _: (), days=("page_views",))
    job = job_of(here.store, here.engine, here.settings, asks, LAST, tmp_path)
    assert job.present("page_views") == tuple(DAYS)
    assert [one.name for one in job.sources.inputs] == [f"page_views/day={day}" for day in DAYS]
    with pytest.raises(KeyError):
        job.window("page_views")
    reads = replace(asks, windows=("page_views",), days=())
    with pytest.raises(DamagedPartition, match="does not hold the bytes"):
        job_of(here.store, here.engine, here.settings, reads, LAST, tmp_path)


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
    assert [path.name for path in report.lost_keys] == ["clients-2025-11-08-150d.key"]
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
