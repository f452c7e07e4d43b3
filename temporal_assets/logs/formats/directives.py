"""W3C extended logs, whose `#Fields:` header names the fields in their order.

Here: IIS, CloudFront and other servers that write `#Fields:`. Not here: the loop over fields
(`tokenize`). The header may occur anywhere in the file, and several times.

Times are UTC unless the header calls them local. A log with times but no dates takes the date of
its last `#Date:`; servers that write such logs write a new header every day.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from temporal_assets.logs.fields.assemble import assemble, column, line_text, reject_cut_line
from temporal_assets.logs.fields.field_arrays import Fields, Lines
from temporal_assets.logs.fields.layouts import SKIP, Kind, Layout, Slot
from temporal_assets.logs.fields.lines import check_lines, find_directives, find_lines
from temporal_assets.logs.fields.rewrite import (
    CLOUDFRONT_ENCODED,
    decoded,
    plus_to_space,
    with_query,
    with_scheme,
)
from temporal_assets.logs.fields.times import BAD, NO_DAY
from temporal_assets.logs.fields.tokenize import split_lines
from temporal_assets.logs.read.records import Block, Bytes, Records, Reject
from temporal_assets.settings import LogSource, Reading

_SLOT_OF: Final = {
    "date": Slot.DATE,
    "date-local": Slot.DATE,
    "time": Slot.TIME,
    "time-local": Slot.TIME,
    "c-ip": Slot.ADDRESS,
    "cs-method": Slot.METHOD,
    "cs-uri-stem": Slot.TARGET,
    "cs-uri": Slot.TARGET,
    "cs-uri-query": Slot.QUERY,
    "cs-host": Slot.HOST,
    "cs(host)": Slot.HOST,
    # The name the visitor asked for, where cs(Host) is the distribution's own.
    "x-host-header": Slot.HOST,
    "cs-protocol": Slot.SCHEME,
    "cs-uri-scheme": Slot.SCHEME,
    "sc-status": Slot.STATUS,
    "c-status": Slot.STATUS,
    "cs(referer)": Slot.REFERRER,
    "cs(referrer)": Slot.REFERRER,
    "c-referrer": Slot.REFERRER,
    "cs(user-agent)": Slot.AGENT,
    "c-user-agent": Slot.AGENT,
    "x-forwarded-for": Slot.FORWARDED,
    "cs(x-forwarded-for)": Slot.FORWARDED,
    "s-xff": Slot.FORWARDED,
}
"""Slot of each field that a `#Fields:` header may name."""

_CLOUDFRONT: Final = "x-edge-location"
"""The field that only CloudFront has."""

_URI: Final = "cs-uri"
"""Name of the field for a whole URL; Incapsula leaves its scheme away."""

_LOCAL: Final = "time-local"

_NEEDED: Final = {
    Slot.TIME: "time",
    Slot.ADDRESS: "c-ip",
    Slot.TARGET: "cs-uri-stem (or cs-uri)",
}
"""Fields that records must have, with their names in the header."""

_IIS: Final = b"internet information"
"""Words that `#Software:` has in all versions of IIS."""

_EPOCH: Final = dt.date(1970, 1, 1)
_ISO_DATE: Final = re.compile(rb"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Header:
    """State of the directives so far, which decide how following lines are read."""

    fields: tuple[str, ...] = ()
    """Lower-case names; empty before the first `#Fields:`."""
    tabs: bool = False
    """True if the names, and so the fields, are separated by tabs."""
    day: int = NO_DAY
    """Days since 1970 of the last `#Date:`."""
    iis: bool = False
    """True if IIS wrote the log, which decodes the escapes of paths and writes blanks as `+`."""

    @property
    def cloudfront(self) -> bool:
        """Return whether CloudFront wrote the log: it has its own separators and encoding."""
        return _CLOUDFRONT in self.fields

    def missing(self) -> list[str]:
        """Return fields the header should name and does not."""
        named_slots = {_SLOT_OF[name] for name in self.fields if name in _SLOT_OF}
        return [name for slot, name in _NEEDED.items() if slot not in named_slots]

    def layout(self) -> Layout | None:
        """Return how lines are divided; None where no header or not enough of it is known."""
        if self.missing():
            return None
        slots = tuple(int(_SLOT_OF.get(name, SKIP)) for name in self.fields)
        tabs = self.tabs or self.cloudfront
        return Layout(
            kinds=(int(Kind.CSV),) * len(slots),
            slots=slots,
            required=len(slots),
            separator=b"\t" if tabs else b" ",
            collapse=not tabs,
            exact=True,
        )


def header_of(head: bytes) -> Header:
    """Return the header at the beginning of a text."""
    for _, header in _headers(np.frombuffer(head, np.uint8), Header()):
        if header.fields:
            return header
    return Header()


_SITES: Final = ("s-sitename", "s-port")
"""Fields by which IIS distinguishes its sites."""

_WEB: Final = {"s-port=80": "s-port=80 or 443", "s-port=443": "s-port=80 or 443"}
"""The two ports that one site usually has: plain and encrypted."""


def sites_of(head: bytes) -> frozenset[str]:
    """Return the server's names for the sites in some lines, if no line names its host."""
    header = header_of(head)
    places = [header.fields.index(name) for name in _SITES if name in header.fields]
    if not places or any(_SLOT_OF.get(name) == Slot.HOST for name in header.fields):
        return frozenset()
    lines = [line.split() for line in head.decode("latin-1").split("\n") if line[:1] != "#"]
    whole = [line for line in lines[:-1] if len(line) == len(header.fields)]
    names = ([f"{header.fields[place]}={line[place][:40]}" for place in places] for line in whole)
    return frozenset(" ".join(_WEB.get(part, part) for part in parts) for parts in names)


def advance(block: Block, header: Header) -> Header:
    """Return the header in effect after a block."""
    changes = list(_headers(block.data, header))
    return changes[-1][1] if changes else header


def parse(
    block: Block, header: Header, source: LogSource, reading: Reading, before: int = BAD
) -> Records:
    """Return records of a block that begins under `header`; `before` as for `assemble`."""
    lines = find_lines(block, skip_directives=True)
    parts = [(0, header), *_headers(block.data, header)]
    layouts = [part.layout() for _, part in parts]
    slots = {slot for layout in layouts if layout for slot in layout.slots}
    fields = Fields.empty(block.data, len(lines), slots)
    check_lines(fields, lines, reading.max_line_bytes)
    bounds = [*np.searchsorted(lines.start, [at for at, _ in parts]).tolist(), len(lines)]
    for i, (layout, (_, part)) in enumerate(zip(layouts, parts, strict=True)):
        _parse_part(fields, lines, layout, part, bounds[i], bounds[i + 1])
    reject_cut_line(fields, lines, block)
    text = line_text(block, lines)
    records = assemble(fields, lines.number, text, source, escaped=False, before=before)
    return _decoded(records, fields, [part for _, part in parts])


def _parse_part(
    fields: Fields, lines: Lines, layout: Layout | None, header: Header, first: int, stop: int
) -> None:
    """Parse the lines under one header, from `first` up to `stop`."""
    if layout is None:
        reason = fields.reason[first:stop]
        reason[reason == Reject.NONE] = Reject.NOT_THE_FORMAT
        fields.start[:, first:stop] = fields.stop[:, first:stop] = -1
        return
    day = NO_DAY if layout.has(Slot.DATE) else header.day
    split_lines(fields, lines, layout, first, stop, day)
    if _LOCAL not in header.fields:
        fields.naive[first:stop] = False


def _decoded(records: Records, fields: Fields, headers: Sequence[Header]) -> Records:
    """Return the records with queries joined to paths and the server's own encoding undone."""
    target, agent = records.target, records.agent
    if any(_URI in header.fields for header in headers):
        target = with_scheme(target)
    if any(header.iis for header in headers):
        # A `+` of the path itself is most likely none: IIS refuses it unless told otherwise.
        target = plus_to_space(target)
    if fields.used[Slot.QUERY]:
        target = with_query(target, column(fields, Slot.QUERY))
    if any(header.cloudfront for header in headers):
        return decoded(replace(records, target=target), CLOUDFRONT_ENCODED)
    return replace(records, target=target, agent=agent and plus_to_space(agent))


def _headers(text: Bytes, header: Header) -> Iterator[tuple[int, Header]]:
    """Yield (byte position, header from there on) for every change of the header."""
    for start, stop in find_directives(text):
        changed = _changed(header, text[start:stop].tobytes().strip())
        if changed != header:
            header = changed
            yield start, header


def _changed(header: Header, line: bytes) -> Header:
    """Return the header after one more directive."""
    name, _, value = line.partition(b":")
    if name.lower() == b"#fields":
        names = value.decode("latin-1").lower().split()
        return replace(header, fields=tuple(names), tabs=b"\t" in value.strip())
    if name.lower() == b"#software":
        return replace(header, iis=_IIS in value.lower())
    date = _ISO_DATE.search(value) if name.lower() in (b"#date", b"#start-date") else None
    if date:
        return replace(header, day=_day(date[0].decode()))
    return header


def _day(date: str) -> int:
    """Return the number of a day written as 2012-02-10, or NO_DAY if there is no such day."""
    try:
        return (dt.date.fromisoformat(date) - _EPOCH).days
    except ValueError:
        return NO_DAY
