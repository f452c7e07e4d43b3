"""Logs of one JSON object per line.

Here: decoding with orjson and picking values by path. Not here: which paths a server uses
(`formats`), and what values mean (`tokenize`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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


_BATCH_LINES: Final = 2000
"""Lines whose values are held as objects: so many fit into the processor's cache."""

_ALWAYS: Final = frozenset({Slot.TIME, Slot.TARGET, Slot.ADDRESS})

_KINDS: Final = 1000
"""Sets of keys told apart: servers write a handful, hostile clients cannot fill the memory."""

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
    kinds, values = _Kinds(paths), _Values(len(lines))
    for i, (start, stop) in enumerate(zip(lines.start.tolist(), lines.stop.tolist(), strict=True)):
        if checked.reason[i]:
            continue
        record, encoding = _decode(raw[start:stop])
        if record is None:
            checked.reason[i] = Reject.NOT_THE_FORMAT
            continue
        kind = kinds.of(record, encoding)
        kind.rows.append(i)
        kind.picked.append(kind.pick(record))
        if i % _BATCH_LINES == _BATCH_LINES - 1:
            kinds.move_to(values)
    kinds.move_to(values)
    fields = values.fields(checked, certain)
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


class _Kind:
    """The objects of a block that have the same keys, so that values stand in the same places."""

    def __init__(self, options: Mapping[Slot, Sequence[Path]], encoding: str) -> None:
        self.slots = tuple(options)
        self.encoding = encoding
        self.rows: list[int] = []
        self.picked: list[tuple[Any, ...]] = []
        """Per row, values in the order of `slots`."""
        self.pick = _picker(list(options.values()))

    def columns(self) -> Iterator[tuple[Slot, list[bytes | None]]]:
        """Values as bytes, in the order of `rows`."""
        for slot, picked in zip(self.slots, zip(*self.picked, strict=True), strict=False):
            if self.encoding == "utf-8":
                yield slot, [v.encode() if type(v) is str else _as_bytes(v) for v in picked]
            else:
                yield slot, [_as_bytes(value, self.encoding) for value in picked]


class _Kinds:
    """How to pick the fields of an object, found once for all objects with the same keys."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._known: dict[tuple[str, ...], _Kind] = {}

    def of(self, record: dict[str, Any], encoding: str) -> _Kind:
        """What is known of objects like this one."""
        keys = (encoding, *record)
        kind = self._known.get(keys)
        if kind is not None:
            return kind
        if len(self._known) < _KINDS:
            kind = self._known[keys] = _Kind(self._present(record), encoding)
            return kind
        return self._known.setdefault((encoding,), _Kind(self._paths, encoding))

    def _present(self, record: dict[str, Any]) -> dict[Slot, Sequence[Path]]:
        present: dict[Slot, Sequence[Path]] = {}
        for slot, options in self._paths.items():
            # Some log shippers flatten objects: their keys have the dots.
            flat = [path if path[0] in record else (".".join(path),) for path in options]
            present[slot] = [path for path in flat if path[0] in record]
        return {slot: options for slot, options in present.items() if options}

    def move_to(self, values: _Values) -> None:
        """Hand over what was picked so far."""
        for kind in self._known.values():
            if kind.rows:
                for slot, found in kind.columns():
                    values.add(slot, kind.rows, found)
                kind.rows, kind.picked = [], []


def _picker(options: Sequence[Sequence[Path]]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """All values of an object at once."""
    keys = [paths[0][0] for paths in options]
    if len(keys) > 1 and all(len(paths) == 1 and len(paths[0]) == 1 for paths in options):
        return itemgetter(*keys)
    getters = [_getter(paths) for paths in options]
    return lambda record: tuple(get(record) for get in getters)


def _getter(options: Sequence[Path]) -> _Getter:
    """The first of several paths that leads to a value."""
    if len(options) == 1:
        return partial(_follow, options[0])

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


def _as_bytes(value: Any, encoding: str = "utf-8") -> bytes | None:
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


class _Values:
    """The values of all lines, one after the other in a fresh buffer."""

    def __init__(self, lines: int) -> None:
        self._starts = np.full((SLOTS, lines), -1, np.int64)
        self._stops = np.full((SLOTS, lines), -1, np.int64)
        self._present: set[Slot] = set()
        self._with_nul: list[int] = []
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, slot: Slot, rows: Sequence[int], values: Sequence[bytes | None]) -> None:
        """Append the values that a slot has in some rows."""
        lengths = np.array([-1 if value is None else len(value) for value in values], np.int64)
        known = lengths >= 0
        if not known.any():
            return
        self._present.add(slot)
        stops = self._size + np.cumsum(np.where(known, lengths, 0))
        at = np.array(rows, np.int64)[known]
        self._starts[slot, at] = (stops - lengths)[known]
        self._stops[slot, at] = stops[known]
        part = b"".join(filter(None, values))
        if b"\0" in part:
            pairs = zip(rows, values, strict=True)
            self._with_nul += [row for row, value in pairs if value and b"\0" in value]
        self._parts.append(part)
        self._size += len(part)

    def fields(self, checked: Fields, certain: frozenset[Slot]) -> Fields:
        """Fields over all values; `checked` knows which lines are bad already."""
        slots = {int(slot) for slot in self._present | certain | _ALWAYS}
        data = np.frombuffer(b"".join(self._parts), np.uint8)
        fields = Fields.empty(data, len(checked.reason), slots)
        fields.start, fields.stop = self._starts, self._stops
        fields.reason[:] = checked.reason
        fields.reason[self._with_nul] = Reject.NUL_BYTES
        return fields
