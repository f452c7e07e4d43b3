"""The work of each daily asset for one day: read, transform, publish.

Plain functions over a store and an engine, so that Dagster's assets stay shells and everything
can be used without Dagster. Each replaces exactly one partition and may be repeated.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.days.counts import CountFile, DayCounts, make_counts
from temporal_assets.days.requests import DayRequests, RobotLimits, sort_out
from temporal_assets.days.transits import DayTransits, make_transits
from temporal_assets.engines.base import Engine, Statement
from temporal_assets.engines.statements import Steps, run
from temporal_assets.landing.inventory import LOST, Inventory
from temporal_assets.landing.landed_files import LandedFile, content_of, names_apart
from temporal_assets.logs.read.records import remedy
from temporal_assets.settings import (
    ROBOT_PAGES_PER_MINUTE,
    ROBOT_PAGES_WITHOUT_REFERRER,
    Settings,
)
from temporal_assets.storage.integrity import DamagedFile
from temporal_assets.storage.kept import Kept
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.sealed import digest_of
from temporal_assets.storage.store import Store

DERIVED: Final = ("page_views", "transits")
"""Daily assets built from `requests` alone."""

DAILY_ASSETS: Final = ("requests", "rejects", *DERIVED)
"""All daily assets, in the order in which they are computed."""

ALL_FILES: Final = "(all files of the day)"
"""Name in the place of a file's, for reasons that only show over all files of the day."""

COUNTED: Final = "counted_sites"
"""Key of a partition's facts: the sites with known views and unknown visitors."""

_TOLD_ON: Final = ("has_referrers", COUNTED)
"""Keys of facts of `requests` that derived partitions repeat."""

LONGEST_SILENCE: Final = 14
"""Longest gap, in days without a log line, that counts as days without visitors."""

_NEVER: Final = 2**62
"""A threshold that no client reaches."""


class NoLogs(LookupError):
    """Error: no log file holds lines of the day."""


class TooManyRejects(ValueError):
    """Error: so many lines are malformed that the log was probably read in a wrong format."""


@dataclass(frozen=True, slots=True)
class _Loss:
    """Number of lines that are not requests, by file (or the whole day) and reason."""

    file: str
    kind: str
    reason: str
    lines: int
    samples: tuple[tuple[int, str], ...] = ()
    """Examples as (line number, redacted text)."""


@dataclass(frozen=True, slots=True)
class DayResult:
    """A published partition."""

    manifest: Manifest
    seconds: float


@dataclass(frozen=True, slots=True)
class RequestsResult:
    """The partitions computed from a day's log lines."""

    requests: DayResult
    rejects: DayResult
    lines: int
    """Number of log lines of the day, kept or not."""
    losses: tuple[tuple[str, str, int], ...]
    """(kind, reason, number of lines) of those not kept."""
    has_referrers: bool


def build_requests(
    store: Store, engine: Engine, settings: Settings, day: dt.date, inventory: Inventory
) -> RequestsResult:
    """Publish `rejects` and `requests` of a day; runs all of `requests_steps`."""
    return run(engine, requests_steps(store, engine, settings, day, inventory))


def requests_steps(
    store: Store, engine: Engine, settings: Settings, day: dt.date, inventory: Inventory
) -> Steps[RequestsResult]:
    """Publish `rejects` and then `requests` of a day from its landed log files.

    Raises `TooManyRejects` after `rejects` and before `requests` is published: the evidence is
    there, and the requests of an earlier run stay.
    """
    started = time.monotonic()
    _refuse_removed(settings, day)
    _refuse_loss(store, inventory, day)
    files = inventory.of_day(day)
    if not files and day not in (*silent_days(inventory), *_emptied(store, inventory)):
        raise NoLogs(_no_lines_of(day, inventory))
    inputs = inventory.inputs(day)
    digest = requests_digest(settings)
    names = names_apart(files)
    of_files = [(loss, file) for file in files for loss in _losses_of_file(file, names, day)]
    losses = [loss for loss, _ in of_files]
    logs = [file for file in files if not file.is_counted]
    with store.scratch() as scratch:
        segments = _segments(inventory, logs, day)
        sorted_requests = yield from sort_out(segments, _robot_limits(settings, logs), scratch)
        counts = make_counts(engine, _count_files(inventory, files, day), scratch)
        losses += _losses_of_day(sorted_requests, counts)
        rejects = store.publish(
            "rejects",
            day,
            [_write_rejects(day, losses, scratch)],
            inputs=inputs,
            settings_digest=digest,
        )
        rejected = DayResult(rejects, time.monotonic() - started)
        lines = sum(file.days[day].lines for file in files)
        _refuse_wrong_format(settings, day, of_files, lines)
        has_referrers = any(file.has_referrers for file in files)
        summary = _by_reason(losses)
        requests = store.publish(
            "requests",
            day,
            (yield from sorted_requests.write(scratch)),
            inputs=inputs,
            settings_digest=digest,
            extra={"lines": lines, "has_referrers": has_referrers, "losses": summary}
            | _counted_sites(counts),
            counts=counts.files if counts else (),
        )
    return RequestsResult(
        DayResult(requests, time.monotonic() - started),
        rejected,
        lines,
        tuple(summary),
        has_referrers,
    )


def build_derived(store: Store, engine: Engine, asset: str, day: dt.date) -> DayResult:
    """Publish `page_views` or `transits` of a day; runs all of `derived_steps`."""
    return run(engine, derived_steps(store, asset, day))


def derived_steps(store: Store, asset: str, day: dt.date) -> Steps[DayResult]:
    """Publish a day of `page_views` or `transits` from the day's `requests`."""
    started = time.monotonic()
    source = store.require("requests", day)
    files = store.paths(store.verified(source))
    with store.scratch() as scratch:
        counts = store.paths_of_counts(source)
        tables = yield from _derived(asset, files, counts, scratch)
        manifest = store.publish(
            asset,
            day,
            tables.rows,
            inputs=[Input("requests", source.digest)],
            settings_digest=digest_of({}),
            extra={name: source.extra[name] for name in _TOLD_ON if name in source.extra},
            beside=tables.urls,
            counts=tables.counts,
        )
    return DayResult(manifest, time.monotonic() - started)


def _derived(
    asset: str, requests: Sequence[str], counts: Sequence[str], out: Path
) -> Steps[DayTransits]:
    """Return the files to publish: rows, and beside them URLs by number and counts."""
    if asset == "transits":
        return (yield from make_transits(requests, out, counts))
    table = contracts.table(asset)
    rows = yield Statement(asset, {"requests": requests}, {}, table, out)
    if counts:
        both = {asset: [str(path) for path in rows], "counts": counts}
        folder = out / "counted"
        folder.mkdir()
        rows = yield Statement("counted_views", both, {}, table, folder)
    return DayTransits(rows, [], [])


def requests_digest(settings: Settings) -> str:
    """Return a digest of the settings of `requests` that are not part of the landing records."""
    bots = settings.cleaning.bots
    return digest_of([bots, ROBOT_PAGES_PER_MINUTE, ROBOT_PAGES_WITHOUT_REFERRER])


def stale(store: Store, inventory: Inventory, settings: Settings) -> dict[str, list[dt.date]]:
    """Return the days of each daily asset that are missing or older than their inputs."""
    digest, kept = requests_digest(settings), Kept.load(settings.state)
    late: dict[str, list[dt.date]] = {asset: [] for asset in ("requests", *DERIVED)}
    days = {*inventory.days(), *silent_days(inventory), *_emptied(store, inventory)}
    for day in filter(kept.has_requests, sorted(days)):
        inputs = inventory.inputs(day)
        source = store.intact("requests", day)
        fresh = _is_made_of(source, inputs, digest)
        # Where two processes make a day at once, each may be the last to publish one of the two.
        if not fresh or not _is_made_of(store.intact("rejects", day), inputs, digest):
            late["requests"].append(day)
        for asset in DERIVED if kept.has_daily(day) else ():
            manifest = store.intact(asset, day)
            wanted = (Input("requests", source.digest),) if fresh and source else None
            if manifest is None or manifest.inputs != wanted:
                late[asset].append(day)
    return late


def silent_days(inventory: Inventory) -> list[dt.date]:
    """Return days without log lines between days that have some; they are built as empty days.

    A longer silence than `LONGEST_SILENCE` separates two periods, and its days are not built.
    """
    days = inventory.days()
    return [
        day + dt.timedelta(days=n)
        for day, following in pairwise(days)
        if (following - day).days - 1 <= LONGEST_SILENCE
        for n in range(1, (following - day).days)
    ]


def _is_made_of(manifest: Manifest | None, inputs: tuple[Input, ...], digest: str) -> bool:
    return manifest is not None and manifest.inputs == inputs and manifest.settings_digest == digest


def _emptied(store: Store, inventory: Inventory) -> set[dt.date]:
    """Return published days that have no log line any more.

    After a correction, perhaps of the time zone, the same logs were read again and all lines of the
    day belong to others. Logs that are merely gone from the landing zone empty no day.
    """
    contents = {file.digest for file in inventory.active}
    return {
        day
        for day in set(store.days("requests")).difference(inventory.days())
        if (manifest := store.intact("requests", day)) is not None
        and contents.issuperset(content_of(source.digest) for source in manifest.inputs)
    }


def landed_rows(inventory: Inventory, day: dt.date) -> int:
    """Return the number of landed records of a day, the input of `build_requests`."""
    return sum(file.days[day].rows for file in inventory.of_day(day))


def published_rows(store: Store, day: dt.date) -> int:
    """Return the number of published requests of a day, the input of `build_derived`."""
    source = store.intact("requests", day)
    return source.rows if source else 0


# Parts of build_requests ---------------------------------------------------------------------


def _segments(inventory: Inventory, files: Sequence[LandedFile], day: dt.date) -> list[list[str]]:
    """Return paths of the day's records in groups, in the order of the logs.

    Only files of one group overlap in time.
    """
    groups = list[list[str]]()
    for group in _overlapping(files, day):
        for file in group:
            inventory.verify(file, day)
        groups.append([path for file in group for path in inventory.segments(file, day)])
    return groups


def _overlapping(files: Sequence[LandedFile], day: dt.date) -> Iterator[list[LandedFile]]:
    """Group files so that only files of one group overlap in time; leave out empty ones."""
    group: list[LandedFile] = []
    last = 0
    for file in files:
        share = file.days[day]
        if not share.rows:
            continue
        # Overlapping logs of different sites share no line, but may share the group.
        if group and share.first > last:
            yield group
            group = []
        last = max(last, share.last) if group else share.last
        group.append(file)
    if group:
        yield group


def _robot_limits(settings: Settings, files: Sequence[LandedFile]) -> RobotLimits:
    keep = settings.cleaning.bots == "keep"
    # Formats without referrers say nothing about who follows links.
    has_referrers = all(file.has_referrers for file in files)
    return RobotLimits(
        _NEVER if keep else ROBOT_PAGES_PER_MINUTE,
        _NEVER if keep or not has_referrers else ROBOT_PAGES_WITHOUT_REFERRER,
    )


def _losses_of_file(file: LandedFile, names: Mapping[str, str], day: dt.date) -> list[_Loss]:
    name = names[file.id]
    return [
        _Loss(name, row["kind"], row["reason"], row["lines"], tuple(map(tuple, row["samples"])))
        for row in file.days[day].losses
    ]


def _count_files(
    inventory: Inventory, files: Sequence[LandedFile], day: dt.date
) -> list[list[CountFile]]:
    """Return the day's files of counts in groups; only files of one group overlap in time."""
    groups = list[list[CountFile]]()
    for group in _overlapping([file for file in files if file.is_counted], day):
        for file in group:
            inventory.verify(file, day)
        groups.append([CountFile(file.serial, inventory.segments(file, day)) for file in group])
    return groups


def _counted_sites(counts: DayCounts | None) -> dict[str, list[str]]:
    return {COUNTED: counts.sites} if counts else {}


def _losses_of_day(day_requests: DayRequests, counts: DayCounts | None) -> list[_Loss]:
    """Return losses that only show over all files of the day."""
    losses = [
        _Loss(ALL_FILES, "dropped", reason, pages) for reason, pages in day_requests.robots.items()
    ]
    if day_requests.repeated:
        losses.append(_Loss(ALL_FILES, "dropped", "duplicate_in_other_file", day_requests.repeated))
    if counts and counts.superseded:
        losses.append(_Loss(ALL_FILES, "dropped", "counted_in_later_file", counts.superseded))
    return losses


def _write_rejects(day: dt.date, losses: Sequence[_Loss], scratch: Path) -> Path:
    ordered = sorted(losses, key=lambda loss: (loss.file, loss.kind, loss.reason, loss.lines))
    rows = [
        {
            "day": day,
            "file": loss.file,
            "kind": loss.kind,
            "reason": loss.reason,
            "lines": loss.lines,
            "sample_line": loss.samples[0][0] if loss.samples else None,
            "sample": "\n".join(f"{line}: {text}" for line, text in loss.samples) or None,
        }
        for loss in ordered
    ]
    path = scratch / "rejects.parquet"
    schema = contracts.table("rejects").arrow_schema
    pq.write_table(pa.Table.from_pylist(rows, schema), path, compression="zstd", store_schema=False)
    return path


def _by_reason(losses: Sequence[_Loss]) -> list[tuple[str, str, int]]:
    total: dict[tuple[str, str], int] = {}
    for loss in losses:
        key = (loss.kind, loss.reason)
        total[key] = total.get(key, 0) + loss.lines
    return [(kind, reason, lines) for (kind, reason), lines in sorted(total.items())]


def _refuse_wrong_format(
    settings: Settings, day: dt.date, losses: Sequence[tuple[_Loss, LandedFile]], lines: int
) -> None:
    # With their files: several may have one name, which is only the end of a path.
    rejects = [(loss, file) for loss, file in losses if loss.kind == "rejected"]
    rejected = sum(loss.lines for loss, _ in rejects)
    limit = settings.reading.max_reject_share
    if rejected <= limit * lines:
        return
    worst, file = max(rejects, key=lambda item: item[0].lines)
    line, text = worst.samples[0] if worst.samples else (1, "")
    hint = f" The file looks like `{file.likely_format}`." if file.likely_format else ""
    raise TooManyRejects(
        f"{day}: {rejected:,} of {lines:,} log lines ({rejected / lines:.0%}) cannot be read, more "
        f"than reading.max_reject_share = {limit:.0%} allows. Most are in {worst.file}, read as "
        f"`{file.format}`: {worst.reason}, for example line {line}: {text!r}.{hint} "
        f"{remedy(worst.reason)}, or raise the limit; what was published before is unchanged."
    )


def _refuse_removed(settings: Settings, day: dt.date) -> None:
    kept = Kept.load(settings.state)
    if not kept.has_requests(day):
        raise NoLogs(
            f"the log lines of {day} were removed by `temporal-assets doctor clean`: lines are kept"
            f" from {kept.requests} on. What was made of that day stays as it is"
        )


def _refuse_loss(store: Store, inventory: Inventory, day: dt.date) -> None:
    """Raise an error if records of a day published before were damaged in the landing zone.

    A log that has grown since holds their lines again, under another digest.
    """
    lost = inventory.whole().lost
    manifest = store.intact("requests", day) if lost else None
    named = [content_of(source.digest) for source in manifest.inputs] if manifest else []
    records = [lost[content] for content in named if content in lost]
    if not manifest or not records:
        return
    before = manifest.extra["lines"]
    left = sum(file.days[day].lines for file in inventory.of_day(day))
    if left < before:
        raise DamagedFile(
            f"{day} was made of {before:,} log lines, of which {left:,} are left: it stays as it"
            f" was published. {LOST.format(records[0])}"
        )


def _no_lines_of(day: dt.date, inventory: Inventory) -> str:
    days = inventory.days()
    span = f"the logs read so far span {days[0]} to {days[-1]}" if days else "no logs were read yet"
    return f"no log file holds lines of {day}: {span}"
