"""Finding log files and putting them in the order of time."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from temporal_assets.logs.read import paths
from temporal_assets.logs.read.paths import STATE_MARK, NoSuchLogError, expand


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x\n")


def found(folder: Path, pattern: str = "") -> list[str]:
    path = str(folder / pattern) if pattern else str(folder)
    return [str(file.relative_to(folder)) for file in expand(path)]


def test_a_file_is_itself_even_if_hidden_or_unfinished(tmp_path: Path) -> None:
    touch(tmp_path, ".hidden.log", "a.log.tmp")
    assert found(tmp_path, ".hidden.log") == [".hidden.log"]
    assert found(tmp_path, "a.log.tmp") == ["a.log.tmp"]


def test_rotated_names_sort_by_age(tmp_path: Path) -> None:
    touch(
        tmp_path,
        *("access.log", "access.log.1", "access.log.2.gz", "access.log.10.gz", "error.log"),
    )
    assert found(tmp_path) == [
        "access.log.10.gz",
        "access.log.2.gz",
        "access.log.1",
        "access.log",
        "error.log",
    ]


def test_dated_names_sort_by_date_before_the_current_file(tmp_path: Path) -> None:
    touch(
        tmp_path,
        *("access.log", "access.log-20240110.gz", "access.log-20240109", "access.log-20231231.zst"),
    )
    assert found(tmp_path) == [
        "access.log-20231231.zst",
        "access.log-20240109",
        "access.log-20240110.gz",
        "access.log",
    ]


def test_other_numbers_sort_as_numbers(tmp_path: Path) -> None:
    touch(tmp_path, "u_ex240102.log", "u_ex231231.log", "part-2.csv", "part-10.csv")
    assert found(tmp_path) == ["part-2.csv", "part-10.csv", "u_ex231231.log", "u_ex240102.log"]


def test_folders_are_read_recursively_without_hidden_and_unfinished_files(tmp_path: Path) -> None:
    touch(tmp_path, "b/access.log", "a/x/access.log", "a/.git/config", ".DS_Store", "c.log.part")
    assert found(tmp_path) == ["a/x/access.log", "b/access.log"]


def test_globs_take_files_and_folders(tmp_path: Path) -> None:
    touch(tmp_path, "web1/access.log", "web2/access.log", "web2/error.log", "db/access.log")
    assert found(tmp_path, "web*/access.log") == ["web1/access.log", "web2/access.log"]
    assert found(tmp_path, "web2*") == ["web2/access.log", "web2/error.log"]
    assert found(tmp_path, "**/error.log") == ["web2/error.log"]


def test_a_name_with_brackets_is_a_name_first(tmp_path: Path) -> None:
    touch(tmp_path, "access[1].log")
    assert found(tmp_path, "access[1].log") == ["access[1].log"]


def test_links_are_followed_and_circles_end(tmp_path: Path) -> None:
    touch(tmp_path, "logs/access.log")
    (tmp_path / "logs" / "again").symlink_to(tmp_path / "logs")
    (tmp_path / "logs" / "gone.log").symlink_to(tmp_path / "nowhere")
    assert found(tmp_path) == ["logs/access.log"]


def test_state_folders_are_no_logs(tmp_path: Path) -> None:
    """Requests in them would be counted again, and keys are nobody's business."""
    touch(tmp_path, "access.log", f"state/{STATE_MARK}", "state/tables/a.parquet", "state/a.json")
    touch(tmp_path, "state/demo/logs/access.log", "landing/access.log", "web/landing/access.log")
    others = ["access.log", "landing/access.log", "web/landing/access.log"]
    for pattern in ("", "*", "**"):
        assert sorted(found(tmp_path, pattern)) == others
    assert sorted(found(tmp_path, "**/*.log")) == others
    (tmp_path / "web" / "link").symlink_to(tmp_path / "state")
    assert sorted(found(tmp_path)) == others
    # The logs of the demo lie in its state folder, and have a name of their own.
    for pattern in ("state/demo", "state/demo/logs/*.log", "state/demo/**/*"):
        assert found(tmp_path, pattern) == ["state/demo/logs/access.log"]
    assert found(tmp_path, "state/a.json") == ["state/a.json"]
    with pytest.raises(NoSuchLogError, match="a state folder of temporal_assets: name the folder"):
        expand(str(tmp_path / "state"))
    with pytest.raises(NoSuchLogError, match="no such file, folder or glob"):
        expand(str(tmp_path / "state" / "*.json"))


def test_what_is_no_file_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "link.log").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.log")
    with pytest.raises(NoSuchLogError, match=r"link\.log: a link that leads nowhere"):
        expand(str(tmp_path / "link.log"))
    with pytest.raises(NoSuchLogError, match=r"pipe\.log: no regular file"):
        expand(str(tmp_path / "pipe.log"))


@pytest.mark.parametrize("name", ["missing.log", "*.gz", "empty"])
def test_nothing_found_names_the_path(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoSuchLogError, match=name.replace("*", r"\*")):
        expand(str(tmp_path / name))


@pytest.fixture
def shut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with logs that this user, who may be root, can neither list nor enter."""
    folder = tmp_path / "logs" / "shut"
    touch(tmp_path / "logs", "a.log", "shut/b.log", "open/c.log")
    scan, access = os.scandir, os.access

    def scandir(path: str) -> Any:
        if Path(path) == folder:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path) != folder and access(path, mode)
    )
    return folder


@pytest.mark.parametrize("pattern", ["", "*", "**/*.log"])
def test_a_folder_that_may_not_be_entered_keeps_no_other_from_being_read(
    shut: Path, pattern: str
) -> None:
    closed: list[Path] = []
    files = paths.list_files(str(shut.parent / pattern), closed)
    assert {file.name for file in files} == {"a.log", "c.log"}
    assert pattern == "**/*.log" or closed == [shut]


@pytest.mark.parametrize("name", ["", "*.log"])
def test_logs_where_nobody_may_look_are_said_to_be_there(shut: Path, name: str) -> None:
    with pytest.raises(NoSuchLogError, match="shut may not be entered by this user"):
        expand(str(shut / name))


def test_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    touch(tmp_path, "access.log")
    assert expand("~/access.log") == [tmp_path / "access.log"]
