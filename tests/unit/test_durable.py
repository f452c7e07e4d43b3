"""What a killed process leaves behind does not stay."""

from __future__ import annotations

import datetime as dt
import errno
import os
import time
from pathlib import Path

import pytest

from temporal_assets.cli.settings_file import set_values
from temporal_assets.quality import verdicts
from temporal_assets.settings import load_settings
from temporal_assets.storage import catalogue
from temporal_assets.storage.durable import replace_text
from temporal_assets.storage.kept import keep
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.store import Store

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
    assert begun == [{"tmp"}] * 3
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
