"""The landing zone: every log file parsed once, cleaned, split by day.

    landing/files/<id>.json                   what a file held: the pointer to its segments
    landing/segments/<id>/<day>-<k>.parquet   its page requests of one day

A file is known by the digest of its decompressed bytes together with the settings it was read
under. The same content under another name or compression is the same file; a file that has
grown supersedes its own beginning; changed settings supersede the older reading. Segments become
visible when their JSON file is written, so a reading that was killed leaves nothing but waste.

One process lands at a time (a lock that dies with its holder); reading itself is parallel.
"""

from __future__ import annotations

import datetime as dt
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from os import cpu_count
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from filelock import FileLock

from temporal_assets.logs import detect, formats, parquet, streams
from temporal_assets.logs.agents import BotAgents
from temporal_assets.logs.cleaning import Cleaned, Cleaner
from temporal_assets.logs.columns import ColumnsError
from temporal_assets.logs.formats import Format, Syntax
from temporal_assets.logs.memo import Memo
from temporal_assets.logs.patterns import PatternError
from temporal_assets.logs.pseudonyms import KeyRing
from temporal_assets.logs.records import Block, Records, Reject
from temporal_assets.logs.tally import UNKNOWN_DAY, Tally
from temporal_assets.settings import Settings
from temporal_assets.storage.integrity import digest_of_file
from temporal_assets.storage.inventory import (
    DayShare,
    Inventory,
    LandedFile,
    Pending,
    Sighting,
    file_id,
)
from temporal_assets.storage.kept import Kept
from temporal_assets.storage.manifest import digest_of
from temporal_assets.storage.scratch import scratch_folder
from temporal_assets.storage.segments import DaySegments, SegmentWriter
from temporal_assets.storage.store import Store
from temporal_assets.storage.transient import is_transient

_SMALL_FILE: Final = 4 << 20
"""Files below this many bytes are read whole by one thread each; larger ones block by block."""

_AHEAD_SHARE: Final = 0.001
"""Lines of the future that are garbage; more come of a clock that is wrong, here or there."""

_GRACE_SECONDS: Final = 900
"""Superseded readings stay this long: a run that began before may still be reading them."""

_EPOCH: Final = dt.date(1970, 1, 1)

Progress = Callable[[Path, int, int], None]
"""Called with a file, the bytes of it read so far and its size."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class UnreadableError(Exception):
    """A log file cannot be read; the message says why and what to do."""


_UNREADABLE: Final = (
    UnreadableError,
    detect.UnknownFormatError,
    PatternError,
    ColumnsError,
    parquet.DamagedParquetError,
)
"""Faults of one file, which must not keep others from being read. A full disk is not among them."""


@dataclass(frozen=True, slots=True)
class LandingReport:
    """What one refresh found."""

    landed: tuple[LandedFile, ...]
    """Files whose content was new."""
    unchanged: int
    """Readable files that were known before."""
    failed: tuple[LandedFile, ...]
    """Files that cannot be read, each with an `error` that says why and what to do."""
    missing: tuple[str, ...]
    """What is wrong with sources of the settings that lead to no file."""
    lost_keys: tuple[Path, ...] = ()
    """Keys of pseudonyms that had to be made anew although days had been read with them."""
    torn: tuple[str, ...] = ()
    """What was found damaged in the landing zone, and what became of it."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was found wrong with the state folder, and what to do."""
        return (*self.torn, *(_KEY_LOST.format(key) for key in self.lost_keys))

    @property
    def days(self) -> tuple[dt.date, ...]:
        """Days that the new files hold lines of."""
        return tuple(sorted({day for file in self.landed for day in file.days}))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A file that has been read but is not visible yet."""

    file: LandedFile
    segments: Path | None


def refresh(
    settings: Settings, progress: Progress | None = None, *, patient: bool = False
) -> LandingReport:
    """Read every new or changed log file of the sources. With nothing new it costs one scan.

    A file that cannot be read is noted as such. With `patient`, a fault that may pass is raised
    instead, for a caller who tries again.
    """
    folder = settings.state / "landing"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "landing.lock"), scratch_folder(settings.state / "tmp") as scratch:
        torn = [_RECORD_LOST.format(path) for path in Inventory.set_damaged_aside(settings)]
        inventory = Inventory.load(settings)
        days_before = _days_read(inventory, settings)
        torn += _mend(inventory, settings)
        _remove_superseded(inventory, settings)
        reader = _Reader(settings, inventory, scratch, progress or (lambda *_: None), patient)
        known = {file.id for file in inventory.files}
        before = {file.id for file in inventory.active}
        files = {file.id: file for file in reader.land(inventory.pending(settings))}
        after = {file.id for file in inventory.active}
        return LandingReport(
            landed=tuple(
                file
                for file in files.values()
                if not file.error and (file.id not in known or file.id in after - before)
            ),
            unchanged=sum(file.id in before for file in inventory.active),
            failed=tuple(inventory.failed),
            missing=tuple(inventory.missing_sources(settings)),
            lost_keys=_lost_keys(reader.keys, days_before),
            torn=tuple(torn),
        )


_KEY_LOST: Final = (
    "{} was gone, though days had been read with it: a new key was made, under which visitors of"
    " those days count anew in the lines just read. Restore it from a backup, remove the `landing`"
    " folder beside it and ingest again"
)
_RECORD_LOST: Final = "{} could not be read and was set aside; its log is read again if it is there"


def _days_read(inventory: Inventory, settings: Settings) -> list[dt.date]:
    """Days that lines were read of, whether the landing zone still has them or only the tables."""
    return sorted({*inventory.days(), *Store.open(settings).days("requests")})


def _mend(inventory: Inventory, settings: Settings) -> list[str]:
    """Forget readings that have lost lines, where the log is there to be read again."""
    messages = []
    listed = {item.path.absolute() for item in inventory.listed(settings)}
    for file in inventory.torn(Kept.load(settings.state).has_requests):
        if any(Path(sighting.path) in listed for sighting in file.sightings):
            inventory.remove(file)
            messages.append(f"lines of {file.name} were damaged or missing: it is read again")
        else:
            messages.append(
                f"lines of {file.name} are damaged or missing, and the log is not there any more:"
                f" put it back, or restore {inventory.segment_folder(file)} from a backup"
            )
    return messages


def _lost_keys(keys: KeyRing, days_before: Sequence[dt.date]) -> tuple[Path, ...]:
    """Of the keys that were just made, those that days read before must have had."""
    since_epoch = np.array([(day - _EPOCH).days for day in days_before], np.int32)
    used = set(keys.period(since_epoch).tolist())
    return tuple(keys.file(period) for period in keys.made if period in used)


class _Reader:
    """One refresh: what the files it reads share."""

    def __init__(
        self,
        settings: Settings,
        inventory: Inventory,
        scratch: Path,
        progress: Progress,
        patient: bool,
    ) -> None:
        self.patient = patient
        self.is_bot = Memo(BotAgents().is_bot)
        self.settings = settings
        self.inventory = inventory
        self.scratch = scratch
        self.progress = progress
        self.keys = KeyRing(settings.state / "secrets", settings.privacy.rotation_days)
        self.workers = settings.reading.workers or cpu_count() or 1
        self.now = dt.datetime.now(dt.UTC)
        self.cleaners: dict[str, Cleaner] = {}

    def land(self, pending: list[Pending]) -> Iterator[LandedFile]:
        """Read files and make each visible as soon as it is whole."""
        for item in pending:
            if item.options not in self.cleaners:
                self.cleaners[item.options] = Cleaner(
                    item.source, self.settings, self.keys, self.is_bot, self.now
                )
        small = [item for item in pending if item.sighting.size < _SMALL_FILE]
        large = [item for item in pending if item.sighting.size >= _SMALL_FILE]
        with ThreadPoolExecutor(self.workers) as pool:
            drafts = _ordered(pool, lambda item: self._read(item, None), small, self.workers)
            for item, draft in zip(small, drafts, strict=True):
                yield from self._keep(item, draft)
            for item in large:
                yield from self._keep(item, self._read(item, pool))

    # Reading one file ------------------------------------------------------------------------

    def _read(self, item: Pending, pool: Executor | None) -> _Draft | None:
        """A file's content, or why it cannot be read. None if it vanished meanwhile."""
        try:
            head = streams.head_digest(item.path, self.settings.reading)
            same_head = [
                file for file in self.inventory.files if file.head == head and not file.error
            ]
            return self._known(item, same_head) or self._parse(item, head, same_head, pool)
        except FileNotFoundError:
            return None
        except PermissionError as error:
            return self._failed(item, f"{error.strerror}: make the file readable for this user")
        except _UNREADABLE as error:
            # What is noted is not tried again until the file changes.
            if self.patient and is_transient(error):
                raise
            return self._failed(item, str(error))

    def _known(self, item: Pending, same_head: list[LandedFile]) -> _Draft | None:
        """The reading of this content, if there is one: rotation renames and packs files."""
        candidates = [file for file in same_head if file.options == item.options]
        if not candidates:
            return None
        with streams.open_stream(item.path, self.settings.reading) as stream:
            for _ in _blocks(stream):
                pass
            known = next((file for file in candidates if file.digest == stream.digest), None)
        return _Draft(known, None) if known else None

    def _parse(
        self, item: Pending, head: str, same_head: list[LandedFile], pool: Executor | None
    ) -> _Draft:
        checkpoints = [file.size for file in same_head]
        with streams.open_stream(item.path, self.settings.reading, checkpoints) as stream:
            fmt = detect.resolve(item.source, stream.head)
            content = _Content(self._folder(item), self.settings.reading.sample_lines)
            cleaner = self.cleaners[item.options]
            for cleaned, has_referrers in self._cleaned(item, stream, fmt, cleaner, pool):
                content.add(cleaned, has_referrers)
                if pool:
                    self.progress(item.path, stream.compressed_bytes, item.sighting.size)
            content.close()
            beginnings = set(stream.prefix_digests.values())
            likely = detect.likely_format(stream.head) if content.tally.total("rejected") else None
            self._refuse_future(content)
            if not content.days:
                _explain_nothing(stream, fmt, content, likely)
            file = LandedFile(
                id=file_id(stream.digest, item.options),
                serial=0,
                digest=stream.digest,
                options=item.options,
                size=stream.size,
                head=head,
                lines=content.lines,
                format=fmt.name,
                likely_format=likely if likely != fmt.name else None,
                has_referrers=content.has_referrers,
                sightings=(item.sighting,),
                supersedes=tuple(
                    file.digest
                    for file in same_head
                    if file.digest in beginnings and file.digest != stream.digest
                ),
                days=content.days,
                problem=stream.problem if fmt.syntax is not Syntax.PARQUET else None,
            )
        return _Draft(file, content.folder)

    def _cleaned(
        self,
        item: Pending,
        stream: streams.LogStream,
        fmt: Format,
        cleaner: Cleaner,
        pool: Executor | None,
    ) -> Iterator[tuple[Cleaned, bool]]:
        """Cleaned blocks in the order of the file."""
        reading = self.settings.reading

        def tasks() -> Iterator[Callable[[], Records]]:
            if fmt.syntax is Syntax.PARQUET:
                for _ in _blocks(stream):  # only the digest is wanted
                    pass
                for records in parquet.read(item.path, item.source):
                    yield partial(_same, records)
                return
            state: formats.State = None
            for block in _blocks(stream):
                yield partial(formats.parse, block, fmt, item.source, reading, state)
                state = formats.advance(block, fmt, state, item.source)

        def clean(task: Callable[[], Records]) -> tuple[Cleaned, bool]:
            records = task()
            return cleaner.clean(records), records.referrer is not None

        return _ordered(pool, clean, tasks(), self.workers) if pool else map(clean, tasks())

    def _refuse_future(self, content: _Content) -> None:
        """A clock that was set back must not make the latest days rejects for good."""
        rows = content.tally.rows()
        ahead = sum(row["lines"] for row in rows if row["reason"] == Reject.FUTURE.label)
        if ahead > max(1, content.lines * _AHEAD_SHARE):
            clock = f"{self.now:%Y-%m-%d %H:%M} UTC"
            raise UnreadableError(
                f"{ahead:,} of {content.lines:,} lines lie in the future: this machine's clock says"
                f" {clock}. Where that is wrong, set it; else the time zone or the unit of the"
                " times is (--timezone). The file is tried again when the clock has moved by a day"
            )

    def _folder(self, item: Pending) -> Path:
        folder = self.scratch / digest_of([item.sighting.path, item.options])
        folder.mkdir()
        return folder

    def _failed(self, item: Pending, error: str) -> _Draft:
        sighting = item.sighting
        seen = digest_of([sighting.path, sighting.size, sighting.mtime_ns])
        file = LandedFile(
            id=f"failed-{seen}-{item.options[:8]}",
            serial=0,
            digest=seen,
            options=item.options,
            size=0,
            head="",
            lines=0,
            format=item.source.format,
            likely_format=None,
            has_referrers=False,
            sightings=(sighting,),
            error=f"{item.path}: {error.removeprefix(f'{item.path}: ')}".encode(
                "utf-8", "backslashreplace"
            ).decode(),
        )
        return _Draft(file, None)

    # Making it visible -----------------------------------------------------------------------

    def _keep(self, item: Pending, draft: _Draft | None) -> Iterator[LandedFile]:
        """Enter a file into the inventory; the content decides whether it is a new one."""
        if draft is None:
            return
        inventory = self.inventory
        known = inventory.find(draft.file.id)
        if known is not None and not known.error:
            file = replace(known, sightings=_seen_again(known.sightings, item.sighting))
            if inventory.overruling(known):  # settings were changed back
                file = replace(file, serial=inventory.next_serial)
        else:
            file = replace(draft.file, serial=inventory.next_serial)
            if draft.segments:
                _move(draft.segments, inventory.segment_folder(file))
        inventory.save(file, self.scratch)
        for failure in inventory.failed:
            if failure.id != file.id and failure.sightings[0].path == item.sighting.path:
                inventory.remove(failure)
        self.progress(item.path, item.sighting.size, item.sighting.size)
        yield file


class _Content:
    """What has been read of a file so far."""

    def __init__(self, folder: Path, samples: int) -> None:
        self.folder = folder
        self.tally = Tally(samples)
        self.has_referrers = False
        self.days: dict[dt.date, DayShare] = {}
        self._writer = SegmentWriter(folder, folder.name)
        self._last_day = UNKNOWN_DAY
        self._first_day = UNKNOWN_DAY

    @property
    def lines(self) -> int:
        return sum(self.tally.read.values())

    def add(self, cleaned: Cleaned, has_referrers: bool) -> None:
        """Take the block that follows."""
        self.has_referrers |= has_referrers
        self._writer.add(cleaned)
        self.tally.merge(cleaned.tally, self._last_day)
        if self._first_day == UNKNOWN_DAY:
            self._first_day = cleaned.first_known_day
        if cleaned.last_day != UNKNOWN_DAY:
            self._last_day = cleaned.last_day

    def close(self) -> None:
        """Write what is left and describe the days; without any day there is nothing to keep."""
        self._writer.close()
        if self._first_day == UNKNOWN_DAY:
            return
        self.tally.assign_unknown(self._first_day)
        losses: dict[int, list[dict[str, Any]]] = {}
        for row in self.tally.rows():
            losses.setdefault(row.pop("day"), []).append(row)
        nothing = DaySegments(first=0, last=0)
        for day, lines in sorted(self.tally.read.items()):
            rows = self._writer.days.get(day, nothing)
            self.days[_EPOCH + dt.timedelta(days=day)] = DayShare(
                lines=lines,
                rows=rows.rows,
                segments=tuple(rows.files),
                first=rows.first,
                last=rows.last,
                losses=tuple(losses.get(day, ())),
                digests=tuple(digest_of_file(self.folder / name) for name in rows.files),
            )


def _same(records: Records) -> Records:
    return records


def _blocks(stream: streams.LogStream) -> Iterator[Block]:
    """The stream's blocks; what goes wrong while reading is a fault of the file."""
    blocks = iter(stream)
    while True:
        try:
            block = next(blocks, None)
        except OSError as error:
            raise UnreadableError(f"reading failed after line {stream.lines}: {error}") from error
        if block is None:
            return
        yield block


def _explain_nothing(
    stream: streams.LogStream,
    fmt: Format,
    content: _Content,
    likely: str | None,
) -> None:
    """Raise unless the file is simply empty."""
    if stream.problem and fmt.syntax is not Syntax.PARQUET and not content.lines:
        raise UnreadableError(stream.problem)
    if not content.lines:
        return
    reasons = {
        row["reason"]: (row["lines"], row["samples"])
        for row in content.tally.rows()
        if row["kind"] == "rejected"
    }
    reason, (_, samples) = max(reasons.items(), key=lambda entry: entry[1][0])
    example = f", for example line {samples[0][0]}: {samples[0][1]!r}" if samples else ""
    hint = f"; it looks like `{likely}`" if likely and likely != fmt.name else ""
    raise UnreadableError(
        f"none of {content.lines:,} lines can be read as `{fmt.name}`{hint} "
        f"({reason}{example}). State the format of the source"
    )


def _move(folder: Path, target: Path) -> None:
    """Put segments in their place; what lies there was left by a reading that was killed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    folder.rename(target)


def _seen_again(sightings: tuple[Sighting, ...], new: Sighting) -> tuple[Sighting, ...]:
    """A file's sightings with the latest of each path, first path first."""
    by_path = {sighting.path: sighting for sighting in sightings} | {new.path: new}
    return tuple(by_path.values())


def _remove_superseded(inventory: Inventory, settings: Settings) -> None:
    """Delete readings that have not counted for a while, and failures of files that are gone.

    A copy of what counts stays known as long as it lies there, or it would be read again and count.
    """
    limit = time.time() - _GRACE_SECONDS
    wanted = {(item.sighting, item.options) for item in inventory.listed(settings)}
    for file in inventory.superseded:
        if any((sighting, file.options) in wanted for sighting in file.sightings):
            continue
        if any(
            inventory.saved_at(newer) < limit
            for newer in inventory.files
            if file.digest in newer.supersedes
            or (file.digest == newer.digest and file.serial < newer.serial)
        ):
            inventory.remove(file)
    for file in inventory.failed:
        if not Path(file.sightings[0].path).exists():
            inventory.remove(file)


def _ordered(
    pool: Executor, function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    """Like `pool.map`, but takes items only as results are used: memory stays bounded."""
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        # One more than there are workers, so that none waits while the next item is prepared.
        if len(waiting) > workers:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
