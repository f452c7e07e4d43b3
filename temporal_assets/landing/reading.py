"""Reading one log file: from its bytes to segments of days and a record of its content.

Here: all that is done with one file, on any machine, before anything of it is visible. Not here:
which files are read, and making them visible (`landing`); what a line means (`logs`).
"""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeVar, cast
from uuid import uuid4

from temporal_assets.landing.fetching import downloaded_ahead, with_local_copy
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landed_files import UNREADABLE, DayShare, LandedFile, file_id
from temporal_assets.landing.segments import DaySegments, SegmentWriter, segment_name
from temporal_assets.landing.source_files import Pending
from temporal_assets.logs.clean.agents import is_bot
from temporal_assets.logs.clean.cleaned import Cleaned
from temporal_assets.logs.clean.cleaning import Cleaner
from temporal_assets.logs.detect import dated_files
from temporal_assets.logs.detect.detection import likely_format
from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats import directives, parsing
from temporal_assets.logs.formats.columns import ColumnsError
from temporal_assets.logs.formats.format import Format, Syntax
from temporal_assets.logs.formats.patterns import PatternError
from temporal_assets.logs.formats.server_formats import ServerFormatError
from temporal_assets.logs.privacy.pseudonyms import KeyRing
from temporal_assets.logs.read import streams
from temporal_assets.logs.read.byte_values import NEWLINE
from temporal_assets.logs.read.bzip2_blocks import DoubtError
from temporal_assets.logs.read.fingerprint import TextDigest
from temporal_assets.logs.read.memo import Memo
from temporal_assets.logs.read.objects import LogPath, ObjectFile, ObjectStoreError
from temporal_assets.logs.read.records import Block, Records, Reject, remedy
from temporal_assets.logs.read.splits import Edges, Range
from temporal_assets.logs.read.tally import UNKNOWN_DAY, Tally
from temporal_assets.logs.tables import parquet
from temporal_assets.machine.transient_errors import is_transient
from temporal_assets.settings import REJECT_SAMPLES, Settings
from temporal_assets.storage.integrity import digest_of_file
from temporal_assets.storage.sealed import digest_of

_AHEAD_SHARE: Final = 0.001
"""Share of lines dated in the future that are garbage; more mean a wrong clock."""

_EPOCH: Final = dt.date(1970, 1, 1)

Progress = Callable[[LogPath, int, int], None]
"""Function that is told a file, the bytes of it read so far and its size."""

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")
Result = TypeVar("Result")


class UnreadableError(Exception):
    """Error: a log file cannot be read; the message says why and what to do."""


class _ReplacedError(Exception):
    """Error: another file took this one's place while it was read, as in a rotation."""


_UNREADABLE: Final = (
    UnreadableError,
    dated_files.UnknownFormatError,
    PatternError,
    ServerFormatError,
    ColumnsError,
    parquet.DamagedParquetError,
    ObjectStoreError,
)
"""Errors of one file, which must not keep others from being read. A full disk is not among them."""


def why_unreadable(error: Exception) -> str | None:
    """Return why a log cannot be read; None for an error that is no fault of the log."""
    if isinstance(error, _UNREADABLE):
        return str(error)
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return None


@dataclass(frozen=True, slots=True)
class Draft:
    """A file that has been read but is not visible yet."""

    file: LandedFile
    """Record of the file; of content that was known before only its identity and problem count."""
    segments: Path | None


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a file for one of several tasks that read it at once.

    A file that can be divided (`logs.read.splits`) is: each task reads the lines of its own range.
    Of others every task reads all up to the end of its part, and parses its own blocks: parsing
    takes ten times as long as reading a text, and several times as long as unpacking most.
    """

    number: int = 0
    shares: int = 1
    size: int = 0
    """Bytes of the file as it was listed."""

    @property
    def is_last(self) -> bool:
        """True if the task reads all of the file, and describes it."""
        return self.number == self.shares - 1

    @property
    def range(self) -> Range | None:
        """The range of the file's bytes; None of a file that one task reads."""
        if self.shares == 1:
            return None
        start, stop = (n * self.size // self.shares for n in (self.number, self.number + 1))
        return Range(start, None if self.is_last else stop)

    def of(self, place: int) -> int:
        """Return the number of the share that has the block which ends at a byte of the file."""
        return min(place * self.shares // max(self.size, 1), self.shares - 1)


WHOLE: Final = Share()
"""Share of a task that reads a file alone."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts about a file, or about the range of it that a task has read."""

    digest: TextDigest
    beginnings: frozenset[str]
    """Digests of the beginnings that other files are known to have."""
    head: bytes
    problem: str | None
    format: Format
    server_sites: tuple[str, ...]

    @classmethod
    def of(cls, stream: streams.LogStream, fmt: Format) -> _Facts:
        """Return the facts of a stream that has been read to its end."""
        return cls(
            digest=stream.digest,
            beginnings=stream.digests.union(*stream.prefix_digests.values()),
            head=stream.head,
            problem=stream.problem,
            format=fmt,
            server_sites=_server_sites(stream, fmt),
        )


@dataclass(frozen=True, slots=True)
class _Seam:
    """Facts that have to fit where the ranges of two tasks meet."""

    edges: Edges
    lines: int
    """Number of lines in the range."""
    before: parsing.State
    """State of the file before the range: of all ranges but the first a guess from its head."""
    after: parsing.State

    @classmethod
    def of(cls, stream: streams.LogStream, walk: _Walk) -> _Seam | None:
        """Return the seam of a stream that was read to the end of its range, if it has one."""
        if stream.part is None:
            return None
        return cls(stream.part.edges, stream.lines, walk.before, walk.after)


@dataclass(slots=True)
class _Walk:
    """State of a file before and after the blocks that a task has parsed."""

    before: parsing.State
    after: parsing.State


@dataclass(frozen=True, slots=True)
class Part:
    """The content of one share of a file."""

    content: _Content
    head: str
    """Digest of the first record."""
    inode: int
    facts: _Facts | None
    """Facts about its range, or about the file if the task has read all of it."""
    seam: _Seam | None
    """None if the task has read all that precedes its part."""


class Unfit(Enum):
    """The answer in the place of a `Part` or `Draft` if one task has to read the file."""

    UNFIT = "unfit"


Read = tuple[Draft | None, list[int]]
"""Result of a reading elsewhere, and the periods whose pseudonym keys were made for it."""

ShareRead = tuple[Draft | Part | Unfit | None, list[int]]
"""Result of reading one share elsewhere."""


@dataclass(frozen=True, slots=True)
class ReadApart:
    """Function that reads a file in another process or on another machine with the same folders."""

    settings: Settings
    known: Inventory
    scratch: Path
    now: dt.datetime
    patient: bool

    @classmethod
    def of(cls, reader: LogReader) -> ReadApart:
        """Return a function that reads as `reader` does."""
        reader_settings = reader.settings
        # By name, so that no password of anything else ever leaves this machine.
        settings = Settings.model_construct(
            state=reader_settings.state.absolute(),
            reading=reader_settings.reading,
            cleaning=reader_settings.cleaning,
            privacy=reader_settings.privacy,
            orchestration=reader_settings.orchestration,
        )
        files = reader.inventory.without_days()
        return cls(settings, files, reader.scratch.absolute(), reader.now, reader.patient)

    def __call__(self, item: Pending) -> Read:
        """Return the draft of a file, and the periods whose keys were made for it."""
        reader = self._apart()
        return reader.read(replace(item, path=item.path.absolute())), reader.keys.made

    def share(self, task: tuple[Pending, Share]) -> ShareRead:
        """Return the result of one share of a file."""
        item, share = task
        reader = self._apart()
        item = replace(item, path=item.path.absolute())
        if share == WHOLE:
            return reader.read(item), reader.keys.made
        return reader.read_share(item, share), reader.keys.made

    def _apart(self) -> LogReader:
        # A task that is tried again, or twice at once, finds no files of the other.
        folder = self.scratch / uuid4().hex
        folder.mkdir()
        return replace(self, scratch=folder).reader()

    def reader(self, progress: Progress = lambda *_: None) -> LogReader:
        """Return a reader with this one's settings, for another process or machine.

        Where it waits for a disk that does not answer, only one core of many waits.
        """
        return LogReader(
            self.settings,
            self.known,
            self.scratch,
            self.now,
            progress,
            patient=self.patient,
            alone=True,
        )


class LogReader:
    """Reader of log files; threads may share it, with its caches of agents and URLs."""

    def __init__(
        self,
        settings: Settings,
        inventory: Inventory,
        scratch: Path,
        now: dt.datetime,
        progress: Progress = lambda *_: None,
        *,
        patient: bool = False,
        alone: bool = False,
    ) -> None:
        self.settings = settings
        self.inventory = inventory
        self.scratch = scratch
        self.now = now
        self.progress = progress
        self.patient = patient
        self.alone = alone
        """True if no other thread uses it, so that it may report progress."""
        self.keys = KeyRing(settings.state / "secrets", settings.privacy.rotation_days)
        self.workers = settings.engine.used_threads
        self._is_bot = Memo(is_bot)
        self._cleaners: dict[str, Cleaner] = {}
        self.lost = frozenset(inventory.lost)
        """Contents that a new reading may be of, under a newer digest."""

    def read(self, item: Pending, pool: Executor | None = None) -> Draft | None:
        """Return a file's content as a draft, which may hold an error.

        None if it vanished meanwhile, or another file took its place: the next refresh reads both.
        """
        if known_file := self._same_object(item):
            return Draft(known_file, None)

        def read() -> Draft | None:
            with with_local_copy(item, self.scratch) as here:
                return self._noted(here, lambda: self._read(here, pool))

        return self._noted(item, read)

    def read_share(self, item: Pending, share: Share) -> Draft | Part | Unfit | None:
        """Return a share of a file's content.

        A file that begins as a known one may be that, and is read by one task.
        """

        def read() -> Part | Unfit:
            if self._same_object(item):
                return Unfit.UNFIT
            head = self._head(item)
            if self.inventory.beginning_like(head) or self.lost:
                return Unfit.UNFIT
            try:
                return self._part(item, head, (), None, share)
            except DoubtError:
                return Unfit.UNFIT

        return self._noted(item, read)

    def joined(
        self, item: Pending, outcomes: Sequence[Draft | Part | Unfit | None]
    ) -> Draft | Unfit | None:
        """Return a file's draft from all of its shares, which may hold an error."""
        drafts = [outcome for outcome in outcomes if isinstance(outcome, Draft)]
        parts = [outcome for outcome in outcomes if isinstance(outcome, Part)]
        if Unfit.UNFIT in outcomes or (drafts and any(part.seam for part in parts)):
            return Unfit.UNFIT
        if drafts:
            return drafts[0]
        kinds = {(part.head, part.inode) for part in parts}
        if len(parts) < len(outcomes) or len(kinds) > 1:
            return None
        facts = _facts_of(parts)
        if facts is None:
            return Unfit.UNFIT
        return self._noted(item, lambda: self._draft(item, parts, facts, ()))

    def _noted(self, item: Pending, read: Callable[[], Outcome]) -> Outcome | Draft | None:
        """Return the result of `read`, or a draft that holds its error."""
        try:
            return read()
        except (FileNotFoundError, _ReplacedError):
            return None
        except PermissionError as error:
            why = f"{error.strerror}: make the file readable for this user"
            return self._failed(item, why, may_pass=True)
        except _UNREADABLE as error:
            # What does not pass by itself is noted, and not tried again until the file changes.
            if self.patient and is_transient(error):
                raise
            may_pass = is_transient(error) or isinstance(error, ObjectStoreError)
            why = str(error).removeprefix(f"{item.copy or item.path}: ")
            return self._failed(item, why, may_pass=may_pass)

    def ahead(self, items: Sequence[Pending]) -> Iterator[Pending]:
        """Yield the same files in order, with objects downloaded."""
        return downloaded_ahead(
            items, self.scratch, lambda item: self._same_object(item) is not None
        )

    def _same_object(self, item: Pending) -> LandedFile | None:
        return self.inventory.same_object(item.sighting, item.options)

    def _read(self, item: Pending, pool: Executor | None) -> Draft:
        head = self._head(item)
        same_head = self.inventory.beginning_like(head)
        return self._earlier_reading(item, same_head) or self._parse(item, head, same_head, pool)

    def _head(self, item: Pending) -> str:
        try:
            return streams.head_digest(item.opened, self.settings.reading)
        except OSError as error:
            if not is_transient(error):
                raise
            raise UnreadableError(f"opening failed: {error}") from error

    def _earlier_reading(self, item: Pending, same_head: Sequence[LandedFile]) -> Draft | None:
        """Return the reading of this content, if there is one: rotation renames and packs files.

        What was only renamed is not read again: it begins with the same record and is as long and
        as old, to the nanosecond, as when it was read.
        """
        # Equal counts under another name may be of another day, which the name alone says.
        candidates = [
            file for file in same_head if file.options == item.options and not file.is_counted
        ]
        for file in candidates:
            if file.looked_like(item.sighting):
                return Draft(file, None)
        if not candidates:
            return None
        is_whole = True
        with streams.open_stream(item.local, self.settings.reading, with_former=True) as stream:
            for block in _blocks(stream):
                is_whole = bool(block.data[-1] == NEWLINE)
            digests = stream.digests
            known_file = next((file for file in candidates if file.digest in digests), None)
        if known_file and is_whole and stream.problem is None:
            # Of a broken archive that was not its text: all lines were kept, also the last.
            known_file = replace(known_file, problem=None)
        return Draft(known_file, None) if known_file else None

    def _parse(
        self, item: Pending, head: str, same_head: Sequence[LandedFile], pool: Executor | None
    ) -> Draft:
        part = self._part(item, head, same_head, pool, WHOLE)
        return self._draft(item, [part], cast("_Facts", part.facts), same_head)

    def _part(
        self,
        item: Pending,
        head: str,
        same_head: Sequence[LandedFile],
        pool: Executor | None,
        share: Share,
    ) -> Part:
        """Read a share of a log file into segments; return its counts for the record."""
        if item.local.resolve().is_relative_to((self.settings.state / "secrets").resolve()):
            # Its lines would be samples of what could not be read, for all to see.
            raise UnreadableError("a key and no log: remove the link that leads to it")
        checkpoints = [file.size for file in same_head]
        with streams.open_stream(
            item.opened,
            self.settings.reading,
            checkpoints,
            with_former=bool(same_head or self.lost),
            part=share.range,
        ) as stream:
            # The file was opened anew. Were another one entered with this head and sighting, what
            # they are of would be taken for known under its next name, and never be read.
            if streams.first_record(stream.head) != head:
                raise _ReplacedError
            fmt = _format(item, stream)
            content = _Content(self._folder(item), REJECT_SAMPLES)
            guess = parsing.likely_state(stream.head, fmt, item.source) if share.number else None
            state = guess if stream.part else None
            walk = _Walk(state, state)
            for cleaned, holds in self._cleaned(item, stream, fmt, walk, pool, share):
                content.add(cleaned, holds)
                if pool or self.alone:
                    self.progress(item.path, stream.compressed_bytes, item.sighting.size)
            if (
                share.is_last
                and stream.problem is None
                and stream.compressed_bytes < item.sighting.size
            ):
                raise _ReplacedError  # it was copied away and emptied
            if isinstance(item.opened, ObjectFile) and item.opened.is_replaced():
                raise _ReplacedError
            content.close(pool)
            facts = _Facts.of(stream, fmt) if share.is_last or stream.part else None
            return Part(content, head, stream.version[0], facts, _Seam.of(stream, walk))

    def _draft(
        self,
        item: Pending,
        parts: Sequence[Part],
        facts: _Facts,
        same_head: Sequence[LandedFile],
    ) -> Draft:
        """Put the parts of a file together, in their order, and describe it."""
        content = parts[0].content
        lines = 0
        for before, part in pairwise(parts):
            lines += before.seam.lines if before.seam else 0
            content.merge(part.content, lines)
        content.describe()
        fmt = facts.format
        likely = likely_format(facts.head) if content.tally.total("rejected") else None
        self._refuse_future(content)
        if not content.days:
            _explain_nothing(facts, content, likely)
        self._refuse_anonymous(content)
        text_digest = content_digest = facts.digest.hex()
        if fmt.moment is not None and content.holds.counts:
            content_digest = digest_of([text_digest, fmt.moment, fmt.site])
        known = {file.digest for file in same_head}.union(self.lost)
        file = LandedFile(
            id=file_id(content_digest, item.options),
            serial=0,
            digest=content_digest,
            options=item.options,
            size=facts.digest.size,
            head=parts[0].head,
            lines=content.lines,
            format=fmt.label,
            likely_format=likely if likely != fmt.name else None,
            has_referrers=content.holds.referrers,
            referrers_given=content.referrers_given,
            referrers_usable=content.referrers_usable,
            sightings=(item.sighting,),
            supersedes=tuple(sorted(known & facts.beginnings - {text_digest})),
            days=content.days,
            is_counted=content.holds.counts,
            problem=facts.problem if fmt.syntax is not Syntax.PARQUET else None,
            server_sites=facts.server_sites,
        )
        return Draft(file, content.folder)

    def _cleaned(
        self,
        item: Pending,
        stream: streams.LogStream,
        fmt: Format,
        walk: _Walk,
        pool: Executor | None,
        share: Share,
    ) -> Iterator[tuple[Cleaned, _Holds]]:
        """Yield cleaned blocks of a share, in the order of the file."""
        reading = self.settings.reading
        cleaner = self._cleaner(item)

        def tasks() -> Iterator[Callable[[], Records]]:
            if fmt.syntax is Syntax.PARQUET:
                for _ in _blocks(stream) if share.is_last else ():  # only the digest is wanted
                    pass
                groups = parquet.Groups(share.number, share.shares)
                for records in parquet.read(item.local, item.source, reading, fmt.moment, groups):
                    yield partial(_same, records)
                # For its rows it was opened by its name, which may be another file's by then.
                if streams.version_of(item.local.stat()) != stream.version:
                    raise _ReplacedError
                return
            for block in _blocks(stream):
                number = share.number if stream.part else share.of(stream.compressed_bytes)
                if number > share.number:
                    return
                if number == share.number:
                    yield partial(parsing.parse, block, fmt, item.source, reading, walk.after)
                walk.after = parsing.advance(block, fmt, walk.after, item.source)

        def clean(task: Callable[[], Records]) -> tuple[Cleaned, _Holds]:
            records = task()
            return cleaner.clean(records), _Holds.of(records)

        return ordered(pool, clean, tasks(), self.workers) if pool else map(clean, tasks())

    def _refuse_future(self, content: _Content) -> None:
        """Refuse a file with many lines in the future.

        A clock that was set back must not make the latest days rejects for good.
        """
        rows = content.tally.rows()
        ahead = sum(row["lines"] for row in rows if row["reason"] == Reject.FUTURE.label)
        if ahead > max(1, content.lines * _AHEAD_SHARE):
            clock = f"{self.now:%Y-%m-%d %H:%M} UTC"
            raise UnreadableError(
                f"{ahead:,} of {content.lines:,} lines lie in the future: this machine's clock says"
                f" {clock}. Where that is wrong, set it; else the time zone or the unit of the"
                " times is (--timezone). The file is tried again when the clock has moved by a day"
            )

    def _refuse_anonymous(self, content: _Content) -> None:
        """Refuse a log in which nothing tells visitors apart.

        Views count visitors: one who made all of the log would be taken for a rare reader.
        """
        by_agent = self.settings.privacy.client == "address+agent"
        holds = content.holds
        if not content.rows or holds.counts or holds.addresses or (by_agent and holds.agents):
            return
        remedy = (
            'Set `client = "address+agent"` in the section `privacy` of settings.toml: user agents'
            " then tell visitors apart as far as they can"
            if holds.agents
            else "There are no user agents either that could tell them apart: log those, masked"
            " addresses or the ids of sessions"
        )
        raise UnreadableError(
            "no line names an address (`-`), so all visitors would be one, and no page would have"
            f" more than one view a day. {remedy} (docs/log-formats.md)"
        )

    def _folder(self, item: Pending) -> Path:
        # Its name tells lines of one reading from those of another, also of the same path: a log
        # that keeps only its last lines begins otherwise each time.
        folder = self.scratch / digest_of([asdict(item.sighting), item.options])
        folder.mkdir()
        return folder

    def _failed(self, item: Pending, error: str, *, may_pass: bool) -> Draft:
        """Return the draft of an unreadable file; `may_pass` if a later run may read it."""
        sighting = item.sighting
        seen = digest_of([sighting.path, sighting.size, sighting.mtime_ns])
        file = LandedFile(
            id=f"{UNREADABLE}{seen}-{item.options[:8]}",
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
            may_pass=may_pass,
        )
        return Draft(file, None)

    def _cleaner(self, item: Pending) -> Cleaner:
        if item.options not in self._cleaners:
            cleaner = Cleaner(item.source, self.settings, self.keys, self._is_bot, self.now)
            # Of two threads that come at once, both go on with the first one's.
            self._cleaners.setdefault(item.options, cleaner)
        return self._cleaners[item.options]


def _server_sites(stream: streams.LogStream, fmt: Format) -> tuple[str, ...]:
    is_named = fmt.syntax is Syntax.DIRECTIVES
    return tuple(sorted(directives.sites_of(stream.head))) if is_named else ()


@dataclass(frozen=True, slots=True)
class _Holds:
    """Fields that any line of a block has."""

    referrers: bool = False
    addresses: bool = False
    agents: bool = False
    counts: bool = False

    @classmethod
    def of(cls, records: Records) -> _Holds:
        """Return the fields of a block; of referrers, whether the format has a place for them."""
        agent = records.agent
        return cls(
            records.referrer is not None,
            bool((records.address.start >= 0).any()),
            agent is not None and bool((agent.start >= 0).any()),
            records.counts is not None,
        )

    def __or__(self, other: _Holds) -> _Holds:
        return _Holds(
            self.referrers or other.referrers,
            self.addresses or other.addresses,
            self.agents or other.agents,
            self.counts or other.counts,
        )


class _Content:
    """Content of a file, as far as it was read."""

    def __init__(self, folder: Path, samples: int) -> None:
        self.folder = folder
        self.tally = Tally(samples)
        self.holds = _Holds()
        self.referrers_given = 0
        self.referrers_usable = 0
        self.days: dict[dt.date, DayShare] = {}
        """Days of the whole file, after `describe`."""
        self._writer = SegmentWriter(folder, folder.name)
        self._digests: dict[str, str] = {}
        """Digest of each segment's bytes, by file."""
        self._last_day = UNKNOWN_DAY
        self._first_day = UNKNOWN_DAY

    @property
    def lines(self) -> int:
        return sum(self.tally.read.values())

    @property
    def rows(self) -> int:
        """Number of requests kept."""
        return sum(share.rows for share in self.days.values())

    def add(self, cleaned: Cleaned, holds: _Holds) -> None:
        """Add the next block."""
        self.holds |= holds
        self.referrers_given += cleaned.referrers_given
        self.referrers_usable += cleaned.referrers_usable
        self._writer.add(cleaned)
        self.tally.merge(cleaned.tally, self._last_day)
        if self._first_day == UNKNOWN_DAY:
            self._first_day = cleaned.first_known_day
        if cleaned.last_day != UNKNOWN_DAY:
            self._last_day = cleaned.last_day

    def close(self, pool: Executor | None) -> None:
        """Write the remaining rows; the object may then be sent to another process."""
        self._writer.close(pool)
        names = [name for rows in self._writer.days.values() for name in rows.files]
        self._digests = {name: digest_of_file(self.folder / name) for name in names}

    def merge(self, other: _Content, lines_before: int) -> None:
        """Add the next part of the file, whose lines are counted from there; both are closed."""
        self.holds |= other.holds
        self.referrers_given += other.referrers_given
        self.referrers_usable += other.referrers_usable
        self.tally.merge(other.tally, self._last_day, lines_before)
        if self._first_day == UNKNOWN_DAY:
            self._first_day = other._first_day
        if other._last_day != UNKNOWN_DAY:
            self._last_day = other._last_day
        for day, rows in other._writer.days.items():
            days = self._writer.days.setdefault(day, DaySegments())
            days.rows += rows.rows
            days.first, days.last = min(days.first, rows.first), max(days.last, rows.last)
            for name in rows.files:
                target = segment_name(day, len(days.files))
                (other.folder / name).rename(self.folder / target)
                self._digests[target] = other._digests[name]
                days.files.append(target)

    def describe(self) -> None:
        """Describe the days of the whole file; without any day there is nothing to keep."""
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
                digests=tuple(self._digests[name] for name in rows.files),
            )


def _facts_of(parts: Sequence[Part]) -> _Facts | None:
    """Return the facts about a file; None if its parts do not fit together."""
    seams = [part.seam for part in parts if part.seam]
    facts = [part.facts for part in parts if part.facts]
    if not seams:
        return facts[-1]  # of the task that has read all of it
    if not (
        len(seams) == len(parts)
        and Edges.fit([seam.edges for seam in seams])
        and all(seam.after == following.before for seam, following in pairwise(seams))
    ):
        return None
    digest = facts[0].digest
    for more in facts[1:]:
        if more.digest.size and not digest.is_joinable:
            return None
        digest = digest.then(more.digest.rest)
    return replace(facts[0], digest=digest)


def _same(records: Records) -> Records:
    return records


def _format(item: Pending, stream: streams.LogStream) -> Format:
    try:
        return resolve(item.source, stream.head, item.path.name)
    except dated_files.UnknownFormatError as error:
        raise UnreadableError(_with_damage(stream.problem, str(error))) from error


def _with_damage(problem: str | None, why: str) -> str:
    """Return the reason why nothing can be read, after the damage that led to it."""
    if problem is None or why.startswith(problem):
        return why
    return f"{problem}; of what precedes it, {why}"


def _blocks(stream: streams.LogStream) -> Iterator[Block]:
    """Yield the stream's blocks; errors while reading become `UnreadableError`."""
    blocks = iter(stream)
    while True:
        try:
            block = next(blocks, None)
        except OSError as error:
            raise UnreadableError(f"reading failed after line {stream.lines}: {error}") from error
        if block is None:
            return
        yield block


def _explain_nothing(facts: _Facts, content: _Content, likely: str | None) -> None:
    """Raise `UnreadableError` with the reason, unless a file is simply empty."""
    fmt = facts.format
    if facts.problem and fmt.syntax is not Syntax.PARQUET and not content.lines:
        raise UnreadableError(facts.problem)
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
    why = (
        f"none of {content.lines:,} lines can be read as `{fmt.name}`{hint} "
        f"({reason}{example}). {remedy(reason)}"
    )
    raise UnreadableError(why if fmt.syntax is Syntax.PARQUET else _with_damage(facts.problem, why))


def ordered(
    pool: Executor, function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    """Yield results like `pool.map`, but take items only as results are used, to bound memory."""
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        # One more than there are workers, so that none waits while the next item is prepared.
        if len(waiting) > workers:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
