"""Settings that change what is read of a file, and their way back."""

from __future__ import annotations

from pathlib import Path

from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.settings import load_settings
from tests import logs
from tests.landing import DAY, NOON, let_grace_pass, rows_of, settings_of


def test_other_settings_read_again(state: Path, folder: Path) -> None:
    lines = [logs.line(NOON, "/a"), logs.line(NOON, "/b", status=404)]
    logs.write(folder / "access.log", lines)
    refresh(settings_of(state, folder))
    settings = settings_of(state, folder, cleaning={"statuses": [200, 404]})
    report = refresh(settings)
    assert len(report.landed) == 1
    assert rows_of(settings) == 2


def test_settings_changed_back_count_again_at_once(state: Path, folder: Path) -> None:
    logs.write(folder / "access.log", [logs.line(NOON, "/a"), logs.line(NOON, "/b", status=404)])
    first = settings_of(state, folder)
    refresh(first)
    inputs = Inventory.load(first).inputs(DAY)
    refresh(settings_of(state, folder, cleaning={"statuses": [200, 404]}))
    assert len(Inventory.load(first).pending(first)) == 1
    report = refresh(first)
    assert len(report.landed) == 1
    assert report.days == (DAY,)
    assert Inventory.load(first).inputs(DAY) == inputs
    assert rows_of(first) == 1
    again = refresh(first)
    assert (again.landed, again.unchanged) == ((), 1)


def test_a_copy_under_other_settings_is_not_read_again_and_again(state: Path, folder: Path) -> None:
    line = [logs.line(NOON, "/a")]
    one, two = (logs.write(folder / name / "a.log", line) for name in ("one", "two"))
    sources = [{"path": str(one), "host": "one.example"}, {"path": str(two), "host": "two.example"}]
    settings = load_settings(state, sources=sources)
    refresh(settings)
    let_grace_pass(state)
    assert refresh(settings).landed == ()
    assert Inventory.load(settings).pending(settings) == []
