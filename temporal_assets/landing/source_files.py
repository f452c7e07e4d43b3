"""Files that the sources of the settings lead to, and which of them are to be read.

In: the settings and the inventory of files read before. Out: `Pending` files, oldest rotation
first, and sentences on sources that lead to none. Not here: listing a folder or a bucket
(`read.paths`, `listings`), reading the files (`reading`).
"""

from __future__ import annotations

import datetime as dt
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landed_files import LandedFile, Sighting
from temporal_assets.landing.reading_options import options_digest
from temporal_assets.logs.read.objects import LogPath, ObjectFile, root_of
from temporal_assets.logs.read.paths import NoSuchLogError, expand, list_files, sort_key
from temporal_assets.settings import (
    LogSource,
    Settings,
)
from temporal_assets.settings.sources import is_url

_ANOTHER_TRY: Final = 24 * 3600
"""Seconds after which an unreadable file is tried again."""

_CLOSED: Final = (
    "{} may not be entered by this user: logs in it are not read. Give the user the right to, or"
    " name what is to be read"
)


@dataclass(frozen=True, slots=True)
class Pending:
    """A log file of the sources, with the options to read it."""

    path: LogPath
    source: LogSource
    sighting: Sighting
    options: str
    """Digest from `options_digest`."""
    copy: Path | None = None
    """Local copy of an object, once it is downloaded."""

    @property
    def opened(self) -> LogPath:
        """What is opened to read parts of the file: an object itself if it is not downloaded."""
        return self.copy or self.path

    @property
    def local(self) -> Path:
        """Path to open. An object has none until it is downloaded."""
        return self.copy or Path(str(self.path))


def pending_files(
    inventory: Inventory, settings: Settings, settled: dt.timedelta = dt.timedelta()
) -> list[Pending]:
    """Return files of the sources that are new or changed, oldest rotation first.

    With `settled`, files modified more recently than that are left for later: a file that is
    still being written would be read again and again.
    """
    read_files = {(s, file.options): file for file in inventory.files for s in file.sightings}
    limit = (dt.datetime.now(dt.UTC) - settled).timestamp() * 1e9
    listed = listed_files(inventory, settings)
    wanted = {(item.sighting, item.options) for item in listed}
    waiting = []
    for item in listed:
        reading = read_files.get((item.sighting, item.options))
        newer = reading and inventory.overruling(reading)
        is_known = reading and (
            newer is None or any((s, newer.options) in wanted for s in newer.sightings)
        )
        if reading and reading.error and _is_worth_another_try(inventory, reading, item.path):
            is_known = None
        if not is_known and (not settled or item.sighting.mtime_ns <= limit):
            waiting.append(item)
    return waiting


def listed_files(inventory: Inventory, settings: Settings) -> list[Pending]:
    """Return the files of the sources, known or not; the first source of a file decides."""
    listed: dict[LogPath, Pending] = {}
    for source in settings.sources:
        options = options_digest(source, settings)
        for path in _paths(inventory, source):
            if path.absolute() in listed:
                continue
            try:
                sighting = Sighting.of(path)
            except FileNotFoundError:
                continue  # rotated away since it was listed
            listed[path.absolute()] = Pending(path, source, sighting, options)
    return list(listed.values())


def missing_sources(inventory: Inventory, settings: Settings) -> list[str]:
    """Return sentences on sources that lead to no file, or not to all of their files."""
    messages = []
    for source in settings.sources:
        closed: list[Path] = []
        try:
            if _objects(inventory, source) is None:
                list_files(source.path, closed)
        except NoSuchLogError as error:
            messages.append(str(error))
        else:
            messages += [_CLOSED.format(folder) for folder in dict.fromkeys(closed)]
    return messages


def _paths(inventory: Inventory, source: LogSource) -> list[LogPath]:
    """Return the files of a source in the order in which to read them; none if it is missing."""
    try:
        files = _objects(inventory, source)
        return expand(source.path) if files is None else sorted(files, key=sort_key)
    except NoSuchLogError:
        return []  # one source that is away must not keep the others from being read


def _objects(inventory: Inventory, source: LogSource) -> list[ObjectFile] | None:
    """Return the objects of a source in a store, or None. Raises `NoSuchLogError`."""
    if not is_url(source.path):
        return None
    # A record that is damaged no longer says which object has to be read again.
    anew = bool(inventory.damaged or inventory.set_aside_records())
    root = root_of(source.path)
    read_before = (file for file in inventory.seen_objects.values() if file.url.startswith(root))
    return inventory.listings.files(source.path, read_before, anew=anew)


def _is_worth_another_try(inventory: Inventory, failed: LandedFile, path: LogPath) -> bool:
    """Return True if anything may have changed since a file could not be read.

    After a day the clock may be another: all lines seemed to be of the future. The file may have
    changed in what a sighting does not show: `chmod` and copies that keep times change neither size
    nor time.
    """
    if failed.may_pass and (isinstance(path, ObjectFile) or os.access(path, os.R_OK)):
        return True
    tried = inventory.saved_at(failed)
    return abs(time.time() - tried) > _ANOTHER_TRY or _changed_at(path) > tried


def _changed_at(path: LogPath) -> float:
    """Return when a file or its metadata last changed; 0 if it is gone, or an object."""
    if isinstance(path, ObjectFile):
        return 0
    try:
        return path.stat().st_ctime
    except FileNotFoundError:
        return 0
