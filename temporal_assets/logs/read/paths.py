"""Log files of the paths, folders, globs and URLs in the settings, in order.

Here: finding and sorting. Not here: opening them (`streams`), asking object stores (`objects`).
"""

from __future__ import annotations

import glob
import os
import re
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

from temporal_assets.logs.read import objects
from temporal_assets.logs.read.objects import LogPath, ObjectStoreError
from temporal_assets.settings.sources import is_url

_PACKED: Final = re.compile(r"\.(gz|zst|zstd|bz2|xz|z)$", re.IGNORECASE)
"""Expression for the ending of a compressed file."""

_NUMBERED: Final = re.compile(r"^(?P<base>.+)\.(?P<number>\d{1,4})$")
"""`access.log.12`: the twelfth rotation. Longer numbers are dates."""

_DATED: Final = re.compile(r"^(?P<base>.+?)[.\-_](?P<date>\d{4}-?\d{2}-?\d{2}\S*)$")
"""Expression for the name of a rotated file with a date."""

STATE_MARK: Final = Path("landing", "landing.lock")
"""Path that a state folder has from its first reading on: its files were made from logs, and would
be counted again, or are keys."""

_DATED_FILE, _NUMBERED_FILE, _CURRENT_FILE = range(3)

SortKey = tuple[object, ...]


class NoSuchLogError(FileNotFoundError):
    """Error: there is nothing at a path."""


def expand(path: str) -> list[LogPath]:
    """Return the log files of a file, folder (recursively), glob or URL, oldest first.

    Rotated files sort by age: `access.log.10.gz`, `access.log.2.gz`, `access.log.1`, `access.log`.
    Hidden and unfinished files are skipped unless named themselves, and so are state folders (of
    this program) that are below what is named. Raises `NoSuchLogError` naming the path.
    """
    return sorted(set(list_files(path)), key=sort_key)


def list_files(path: str, closed: list[Path] | None = None) -> list[LogPath]:
    """Return the same files as `expand` unsorted, some perhaps twice. Raises `NoSuchLogError`.

    Folders that this user may not enter are left out, and added to `closed`: they must not keep the
    others from being read.
    """
    if is_url(path):
        return [*_objects(path)]
    named = Path(path).expanduser()
    closed = [] if closed is None else closed
    # Not `Path.is_file`, which raises where a folder above may not be entered.
    if os.path.isfile(named):  # noqa: PTH113
        return [named]
    files = _walk(named, closed) if os.path.isdir(named) else _matches(named, closed)  # noqa: PTH112
    if not files:
        why = f"{closed[0]} may not be entered by this user" if closed else _why_none(named)
        raise NoSuchLogError(f"{path}: {why}")
    return [*files]


def _objects(url: str) -> list[objects.ObjectFile]:
    try:
        files = objects.listed(url)
    except ObjectStoreError as error:
        raise NoSuchLogError(str(error)) from error
    if not files:
        raise NoSuchLogError(f"{url}: there are no log files")
    return files


def _matches(pattern: Path, closed: list[Path]) -> list[Path]:
    """Return files that a glob names, and those below the folders that it names."""
    matches = glob.glob(str(pattern), recursive=True)  # noqa: PTH207 - absolute patterns too
    folder = next((path for path in pattern.parents if _is_closed(path)), None)
    if folder:
        closed.append(folder)
        return []
    entries = [Path(match) for match in matches]
    closed += sorted({path.parent for path in entries if _is_closed(path.parent)})
    entries = [path for path in entries if path.parent not in closed]
    folders = [entry for entry in entries if entry.is_dir()]
    files = [entry for entry in entries if _is_log(entry)]
    within = {*folders, *(file.parent for file in files)}
    states = {folder for folder in within if _in_state(folder, pattern)}
    below = [_walk(folder, closed) for folder in folders if folder not in states]
    return [*chain.from_iterable(below), *(file for file in files if file.parent not in states)]


def _in_state(folder: Path, pattern: Path) -> bool:
    """Return True for a folder in a state folder that the glob does not name itself."""
    stem = next(parent for parent in pattern.parents if not glob.has_magic(str(parent)))
    above = (parent for parent in (folder, *folder.parents) if parent.is_relative_to(stem))
    return any((parent / STATE_MARK).is_file() for parent in above)


def _is_closed(folder: Path) -> bool:
    return folder.is_dir() and not os.access(folder, os.X_OK)


def _why_none(named: Path) -> str:
    if (named / STATE_MARK).is_file():
        return "a state folder of temporal_assets: name the folder or the files of the logs in it"
    if named.is_dir():
        return "folder holds no log files"
    if named.exists():
        return "no regular file"
    return "a link that leads nowhere" if named.is_symlink() else "no such file, folder or glob"


def is_packed(path: LogPath) -> bool:
    """Return whether a log is an archive, by its name."""
    return _PACKED.search(path.name) is not None


def sort_key(path: LogPath) -> SortKey:
    """Return a key that sorts by folder, then the files of one log together, oldest first."""
    folder = _folder_key(str(path.parent))
    name = _PACKED.sub("", path.name)
    if match := _NUMBERED.match(name):
        # A higher number is an older file.
        base, kind, age = (
            match["base"],
            _NUMBERED_FILE,
            _natural(f"{10_000 - int(match['number'])}"),
        )
    elif match := _DATED.match(name):
        base, kind, age = match["base"], _DATED_FILE, _natural(match["date"])
    else:
        base, kind, age = name, _CURRENT_FILE, _natural("")
    return (folder, _natural(base), kind, age, path.name)


@lru_cache(maxsize=256)
def _folder_key(folder: str) -> SortKey:
    """Return the sort key of a folder, cached: one may have thousands of files."""
    return tuple(_natural(part) for part in Path(folder).parts)


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key in which digits compare as numbers: `a2` before `a10`."""
    return tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d+)", text)
        if part
    )


def _is_log(path: Path) -> bool:
    # Pipes and sockets would block for ever, dangling links cannot be read.
    return objects.is_log_name(path.name) and path.is_file()


def _walk(folder: Path, closed: list[Path]) -> list[Path]:
    """Return files below a folder; links are followed, each real folder is entered once."""
    paths: list[Path] = []
    entered: set[tuple[int, int]] = set()

    def fail(error: OSError) -> None:
        if not isinstance(error, PermissionError):
            raise error
        closed.append(Path(error.filename))

    for base, folders, files in os.walk(folder, followlinks=True, onerror=fail):
        if _is_closed(Path(base)):
            closed.append(Path(base))
            folders.clear()
            continue
        status = Path(base).stat()
        identity = (status.st_dev, status.st_ino)
        if identity in entered:
            folders.clear()
            continue
        entered.add(identity)
        if STATE_MARK.parts[0] in folders and Path(base, STATE_MARK).is_file():
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths.extend(Path(base, name) for name in sorted(files) if _is_log(Path(base, name)))
    return paths
