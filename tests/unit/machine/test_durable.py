"""Leftovers of a killed process do not stay."""

from __future__ import annotations

import datetime as dt
import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from temporal_assets.cli.sources.settings_file import set_values
from temporal_assets.days.daily import build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.machine.durable import make_folder, replace_text
from temporal_assets.ops import catalogue
from temporal_assets.quality import verdicts
from temporal_assets.settings import load_settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.retained_days import keep
from temporal_assets.storage.store import Store
from tests import logs

DAY = dt.date(2026, 1, 31)


def unfinished(state: Path) -> set[str]:
    """Folders of a state that hold files which are not whole yet."""
    return {
        path.relative_to(state).parts[0]
        for path in state.rglob("*")
        if path.is_file() and (path.suffix == ".tmp" or path.name == catalogue.CATALOGUE)
    }


def test_files_of_the_state_are_begun_where_sweeps_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []
    monkeypatch.setattr(os, "fsync", lambda _: begun.append(unfinished(tmp_path)))
    keep(tmp_path, DAY, None)
    set_values(load_settings(tmp_path), {"labels": {"q": 0.8}})
    verdicts.record(tmp_path, Manifest("page_views", DAY, (), 1, (), "s"), [])
    assert begun == [{"tmp"}, set()] * 3, "the file, and the folder that has it then"
    verdicts.record(tmp_path, Manifest("page_views", DAY, (), 1, (), "s"), [], tmp_path / "tmp")
    assert len(begun) == 6, "who keeps many judgements waits for none: they can be made again"
    assert unfinished(tmp_path) == set()


def test_the_catalogue_is_begun_where_sweeps_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []
    monkeypatch.setattr(catalogue, "fill", lambda *_: begun.append(unfinished(tmp_path)))
    path = catalogue.refresh(Store(tmp_path / "tables", tmp_path))
    assert begun == [{"tmp"}]
    assert path.is_file()


def test_leftovers_beside_a_file_go_when_nobody_can_be_writing_them(tmp_path: Path) -> None:
    dead, living, strange = (
        tmp_path / name for name in (".a.txt.1.tmp", ".a.txt.2.tmp", ".a.txt.old.tmp")
    )
    for path in (dead, living, strange):
        path.write_text("half")
    for path in (dead, strange):
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    replace_text(tmp_path / "a.txt", "whole")
    assert sorted(tmp_path.iterdir()) == [living, strange, tmp_path / "a.txt"]


def test_a_full_disk_leaves_the_old_text_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_text(tmp_path / "a.txt", "old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_text(tmp_path / "a.txt", "new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "old")]


@pytest.mark.parametrize("mode", [0o600, 0o664])
@pytest.mark.parametrize("is_link", [False, True])
def test_settings_keep_their_permissions_and_their_place(
    tmp_path: Path, mode: int, is_link: bool
) -> None:
    (state := tmp_path / "state").mkdir()
    own = (tmp_path if is_link else state) / "settings.toml"
    own.write_text("[labels]\nq = 0.7\n")
    own.chmod(mode)
    if is_link:
        (state / "settings.toml").symlink_to(own)
    before = os.umask(0o022)
    try:
        set_values(load_settings(state), {"labels": {"q": 0.8}})
    finally:
        os.umask(before)
    assert (state / "settings.toml").is_symlink() == is_link
    assert own.read_text() == "[labels]\nq = 0.8\n"
    assert own.stat().st_mode & 0o777 == mode
    assert {path.name for path in tmp_path.iterdir()} <= {"state", "settings.toml"}


class Disk:
    """A disk that keeps a name only once its folder was synced, and drops names in any order."""

    def __init__(self, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.state = state
        self.unsure: set[Path] = set()
        """Names that a power cut may take."""
        self.pointers: list[tuple[str, set[str]]] = []
        """Names of files that say what is there, and what was not sure when they were written."""
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self._sync)
        for name in ("mkdir", "rename", "replace"):
            monkeypatch.setattr(os, name, self._naming(getattr(os, name)))

    def _sync(self, handle: int) -> None:
        self._fsync(handle)
        synced = Path(f"/proc/self/fd/{handle}").readlink()
        self.unsure -= {path for path in self.unsure if path.parent == synced}

    def _naming(self, real: Callable[..., None]) -> Callable[..., None]:
        def act(*arguments: Any, **options: Any) -> None:
            real(*arguments, **options)
            path = Path(arguments[0] if real.__name__ == "mkdir" else arguments[1])
            if not path.is_relative_to(self.state):
                return
            if path.relative_to(self.state).parts[0] in ("tmp", "locks"):
                return  # of nothing that outlives its process
            if path.suffix == ".json":
                self.pointers.append((path.name, {one.name for one in self.unsure}))
            self.unsure.add(path)

        return act


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="files are known by /proc")
def test_what_is_pointed_to_is_on_the_disk_before_the_pointer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state := tmp_path / "state").mkdir()
    logs.write_days(tmp_path / "logs", DAY, 2)
    source = f'[[sources]]\npath = "{tmp_path / "logs"}"\nhost = "example.com"\n'
    (state / "settings.toml").write_text(source)
    settings = load_settings(state)
    refresh(settings)  # makes the folders of an installation
    disk = Disk(state, monkeypatch)
    logs.write(tmp_path / "logs" / "late.log", logs.day_of_lines(DAY, clients=5))
    refresh(settings)
    (record, unsure), *others = disk.pointers
    assert (state / "landing" / "files" / record).is_file()
    assert (unsure, others) == (set(), [])
    disk.pointers.clear()
    store, inventory = Store.open(settings), Inventory.load(settings)
    build_requests(store, DuckDBEngine(settings), settings, DAY, inventory)
    assert disk.pointers == [("manifest.json", set())] * 2
    keep(state, DAY, None)
    assert disk.pointers[2:] == [("kept.json", set())]
    assert disk.unsure == set()


def test_folders_are_made_above_as_well_and_once(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder(tmp_path / "a" / "b" / "c")
    assert (tmp_path / "a" / "b" / "c").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")
