"""Logs of one JSON object per line.

Here: decoding with orjson and picking values by path. Not here: which paths a server uses
(`formats`), and what values mean (`tokenize`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any, Final

import numpy as np
import orjson

from temporal_assets.logs.assemble import assemble, column, line_text, reject_cut_line
from temporal_assets.logs.layouts import SLOTS, Slot
from temporal_assets.logs.records import Block, Records, Reject
from temporal_assets.logs.rewrite import with_query
from temporal_assets.logs.times import BAD
from temporal_assets.logs.tokenize import Fields, check_lines, find_lines, interpret_fields
from temporal_assets.settings import LogSource, Reading

Path = tuple[str, ...]
Paths = Mapping[Slot, Sequence[Path]]
"""Where a field may be, most likely first."""

_RAW_ESCAPE: Final = re.compile(rb"(?<!\\)((?:\\\\)*)\\x([0-9A-Fa-f]{2})")
r"""nginx without `escape=json` writes `\xHH`, which is no JSON."""


_KEY_SETS: Final = 1000
"""Sets of keys remembered: servers write a handful, hostile clients cannot fill the memory."""

_Getter = Callable[[dict[str, Any]], Any]


def dotted(path: str) -> Path:
    """`request.headers.Referer.0` as a path; numbers index lists."""
    return tuple(path.split("."))


def parse(
    block: Block,
    paths: Paths,
    source: LogSource,
    reading: Reading,
    certain: frozenset[Slot] = frozenset(),
    before: int = BAD,
) -> Records:
    """Records of a block of JSON lines; `before` as for `assemble`.

    A field that is in no line of the block is not logged at all, unless it is `certain` to be.
    """
    lines = find_lines(block)
    checked = Fields.empty(block.data, len(lines), set())
    check_lines(checked, lines, reading.max_line_bytes)
    raw = block.data.tobytes()
    getters = _Getters(paths)
    values: dict[Slot, list[bytes | None]] = {slot: [None] * len(lines) for slot in paths}
    for i, (start, stop) in enumerate(zip(lines.start.tolist(), lines.stop.tolist(), strict=True)):
        if checked.reason[i]:
            continue
        record, encoding = _decode(raw[start:stop])
        if record is None:
            checked.reason[i] = Reject.NOT_THE_FORMAT
            continue
        for slot, get in getters.of(record):
            values[slot][i] = _as_bytes(get(record), encoding)
    fields = _fields(values, checked, certain)
    interpret_fields(fields)
    reject_cut_line(fields, lines, block)
    text = line_text(block, lines)
    records = assemble(fields, lines.number, text, source, escaped=False, before=before)
    if not fields.used[Slot.QUERY]:
        return records
    return replace(records, target=with_query(records.target, column(fields, Slot.QUERY)))


def _decode(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """(object, encoding of its strings as bytes); no object if the line is none."""
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


class _Getters:
    """How to pick the fields of an object, found once for all objects with the same keys."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._known: dict[tuple[str, ...], list[tuple[Slot, _Getter]]] = {}

    def of(self, record: dict[str, Any]) -> list[tuple[Slot, _Getter]]:
        keys = tuple(record)
        try:
            return self._known[keys]
        except KeyError:
            if len(self._known) >= _KEY_SETS:
                self._known = {}
            found = self._known[keys] = self._find(record)
            return found

    def _find(self, record: dict[str, Any]) -> list[tuple[Slot, _Getter]]:
        getters = []
        for slot, options in self._paths.items():
            present = [path for path in options if path[0] in record]
            if present:
                getters.append((slot, _getter(present)))
        return getters


def _getter(options: Sequence[Path]) -> _Getter:
    """The first of several paths that leads to a value."""
    if len(options) == 1:
        path = options[0]
        return itemgetter(path[0]) if len(path) == 1 else partial(_follow, path)

    def get(record: dict[str, Any]) -> Any:
        found = None
        for path in options:
            value = _follow(path, record)
            if value not in (None, "", "-"):
                return value
            found = value if found is None else found
        return found

    return get


def _follow(path: Path, record: dict[str, Any]) -> Any:
    value: Any = record
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _as_bytes(value: Any, encoding: str) -> bytes | None:
    """A value as it would stand in a line; None if there is none."""
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


def _fields(
    values: Mapping[Slot, list[bytes | None]], checked: Fields, certain: frozenset[Slot]
) -> Fields:
    """Fields over one fresh buffer of all values."""
    lines = len(checked.reason)
    present = {slot for slot, column in values.items() if any(v is not None for v in column)}
    slots = {int(slot) for slot in present | certain | {Slot.TIME, Slot.TARGET, Slot.ADDRESS}}
    parts: list[bytes] = []
    starts = np.full((SLOTS, lines), -1, np.int64)
    stops = np.full((SLOTS, lines), -1, np.int64)
    base = 0
    for slot in present:
        column = values[slot]
        lengths = np.array([-1 if value is None else len(value) for value in column], np.int64)
        stop = base + np.cumsum(np.maximum(lengths, 0))
        known = lengths >= 0
        starts[slot, known] = (stop - lengths)[known]
        stops[slot, known] = stop[known]
        parts.extend(value for value in column if value)
        base = int(stop[-1])
    data = b"".join(parts)
    fields = Fields.empty(np.frombuffer(data, np.uint8), lines, slots)
    fields.start[:], fields.stop[:] = starts, stops
    fields.reason[:] = checked.reason
    if b"\0" in data:
        for slot in present:
            rows = [i for i, value in enumerate(values[slot]) if value and b"\0" in value]
            fields.reason[rows] = Reject.NUL_BYTES
    return fields
