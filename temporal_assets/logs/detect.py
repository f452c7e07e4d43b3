"""Which format a log is in: by name, by its first lines, or an error that helps.

Here: detection and its messages. Not here: the formats (`formats`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from temporal_assets.logs import directives, tables
from temporal_assets.logs.columns import ColumnsError, mapped, slots_of
from temporal_assets.logs.formats import ALIASES, FORMATS, Format, Syntax, parse, regex_format
from temporal_assets.logs.layouts import Slot
from temporal_assets.logs.records import Block, Column, Offsets, Records, Reject
from temporal_assets.settings import LogSource, Reading

_REGEX: Final = "regex:"

_LINES: Final = 50
"""Lines looked at: enough that a few malformed ones at the beginning do not decide."""

_SHAPE_LENGTH: Final = 160
"""Characters of a line's shape that a message shows."""

_READING: Final = Reading()

_UNREADABLE: Final = (
    Reject.NOT_THE_FORMAT,
    Reject.BAD_TIME,
    Reject.TRUNCATED,
    Reject.TOO_LONG,
    Reject.NUL_BYTES,
)
"""Lines that speak against a format; a bad request or status can stand in a line of any."""

_ADDRESS: Final = re.compile(rb"[0-9]{1,3}(\.[0-9x]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:.%]*:.*|-")
_HOST: Final = re.compile(
    rb"(?=.*[A-Za-z])([A-Za-z0-9_-]+\.)+[A-Za-z0-9-]+(:\d+)?|localhost(:\d+)?"
)


class UnknownFormatError(ValueError):
    """The lines fit no known format; the message shows their shape, never an address."""


def resolve(source: LogSource, head: bytes) -> Format:
    """The format of a source whose file begins with `head`.

    Raises `UnknownFormatError`, `PatternError` or `ColumnsError`.
    """
    if source.format.startswith(_REGEX):
        return regex_format(source.format[len(_REGEX) :])
    if source.format != "auto":
        name = ALIASES.get(source.format, source.format)
        if name not in FORMATS:
            raise UnknownFormatError(
                f"format {source.format!r} is not known; known are "
                f"{', '.join((*FORMATS, *ALIASES))}, regex:PATTERN and auto"
            )
        return FORMATS[name]
    found = _detect(source, head)
    if found is None:
        raise UnknownFormatError(
            f"no known format fits: lines look like `{shape(_first_line(head))}` (letters are a, "
            f"digits 9). Tried {', '.join(fmt.name for fmt in _candidates())}. Name the format, or "
            "describe it with regex: and named groups (docs/log-formats.md)"
        )
    return found


def likely_format(head: bytes) -> str | None:
    """The name of the format that lines seem to have, for messages about a wrong one."""
    if not _sample(head).strip():
        return None
    found = _detect(LogSource(path=""), head)
    return found.name if found else None


def shape(line: bytes) -> str:
    """How a line is punctuated: runs of letters become `a`, of digits `9`. Reveals no content."""
    text = line.decode("utf-8", "replace")
    text = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= _SHAPE_LENGTH else text[:_SHAPE_LENGTH] + "…"


def _detect(source: LogSource, head: bytes) -> Format | None:
    sample = _sample(head)
    if head.startswith(b"PAR1"):
        return FORMATS["parquet"]
    if not sample.strip():
        # An empty log has any format; nothing will be read from it.
        return FORMATS["combined"]
    header = directives.header_of(sample)
    if header.fields:
        return FORMATS["cloudfront" if header.cloudfront else "w3c"]
    if sample.lstrip().startswith(b"{"):
        return _json_format(source, sample)
    delimited = (fmt for fmt in _candidates() if fmt.syntax is Syntax.DELIMITED)
    for fmt in delimited:
        if _fits(fmt, source, sample):
            return fmt
    return _table(source, sample)


def _candidates() -> Iterator[Format]:
    return (fmt for fmt in FORMATS.values() if fmt.name != "iis")


def _sample(head: bytes) -> bytes:
    """The first lines that are not empty, whole unless there is only one."""
    lines = [line for line in head.splitlines(keepends=True) if line.strip()]
    if len(lines) > 1 and not lines[-1].endswith((b"\n", b"\r")):
        lines.pop()
    return b"".join(lines[:_LINES])


def _first_line(head: bytes) -> bytes:
    lines = _sample(head).splitlines()
    return lines[0] if lines else b""


def _json_format(source: LogSource, sample: bytes) -> Format | None:
    if source.columns:
        return FORMATS["jsonl"]
    for name in ("caddy_json", "traefik_json", "nginx_json", "jsonl"):
        if _fits(FORMATS[name], source, sample):
            return FORMATS[name]
    return None


def _table(source: LogSource, sample: bytes) -> Format | None:
    """CSV or TSV if the first line names the columns that are wanted."""
    for name in ("csv", "tsv"):
        names = tables.names_of(sample, FORMATS[name].separator)
        try:
            slots_of(mapped(source.columns, names), names)
        except ColumnsError:
            continue
        return FORMATS[name]
    return None


def _fits(fmt: Format, source: LogSource, sample: bytes) -> bool:
    """Whether most lines have the format and their addresses and hosts look like such."""
    block = Block(np.frombuffer(sample, np.uint8), 1, last=True)
    records = parse(block, fmt, LogSource(path=source.path), _READING)
    rows = np.flatnonzero(~np.isin(records.reason, _UNREADABLE))
    if 2 * len(rows) <= len(records):
        return False
    if fmt.layout is None or not fmt.layout.has(Slot.HOST):
        return True
    return _plausible(records, rows)


def _plausible(records: Records, rows: Offsets) -> bool:
    """Formats that differ only in where host and address stand are told apart by these."""
    host = records.host
    if host is None:
        return False
    good = sum(_matches(_ADDRESS, records.address, i) and _matches(_HOST, host, i) for i in rows)
    return 2 * good > len(rows)


def _matches(pattern: re.Pattern[bytes], values: Column, i: int) -> bool:
    return pattern.fullmatch(values.value(int(i)) or b"") is not None
