"""The format of a log, from the settings of its source or detected from its first lines.

In: a source of the settings, the first bytes of a file and its name. Out: the `Format` to parse the
file by, or an error that says what is wrong and what to do. Not here: the order in which formats
are tried (`detection`), the text of the error (`diagnosis`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from temporal_assets.logs.detect.dated_files import FileDate, UnknownFormatError
from temporal_assets.logs.detect.detection import (
    PARQUET_START,
    WRAPPED_SYNTAXES,
    as_shipped,
    detect,
)
from temporal_assets.logs.detect.diagnosis import RETURNS_ALONE, why_unknown
from temporal_assets.logs.detect.haproxy_headers import captured
from temporal_assets.logs.detect.sample import (
    INFERRED_LINES,
    ends_lines_in_returns,
    first_lines,
    json_keys,
    without_comments,
)
from temporal_assets.logs.detect.table_formats import with_separator
from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.formats import directives, tables
from temporal_assets.logs.formats.columns import (
    ColumnsError,
    check,
    mapped,
    renamed_columns,
    slots_of,
)
from temporal_assets.logs.formats.format import Format, Syntax, regex_format, server_format
from temporal_assets.logs.formats.json_columns import with_known_keys
from temporal_assets.logs.formats.known_formats import ALIASES, FORMATS, NAMED
from temporal_assets.settings import LogSource

_REGEX: Final = "regex:"
"""Beginning of a `format` in the settings that is a regular expression."""
_SERVERS: Final = ("nginx", "apache")
"""Servers whose own log format a `format` in the settings may hold, after a colon."""


def resolve(source: LogSource, head: bytes, name: str = "") -> Format:
    """Return the format of a source whose file is called `name` and begins with `head`.

    Without a head only the settings are checked. Raises `UnknownFormatError`, `PatternError`,
    `ServerFormatError` or `ColumnsError`.
    """
    dated = FileDate.of(source, head, name)
    named_format = _named(source, head)
    is_table = head.startswith(PARQUET_START)  # whose bytes may look like any end of a line
    if named_format is None and (is_table or not ends_lines_in_returns(head)):
        named_format = detect(source, head, dated=dated)
    if named_format is None:
        raise UnknownFormatError(why_unknown(source, head))
    named_format = dated.give(named_format, head)
    if source.format != "auto" and head.strip() and named_format.syntax in WRAPPED_SYNTAXES:
        named_format = as_shipped(named_format, source, without_comments(first_lines(head)))
    if named_format.syntax is not Syntax.PARQUET and ends_lines_in_returns(head):
        raise UnknownFormatError(RETURNS_ALONE)
    if named_format.name.split(" ")[0] == "haproxy":
        named_format = _with_captures(named_format, source, head)
    return _with_columns(named_format, source, head)


def _with_captures(fmt: Format, source: LogSource, head: bytes) -> Format:
    """Return HAProxy's format with captured headers, if these hold the host or the referrer."""
    if fmt.wrapped is not None:
        return fmt
    pattern = captured(first_lines(head, INFERRED_LINES), source.host or "")
    return fmt if pattern is None else replace(regex_format(pattern), name="haproxy by captures")


def _named(source: LogSource, head: bytes) -> Format | None:
    """Return the format the settings name; None if it is to be detected."""
    if source.format.startswith(_REGEX):
        return regex_format(source.format[len(_REGEX) :])
    server, colon, directive = source.format.partition(":")
    if colon and server in _SERVERS:
        return server_format(server, directive)
    name = source.format.lower()
    if name == "auto":
        return None
    name = ALIASES.get(name, name)
    if name not in FORMATS:
        raise UnknownFormatError(
            f"format {source.format!r} is not known; known are "
            f"{', '.join((*FORMATS, *ALIASES))}, regex:PATTERN, nginx:LOG_FORMAT, "
            "apache:LOG_FORMAT and auto"
        )
    return with_separator(FORMATS[name], head) if name == "csv" else FORMATS[name]


def _with_columns(fmt: Format, source: LogSource, head: bytes) -> Format:
    """Return the format, noting columns that were chosen by their usual names.

    Raises early what every block would raise later: missing columns.
    """
    if fmt.syntax is Syntax.TABLE and head.strip():
        names = tables.columns_of(head, fmt.separator, source.columns)
        columns = mapped(source.columns, names)
        slots_of(columns, names, is_dated=fmt.moment is not None)
        if (chosen := renamed_columns(columns)) and columns != source.columns:
            return replace(fmt, by=chosen)
    elif fmt.syntax is Syntax.JSON and fmt.name in NAMED:
        check(source.columns)
        sample = first_lines(head)
        keys = json_keys(sample)
        extended = with_known_keys(fmt, source, keys)
        is_machine = _OF_VECTOR in keys and _MACHINE.search(sample) and "host" not in source.columns
        return _without_machine(extended) if is_machine else extended
    elif fmt.syntax is Syntax.DIRECTIVES:
        header = directives.header_of(head)
        if header.fields and header.missing():
            raise ColumnsError(f"#Fields: of the log lacks {', '.join(header.missing())}")
    return fmt


_OF_VECTOR: Final = "source_type"
"""Key that Vector puts beside those of a line, as it does `host`, the name of the machine."""

_MACHINE: Final = re.compile(rb'"host": ?"[^".]*"')
"""Expression for a `host` without a dot, which is a machine and no site."""


def _without_machine(fmt: Format) -> Format:
    """Return a format of JSON lines whose `host` is no site."""
    paths = dict(fmt.paths or {})
    paths[Slot.HOST] = tuple(path for path in paths.get(Slot.HOST, ()) if path != ("host",))
    return replace(fmt, paths=paths)
