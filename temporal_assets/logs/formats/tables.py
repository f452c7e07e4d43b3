"""CSV and TSV: a header line names the columns, and their names or the settings say what they mean.

In: a block of lines, and the names that an earlier block held. Out: `Records`. It is RFC 4180 with
one record per line: a line break inside quotes is a malformed line, since blocks are whole lines.
Not here: the loop over fields (`tokenize`), which names mean what (`columns`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from temporal_assets.logs.counts.row_counts import with_counts
from temporal_assets.logs.fields.assemble import (
    assemble,
    column,
    count_columns,
    line_text,
    reject_cut_line,
)
from temporal_assets.logs.fields.field_arrays import Fields, Lines
from temporal_assets.logs.fields.layouts import COLUMN_NAMES, SKIP, Kind, Layout, Slot
from temporal_assets.logs.fields.lines import check_lines, find_lines
from temporal_assets.logs.fields.rewrite import (
    halve_quotes,
    has_doubled_quotes,
    with_hosts,
    with_query,
)
from temporal_assets.logs.fields.times import BAD
from temporal_assets.logs.fields.tokenize import split_lines
from temporal_assets.logs.formats.columns import (
    by_number,
    is_counted,
    mapped,
    numbers,
    slots_of,
    with_dates_apart,
)
from temporal_assets.logs.read.records import Block, Column, Offsets, Records
from temporal_assets.logs.read.slash_dates import in_iso
from temporal_assets.settings import DEFAULT_SCHEME, LogSource, Reading

Names = tuple[str, ...]

_PREAMBLE: Final = b"# -----"
"""Beginning of Google Analytics exports, which have comments, and tables for charts."""

_NAMES_BYTES: Final = 1 << 20
"""Most bytes of a line of column names."""


def names_of(text: bytes, separator: bytes) -> Names:
    """Return column names in the first line that is not empty."""
    for line in io.BytesIO(behind_preamble(text)):
        if line.strip():
            text_line = line.decode("utf-8", "replace")
            try:
                row = next(csv.reader([text_line], delimiter=separator.decode()))
            except csv.Error:
                return ()  # a carriage return within the line, or a cell without end: no names
            return tuple(name.strip() for name in row)
    return ()


def behind_preamble(text: bytes) -> bytes:
    """Return the text from the table on that follows Google Analytics' comments and charts.

    Any other text is returned unchanged.
    """
    if not text.startswith(_PREAMBLE):
        return text
    at = 0
    for line in io.BytesIO(text[:_NAMES_BYTES]):
        names = names_of(line, b",") if not line.startswith(b"#") else ()
        if {Slot.TARGET} < {COLUMN_NAMES[field] for field in mapped({}, names)}:
            return text[at:]
        at += len(line)
    return text


def columns_of(text: bytes, separator: bytes, columns: Mapping[str, str]) -> Names:
    """Return the names of all columns, or their numbers from 1 if the settings use these."""
    names = names_of(text, separator)
    return numbers(len(names)) if by_number(columns) else names


def values_of(text: bytes, separator: bytes) -> dict[str, list[str]]:
    """Return the values of each column of some lines, of which the first names the columns."""
    lines = text.decode("utf-8", "replace").splitlines()
    try:
        names, *rows = csv.reader(lines, delimiter=separator.decode())
    except (csv.Error, ValueError):
        return {}
    whole = [row for row in rows if len(row) == len(names)]
    return {name: [row[place] for row in whole] for place, name in enumerate(names)}


def _head(block: Block) -> bytes:
    """Return the beginning of a block, as long as a line of names may be."""
    return block.data[:_NAMES_BYTES].tobytes()


def advance(block: Block, names: Names | None, separator: bytes, source: LogSource) -> Names | None:
    """Return the column names in effect after a block: those in the first line of the file."""
    return names or columns_of(_head(block), separator, source.columns) or None


def parse(
    block: Block,
    names: Names | None,
    separator: bytes,
    source: LogSource,
    reading: Reading,
    before: int = BAD,
    moment: int | None = None,
) -> Records:
    """Return records of a block; without `names` its first line is the header, if there is one.

    `before` as for `assemble`, `moment` as for `with_counts`.
    """
    if source.dates is not None:
        block = in_iso(block, source.dates)
    lines = find_lines(block)
    if names is None:
        head = _head(block)
        names = columns_of(head, separator, source.columns)
        first = int(np.searchsorted(lines.start, len(head) - len(behind_preamble(head))))
        first += not by_number(source.columns)
        lines = Lines(lines.number[first:], lines.start[first:], lines.stop[first:])
    layout = _layout(names, separator, source.columns, is_dated=moment is not None)
    fields = Fields.empty(block.data, len(lines), set(layout.slots))
    check_lines(fields, lines, reading.max_line_bytes)
    split_lines(fields, lines, layout, 0, len(lines))
    reject_cut_line(fields, lines, block)
    text = line_text(block, lines)
    records = assemble(fields, lines.number, text, source, escaped=False, before=before)
    query = column(fields, Slot.QUERY)
    if has_doubled_quotes(block.data):
        query = halve_quotes(query, query.start)
        records = replace(
            records,
            target=halve_quotes(records.target, _target_fields(fields)),
            referrer=_halved(records.referrer),
            agent=_halved(records.agent),
        )
    if is_counted([slot for slot in Slot if fields.used[slot]]):
        zone = ZoneInfo(source.timezone)
        records = with_counts(records, count_columns(fields), zone, moment)
        records = with_hosts(records, DEFAULT_SCHEME)
    if not fields.used[Slot.QUERY]:
        return records
    return replace(records, target=with_query(records.target, query))


def _target_fields(fields: Fields) -> Offsets:
    """Return where the fields begin that targets are of: requests, where a line has one."""
    target, request = column(fields, Slot.TARGET).start, column(fields, Slot.REQUEST).start
    return np.where(request >= 0, request, target)


def _halved(values: Column | None) -> Column | None:
    return None if values is None else halve_quotes(values, values.start)


def _layout(
    names: Names, separator: bytes, columns: Mapping[str, str], *, is_dated: bool
) -> Layout:
    """Return the layout of a table's lines: quoted fields, of which some are ours."""
    wanted = slots_of(mapped(columns, names), names, is_dated=is_dated)
    slot_of = {name: slot for slot, name in with_dates_apart(wanted).items()}
    return Layout(
        kinds=(int(Kind.CSV),) * len(names),
        slots=tuple(int(slot_of.get(name, SKIP)) for name in names),
        required=len(names),
        separator=separator,
        exact=True,
    )
