"""Removal by `clean`: what goes, what stays, and that nothing makes a removed day again."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from temporal_assets.cli.app import app
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.days.day_inputs import NoLogs
from temporal_assets.days.staleness import stale
from temporal_assets.defs.runs.batches import batches
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.ops.retention import carry_out, plan
from temporal_assets.quality import verdicts
from temporal_assets.settings import SettingsError, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import build
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.report.evaluation_report import page_of_day
from tests import logs

FIRST = dt.date(2026, 3, 1)
DAYS = [FIRST + dt.timedelta(days=n) for n in range(8)]
SHORT = {"window": {"days": 3, "min_days": 1}, "evaluation": {"horizons": (1,), "settle_days": 1}}
"""The latest window and its evaluation read five days."""

RETENTION = {"requests_days": 2, "daily_days": 5, "windows_days": 3}


class Installation:
    """Eight days of everything daily, and of one window asset."""

    def __init__(self, root: Path) -> None:
        self.logs, self.state = root / "logs", root / "state"
        self.settings = load_settings(
            self.state,
            sources=[{"path": str(self.logs), "host": "example.com"}],
            retention=RETENTION,
            **SHORT,
        )
        self.store, self.engine = Store.open(self.settings), DuckDBEngine(self.settings)

    def make(self) -> None:
        logs.write_days(self.logs, FIRST, len(DAYS))
        refresh(self.settings)
        for day in DAYS:
            build_requests(self.store, self.engine, self.settings, day, self.inventory)
            for asset in DERIVED:
                build_derived(self.store, self.engine, asset, day)
            build(self.store, self.engine, self.settings, PAGE_TOTALS, day)
            manifest = self.store.require("page_views", day)
            verdicts.record(self.state, manifest, [])
            policy = self.state / "policy" / f"{day}-0123456789ab"
            policy.mkdir(parents=True)
            (policy / "policy.json").write_text("{}")
            page = page_of_day(self.settings, day)
            page.parent.mkdir(exist_ok=True)
            page.write_text("report")
        (page.parent / "evaluation-of-mine.html").write_text("mine")

    @property
    def inventory(self) -> Inventory:
        return Inventory.load(self.settings)

    def stale(self) -> dict[str, list[dt.date]]:
        return stale(self.store, self.inventory, self.settings)

    def late(self) -> None:
        """Write a line of the first day."""
        when = dt.datetime.combine(DAYS[0], dt.time(9))
        logs.write(self.logs / "late.log", [logs.line(when, "/late", "192.0.2.99")])

    def clean(self) -> None:
        inventory = self.inventory
        removals = plan(self.store, inventory, self.settings)
        carry_out(removals, self.store, inventory, self.settings)

    def days(self) -> dict[str, list[dt.date]]:
        return {asset: self.store.days(asset) for asset in self.store.assets()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    Installation(root).make()
    return root


@pytest.fixture
def installation(made: Path, tmp_path: Path) -> Installation:
    shutil.copytree(made, tmp_path, symlinks=True, dirs_exist_ok=True)
    return Installation(tmp_path)


def test_every_kind_is_kept_for_its_own_time(installation: Installation) -> None:
    (installation.state / "policy" / "latest").symlink_to(f"{DAYS[0]}-0123456789ab")
    inventory = installation.inventory
    before = {day: inventory.bytes_of(day) for day in DAYS}
    installation.clean()
    assert installation.days() == {
        "page_totals": DAYS[-3:],
        "page_views": DAYS[-5:],
        "rejects": DAYS[-2:],
        "requests": DAYS[-2:],
        "transits": DAYS[-5:],
    }
    assert all(before.values())
    assert [day for day in DAYS if inventory.bytes_of(day)] == DAYS[-2:]
    records = (installation.state / "verdicts" / "page_views").iterdir()
    assert sorted(path.stem for path in records) == [str(day) for day in DAYS[-5:]]
    # What crawlers are told to load stays, however old it is.
    policies = sorted(path.name[:10] for path in (installation.state / "policy").glob("2026-*"))
    assert policies == [str(day) for day in (DAYS[0], *DAYS[-3:])]
    pages = sorted(path.name for path in (installation.state / "report").glob("*.html"))
    assert pages == [*(f"evaluation-{day}.html" for day in DAYS[-3:]), "evaluation-of-mine.html"]
    assert plan(installation.store, installation.inventory, installation.settings).old == ()


def test_nothing_is_removed_that_has_no_limit(installation: Installation) -> None:
    settings = load_settings(installation.state, **SHORT)
    assert plan(installation.store, installation.inventory, settings).old == ()


def test_what_is_gone_is_not_made_again(installation: Installation) -> None:
    installation.clean()
    assert not any(installation.stale().values())
    installation.late()
    assert refresh(installation.settings).days == (DAYS[0],)
    assert not any(installation.stale().values())
    with pytest.raises(NoLogs, match=f"{DAYS[0]} were removed .* from {DAYS[-2]} on"):
        build_requests(
            installation.store,
            installation.engine,
            installation.settings,
            DAYS[0],
            installation.inventory,
        )
    installation.clean()
    assert installation.inventory.bytes_of(DAYS[0]) == 0


def test_views_that_are_gone_are_not_made_again_of_requests_that_stay(
    installation: Installation,
) -> None:
    configure(installation, "[retention]\ndaily_days = 5\n")
    installation.settings = load_settings(installation.state)
    installation.clean()
    days = installation.days()
    assert (days["requests"], days["page_views"], days["transits"]) == (DAYS, DAYS[3:], DAYS[3:])
    assert not any(installation.stale().values())
    installation.late()
    refresh(installation.settings)
    stale_days = installation.stale()
    assert stale_days == {"requests": [DAYS[0]], "page_views": [], "transits": []}
    (batch,) = batches(stale_days, 30)
    assert (batch.days, batch.assets) == ((DAYS[0],), ("requests", "rejects"))


def test_the_command_makes_no_views_that_are_gone(installation: Installation) -> None:
    configure(installation, "[retention]\ndaily_days = 5\n")
    assert clean(installation, "--yes").exit_code == 0
    options = ["requests", "page_views", "transits", "--from", str(DAYS[0]), "--to", str(DAYS[3])]
    result = CliRunner().invoke(app, ["materialize", "--state", str(installation.state), *options])
    assert result.exit_code == 0, result.output
    assert f"are kept from {DAYS[3]} on" in " ".join(result.output.split())
    assert (installation.days()["requests"], installation.days()["transits"]) == (DAYS, DAYS[3:])


def test_windows_go_on(installation: Installation) -> None:
    installation.clean()
    day = DAYS[-1] + dt.timedelta(days=1)
    logs.write_days(installation.logs, day, 1)
    refresh(installation.settings)
    assert installation.stale() == {
        "requests": [day],
        "page_views": [day],
        "transits": [day],
    }


def test_stopped_half_way_the_next_call_finishes(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(asset: str, day: dt.date) -> None:
        # As after a kill: the pointer is gone, the data is still there.
        (installation.state / "tables" / asset / f"day={day}" / "manifest.json").unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(installation.store, "remove", stop)
        with pytest.raises(KeyboardInterrupt):
            installation.clean()
    assert not any(installation.stale().values())
    installation.clean()
    folders = sorted((installation.state / "tables" / "requests").iterdir())
    assert [folder.name for folder in folders] == [f"day={day}" for day in DAYS[-2:]]


@pytest.mark.parametrize(("name", "days", "least"), [("daily_days", 4, 5), ("windows_days", 2, 3)])
def test_what_windows_read_cannot_go(
    installation: Installation, name: str, days: int, least: int
) -> None:
    settings = load_settings(installation.state, retention={name: days}, **SHORT)
    with pytest.raises(SettingsError, match=f"retention.{name} is {days}.* set it to {least}"):
        plan(installation.store, installation.inventory, settings)


def clean(installation: Installation, *options: str) -> Result:
    return CliRunner().invoke(
        app, ["doctor", "clean", "--state", str(installation.state), *options]
    )


def configure(installation: Installation, text: str) -> None:
    (installation.state / "settings.toml").write_text(
        f'[[sources]]\npath = "{installation.logs}"\nhost = "example.com"\n'
        "[window]\ndays = 3\nmin_days = 1\n[evaluation]\nhorizons = [1]\nsettle_days = 1\n" + text
    )


def test_the_command_shows_before_it_removes(installation: Installation) -> None:
    configure(installation, "[retention]\nrequests_days = 2\n")
    shown = clean(installation)
    assert shown.exit_code == 0, shown.output
    assert "2026-03-01..2026-03-06" in shown.output
    assert "clean --yes" in shown.output
    assert installation.store.days("requests") == DAYS
    report = json.loads(clean(installation, "--yes", "--json").stdout)
    assert {kind["name"]: len(kind["days"]) for kind in report["old"]} == {
        "requests": 6,
        "rejects": 6,
        "landing": 6,
    }
    assert installation.store.days("requests") == DAYS[-2:]
    assert "Nothing is older" in clean(installation).output


def test_days_that_were_never_made_of_their_lines_are_named(installation: Installation) -> None:
    configure(installation, "[retention]\nrequests_days = 2\ndaily_days = 5\n")
    installation.store.remove("page_views", DAYS[0])  # goes anyway
    assert json.loads(clean(installation, "--json").stdout)["unmade"] == []
    installation.store.remove("page_views", DAYS[4])
    installation.store.remove("transits", DAYS[7])  # its lines stay
    logs.write_days(installation.logs / "late", DAYS[5], 1, clients=5)
    refresh(installation.settings)
    named = [str(DAYS[4]), str(DAYS[5])]
    assert json.loads(clean(installation, "--json").stdout)["unmade"] == named
    assert "2026-03-05..2026-03-06 are missing or out of date" in clean(installation).output
    assert "their log lines are gone now" in clean(installation, "--yes").output
    assert json.loads(clean(installation, "--yes", "--json").stdout)["unmade"] == []


def test_without_limits_the_command_says_how_to_set_them(installation: Installation) -> None:
    configure(installation, "")
    assert "[retention]" in clean(installation, "--yes").output
    assert installation.store.days("requests") == DAYS


def test_lines_that_come_too_late_are_told(installation: Installation, tmp_path: Path) -> None:
    installation.clean()
    late = tmp_path / "late"
    logs.write_days(late, FIRST, 2, clients=5)
    with (installation.state / "settings.toml").open("w") as file:
        for path in (installation.logs, late):
            file.write(f'[[sources]]\npath = "{path}"\nhost = "example.com"\n')
    settings = load_settings(installation.state)
    (message,) = refresh(settings).warnings
    assert re.match(r"log lines of 2026-03-01 to 2026-03-02 come too late \(\d+ in all\)", message)
    assert "kept from 2026-03-07 on" in message
    assert refresh(settings).warnings == ()


def test_what_was_read_before_it_was_removed_is_not_told_again(installation: Installation) -> None:
    installation.clean()
    (log, *_) = sorted(installation.logs.iterdir())
    with log.open("a") as file:
        file.write(log.read_text().splitlines()[-1] + "\n")
    (message,) = refresh(installation.settings).warnings
    assert message.startswith("log lines of 2026-03-01 come too late (1 in all)")
