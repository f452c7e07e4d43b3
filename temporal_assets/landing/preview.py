"""A preview of a source: how the first lines of a few files would be read.

Here: reading a sample with the same code as whole logs, without writing or keeping anything, and
doubts about it. Not here: reading whole files (`reading`), showing this to people (`cli`). No
address is in it: visitors are numbered, texts are redacted as samples of rejected lines are.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from temporal_assets.landing.reading import why_unreadable
from temporal_assets.landing.verdicts import USELESS_REFERRERS, Share, several_sites
from temporal_assets.logs.clean.agents import is_bot
from temporal_assets.logs.clean.cleaned import Cleaned, reason_of
from temporal_assets.logs.clean.cleaning import Cleaner
from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats import directives, parsing
from temporal_assets.logs.formats.format import Format, Syntax
from temporal_assets.logs.privacy.pseudonyms import KeyRing, packed_address
from temporal_assets.logs.privacy.redact import redact
from temporal_assets.logs.read import slash_dates
from temporal_assets.logs.read.objects import LogPath
from temporal_assets.logs.read.paths import expand
from temporal_assets.logs.read.records import Block, Column, Counts, Records, Reject, remedy
from temporal_assets.logs.read.streams import HEAD_BYTES, open_stream
from temporal_assets.logs.tables import parquet
from temporal_assets.settings import VIEWS_PER_CLIENT, LogSource, Reading, Settings

_LINES: Final = 2_000
"""Lines of a file that are read for a preview; the head of a stream holds some hundreds."""

_SHOWN: Final = 5
_KEPT_SHOWN: Final = 3
"""Page requests among the lines shown, if there are any: others say why they are not."""

_FILES: Final = 40
"""Files that are read, evenly spread: those of one folder may be of several sites."""

_WITH_DATES: Final = ("auto", "csv", "tsv")
"""Formats in which dates may be written as spreadsheets do."""

_TABLE_NAME: Final = re.compile(r"\.(csv|tsv)(\.\w+)?$", re.IGNORECASE)
"""End of the name of a table, packed or not."""

_DOUBTFUL_REJECTS: Final = 0.1
_CLIENTS: Final = 50
"""Number of lines from which on a single visitor is suspicious."""


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """A line of a log, with its fields."""

    line: int
    time: dt.datetime | None
    visitor: str
    """A number within the preview: no address is shown, and no key is made for this."""
    site: str
    page: str
    referrer: str
    agent: str
    outcome: str
    """`kept`, or the reason why not."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The first lines of one file of a source, as they would be read."""

    source: LogSource
    file: LogPath
    files: int
    """Number of files of the source."""
    format: str
    lines: tuple[PreviewLine, ...]
    sampled: int
    """Number of lines that were read."""
    kept: int
    shares: dict[str, Share]
    doubts: tuple[str, ...]
    """Sentences on doubts, each with what to do."""
    missing: tuple[str, ...] = ()
    """Sentences on what the format does not tell."""
    other_formats: tuple[tuple[str, str], ...] = ()
    """Other formats in the files that were looked at, each with a file that is read as it."""
    error: str | None = None
    """Why none of the sampled files can be read."""

    @property
    def is_useless(self) -> bool:
        """True if nothing in the sample could be used."""
        return self.error is not None or bool(self.sampled and not self.kept)


def with_order_of_dates(source: LogSource) -> LogSource:
    """Return the source with the order of dates like 5/1/2026, if its files show it.

    First the beginnings of its files are read, then all of them: where one file ends on May 12,
    another that begins on the 13th shows the order of both. In an object store only files named as
    tables are read, because each costs a request.
    """
    if source.dates is not None or source.format not in _WITH_DATES:
        return source
    paths = [
        path
        for path in _spread(expand(source.path))
        if isinstance(path, Path) or _TABLE_NAME.search(path.name)
    ]
    for most_blocks in (1, None):
        for path in paths:
            order, has_dates = _order_in(path, most_blocks)
            if order is not None:
                return source.model_copy(update={"dates": order})
            if not has_dates and most_blocks == 1:
                return source  # A log of a server has none, and its other files need no look.
    return source


def _order_in(path: LogPath, most_blocks: int | None) -> tuple[str | None, bool]:
    """Return the order of dates in the first blocks of a file, and whether it has such dates."""
    has_dates = False
    # Whatever is wrong with a file is reported by the preview, which opens it next.
    with suppress(Exception), open_stream(path, Reading()) as stream:
        for block in islice(stream, most_blocks):
            order, block_has_dates = slash_dates.order_of(block.data.tobytes())
            has_dates |= block_has_dates
            if order is not None:
                return order, True
    return None, has_dates


def preview(source: LogSource, settings: Settings) -> Preview:
    """Return what reading `source` would make of its first lines. Raises `NoSuchLogError`."""
    files = expand(source.path)
    looked_at = _spread(files)
    first: Preview | None = None
    failures: list[str] = []
    sites: dict[str, str] = {}
    formats_of: dict[str, str] = {}
    for path in looked_at:
        if first is not None and source.host is None and not isinstance(path, Path):
            break  # each look at an object is a request, and there is no host to doubt
        try:
            sample = _sample(path, source, settings)
        except Exception as error:
            why = why_unreadable(error)
            if why is None:
                raise
            failures.append(f"{path}: {why.removeprefix(f'{path}: ')}")
            continue
        if sample is None:
            continue
        sites |= {site: str(path) for site in sorted(sample.sites) if site not in sites}
        formats_of.setdefault(sample.fmt.label, path.name)
        if first is None:
            first = _of(sample, path, len(files), source, settings)
    if first is None:
        why = failures[0] if failures else None
        empty = () if failures else ("it holds no line yet",)
        return Preview(source, files[0], len(files), source.format, (), 0, 0, {}, empty, error=why)
    doubts = [*first.doubts]
    if source.host is not None and len(sites) > 1:
        doubts.insert(0, several_sites(source.host, sites))
    if failures:
        doubts.append(f"{len(failures)} of {len(looked_at)} files cannot be read: {failures[0]}")
    return replace(first, doubts=tuple(doubts), other_formats=tuple(formats_of.items())[1:])


def _spread(files: Sequence[LogPath]) -> list[LogPath]:
    """Return the last file, usually the newest, and others evenly spread."""
    places = np.linspace(len(files) - 1, 0, min(_FILES, len(files))).astype(int)
    return [files[place] for place in dict.fromkeys(places.tolist())]


# A sample of one file ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sample:
    fmt: Format
    records: Records
    sites: frozenset[str]
    """Names by which a server calls its sites, if no line names the host."""


def _sample(path: LogPath, source: LogSource, settings: Settings) -> _Sample | None:
    """Return the first records of a file; None if it is empty."""
    reading = settings.reading
    with open_stream(path, reading) as stream:
        head = stream.head
        if not head.strip():
            return None
        fmt = resolve(source, head, path.name)
    if fmt.syntax is Syntax.PARQUET:
        records = _first_rows(path, source, reading, fmt.moment)
        return None if records is None else _Sample(fmt, _rows(records, _LINES), frozenset())
    is_all = len(head) < HEAD_BYTES
    block = Block(np.frombuffer(head if is_all else _whole_lines(head), np.uint8), 1, last=True)
    records = parsing.parse(block, fmt, source, reading)
    sites = directives.sites_of(head) if fmt.syntax is Syntax.DIRECTIVES else frozenset()
    return _Sample(fmt, _rows(records, _LINES), sites) if len(records) else None


def _first_rows(
    path: LogPath, source: LogSource, reading: Reading, moment: int | None
) -> Records | None:
    """Return the first rows of a Parquet file; an object is downloaded for them."""
    if isinstance(path, Path):
        return next(parquet.read(path, source, reading, moment), None)
    with TemporaryDirectory() as folder:
        path.fetch(copy := Path(folder, path.name))
        return next(parquet.read(copy, source, reading, moment), None)


def _whole_lines(head: bytes) -> bytes:
    """Return the beginning of a file without a last, cut line, unless that is the only one."""
    end = head.rfind(b"\n")
    return head[: end + 1] if end > 0 else head


def _rows(records: Records, most: int) -> Records:
    """Return the first `most` records."""
    if len(records) <= most:
        return records

    def cut(column: Column | None) -> Column | None:
        return column and Column(column.data, column.start[:most], column.stop[:most])

    first = {
        name: cut(getattr(records, name))
        for name in ("text", "method", "target", "host", "scheme", "referrer", "agent", "address")
    }
    arrays = {name: getattr(records, name)[:most] for name in ("line", "reason", "time", "status")}
    counts = records.counts and records.counts.take(np.arange(most))
    is_page = None if records.is_page is None else records.is_page[:most]
    return replace(records, **first, **arrays, counts=counts, is_page=is_page)  # type: ignore[arg-type]


# What is made of it --------------------------------------------------------------------------


def _of(
    sample: _Sample, path: LogPath, files: int, source: LogSource, settings: Settings
) -> Preview:
    records = sample.records
    with TemporaryDirectory() as folder:
        keys = KeyRing(Path(folder), settings.privacy.rotation_days)  # nobody sees what it makes
        cleaner = Cleaner(source, settings, keys, is_bot, dt.datetime.now(dt.UTC))
        cleaned = cleaner.clean(records)
    shares = _shares(records, cleaned)
    return Preview(
        source=source,
        file=path,
        files=files,
        format=sample.fmt.label + (f", dates {source.dates}" if source.dates else ""),
        lines=tuple(_lines(records, cleaned)),
        sampled=len(records),
        kept=len(cleaned.time),
        shares=shares,
        doubts=(*sample.fmt.doubts, *_doubts(records, cleaned, shares, source)),
        missing=tuple(_missing(records, settings)),
    )


def _missing(records: Records, settings: Settings) -> Iterator[str]:
    """Yield sentences on what counts of views do not tell."""
    counts, privacy = records.counts, settings.privacy
    if counts is None:
        return
    if (counts.visitors >= 0).any():
        yield "Counts of visitors: they count as views, and nobody is known by a pseudonym."
    elif (counts.views >= 0).any():
        floor = privacy.min_clients * VIEWS_PER_CLIENT
        yield (
            "Counts of views: who opened a page is not known. Instead of"
            f" {privacy.min_clients} clients, {floor} views on a day let a page be named."
        )
    else:
        yield "Counts of transits: they tell the links that lead to pages, and no views."
    if not (counts.transits >= 0).any():
        yield (
            "Where views came from is not in them: hubs and the behaviour graph need a source with"
            " referrers or transits."
        )


def _shares(records: Records, cleaned: Cleaned) -> dict[str, Share]:
    """Return, by field, the numbers of lines with a value and with a usable one."""
    lines, verdict = len(records), cleaned.verdict
    read = ~np.isin(verdict, (Reject.NOT_THE_FORMAT, Reject.TRUNCATED, Reject.TOO_LONG))
    timed = read & ~np.isin(verdict, (Reject.BAD_TIME, Reject.FUTURE, Reject.ANCIENT))
    asked = timed & (verdict != Reject.BAD_REQUEST) & (verdict != Reject.BAD_STATUS)
    paged = asked & (verdict != Reject.BAD_URL)
    housed = paged & (verdict != Reject.NO_HOST)
    shares = {
        "time": Share(lines, int(timed.sum())),
        "visitor": Share(lines, int((records.address.start >= 0).sum())),
        "page": Share(int(asked.sum()), int(paged.sum())),
        "site": Share(int(paged.sum()), int(housed.sum())),
    }
    if records.counts is not None:
        del shares["visitor"]
    if records.referrer is not None:
        shares["referrer"] = Share(cleaned.referrers_given, cleaned.referrers_usable)
    if records.agent is not None:
        named = int((records.agent.start >= 0).sum())
        shares["agent"] = Share(named, named)
    return shares


def _lines(records: Records, cleaned: Cleaned) -> Iterator[PreviewLine]:
    """Yield a few page requests, and a few other lines for different reasons."""
    kept = np.flatnonzero(cleaned.verdict == 0).tolist()
    others: dict[int, int] = {}
    for row in np.flatnonzero(cleaned.verdict).tolist():
        others.setdefault(int(cleaned.verdict[row]), row)
    first = kept[:_KEPT_SHOWN]
    chosen = [*first, *islice(others.values(), _SHOWN - len(first))]
    more = [row for row in range(len(records)) if row not in chosen]
    chosen += [row for row in (kept if kept else more) if row not in chosen][: _SHOWN - len(chosen)]
    visitors: dict[bytes, str] = {}
    place = {row: at for at, row in enumerate(kept)}
    for row in sorted(chosen):
        yield _line(records, cleaned, row, place.get(row), visitors)


def _line(
    records: Records, cleaned: Cleaned, row: int, at: int | None, visitors: dict[bytes, str]
) -> PreviewLine:
    """Return a line of the preview: what was understood of it, without addresses."""
    address = records.address.value(row) or b""
    private_values = [address] if address else []

    def text(column: Column | None) -> str:
        return redact((column.value(row) if column is not None else None) or b"", private_values)

    is_read = records.reason[row] == Reject.NONE
    outcome = reason_of(int(cleaned.verdict[row]))
    visitor = visitors.setdefault(address, f"visitor {len(visitors) + 1}") if address else ""
    if records.counts is not None:
        visitor = _numbers(records.counts, row)
    line = int(records.line[row])
    if not is_read:
        return PreviewLine(line, None, "", "", text(records.text), "", "", outcome)
    time = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(
        microseconds=int(records.time[row])
    )
    page, referrer = text(records.target), text(records.referrer)
    site = _host((records.host.value(row) if records.host is not None else None) or b"")
    if at is not None:
        page = redact(_string(cleaned.url, at), private_values)
        site = _host(_string(cleaned.site, at))
        referrer = redact(_string(cleaned.referrer, at), private_values) or _unusable(referrer)
    agent = text(records.agent)
    return PreviewLine(line, time, visitor, site, page, referrer, agent, outcome)


def _numbers(counts: Counts, row: int) -> str:
    """Return the counts of a row in words."""
    named = (("visitors", counts.visitors), ("views", counts.views), ("transits", counts.transits))
    return ", ".join(f"{values[row]:,} {name}" for name, values in named if values[row] >= 0)


def _host(host: bytes) -> str:
    """Return a host by its name, or masked: a wrong column may hold visitors' addresses."""
    is_address = packed_address(host.rpartition(b":")[0] or host) is not None
    return "[address]" if is_address else host.decode("utf-8", "backslashreplace")


def _string(strings: object, at: int) -> bytes:
    code = int(strings.codes[at])  # type: ignore[attr-defined]
    value: str = "" if code < 0 else strings.values[code].as_py()  # type: ignore[attr-defined]
    return value.encode()


def _unusable(referrer: str) -> str:
    return f"({referrer}: no URL)" if referrer not in ("", "-") else ""


def _doubts(
    records: Records, cleaned: Cleaned, shares: dict[str, Share], source: LogSource
) -> Iterator[str]:
    """Yield sentences on what a person should check before everything is read."""
    lines = len(records)
    reasons = Counter(map(reason_of, cleaned.verdict.tolist()))
    kept = reasons.pop("kept", 0)
    rejected = sum(lost for reason, lost in reasons.items() if reason in _REJECTS)
    if not kept and rejected <= _DOUBTFUL_REJECTS * lines:
        why = ", ".join(f"{reason} {lost:,}" for reason, lost in reasons.most_common(3))
        first = f"none of the first {lines:,} lines" if lines > 1 else "not even the one line there"
        yield f"{first} is a page request that can be used ({why})"
    if rejected > _DOUBTFUL_REJECTS * lines:
        worst = max((r for r in reasons if r in _REJECTS), key=lambda reason: reasons[reason])
        yield f"{rejected:,} of {lines:,} lines are rejected, most as {worst}. {remedy(worst)}"
    if "referrer" in shares and shares["referrer"].is_useless:
        share = shares["referrer"]
        yield (
            f"{share.given - share.usable:,} of {share.given:,} referrers are no URLs and would be"
            f" left out. {USELESS_REFERRERS}"
        )
    rows = np.flatnonzero(cleaned.verdict == 0).tolist()
    addresses = {records.address.value(row) for row in rows}
    is_log = records.counts is None
    if is_log and kept >= _CLIENTS and len(addresses) == 1 and source.address == "remote":
        yield (
            f"all {kept:,} page requests are of one visitor: behind a proxy, that is the proxy."
            " Read them with --address forwarded, where lines hold X-Forwarded-For"
        )


_REJECTS: Final = frozenset(reject.label for reject in Reject) - {Reject.NONE.label}
