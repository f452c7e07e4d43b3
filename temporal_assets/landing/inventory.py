"""The inventory of log files: which were read, which days they have, and which are to be read.

Here: the records that the landing zone keeps, and queries about them. Not here: reading a file
(`reading`), and making its content visible (`landing`).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from temporal_assets.landing.listings import Listings
from temporal_assets.logs.clean.cleaning import AHEAD, EARLIEST, METHOD
from temporal_assets.logs.privacy.key_periods import had_one_key
from temporal_assets.logs.privacy.pseudonyms import ipv6_bits_of
from temporal_assets.logs.read.objects import LogPath, ObjectFile, root_of
from temporal_assets.logs.read.packed import MAX_EXPANSION
from temporal_assets.logs.read.paths import NoSuchLogError, expand, found, sort_key
from temporal_assets.machine.durable import make_folder, replace_text, sync
from temporal_assets.settings import (
    DEFAULT_SCHEME,
    REJECT_SAMPLES,
    SHOWN_STATUSES,
    LogSource,
    Settings,
)
from temporal_assets.settings.sources import is_url
from temporal_assets.storage.integrity import SET_ASIDE, DamagedFile, fault_of, set_aside
from temporal_assets.storage.manifest import Input
from temporal_assets.storage.remembered import Remembered
from temporal_assets.storage.sealed import digest_of, sealed, unsealed

_ANOTHER_CLOCK: Final = 24 * 3600
"""Seconds after which an unreadable file is tried again."""

_SEGMENT: Final = re.compile(r"[0-9-]{1,32}\.parquet")
"""Expression for file names in a record, which may only name files of its own folder."""

READER_VERSION: Final = 7
"""Version of reading and cleaning: raised when results change, so that files are read again."""

UNREADABLE: Final = "failed-"
"""Prefix of the id of a file that could not be read."""

_DAMAGED: Final = (
    "{} is no record of a log file any more: `temporal-assets materialize` reads the log again"
)
LOST: Final = (
    "{} is the damaged record of a log that was not found again. Unless the log has grown since,"
    " put it back, or restore the record from a backup; delete the file to go on without its lines"
)

_READ_MEANWHILE: Final = (
    "{} is read again by another process, or was since this one began: run the same command again"
)

_CLOSED: Final = (
    "{} may not be entered by this user: logs in it are not read. Give the user the right to, or"
    " name what is to be read"
)


@dataclass(frozen=True, slots=True)
class Sighting:
    """State of a file when it was seen: equal size, time and etag mean equal content."""

    path: str
    """A path, or the URL of an object."""
    size: int
    mtime_ns: int
    etag: str = ""
    """Version of an object; empty where it has none."""

    @classmethod
    def of(cls, path: LogPath) -> Sighting:
        """Return the present state of a file, or that of a listed object."""
        stat = path.stat()
        etag = path.etag if isinstance(path, ObjectFile) else ""
        return cls(str(path.absolute()), stat.st_size, stat.st_mtime_ns, etag)

    @property
    def look(self) -> tuple[int, int | str]:
        """The part of the state that does not change when the file is renamed."""
        return self.size, self.etag or self.mtime_ns


@dataclass(frozen=True, slots=True)
class DayShare:
    """The part of one file that belongs to one day."""

    lines: int
    """Lines read, kept or not."""
    rows: int
    """Page requests kept."""
    segments: tuple[str, ...]
    first: int
    last: int
    """Earliest and latest time of the rows, in microseconds since 1970-01-01T00:00:00Z."""
    losses: tuple[dict[str, Any], ...]
    """Lines not kept: kind, reason, lines, samples."""
    digests: tuple[str, ...] = ()
    """Digests of the segments, in their order; none in records of older versions."""


@dataclass(frozen=True, slots=True)
class LandedFile:
    """A log file, read or unreadable."""

    id: str
    serial: int
    """Number of the reading; later readings have higher numbers."""
    digest: str
    options: str
    size: int
    """Size in decompressed bytes."""
    head: str
    """Digest of the first record: what a grown file shares with its beginning."""
    lines: int
    format: str
    likely_format: str | None
    """Format that the file looks like, if that is not the format it was read as."""
    has_referrers: bool
    sightings: tuple[Sighting, ...]
    supersedes: tuple[str, ...] = ()
    """Digests of contents this file begins with."""
    days: dict[dt.date, DayShare] = field(default_factory=dict)
    problem: str | None = None
    """Description of what was lost, if the file was read only in part (a truncated archive)."""
    error: str | None = None
    """Why the file could not be read at all, and what to do."""
    referrers_given: int = 0
    """Page requests whose line names a referrer."""
    referrers_usable: int = 0
    """Number of records whose referrer is the URL of a web page."""
    is_counted: bool = False
    """True if its rows are counts of views rather than requests."""
    may_pass: bool = False
    """True if the error says nothing of the content: permissions, or a disk that did not answer."""
    server_sites: tuple[str, ...] = ()
    """Names that the server has for its sites, if no line names the host: `s-port=8080`."""

    @property
    def name(self) -> str:
        """Folder and name where the content was first seen: enough to find it, on any machine."""
        return self.named(2)

    def named(self, parts: int) -> str:
        """Return so many last parts of the path, as text for tables and messages."""
        name = "/".join(Path(self.sightings[0].path).parts[-parts:])
        # File systems hold any bytes, also the ends of lines; tables and messages hold text.
        text = name.encode("utf-8", "backslashreplace").decode()
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

    def looked_like(self, sighting: Sighting) -> bool:
        """Return True if the file had this size and time somewhere, under any name."""
        return sighting.look in {seen_file.look for seen_file in self.sightings}

    def to_json(self) -> str:
        """Return the text of the record."""
        fields = asdict(self)
        fields["days"] = {day.isoformat(): share for day, share in fields["days"].items()}
        return sealed(fields)

    @classmethod
    def from_json(cls, text: str) -> LandedFile:
        """Return the file of such a text. Raises `ValueError`."""
        try:
            fields = unsealed(text)
            fields["sightings"] = tuple(Sighting(**item) for item in fields["sightings"])
            fields["supersedes"] = tuple(fields["supersedes"])
            fields["server_sites"] = tuple(fields.get("server_sites", ()))
            fields["days"] = {
                dt.date.fromisoformat(day): _share(share) for day, share in fields["days"].items()
            }
            return cls(**fields)
        except (TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
            raise ValueError(f"no record of a log file: {error}") from None


def names_apart(files: Collection[LandedFile]) -> dict[str, str]:
    """Return a name for each file by its id, with as many parent folders as make names unique."""
    names = {file.id: file.name for file in files}
    deepest = max((len(Path(file.sightings[0].path).parts) for file in files), default=0)
    for parts in range(3, deepest + 1):
        often = Counter(names.values())
        alike = [file for file in files if often[names[file.id]] > 1]
        if not alike:
            break
        names |= {file.id: file.named(parts) for file in alike}
    return names


def _share(fields: dict[str, Any]) -> DayShare:
    lists = {name: tuple(fields.get(name, ())) for name in ("segments", "losses", "digests")}
    if not all(_SEGMENT.fullmatch(name) for name in lists["segments"]):
        raise ValueError("it names files that no reading has written")
    return DayShare(**fields | lists)


def file_id(digest: str, options: str) -> str:
    """Return the identity of a reading, from the content and the options it was read with."""
    return f"{digest}-{options[:8]}"


def content_of(identity: str) -> str:
    """Return the digest of the content from a `file_id`."""
    return identity.rpartition("-")[0]


def record_content(record: Path) -> str:
    """Return the digest of the content that a record is of, by its name."""
    return content_of(record.name.split(".")[0])


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
        aside = self._set_aside()
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
        for path in self._set_aside():
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
        records = (*self.damaged, *self._set_aside())
        named = {*self._by_id, *(path.name.partition(".")[0] for path in records)}
        segments = (self.folder / "segments").glob("*")
        return sorted(path for path in segments if path.name not in named)

    def _set_aside(self) -> list[Path]:
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
                raise DamagedFile(_READ_MEANWHILE.format(file.name))
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

    def torn(self, kept: Callable[[dt.date], bool]) -> list[LandedFile]:
        """Return the readings that count and have lost lines of a kept day."""
        return [
            file
            for file in self.active
            if any(
                not Path(path).exists()
                for day in file.days
                if kept(day)
                for path in self.segments(file, day)
            )
        ]

    def bytes_of(self, day: dt.date) -> int:
        """Return the bytes that a day's lines take up."""
        paths = [Path(path) for file in self._with(day) for path in self.segments(file, day)]
        return sum(map(_size, paths))

    def drop_lines(self, day: dt.date) -> None:
        """Remove the lines of a day; the records stay, so that they are not read again."""
        for file in self._with(day):
            for path in self.segments(file, day):
                Path(path).unlink(missing_ok=True)

    def _with(self, day: dt.date) -> list[LandedFile]:
        return [file for file in self.files if day in file.days]

    def pending(self, settings: Settings, settled: dt.timedelta = dt.timedelta()) -> list[Pending]:
        """Return files of the sources that are new or changed, oldest rotation first.

        With `settled`, files modified more recently than that are left for later: a file that is
        still being written would be read again and again.
        """
        read_files = {(s, file.options): file for file in self.files for s in file.sightings}
        limit = (dt.datetime.now(dt.UTC) - settled).timestamp() * 1e9
        listed = self.listed(settings)
        wanted = {(item.sighting, item.options) for item in listed}
        waiting = []
        for item in listed:
            reading = read_files.get((item.sighting, item.options))
            newer = reading and self.overruling(reading)
            is_known = reading and (
                newer is None or any((s, newer.options) in wanted for s in newer.sightings)
            )
            if reading and reading.error and self._is_worth_another_try(reading, item.path):
                is_known = None
            if not is_known and (not settled or item.sighting.mtime_ns <= limit):
                waiting.append(item)
        return waiting

    def _is_worth_another_try(self, failed: LandedFile, path: LogPath) -> bool:
        """Return True if anything has changed since a file could not be read.

        The clock, perhaps: all lines seemed to lie in the future. Or the file, in what a sighting
        does not show: `chmod` and copies that keep times change neither size nor time.
        """
        if failed.may_pass and (isinstance(path, ObjectFile) or os.access(path, os.R_OK)):
            return True
        tried = self.saved_at(failed)
        return abs(time.time() - tried) > _ANOTHER_CLOCK or _changed_at(path) > tried

    def listed(self, settings: Settings) -> list[Pending]:
        """Return the files of the sources, known or not; the first source of a file decides."""
        listed: dict[LogPath, Pending] = {}
        for source in settings.sources:
            options = options_digest(source, settings)
            for path in self._paths(source):
                if path.absolute() in listed:
                    continue
                try:
                    sighting = Sighting.of(path)
                except FileNotFoundError:
                    continue  # rotated away since it was listed
                listed[path.absolute()] = Pending(path, source, sighting, options)
        return list(listed.values())

    def _paths(self, source: LogSource) -> list[LogPath]:
        try:
            files = self._objects(source)
            return expand(source.path) if files is None else sorted(files, key=sort_key)
        except NoSuchLogError:
            return []  # one source that is away must not keep the others from being read

    def _objects(self, source: LogSource) -> list[ObjectFile] | None:
        """Return the objects of a source in a store, or None. Raises `NoSuchLogError`."""
        if not is_url(source.path):
            return None
        # A record that is damaged no longer says which object has to be read again.
        anew = bool(self.damaged or self._set_aside())
        root = root_of(source.path)
        read_before = (file for file in self._seen_objects.values() if file.url.startswith(root))
        return self.listings.files(source.path, read_before, anew=anew)

    @cached_property
    def _seen_objects(self) -> dict[str, ObjectFile]:
        """State of the objects that were read, or tried."""
        return {
            seen.path: ObjectFile(seen.path, seen.size, seen.mtime_ns, seen.etag)
            for file in sorted(self._by_id.values(), key=lambda landed: landed.serial)
            for seen in file.sightings
            if is_url(seen.path)
        }

    def missing_sources(self, settings: Settings) -> list[str]:
        """Return sentences on sources that lead to no file, or not to all of their files."""
        messages = []
        for source in settings.sources:
            closed: list[Path] = []
            try:
                if self._objects(source) is None:
                    found(source.path, closed)
            except NoSuchLogError as error:
                messages.append(str(error))
            else:
                messages += [_CLOSED.format(folder) for folder in dict.fromkeys(closed)]
        return messages

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
        for name in ("files", "active", "_newest", "_of_day", "_seen_objects", "lost"):
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


_records: Final = Remembered(_record_of)
"""Cache of records: files are replaced and never overwritten, and nobody changes the objects."""


def _size(path: Path) -> int:
    """Return the bytes of a file, 0 if it is gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _changed_at(path: LogPath) -> float:
    """Return when a file or its metadata last changed; 0 if it is gone, or an object."""
    if isinstance(path, ObjectFile):
        return 0
    try:
        return path.stat().st_ctime
    except FileNotFoundError:
        return 0


_FIXED: Final = {
    "earliest": EARLIEST.isoformat(),
    "future_hours": AHEAD / dt.timedelta(hours=1),
    "max_expansion": MAX_EXPANSION,
    "sample_lines": REJECT_SAMPLES,
}
_FIXED_CLEANING: Final = {"methods": [METHOD.decode()], "statuses": [*SHOWN_STATUSES]}
"""Constants that affect reading, under the names that they had as settings."""


def options_digest(source: LogSource, settings: Settings) -> str:
    """Return a digest of everything but the content that changes what is read from a file."""
    return digest_of(
        {
            "reader": READER_VERSION,
            "source": source.model_dump(mode="json", exclude=_apart(source))
            | {"scheme": DEFAULT_SCHEME},
            "reading": settings.reading.model_dump(mode="json", exclude={"max_reject_share"})
            | _FIXED,
            "cleaning": settings.cleaning.model_dump(mode="json") | _FIXED_CLEANING,
            "privacy": _privacy(settings),
            "timezone": settings.orchestration.timezone,
        }
    )


def _apart(source: LogSource) -> set[str]:
    """Return the fields of a source that are not part of the digest.

    The path changes nothing that is read. `dates`, where it is not set, would change the digest of
    sources that were read before there was such a field.
    """
    return {"path"} if source.dates else {"path", "dates"}


def _privacy(settings: Settings) -> dict[str, Any]:
    """Return the privacy settings that are part of the digest.

    Keys that begin to rotate in a folder that had one key do so from a later day on: what was read
    is not read again (`key_periods`).
    """
    given = settings.privacy.model_dump(mode="json", exclude={"min_clients"})
    given["mask_ipv6_bits"] = ipv6_bits_of(settings.privacy.mask_ipv4_bits)
    if had_one_key(settings.state / "secrets"):
        given["rotation_days"] = 0
    return given
