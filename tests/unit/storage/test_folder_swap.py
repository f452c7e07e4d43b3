"""Folders that are changed as a whole."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from temporal_assets.policy.exports import export
from temporal_assets.storage import folder_swap
from temporal_assets.storage.folder_swap import switched
from tests.policies import document


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    actual = tmp_path / "conf"
    (actual / "sub").mkdir(parents=True)
    (actual / "a").write_text("old")
    (actual / "sub" / "mine").write_text("mine")
    return actual


def change(made: Path) -> None:
    """Replace a file and add one. Raises `FileNotFoundError` where there is no folder."""
    for name in ("a", "b"):
        (made / name).unlink(missing_ok=True)
        (made / name).write_text("new")


@pytest.mark.parametrize("can_exchange", [True, False])
def test_what_is_changed_and_what_is_not(
    folder: Path, can_exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_exchange:
        monkeypatch.setattr(folder_swap, "_exchange", lambda *_: False)
    with switched(folder) as actual:
        change(actual)
        assert contents(folder) == {"a": "old", "sub/mine": "mine"}
    assert contents(folder) == {"a": "new", "b": "new", "sub/mine": "mine"}
    assert [path.name for path in folder.parent.iterdir()] == ["conf"]


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    with switched(tmp_path / "some" / "conf") as actual:
        change(actual)
    assert contents(tmp_path / "some" / "conf") == {"a": "new", "b": "new"}


def test_a_fault_changes_nothing(folder: Path) -> None:
    with pytest.raises(FileNotFoundError), switched(folder) as actual:
        change(actual / "gone")
    assert contents(folder) == {"a": "old", "sub/mine": "mine"}
    assert [path.name for path in folder.parent.iterdir()] == ["conf"]


def test_a_link_stays_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    with switched(tmp_path / "link") as actual:
        change(actual)
    assert (tmp_path / "link").is_symlink()
    assert contents(folder)["a"] == "new"


def test_the_folder_one_is_in_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "sub")
    with pytest.raises(OSError, match="the folder you are in"), switched(folder):
        pass


def test_what_a_killed_process_left_goes(folder: Path) -> None:
    left = folder.with_name(".conf.1.switch")
    left.mkdir()
    os.utime(left, (0, 0))
    with switched(folder):
        pass
    assert not left.exists()


@pytest.mark.parametrize("moment", range(12))
def test_a_killed_export_leaves_one_policy(tmp_path: Path, moment: int) -> None:
    """Killed at any of its renames, of files and of the folder."""
    old, new = document(), document()
    old["day"], new["day"] = "2025-01-01", "2025-02-02"
    folder = tmp_path / "conf"
    export(old, "scrapy", folder)
    before = contents(folder)
    child = os.fork()
    if child == 0:
        count = 0

        def rename(*_: object) -> None:
            nonlocal count
            count += 1
            if count > moment:
                os.kill(os.getpid(), signal.SIGKILL)

        Path.replace = _before(Path.replace, rename)  # type: ignore[method-assign]
        folder_swap._exchange = _before(folder_swap._exchange, rename)
        export(new, "scrapy", folder)
        os._exit(0)
    os.waitpid(child, 0)
    actual = contents(folder)
    export(new, "scrapy", folder)
    assert actual in (before, contents(folder))


def _before(function, first):  # type: ignore[no-untyped-def]
    def both(*given: object) -> object:
        first()
        return function(*given)

    return both
