"""State folders of other releases: never read as if of this one, named, brought up to date."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import temporal_assets
from temporal_assets import contracts
from temporal_assets.cli.app import app
from temporal_assets.days.staleness import stale
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.engines.sql import sql_names
from temporal_assets.landing import reading_options
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.landing.source_files import pending_files
from temporal_assets.operate.materializing import materialize
from temporal_assets.ops.upgrade import Remedy, migrate, plan
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.manifest import Input
from temporal_assets.storage.partition_errors import MissingPartition, ShortWindow
from temporal_assets.storage.sealed import sealed, unsealed
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import build
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from tests import logs

DAY = dt.date(2026, 3, 1)
DAYS = [DAY + dt.timedelta(days=n) for n in range(3)]
DAILY = ["requests", "rejects", "page_views", "transits"]


def written_in(store: Store, asset: str, day: dt.date, version: int) -> None:
    """Have a partition say that it was written under another version of its contract."""
    path = Path(store.root) / asset / f"day={day}" / "manifest.json"
    path.write_text(sealed(unsealed(path.read_bytes()) | {"schema_version": version}), "utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days, made."""
    root = tmp_path_factory.mktemp("upgrade")
    logs.write_days(root / "logs", DAY, 3)
    settings = settings_of(root)
    refresh(settings)
    assert materialize(settings, DAYS, DAILY).ok
    return root


def settings_of(root: Path) -> Settings:
    sources = [{"path": str(root / "logs"), "host": "example.com"}]
    return load_settings(root / "state", sources=sources)


@pytest.fixture
def settings(built: Path, tmp_path: Path) -> Settings:
    """A copy of them to be spoiled."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    text = f'[[sources]]\npath = "{tmp_path / "logs"}"\nhost = "example.com"\n'
    (tmp_path / "state" / "settings.toml").write_text(text)
    return settings_of(tmp_path)


@pytest.fixture
def store(settings: Settings) -> Store:
    return Store.open(settings)


def ways(settings: Settings) -> dict[str, tuple[Remedy, int]]:
    steps = plan(Store.open(settings), Inventory.load(settings), settings)
    return {step.asset: (step.remedy, len(step.days)) for step in steps}


def cli(settings: Settings, *arguments: str) -> Any:
    done = CliRunner().invoke(app, [*arguments, "--state", str(settings.state), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_what_is_of_this_release_needs_nothing(settings: Settings) -> None:
    assert ways(settings) == {}
    output = cli(settings, "doctor", "upgrade")
    assert output["unfinished"]["days"] == {}
    assert (output["migrated"], output["outdated"], output["checks"]) == (0, [], [])


def test_an_older_schema_is_never_read_as_this_one(settings: Settings, store: Store) -> None:
    written_in(store, "page_views", DAYS[1], 0)
    assert store.days("page_views") == [DAYS[0], DAYS[2]]
    with pytest.raises(MissingPartition, match="written in schema 0 and this release reads 1"):
        store.read("page_views", DAYS[1])
    assert store.window("page_views", DAYS[2], 3, 2).missing == (DAYS[1],)
    with pytest.raises(ShortWindow):
        store.window("page_views", DAYS[2], 3, 3)
    days = temporal_assets.open(settings.state).query("SELECT DISTINCT day FROM page_views")
    assert sorted(days.column("day").to_pylist()) == [DAYS[0], DAYS[2]]


def test_what_can_be_made_again_is_named_and_made(settings: Settings, store: Store) -> None:
    for day in DAYS[:2]:
        written_in(store, "page_views", day, 0)
    assert ways(settings) == {"page_views": (Remedy.REBUILD, 2)}
    (text,) = cli(settings, "status")["outdated"]
    assert (text["asset"], text["way"], text["days"]) == (
        "page_views",
        "rebuild",
        ["2026-03-01", "2026-03-02"],
    )
    shown = CliRunner().invoke(
        app, ["doctor", "upgrade", "--state", str(settings.state)], env={"COLUMNS": "200"}
    )
    assert "materialize page_views --from 2026-03-01 --to 2026-03-02" in shown.output
    (doctor,) = (check for check in cli(settings, "doctor") if check["check"] == "schema versions")
    assert doctor["status"] == "warning"
    assert "2 partitions of page_views" in doctor["detail"]
    # `materialize` without a name, the sensor and the nightly run find the same days.
    assert stale(store, Inventory.load(settings), settings)["page_views"] == DAYS[:2]
    assert materialize(settings, DAYS[:2], ["page_views"]).ok
    assert ways(settings) == {}


def test_windows_of_an_earlier_version_are_made_again(settings: Settings, store: Store) -> None:
    """Rows of `page_traffic` name pages by the `number` that earlier `page_totals` did not have."""
    engine = DuckDBEngine(settings)
    build(store, engine, settings, PAGE_TOTALS, DAYS[2])
    written_in(store, "page_totals", DAYS[2], 2)
    assert ways(settings) == {"page_totals": (Remedy.REBUILD, 1)}
    build(store, engine, settings, PAGE_TOTALS, DAYS[2])
    assert ways(settings) == {}


def test_days_whose_logs_are_gone(settings: Settings, store: Store) -> None:
    shutil.rmtree(settings.state / "landing")
    for asset in ("requests", "page_views"):
        written_in(store, asset, DAYS[0], 0)
    written_in(store, "page_views", DAYS[1], 0)
    steps = plan(store, Inventory.load(settings), settings)
    assert [(step.asset, step.remedy, step.days) for step in steps] == [
        ("requests", Remedy.LOST, (DAYS[0],)),
        ("page_views", Remedy.LOST, (DAYS[0],)),
        ("page_views", Remedy.REBUILD, (DAYS[1],)),
    ]
    assert store.stored("requests", DAYS[0])  # nothing is removed


def test_a_later_release_is_told_from_an_earlier_one(settings: Settings, store: Store) -> None:
    written_in(store, "transits", DAYS[2], 99)
    assert ways(settings) == {"transits": (Remedy.NEWER, 1)}
    assert migrate(store, DuckDBEngine(settings), settings, plan_of(settings)) == ()
    assert ways(settings) == {"transits": (Remedy.NEWER, 1)}


def plan_of(settings: Settings) -> Any:
    return plan(Store.open(settings), Inventory.load(settings), settings)


@pytest.mark.parametrize("version", [1, 2])
def test_labels_of_earlier_versions_are_migrated(
    settings: Settings, store: Store, version: int
) -> None:
    """The curve had decided; before calibration (version 1) all thresholds were the settings'."""
    row = {
        "day": DAY,
        "site": "example.com",
        "url": "https://example.com/",
        "is_temporal": True,
        "is_sure": True,
        "is_news": False,
        "phi_n": 0.95,
        "concentration": 0.1,
        "has_concentration": True,
        "n": 3.0,
        "q": 0.9,
        "m": 5,
        "p": 0.5,
        **({"thresholds": "site"} if version == 2 else {}),
    }
    schema = contracts.table("page_labels").arrow_schema
    old = pa.schema([schema.field(name) for name in row])
    with store.scratch() as scratch:
        pq.write_table(pa.Table.from_pylist([row], old), scratch / "old.parquet")
        store.publish(
            "page_labels",
            DAY,
            [scratch / "old.parquet"],
            inputs=[Input("page_histories", "d")],
            settings_digest="s",
            extra={"window_days": 60, "missing_days": []},
        )
    written_in(store, "page_labels", DAY, version)
    assert ways(settings) == {"page_labels": (Remedy.MIGRATE, 1)}
    done = CliRunner().invoke(
        app, ["doctor", "upgrade", "--yes", "--json", "--state", str(settings.state)]
    )
    content = json.loads(done.stdout)
    assert (content["migrated"], content["outdated"]) == (1, [])
    # Its histories are not there to be compared with: what cannot be judged is said, not passed.
    assert done.exit_code == 1
    assert all("the check could not be done" in check["message"] for check in content["checks"])
    assert store.read("page_labels", DAY).to_pylist() == [
        {"thresholds": "settings"}
        | row
        | {"label_basis": "curve", "is_temporal_by_curve": True, "first_share": None}
    ]
    manifest = store.require("page_labels", DAY)
    assert (manifest.schema_version, manifest.inputs, manifest.settings_digest) == (
        contracts.table("page_labels").version,
        (Input("page_histories", "d"),),
        "s",
    )
    assert manifest.extra["window_days"] == 60
    assert cli(settings, "doctor", "upgrade", "--yes")["migrated"] == 0


def test_transits_that_named_urls_get_numbers(settings: Settings, store: Store) -> None:
    """Transits of an earlier release, whose requests are gone, become the same bytes as today."""
    manifest = store.require("transits", DAYS[0])
    rows = store.read("transits", DAYS[0])
    with store.scratch() as scratch:
        pq.write_table(rows, scratch / "old.parquet")
        store.publish(
            "transits",
            DAYS[0],
            [scratch / "old.parquet"],
            inputs=manifest.inputs,
            settings_digest=manifest.settings_digest,
            extra=manifest.extra,
        )
    written_in(store, "transits", DAYS[0], 1)
    written_in(store, "transits", DAYS[1], 1)
    store.remove("page_views", DAYS[1])
    shutil.rmtree(settings.state / "landing")
    for day in DAYS[:2]:
        store.remove("requests", day)
    actual = plan(store, Inventory.load(settings), settings)
    # Without its pages, nobody knows which URLs of a day were opened.
    assert [(one.remedy, one.days) for one in actual] == [
        (Remedy.MIGRATE, (DAYS[0],)),
        (Remedy.LOST, (DAYS[1],)),
    ]
    CliRunner().invoke(app, ["doctor", "upgrade", "--yes", "--state", str(settings.state)])
    assert store.require("transits", DAYS[0]) == manifest
    assert store.read("transits", DAYS[0]) == rows


def test_migrations_are_of_earlier_versions_of_tables_there_are() -> None:
    named = [re.fullmatch(r"migrate_(.+)_from_(\d+)", name) for name in sql_names()]
    actual = [(name[1], int(name[2])) for name in named if name]
    assert ("page_labels", 1) in actual
    for asset, version in actual:
        assert version < contracts.table(asset).version
    # Logs may be gone, so that of these there must be one for every version there has been.
    for asset in ("requests", "page_views", "transits"):
        for version in range(1, contracts.table(asset).version):
            assert (asset, version) in actual


def test_lines_of_an_earlier_reader_count_where_their_logs_are_gone(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_options, "READER_VERSION", reading_options.READER_VERSION + 1)
    kept = Path(settings.sources[0].path)
    for file in sorted(kept.iterdir())[:2]:
        file.unlink()  # rotated away; the third is read again
    assert len(pending_files(Inventory.load(settings), settings)) == 1
    assert len(refresh(settings).landed) == 1
    assert Inventory.load(settings).days() == DAYS
    assert pending_files(Inventory.load(settings), settings) == []
    before = store.read("requests", DAYS[0])
    assert materialize(settings, DAYS, DAILY).ok
    assert store.read("requests", DAYS[0]) == before
