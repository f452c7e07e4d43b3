"""Logs of one JSON object per line.

In: a block of lines, and the paths of the fields. Out: `Records`. A compiled pass (`json_scan`)
finds the fields of most lines; values with escapes, and lines that it does not understand, are
decoded here by orjson. Not here: which paths a server uses (`known_formats`), and what values mean
(`interpretation`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import orjson
import pyarrow as pa

from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.text.texts import find_byte
from temporal_assets.logs.counts.row_counts import with_counts
from temporal_assets.logs.fields.assemble import (
    assemble,
    column,
    count_columns,
    line_text,
    reject_cut_line,
)
from temporal_assets.logs.fields.field_arrays import Fields
from temporal_assets.logs.fields.interpretation import interpret_fields
from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.fields.lines import check_lines, find_lines
from temporal_assets.logs.fields.rewrite import with_hosts, with_query
from temporal_assets.logs.fields.times import BAD
from temporal_assets.logs.formats.columns import is_counted
from temporal_assets.logs.formats.json_keys import Path, Paths, keys_of
from temporal_assets.logs.formats.json_scan import Scan, scan
from temporal_assets.logs.formats.json_values import ESCAPED, NUMBER
from temporal_assets.logs.read.byte_values import BRACE
from temporal_assets.logs.read.records import Block, Bytes, Offsets, Records, Reject
from temporal_assets.settings import DEFAULT_SCHEME, LogSource, Reading

__all__ = ["Path", "Paths", "dotted", "parse"]

_RAW_ESCAPE: Final = re.compile(rb"(?<!\\)((?:\\\\)*)\\x([0-9A-Fa-f]{2})")
r"""nginx without `escape=json` writes `\xHH`, which is no JSON."""

_ALWAYS: Final = frozenset({Slot.TIME, Slot.TARGET, Slot.ADDRESS})
"""Fields that every format has."""

_EMPTY: Final = (None, "", "-")
"""Values after which a later path is tried."""


def dotted(path: str) -> Path:
    """Return a dotted text (`request.headers.Referer.0`) as a path; numbers index lists."""
    return tuple(path.split("."))


def parse(
    block: Block,
    paths: Paths,
    source: LogSource,
    reading: Reading,
    certain: frozenset[Slot] = frozenset(),
    before: int = BAD,
    moment: int | None = None,
) -> Records:
    """Parse a block of JSON lines; `before` as for `assemble`, `moment` as for `with_counts`.

    A field that is in no line of the block is not logged at all, unless it is `certain` to be.
    """
    lines = find_lines(block)
    checked = Fields.empty(block.data, len(lines), set())
    check_lines(checked, lines, reading.max_line_bytes)
    raw = checked.data.data
    objects = replace(lines, start=_object_starts(checked.data, lines.start, lines.stop))
    scanned = scan(checked.data, objects, checked.reason, keys_of(paths), _is_utf8(checked.data))
    values = _Values(checked, scanned)
    for slot in paths:
        values.decode(slot, raw)
    unread = np.flatnonzero((checked.reason == Reject.NONE) & ~scanned.read)
    for i, start, stop in zip(
        unread.tolist(), objects.start[unread].tolist(), lines.stop[unread].tolist(), strict=True
    ):
        record, encoding = _decode(bytes(raw[start:stop]))
        if record is None:
            checked.reason[i] = Reject.NOT_THE_FORMAT
            continue
        for slot, options in paths.items():
            values.put(slot, i, _as_bytes(_pick(record, options), encoding))
    fields = values.fields(certain)
    are_counts = is_counted([slot for slot in Slot if fields.used[slot]])
    if are_counts:
        _put_dates_apart(fields)
    interpret_fields(fields)
    reject_cut_line(fields, lines, block)
    text = line_text(block, lines)
    records = assemble(fields, lines.number, text, source, escaped=False, before=before)
    if are_counts:
        zone = ZoneInfo(source.timezone)
        records = with_counts(records, count_columns(fields), zone, moment)
        records = with_hosts(records, DEFAULT_SCHEME)
    if not fields.used[Slot.QUERY]:
        return records
    return replace(records, target=with_query(records.target, column(fields, Slot.QUERY)))


def _put_dates_apart(fields: Fields) -> None:
    """Turn the time of counts into a date, in place: it usually has no time of day."""
    for ends in (fields.start, fields.stop):
        ends[Slot.DATE] = np.where(ends[Slot.TIME] >= 0, ends[Slot.TIME], ends[Slot.DATE])
    fields.used[Slot.TIME], fields.used[Slot.DATE] = False, True


@loop
def _object_starts(data: Bytes, start: Offsets, stop: Offsets) -> Offsets:
    """Return where the object of each line begins: log shippers put words before it."""
    starts = start.copy()
    for i in range(start.size):
        if data[start[i]] != BRACE:
            brace = find_byte(data, start[i], stop[i], BRACE)
            if brace < stop[i]:
                starts[i] = brace
    return starts


def _is_utf8(data: Bytes) -> bool:
    """Return True if all lines are UTF-8: a line's end is never inside a character."""
    ends = np.array([0, data.size], np.int32)
    # Arrow only looks; Python would make a text of it, which takes ten times as long.
    text = pa.StringArray.from_buffers(1, pa.py_buffer(ends), pa.py_buffer(data))
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


class _Values:
    """Values of all lines, in the block or in a buffer behind it."""

    def __init__(self, checked: Fields, scanned: Scan) -> None:
        self._fields = checked
        self._found = scanned
        self._more: list[bytes] = []
        self._size = len(checked.data)

    def decode(self, slot: Slot, raw: memoryview) -> None:
        """Store texts without their escapes, and numbers as Python writes them."""
        kind = self._found.kind[slot]
        rows = np.flatnonzero(kind == ESCAPED)
        texts = _decode_all(raw, b'"', *self._ranges(slot, rows))
        numbered = np.flatnonzero(kind == NUMBER)
        numbers = _decode_all(raw, b"", *self._ranges(slot, numbered))
        for row, value in zip(
            [*rows.tolist(), *numbered.tolist()], [*texts, *numbers], strict=True
        ):
            self.put(slot, row, str(value).encode())

    def _ranges(self, slot: Slot, rows: Offsets) -> tuple[list[int], list[int]]:
        return self._found.start[slot, rows].tolist(), self._found.stop[slot, rows].tolist()

    def put(self, slot: Slot, row: int, value: bytes | None) -> None:
        """Store a value that does not occur in the block."""
        if value is None:
            return
        self._found.start[slot, row] = self._size
        self._size += len(value)
        self._found.stop[slot, row] = self._size
        self._more.append(value)
        if b"\0" in value:
            self._fields.reason[row] = Reject.NUL_BYTES

    def fields(self, certain: frozenset[Slot]) -> Fields:
        """Return all values as fields."""
        present = {slot for slot in Slot if (self._found.start[slot] >= 0).any()}
        slots = {int(slot) for slot in present | certain | _ALWAYS}
        fields = Fields.empty(self._data(), len(self._fields.reason), slots)
        fields.start, fields.stop = self._found.start, self._found.stop
        fields.reason[:] = self._fields.reason
        return fields

    def _data(self) -> Bytes:
        if not self._more:
            return self._fields.data
        return np.concatenate((self._fields.data, np.frombuffer(b"".join(self._more), np.uint8)))


def _decode_all(raw: memoryview, quote: bytes, starts: list[int], stops: list[int]) -> list[Any]:
    """Decode values that are known to be valid JSON, all at once."""
    parts = [raw[start:stop] for start, stop in zip(starts, stops, strict=True)]
    if not parts:
        return []
    values: list[Any] = orjson.loads(
        b"[" + quote + (quote + b"," + quote).join(parts) + quote + b"]"
    )
    return values


def _decode(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """Return the object in a line (or None), and the encoding of its strings."""
    encoding = "utf-8"
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        # Each \xHH is one byte of the request, and so is every byte that is not UTF-8.
        encoding = "latin-1"
        repaired = _RAW_ESCAPE.sub(rb"\1\\u00\2", line)
        try:
            record = orjson.loads(repaired.decode(encoding))
        except orjson.JSONDecodeError:
            return None, encoding
    return (record if isinstance(record, dict) else None), encoding


def _pick(record: dict[str, Any], options: Sequence[Path]) -> Any:
    """Return the first non-empty value on one of several paths, or an empty one."""
    empty = None
    for path in options:
        # Some log shippers flatten objects: their keys have the dots.
        value = _follow(path if path[0] in record else (".".join(path),), record)
        if isinstance(value, (dict, bool)):
            continue
        if value not in _EMPTY:
            return value
        empty = value if empty is None else empty
    return empty


def _follow(path: Path, record: dict[str, Any]) -> Any:
    """Return the value at a path of a decoded object, or None."""
    value: Any = record
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _as_bytes(value: Any, encoding: str = "utf-8") -> bytes | None:
    """Return a value as a plain line would hold it, or None."""
    if type(value) is list:
        value = value[0] if value else ""
    if type(value) is str:
        try:
            return value.encode(encoding)
        except UnicodeEncodeError:
            return value.encode("utf-8", "replace")
    if value is None or isinstance(value, (dict, list, bool)):
        return None
    return str(value).encode()
