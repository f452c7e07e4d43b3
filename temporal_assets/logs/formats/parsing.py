"""Parsing of a block of a log into records, by its format.

In: a block of bytes, its format and the settings of the source. Out: `Records`. Blocks may be
parsed by parallel threads. What a block needs to know of those before it (the header of a W3C log
or a table) is a small state that `advance` carries on in the file's order:

    state = None
    for block in stream:
        pool.submit(parse, block, fmt, source, reading, state)
        state = advance(block, fmt, state, source)

Not here: the formats (`known_formats`), recognising one (`detection`), the loops (`tokenize`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from temporal_assets.logs.counts.row_counts import with_counts
from temporal_assets.logs.counts.wikipedia import as_clickstream, as_pageviews
from temporal_assets.logs.fields.addresses import drop_ports
from temporal_assets.logs.fields.assemble import (
    assemble,
    count_columns,
    known_times,
    line_text,
    reject_cut_line,
)
from temporal_assets.logs.fields.field_arrays import Fields, Lines
from temporal_assets.logs.fields.layouts import Layout, Slot
from temporal_assets.logs.fields.lines import check_lines, find_lines
from temporal_assets.logs.fields.rewrite import decoded, join, with_url_prefix
from temporal_assets.logs.fields.times import BAD, last_repeated
from temporal_assets.logs.fields.tokenize import split_lines
from temporal_assets.logs.formats import directives, patterns, structured, tables
from temporal_assets.logs.formats.columns import pieces_of, templates, with_first_parts
from temporal_assets.logs.formats.format import Format, Syntax
from temporal_assets.logs.formats.json_columns import json_paths
from temporal_assets.logs.formats.shipped_lines import unwrapped
from temporal_assets.logs.formats.structured import dotted
from temporal_assets.logs.read.byte_values import NEWLINE
from temporal_assets.logs.read.records import Block, Records
from temporal_assets.settings import LogSource, Reading

_TAIL_BYTES: Final = 64 << 10
"""Bytes at the end of a block whose lines show whether clocks are being set back."""


@dataclass(frozen=True, slots=True)
class BlockState:
    """State of a file that earlier blocks pass on to the next one."""

    header: directives.Header = field(default_factory=directives.Header)
    names: tables.Names | None = None
    repeated: int = BAD
    """Result of `times.last_repeated` for the earlier lines."""


State = BlockState | None
"""State of a file between two blocks; None at its beginning."""


def parse(
    block: Block, fmt: Format, source: LogSource, reading: Reading, state: State = None
) -> Records:
    """Parse one block into records; a pure function that any thread may call.

    Parquet has no blocks, see `parquet.read`.
    """
    joined = templates(source.columns)
    if joined:
        records = _parse_joined(block, fmt, source, reading, state, joined)
    else:
        records = _parse(block, fmt, source, reading, state)
    return with_url_prefix(records, source.url_prefix) if source.url_prefix else records


def _parse_joined(
    block: Block,
    fmt: Format,
    source: LogSource,
    reading: Reading,
    state: State,
    joined: Mapping[Slot, str],
) -> Records:
    """Parse a block once for every column that a template joins, and join the columns."""
    columns = with_first_parts(source.columns)

    def read(name: str | None) -> Records:
        """Parse with a column in the place of the agent, whose values are not interpreted."""
        chosen = columns if name is None else {**columns, "agent": name}
        if name is None or fmt.paths is None:
            form = fmt
        else:
            form = replace(fmt, paths={**fmt.paths, Slot.AGENT: (dotted(name),)})
        other = source.model_copy(update={"columns": chosen})
        return _parse(block, form, other, reading, state)

    records = read(None)
    for slot, template in joined.items():
        pieces = [
            read(text).agent if is_column else text.encode()
            for is_column, text in pieces_of(template)
        ]
        records = replace(records, **{slot.name.lower(): join(pieces, len(records))})  # type: ignore[arg-type]
    return records


def _parse(block: Block, fmt: Format, source: LogSource, reading: Reading, state: State) -> Records:
    """Parse a block by the syntax of its format."""
    before = state or BlockState()
    repeated = before.repeated
    if fmt.wrapped is not None:
        block = unwrapped(block, fmt.wrapped)
    if fmt.syntax is Syntax.COUNTS:
        return _parse_counts(block, fmt, source, reading)
    if fmt.layout is not None:
        return _parse_delimited(block, fmt.layout, source, reading, repeated)
    if fmt.syntax is Syntax.DIRECTIVES:
        return directives.parse(block, before.header, source, reading, repeated)
    if fmt.syntax is Syntax.TABLE:
        names = before.names
        return tables.parse(block, names, fmt.separator, source, reading, repeated, fmt.moment)
    if fmt.pattern is not None:
        return patterns.parse(block, fmt.pattern, source, reading, repeated)
    if fmt.syntax is Syntax.JSON:
        certain = frozenset({Slot.REFERRER} if fmt.has_referrer else ())
        paths = fmt.paths if fmt.paths is not None else json_paths(source)
        records = structured.parse(block, paths, source, reading, certain, repeated, fmt.moment)
        return decoded(records, fmt.encoded)
    raise ValueError(f"{fmt.name} is not read in blocks of lines")


def advance(block: Block, fmt: Format, state: State, source: LogSource) -> State:
    """Return the state after a block; cheap, and to be called in the order of the file."""
    before = after = state or BlockState()
    if fmt.syntax is Syntax.DIRECTIVES:
        after = replace(before, header=directives.advance(block, before.header))
    elif fmt.syntax is Syntax.TABLE:
        after = replace(before, names=tables.advance(block, before.names, fmt.separator, source))
    if source.timezone == "UTC":
        return after
    return replace(after, repeated=_repeated_hour(block, fmt, source, before, after))


def likely_state(head: bytes, fmt: Format, source: LogSource) -> State:
    """Return the state that holds from the head of a file on, in most files."""
    lines = np.frombuffer(head[: head.rfind(b"\n") + 1], np.uint8)
    state = advance(Block(lines, first_line=1, last=False), fmt, None, source)
    return replace(state or BlockState(), repeated=BAD)


def _repeated_hour(
    block: Block, fmt: Format, source: LogSource, before: BlockState, after: BlockState
) -> int:
    """Return the last time in the hour that clocks show twice, or BAD for most blocks."""
    zone = ZoneInfo(source.timezone)
    reading = Reading()
    cut = max(len(block.data) - _TAIL_BYTES, 0)
    newlines = np.flatnonzero(block.data[cut:] == NEWLINE)
    if cut and newlines.size:
        tail = Block(block.data[cut + newlines[0] + 1 :], block.first_line, block.last)
        if last_repeated(known_times(parse(tail, fmt, source, reading, after)), zone) == BAD:
            return BAD
    return last_repeated(known_times(parse(block, fmt, source, reading, before)), zone)


def _parse_delimited(
    block: Block, form: Layout, source: LogSource, reading: Reading, before: int
) -> Records:
    fields, lines = _fields(block, form, reading)
    text = line_text(block, lines)
    return assemble(fields, lines.number, text, source, escaped=form.escaped, before=before)


def _fields(block: Block, form: Layout, reading: Reading) -> tuple[Fields, Lines]:
    """Return the fields and lines of a block that is divided by a layout."""
    lines = find_lines(block)
    fields = Fields.empty(block.data, len(lines), set(form.slots))
    check_lines(fields, lines, reading.max_line_bytes)
    split_lines(fields, lines, form, 0, len(lines))
    if form.has_ports:
        drop_ports(fields)
    reject_cut_line(fields, lines, block)
    return fields, lines


def _parse_counts(block: Block, fmt: Format, source: LogSource, reading: Reading) -> Records:
    """Return records of one of Wikipedia's dumps."""
    form = fmt.layout
    if form is None:
        raise ValueError(f"{fmt.name} has no layout")
    fields, lines = _fields(block, form, reading)
    records = assemble(fields, lines.number, line_text(block, lines), source, escaped=False)
    zone = ZoneInfo(source.timezone)
    records = with_counts(records, count_columns(fields), zone, fmt.moment)
    if form.has(Slot.REFERRER):
        return as_clickstream(records, fmt.site or source.host or "")
    return as_pageviews(records)
