"""The landing zone: every log file parsed once, cleaned, split by day.

    landing/files/<id>.json                   what a file held: the pointer to its segments
    landing/segments/<id>/<day>-<k>.parquet   its page requests of one day

A file is known by the digest of its decompressed bytes together with the settings it was read
under. The same content under another name or compression is the same file; a file that has
grown supersedes its own beginning; changed settings supersede the older reading. Segments become
visible when their JSON file is written, so a reading that was killed leaves nothing but waste.

One process lands at a time (a lock that dies with its holder); reading itself (`reading`) is
parallel: in threads, in processes where there is much to read, or on the machines of an engine that
has some.
"""

from __future__ import annotations

import datetime as dt
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from temporal_assets.engines.base import EngineError, Spread
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landed_files import LandedFile, Sighting, content_of, record_content
from temporal_assets.landing.reading import (
    WHOLE,
    Draft,
    LogReader,
    Part,
    Progress,
    ReadApart,
    Share,
    ShareRead,
    Unfit,
    ordered,
)
from temporal_assets.landing.reading_process import ReadingProcesses
from temporal_assets.landing.source_files import (
    Pending,
    listed_files,
    missing_sources,
    pending_files,
)
from temporal_assets.logs.privacy.pseudonyms import KeyRing
from temporal_assets.logs.read.objects import ObjectFile, forget_listings
from temporal_assets.logs.read.paths import STATE_MARK, is_packed
from temporal_assets.logs.read.streams import can_be_divided
from temporal_assets.machine.durable import make_folder, sync
from temporal_assets.machine.locks import held
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.settings import Settings
from temporal_assets.storage.retained_days import RetainedDays
from temporal_assets.storage.store import Store

_SMALL_FILE: Final = 4 << 20
"""Files below this many bytes are read whole by one thread each; larger ones block by block."""

_GRACE_SECONDS: Final = 900
"""Superseded readings stay this long: a run that began before may still be reading them."""

_FILES_AT_ONCE: Final = 1_000
"""Files that are given to other machines together; all become visible when all are read."""

_MUCH: Final = 256 << 20
"""Bytes of text that take a core some ten seconds: worth starting processes."""

_SHARE: Final = 128 << 20
"""Bytes of text of a file that are worth a task: a core takes seconds for them."""

_MOST_SHARES: Final = 32
"""Most tasks that read one file at once; more would wait for the disk."""

_PACKED_TIMES: Final = 10
"""Usual ratio of a text to its archive: access logs shrink to a fifth and less."""

_EPOCH: Final = dt.date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class LandingReport:
    """Result of one refresh."""

    landed: tuple[LandedFile, ...]
    """Files with new content."""
    unchanged: int
    """Number of readable files that were known before."""
    failed: tuple[LandedFile, ...]
    """Files that cannot be read, each with an `error` that says why and what to do."""
    missing: tuple[str, ...]
    """Faults of sources in the settings that lead to no file, or not to all."""
    lost_keys: tuple[Path, ...] = ()
    """Pseudonym keys that had to be made anew although days had been read with them."""
    copies: int = 0
    """Further files with the content of those that were new."""
    torn: tuple[str, ...] = ()
    """Damage found in the landing zone, and what became of it."""
    too_old: str | None = None
    """Sentence about new lines of days that `doctor clean` has removed."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on problems of the state folder, and on late lines, with what to do."""
        old = (self.too_old,) if self.too_old else ()
        return (*self.torn, *(_KEY_LOST.format(key) for key in self.lost_keys), *old)

    @property
    def days(self) -> tuple[dt.date, ...]:
        """Days of the new files."""
        return tuple(sorted({day for file in self.landed for day in file.days}))


def refresh(
    settings: Settings,
    progress: Progress = lambda *_: None,
    *,
    patient: bool = False,
    spread: Spread | None = None,
    anew: Collection[str] = (),
    begin: Callable[[int], None] = lambda _: None,
) -> LandingReport:
    """Read every new or changed log file of the sources. Without any, it costs one scan.

    Args:
        settings: Settings of the installation.
        progress: Function to call with the bytes read.
        patient: True if a transient fault is raised, for a caller who tries again, rather than
            noted.
        spread: Runs readings elsewhere.
        anew: Sources whose object stores are listed completely, also settled days.
        begin: Function to call with the number of bytes to read.
    """
    settings.make_state()
    forget_listings()
    folder = settings.state / "landing"
    folder.mkdir(exist_ok=True)
    alone = held(settings.state / STATE_MARK, "reading logs")
    with alone, scratch_folder(settings.state / "tmp") as scratch:
        inventory = Inventory.load(settings)
        inventory.listings.forget(anew)
        read = _read_before(inventory)
        damaged = inventory.set_damaged_aside()
        days_before = _days_read(inventory, settings)
        _remove_superseded(inventory, settings, scratch)
        now = dt.datetime.now(dt.UTC)
        reader = LogReader(settings, inventory, scratch, now, progress, patient=patient)
        known_ids = {file.id for file in inventory.files}
        before = {file.id for file in inventory.active}
        pending = pending_files(inventory, settings)
        begin(sum(item.sighting.size for item in pending))
        landed_files = list(_land(reader, pending, spread))
        if len(landed_files) == len(pending):
            # What was replaced meanwhile has to be listed again.
            inventory.listings.advance(scratch)
        # Logs that were renamed are known under their new names by now.
        mended, torn = _mend(inventory, settings)
        if mended:
            landed_files += _land(reader, pending_files(inventory, settings), spread)
        known_ids, before = known_ids - mended, before - mended
        after = {file.id for file in inventory.active}
        torn += _settled(inventory, settings, damaged)
        new = [
            file
            for file in landed_files
            if not file.error and (file.id not in known_ids or file.id in after - before)
        ]
        landed = {file.id: file for file in new}
        return LandingReport(
            landed=tuple(landed.values()),
            unchanged=sum(file.id in before for file in inventory.active),
            failed=tuple(inventory.failed),
            missing=tuple(missing_sources(inventory, settings)),
            lost_keys=_lost_keys(reader.keys, days_before),
            copies=len(new) - len(landed),
            torn=tuple(torn),
            too_old=_too_old(landed.values(), read, RetainedDays.load(settings.state)),
        )


def forget_readings(settings: Settings, files: Collection[str]) -> None:
    """Remove the readings of some files, by id, because their source is not wanted."""
    if not files:
        return
    alone = held(settings.state / STATE_MARK, "reading logs")
    with alone, scratch_folder(settings.state / "tmp") as scratch:
        inventory = Inventory.load(settings)
        inventory.listings.forget()
        for file_id in files:
            file = inventory.find(file_id)
            if file is not None:
                inventory.remove(file, scratch)


_TOO_OLD: Final = (
    "log lines of {} come too late ({:,} in all), and nothing is made of them: `temporal-assets"
    " clean` has removed what was of that time, and lines are kept from {} on"
)
_KEY_LOST: Final = (
    "{} was gone, though days had been read with it: a new key was made, under which visitors of"
    " those days count anew in the lines just read. Restore it from a backup, remove the `landing`"
    " folder beside it and ingest again"
)
_READ_AGAIN: Final = "{} was damaged: its log is read again"


def _read_before(inventory: Inventory) -> dict[str, LandedFile]:
    """Return, by content, the earlier reading with the most lines."""
    return {
        file.digest: file
        for file in sorted(inventory.files, key=lambda landed_file: landed_file.lines)
    }


def _too_old(
    files: Iterable[LandedFile], read: Mapping[str, LandedFile], retained: RetainedDays
) -> str | None:
    """Return a sentence on new lines of days that were removed."""
    lines: Counter[dt.date] = Counter()
    for file in files:
        before = [read[digest] for digest in (file.digest, *file.supersedes) if digest in read]
        for day, share in file.days.items():
            most_lines = max(
                (earlier.days[day].lines for earlier in before if day in earlier.days), default=0
            )
            if share.lines > most_lines and not retained.has_requests(day):
                lines[day] += share.lines - most_lines
    if not lines:
        return None
    first, last = min(lines), max(lines)
    span = f"{first}" if first == last else f"{first} to {last}"
    return _TOO_OLD.format(span, lines.total(), retained.requests)


def _days_read(inventory: Inventory, settings: Settings) -> list[dt.date]:
    """Return the days with kept requests, in the landing zone or only in the tables.

    Of lines that were left out no client was asked for, and no key was made.
    """
    store = Store.open(settings)
    landed = {
        day for file in inventory.files for day, day_share in file.days.items() if day_share.rows
    }
    manifests = (store.intact("requests", day) for day in store.days("requests"))
    return sorted(
        landed
        | {day_share.day for day_share in manifests if day_share is not None and day_share.rows}
    )


def torn_files(inventory: Inventory, settings: Settings) -> list[tuple[LandedFile, bool]]:
    """Return the readings that have lost lines, and whether each log still exists unchanged.

    Another log under its name does not hold the lines: with what is left of them they would go.
    """
    torn = inventory.torn(RetainedDays.load(settings.state).has_requests)
    if torn:  # unless `doctor clean` has removed the lines since, which it notes before
        torn = inventory.torn(RetainedDays.load(settings.state).has_requests)
    listed = {item.sighting for item in listed_files(inventory, settings)} if torn else set()
    return [(file, not listed.isdisjoint(file.sightings)) for file in torn]


def _mend(inventory: Inventory, settings: Settings) -> tuple[set[str], list[str]]:
    """Invalidate readings that have lost lines, if their logs are there to be read again.

    Return the ids of these, and sentences on them and on the others.
    """
    mended, messages = set(), []
    for file, is_there in torn_files(inventory, settings):
        if is_there:
            inventory.forget(file)
            mended.add(file.id)
            messages.append(f"lines of {file.name} were damaged or missing: it is read again")
        else:
            messages.append(
                f"lines of {file.name} are damaged or missing, and the log is not there any more:"
                f" put it back, or restore {inventory.segment_folder(file)} from a backup"
            )
    return mended, messages


def _settled(inventory: Inventory, settings: Settings, damaged: Iterable[Path]) -> list[str]:
    """Return what became of damaged records, after all existing logs were read."""
    contents = {record_content(path): path for path in damaged}
    needed = _published_contents(settings) if inventory.lost else set()
    inventory.forget_lost(needed.union(contents))
    again = [path for content, path in contents.items() if content not in inventory.lost]
    return [*map(_READ_AGAIN.format, again), *inventory.troubles]


def _published_contents(settings: Settings) -> set[str]:
    """Return the digests of the logs that published days were made from."""
    store = Store.open(settings)
    manifests = (store.intact("requests", day) for day in store.days("requests"))
    return {
        content_of(source.digest)
        for manifest in manifests
        if manifest
        for source in manifest.inputs
    }


def _lost_keys(keys: KeyRing, days_before: Sequence[dt.date]) -> tuple[Path, ...]:
    """Return those of the new keys that must have existed for days read before."""
    since_epoch = np.array([(day - _EPOCH).days for day in days_before], np.int32)
    used = set(keys.period(since_epoch).tolist())
    return tuple(keys.file(period) for period in keys.made if period in used)


def _land(
    reader: LogReader, pending: Sequence[Pending], spread: Spread | None
) -> Iterator[LandedFile]:
    """Read files and make each visible when it is complete."""
    reader.lost = frozenset(reader.inventory.lost)
    small = [item for item in pending if item.sighting.size < _SMALL_FILE]
    large = [item for item in pending if item.sighting.size >= _SMALL_FILE]
    # The order decides which of equal files is the later one, wherever they are read.
    items = [*small, *large]
    if spread:
        drafts = _spread(reader, items, spread)
    elif _is_much(reader, items):
        drafts = _read_beside(reader, items)
    else:
        drafts = _read_here(reader, small, large)
    for item, draft in zip(items, drafts, strict=True):
        yield from _keep(reader, item, draft)


def _read_here(
    reader: LogReader, small: Sequence[Pending], large: Sequence[Pending]
) -> Iterator[Draft | None]:
    with ThreadPoolExecutor(reader.workers) as pool:
        yield from ordered(pool, reader.read, reader.ahead(small), reader.workers)
        for item in reader.ahead(large):
            yield reader.read(item, pool)


def _is_much(reader: LogReader, items: Sequence[Pending]) -> bool:
    """Return True if processes gain more than they take to start, and each has a file."""
    text = sum(map(_text_bytes, items))
    return 1 < reader.workers <= len(items) and text >= _MUCH


def _text_bytes(item: Pending) -> int:
    """Return the estimated bytes of text in a file."""
    return item.sighting.size * (_PACKED_TIMES if is_packed(item.path) else 1)


def _read_beside(reader: LogReader, items: Sequence[Pending]) -> Iterator[Draft | None]:
    with closing(ReadingProcesses(reader.workers, reader.progress)) as processes:
        for some in _lots(items):
            here = reader.ahead(some)
            reads = processes.spread(ReadApart.of(reader), here)
            yield from map(_of_whole, _taken_over(reader, reads))


def _spread(reader: LogReader, items: Sequence[Pending], spread: Spread) -> Iterator[Draft | None]:
    for some in _lots(items):
        shares = [_shares(item, spread, _large(some)) for item in some]
        apart = ReadApart.of(reader)
        tasks = [(item, share) for item, own in zip(some, shares, strict=True) for share in own]
        is_shared = len(tasks) > len(some)
        reads = spread(apart.share, tasks) if is_shared else spread(apart, some)
        outcomes = _taken_over(reader, reads)
        joined = [
            reader.joined(item, list(islice(outcomes, len(own))))
            for item, own in zip(some, shares, strict=True)
        ]
        next(outcomes, None)  # there is none: what spreads them ends
        for item, draft in zip(some, _with_unfit(reader, some, joined, spread), strict=True):
            if draft is None and _is_still_there(item):
                raise EngineError(
                    f"{item.path} is there, and the executors do not see it: log files must lie"
                    " where all machines find them under one path (docs/spark.md)"
                )
            yield draft


def _with_unfit(
    reader: LogReader,
    items: Sequence[Pending],
    drafts: Sequence[Draft | Unfit | None],
    spread: Spread,
) -> Iterator[Draft | None]:
    """Yield drafts; of files that one task has to read, those that are read so now."""
    unfit = [item for item, draft in zip(items, drafts, strict=True) if isinstance(draft, Unfit)]
    again = _taken_over(reader, spread(ReadApart.of(reader), unfit)) if unfit else iter(())
    for draft in drafts:
        if isinstance(draft, Unfit):
            yield _of_whole(next(again))
        else:
            yield draft
    next(again, None)


def _of_whole(outcome: Draft | Part | Unfit | None) -> Draft | None:
    """Return the draft of a file that one task has read."""
    return outcome if isinstance(outcome, Draft) else None


def _large(items: Sequence[Pending]) -> int:
    """Return the number of files that are worth more than one task."""
    return sum(_text_bytes(item) >= 2 * _SHARE for item in items)


def _shares(item: Pending, spread: Spread, large: int) -> list[Share]:
    """Return the shares of a file, each worth a task, so that all cores have work.

    An object that cannot be divided is one share: each task would download all of it.
    """
    cores = getattr(spread, "cores", 1)
    count = max(1, min(_text_bytes(item) // _SHARE, -(-cores // max(1, large)), _MOST_SHARES))
    size = item.sighting.size
    if count == 1 or (isinstance(item.path, ObjectFile) and not _is_divisible(item)):
        return [WHOLE]
    return [Share(n, count, size) for n in range(count)]


def _is_divisible(item: Pending) -> bool:
    """Return True if an object can be divided; who reads it says why it cannot be opened."""
    try:
        return item.source.format != "parquet" and can_be_divided(item.path)
    except OSError:
        return False


def _is_still_there(item: Pending) -> bool:
    """Return True if the file exists; a shorter one has replaced it in a rotation."""
    if isinstance(item.path, ObjectFile):
        return False  # whoever fetched it asked the store
    try:
        return item.path.stat().st_size >= item.sighting.size
    except FileNotFoundError:
        return False


def _lots(items: Sequence[Pending]) -> Iterator[Sequence[Pending]]:
    """Yield the files in lots: what one lot has made visible is known to the next."""
    for at in range(0, len(items), _FILES_AT_ONCE):
        yield items[at : at + _FILES_AT_ONCE]


def _taken_over(
    reader: LogReader, reads: Iterator[ShareRead]
) -> Iterator[Draft | Part | Unfit | None]:
    """Yield drafts that were read elsewhere, and take over the keys made there."""
    for draft, made_periods in reads:
        reader.keys.made += [period for period in made_periods if period not in reader.keys.made]
        yield draft


def _keep(reader: LogReader, item: Pending, draft: Draft | None) -> Iterator[LandedFile]:
    """Enter a file into the inventory; known content keeps its entry, with this sighting."""
    if draft is None:
        return
    inventory = reader.inventory
    known_file = inventory.find(draft.file.id)
    if known_file is not None and not known_file.error:
        seen = _seen_again(known_file.sightings, item.sighting)
        # What was read before its archive was whole has no problem once that is.
        file = replace(
            known_file, sightings=seen, problem=known_file.problem and draft.file.problem
        )
        if inventory.overruling(known_file):  # settings were changed back
            file = replace(file, serial=inventory.next_serial)
    else:
        file = replace(draft.file, serial=inventory.next_serial)
        if draft.segments:
            _move(draft.segments, inventory.segment_folder(file))
    inventory.save(file, reader.scratch)
    for failure in inventory.failed:
        if failure.id != file.id and failure.sightings[0].path == item.sighting.path:
            inventory.remove(failure, reader.scratch)
    reader.progress(item.path, item.sighting.size, item.sighting.size)
    yield file


def _move(folder: Path, target: Path) -> None:
    """Move segments into place, over what a killed reading has left."""
    make_folder(target.parent)
    shutil.rmtree(target, ignore_errors=True)
    folder.rename(target)
    sync(target.parent)  # before the record: one that outlived its segments would be of nothing


def _seen_again(sightings: tuple[Sighting, ...], new: Sighting) -> tuple[Sighting, ...]:
    """Return a file's sightings with the latest of each path, first path first."""
    by_path = {sighting.path: sighting for sighting in sightings} | {new.path: new}
    return tuple(by_path.values())


def _remove_superseded(inventory: Inventory, settings: Settings, scratch: Path) -> None:
    """Delete readings that have not counted for a while, and failures of files that are gone.

    A copy of what counts stays known as long as it is there, or it would be read again and count.
    """
    limit = time.time() - _GRACE_SECONDS
    superseded = inventory.superseded
    listed = listed_files(inventory, settings) if superseded else []
    wanted = {(item.sighting, item.options) for item in listed}
    for file in superseded:
        if any((sighting, file.options) in wanted for sighting in file.sightings):
            continue
        if any(
            inventory.saved_at(newer) < limit
            for newer in inventory.files
            if file.digest in newer.supersedes
            or (file.digest == newer.digest and file.serial < newer.serial)
        ):
            inventory.remove(file, scratch)
    paths = (
        {item.sighting.path for item in listed_files(inventory, settings)}
        if inventory.failed
        else ()
    )
    for file in inventory.failed:
        if file.sightings[0].path not in paths:
            inventory.remove(file, scratch)
