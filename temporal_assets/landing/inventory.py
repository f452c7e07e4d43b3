"""The inventory of log files: which were read, which days they have, and which lines are damaged.

In: the folder of the landing zone, with a record per file that was read. Out: queries about the
readings that count, by day, content and object. Not here: what a record says (`landed_files`),
which files are to be read (`source_files`), reading a file (`reading`), and making its content
visible (`landing`).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import shutil
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Final

from temporal_assets.landing.landed_files import (
    UNREADABLE,
    LandedFile,
    Sighting,
    record_content,
)
from temporal_assets.landing.listings import Listings
from temporal_assets.logs.read.objects import ObjectFile
from temporal_assets.machine.durable import make_folder, replace_text, sync
from temporal_assets.settings import (
    Settings,
)
from temporal_assets.settings.sources import is_url
from temporal_assets.storage.integrity import SET_ASIDE, DamagedFile, fault_of, set_aside
from temporal_assets.storage.manifest import Input
from temporal_assets.storage.record_cache import RecordCache

_DAMAGED: Final = (
    "{} is no record of a log file any more: `temporal-assets materialize` reads the log again"
)
LOST: Final = (
    "{} is the damaged record of a log that was not found again. Unless the log has grown since,"
    " put it back, or restore the record from a backup; delete the file to go on without its lines"
)

_READ_AGAIN: Final = (
    "{} is read again by another process, or was since this one began: run the same command again"
)


class Inventory:
    """Snapshot of the landing zone.

    There may be a hundred thousand files, so queries about one file use indices, not a scan.
    """

    def __init__(
        self, folder: Path, files: Iterable[LandedFile], damaged: Iterable[Path] = ()
    ) -> None:
        self.folder = folder
        self._by_id: dict[str, LandedFile] = {}
        self._failed: dict[str, LandedFile] = {}
        # Never changed in place: threads that read are looking at them.
        self._by_head: dict[str, tuple[LandedFile, ...]] = {}
        self._by_digest: dict[str, tuple[LandedFile, ...]] = {}
        self._by_etag: dict[tuple[int, str, str], LandedFile] = {}
        self.listings = Listings(folder)
        """Listings of object stores made so far."""
        self._last_serial = 0
        for file in files:
            self._enter(file)
        self.damaged = tuple(damaged)
        """Unreadable records; their logs count as not read."""

    @cached_property
    def files(self) -> list[LandedFile]:
        """All readings, by their id."""
        return sorted(self._by_id.values(), key=lambda file: file.id)

    @classmethod
    def load(cls, settings: Settings) -> Inventory:
        """Load the inventory of a state folder, without damaged records.

        A damaged record must not keep anybody from the refresh that repairs it.
        """
        folder = settings.state / "landing"
        records = _records.all_of(folder / "files", ".json")
        damaged = [path for path, file in records.items() if file is None]
        inventory = cls(folder, [file for file in records.values() if file], damaged)
        # As of now: what another process reads again meanwhile is not known here even then.
        _ = inventory.lost
        return inventory

    def whole(self) -> Inventory:
        """Return the inventory if no record is damaged. Raises `DamagedFile`."""
        if self.damaged:
            raise DamagedFile(_DAMAGED.format(self.damaged[0]))
        return self

    def without_days(self) -> Inventory:
        """Return the inventory without the files' days, which is small enough to send."""
        inventory = Inventory(self.folder, [replace(file, days={}) for file in self.files])
        inventory.lost = self.lost  # listing them again would take each task long
        return inventory

    def set_damaged_aside(self) -> tuple[Path, ...]:
        """Set aside records that cannot be read, so that their logs are read again."""
        paths = self.damaged
        for path in paths:
            set_aside(path)
        self.damaged = tuple(path for path in paths if path.exists())
        self._changed()
        return paths

    @cached_property
    def lost(self) -> dict[str, Path]:
        """Records set aside whose logs were not read again, by the digest of the content."""
        aside = self.set_aside_records()
        if not aside:
            return {}
        read = [file for file in self.files if not file.error]
        read_digests = {digest for file in read for digest in (file.digest, *file.supersedes)}
        return {
            content: path
            for path in aside
            if (content := record_content(path)) not in read_digests
            and not path.name.startswith(UNREADABLE)
        }

    def forget_lost(self, needed: Container[str]) -> None:
        """Remove records set aside, but those of lost contents that are still needed."""
        lost = {path for content, path in self.lost.items() if content in needed}
        for path in self.set_aside_records():
            if path not in lost:
                path.unlink()
        self._changed()

    @property
    def troubles(self) -> tuple[str, ...]:
        """Sentences on damaged records, and what to do."""
        return (
            *(_DAMAGED.format(path) for path in self.damaged),
            *(LOST.format(path) for path in self.lost.values()),
        )

    @property
    def unnamed(self) -> list[Path]:
        """Folders of lines without a record: it was lost, or their reading was killed."""
        records = (*self.damaged, *self.set_aside_records())
        named = {*self._by_id, *(path.name.partition(".")[0] for path in records)}
        segments = (self.folder / "segments").glob("*")
        return sorted(path for path in segments if path.name not in named)

    def set_aside_records(self) -> list[Path]:
        """Return records that were damaged and set aside."""
        return sorted((self.folder / "files").glob(f"*.json{SET_ASIDE}"))

    @cached_property
    def active(self) -> list[LandedFile]:
        """Readings that count: readable, and without a newer reading of the same content."""
        beginnings = {digest for file in self._newest.values() for digest in file.supersedes}
        return [file for file in self._newest.values() if file.digest not in beginnings]

    @cached_property
    def _newest(self) -> dict[str, LandedFile]:
        """The latest reading of each content."""
        return {digest: _latest(files) for digest, files in sorted(self._by_digest.items())}

    @property
    def failed(self) -> list[LandedFile]:
        """Files that could not be read."""
        return sorted(self._failed.values(), key=lambda file: file.id)

    def same_object(self, sighting: Sighting, options: str) -> LandedFile | None:
        """Return the reading of an object that has this etag and size, under whatever name."""
        return self._by_etag.get((sighting.size, sighting.etag, options))

    def beginning_like(self, head: str) -> Sequence[LandedFile]:
        """Return files that were read and begin with the same record."""
        return self._by_head.get(head, ())

    @property
    def superseded(self) -> list[LandedFile]:
        """Readings that no longer count and may be removed."""
        counted = {file.id for file in self.active}
        return [file for file in self.files if not file.error and file.id not in counted]

    @cached_property
    def _of_day(self) -> Mapping[dt.date, Sequence[LandedFile]]:
        """Readings that count, by day."""
        by_day: dict[dt.date, list[LandedFile]] = {}
        for file in self.active:
            for day in file.days:
                by_day.setdefault(day, []).append(file)
        return by_day

    def days(self) -> list[dt.date]:
        """Return days for which any file holds a line."""
        return sorted(self._of_day)

    def of_day(self, day: dt.date) -> list[LandedFile]:
        """Return files with lines of a day, in the order of their first request."""
        files = self._of_day.get(day, ())
        return sorted(files, key=lambda file: (file.days[day].first, file.id))

    def inputs(self, day: dt.date) -> tuple[Input, ...]:
        """Return the inputs of a day's requests; they change when a late file arrives."""
        return tuple(Input("log_file", file.id) for file in self.of_day(day))

    def segments(self, file: LandedFile, day: dt.date) -> list[str]:
        """Return paths of the Parquet files that hold a day of a log file."""
        return [str(self.segment_folder(file) / s) for s in file.days[day].segments]

    def verify(self, file: LandedFile, day: dt.date) -> None:
        """Raise `DamagedFile` unless the lines of a day are those that were read.

        Damaged files are set aside, so that the next refresh reads the log again.
        """
        share = file.days[day]
        digests = share.digests or (None,) * len(share.segments)
        for path, digest in zip(map(Path, self.segments(file, day)), digests, strict=True):
            fault = None if digest is None else fault_of(path, None, digest)
            if fault is None and path.exists():
                continue
            if not self._is_current(file, day):
                raise DamagedFile(_READ_AGAIN.format(file.name))
            set_aside(path)
            raise DamagedFile(
                f"{path} {fault or 'is missing'}; the lines are read again from {file.name} if it "
                "is still there: run the same command again"
            )

    def damaged_segments(self) -> Iterator[Path]:
        """Yield files of lines that are missing or damaged, reading every one."""
        for file in self.active:
            for day, share in file.days.items():
                paths = map(Path, self.segments(file, day))
                for path, digest in zip(paths, share.digests, strict=False):
                    if fault_of(path, None, digest) is not None:
                        yield path

    def _is_current(self, file: LandedFile, day: dt.date) -> bool:
        """Return True if the record still describes these lines, rather than a later reading."""
        try:
            record = _record_of(self._record(file))
        except FileNotFoundError:
            return False
        share = record.days.get(day) if record else None
        return share is not None and share.digests == file.days[day].digests

    def torn(self, is_kept: Callable[[dt.date], bool]) -> list[LandedFile]:
        """Return the readings that count and have lost lines of a day that is kept."""
        return [
            file
            for file in self.active
            if any(
                not Path(path).exists()
                for day in file.days
                if is_kept(day)
                for path in self.segments(file, day)
            )
        ]

    def bytes_of(self, day: dt.date) -> int:
        """Return the bytes that a day's lines take up."""
        files = self._files_with(day)
        paths = [Path(path) for file in files for path in self.segments(file, day)]
        return sum(map(_size, paths))

    def drop_lines(self, day: dt.date) -> None:
        """Remove the lines of a day; the records stay, so that they are not read again."""
        for file in self._files_with(day):
            for path in self.segments(file, day):
                Path(path).unlink(missing_ok=True)

    def _files_with(self, day: dt.date) -> list[LandedFile]:
        """Return all readings that had lines of a day, also those that no longer count."""
        return [file for file in self.files if day in file.days]

    @cached_property
    def seen_objects(self) -> dict[str, ObjectFile]:
        """State of the objects that were read, or tried."""
        return {
            seen.path: ObjectFile(seen.path, seen.size, seen.mtime_ns, seen.etag)
            for file in sorted(self._by_id.values(), key=lambda landed: landed.serial)
            for seen in file.sightings
            if is_url(seen.path)
        }

    def overruling(self, file: LandedFile) -> LandedFile | None:
        """Return the later reading of the same content with other options, or None."""
        newest = _latest(self._by_digest.get(file.digest, (file,)))
        return None if newest.id == file.id else newest

    def find(self, file_id: str) -> LandedFile | None:
        """Return the file with this id, or None."""
        return self._by_id.get(file_id)

    def segment_folder(self, file: LandedFile) -> Path:
        """Return the folder of a file's segments."""
        return self.folder / "segments" / file.id

    def saved_at(self, file: LandedFile) -> float:
        """Return when a reading became visible, in seconds since 1970, or 0 if it was removed."""
        try:
            return self._record(file).stat().st_mtime
        except FileNotFoundError:
            return 0

    @property
    def next_serial(self) -> int:
        """Number of the next reading."""
        return self._last_serial + 1

    def save(self, file: LandedFile, scratch: Path) -> None:
        """Make a reading visible; `scratch` is a folder for incomplete files."""
        record = self._record(file)
        make_folder(record.parent)
        replace_text(record, file.to_json(), scratch)
        self._leave(file.id)
        self._enter(file)
        self._changed()

    def forget(self, file: LandedFile) -> None:
        """Invalidate a reading, so that its log is read again.

        The record is set aside: should the log be gone before, days made with it stay as they are.
        """
        set_aside(self._record(file))
        self._leave(file.id)
        self._changed()

    def remove(self, file: LandedFile, scratch: Path) -> None:
        """Remove a reading that does not count; `scratch` is a folder for removed files.

        The lines are moved first: a record without lines is found and removed again, lines without
        a record might be of any log.
        """
        lines, away = self.segment_folder(file), scratch / file.id
        with contextlib.suppress(FileNotFoundError):  # of what could not be read there are none
            lines.rename(away)
            sync(lines.parent)
        self._record(file).unlink(missing_ok=True)
        shutil.rmtree(away, ignore_errors=True)
        self._leave(file.id)
        self._changed()

    def _enter(self, file: LandedFile) -> None:
        """Add a reading to all indices."""
        self._by_id[file.id] = file
        self._last_serial = max(self._last_serial, file.serial)
        if file.error:
            self._failed[file.id] = file
            return
        for readings, key in ((self._by_head, file.head), (self._by_digest, file.digest)):
            readings[key] = (*readings.get(key, ()), file)
        for seen in file.sightings:
            if seen.etag:
                self._by_etag[seen.size, seen.etag, file.options] = file

    def _leave(self, file_id: str) -> None:
        """Remove a reading from all indices."""
        file = self._by_id.pop(file_id, None)
        if file is None or self._failed.pop(file_id, None) is not None:
            return
        for readings, key in ((self._by_head, file.head), (self._by_digest, file.digest)):
            readings[key] = tuple(reading for reading in readings[key] if reading is not file)
            if not readings[key]:
                del readings[key]
        for seen in file.sightings:
            self._by_etag.pop((seen.size, seen.etag, file.options), None)

    def _changed(self) -> None:
        for name in ("files", "active", "_newest", "_of_day", "seen_objects", "lost"):
            self.__dict__.pop(name, None)

    def _record(self, file: LandedFile) -> Path:
        return self.folder / "files" / f"{file.id}.json"


def _latest(files: Iterable[LandedFile]) -> LandedFile:
    return max(files, key=lambda file: file.serial)


def _record_of(path: Path) -> LandedFile | None:
    """Return the file of a record; None if the record is damaged."""
    try:
        return LandedFile.from_json(path.read_text("utf-8"))
    except ValueError:
        return None


_records: Final = RecordCache(_record_of)
"""Cache of records: files are replaced and never overwritten, and nobody changes the objects."""


def _size(path: Path) -> int:
    """Return the bytes of a file, 0 if it is gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
