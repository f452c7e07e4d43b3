"""Message on why the format of a log is unknown, and what to do about it.

In: the settings of a source and the first bytes of a log that no format fits. Out: a sentence that
shows the shape of the lines and never an address or another value. Not here: detection
(`detection`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from temporal_assets.logs.detect.detection import JSON_FORMATS, detect
from temporal_assets.logs.detect.plausible import ANY_TIME, Address, fits
from temporal_assets.logs.detect.sample import (
    INFERRED_LINES,
    SHAPE_LENGTH,
    ends_lines_in_returns,
    first_lines,
    json_keys,
    shape,
    without_comments,
)
from temporal_assets.logs.detect.table_formats import table_formats
from temporal_assets.logs.fields.layouts import COLUMN_NAMES
from temporal_assets.logs.formats import tables
from temporal_assets.logs.formats.columns import (
    ColumnsError,
    by_number,
    is_counted,
    lacking,
    look_like_names,
    mapped,
    slots_of,
    suggested,
    suggested_by_names,
)
from temporal_assets.logs.formats.format import Syntax
from temporal_assets.logs.formats.known_formats import FORMATS
from temporal_assets.logs.formats.shipped_lines import WRAPPERS, lines_within, place_of
from temporal_assets.logs.privacy.pseudonyms import packed_address
from temporal_assets.logs.read import streams
from temporal_assets.settings import LogSource

_ERROR_LOGS: Final = {
    "nginx": re.compile(rb"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[[a-z]+\] \d+#\d+: "),
    "Apache": re.compile(
        rb"\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d(\.\d+)? \d{4}\] \[[a-z0-9_:-]+\] "
    ),
}
"""Expressions for beginnings of error logs' lines; these are in the folder of access logs."""

_WORDS_OF_A_LINE: Final = 4
"""Number of blanks from which on a text within JSON is a log line rather than a word."""

_KEYS_SHOWN: Final = 30
"""Keys of a JSON line that a message names."""

_ARRAY: Final = re.compile(rb"\[\s*(\{|$)")
"""Expression for the beginning of JSON that has all records in one list."""


def _fits_but_for_time(source: LogSource, head: bytes) -> str | None:
    """Return the name of the format that lines fit but for their times, which are before 1990."""
    lines = without_comments(first_lines(head))
    for fmt in FORMATS.values():
        # A small number at the beginning of words is a counter rather than a time of Squid.
        if fmt.syntax is not Syntax.DELIMITED or fmt.name == "squid":
            continue
        if fits(fmt, source, lines, Address.ANY, ANY_TIME):
            return fmt.name
    return None


RETURNS_ALONE: Final = (
    "its lines end in carriage returns alone, which makes them one line: convert the file"
    " (tr '\\r' '\\n')"
)
_ADVICE: Final = (
    "Name the format, give the server's own (`nginx:` or `apache:` and its log format), or "
    "describe the lines with `regex:` and named groups (docs/log-formats.md)"
)
_ONE_A_LINE: Final = "write one object a line (jq -c '{}' FILE)"
_UNNAMED: Final = (
    "a table whose first line names no columns needs their numbers"
    " (--column time=1 --column address=2 --column url=3)"
)


def _is_binary(head: bytes) -> bool:
    """Return True if one byte in twenty is a control character that no text has."""
    return 20 * len(head.translate(None, _NO_CONTROLS)) > len(head)


_NO_CONTROLS: Final = bytes(b for b in range(256) if b >= ord(" ") or b in b"\t\r\n\x1b")
"""Bytes that text has: all but control characters, which tell binary files."""


_UNDATED: Final = (
    "counts of views that do not say of which day they are (the columns are {}). Export them with a"
    " column of the date, or a day a file with the date in its name, like pages-2024-05-01.csv"
    " (docs/counts.md)"
)


def _why_other_log(source: LogSource, sample: bytes) -> str | None:
    """Return the message for error logs and for undated counts, None for other files."""
    lines = sample.splitlines()
    for server, beginning in _ERROR_LOGS.items():
        if beginning.match(lines[0]):
            return (
                f"an error log of {server}, which does not say what was served: let the path of the"
                " source name access logs alone, as `access.log*` does"
            )
    first = lines[0]
    names = json_keys(first) if first.startswith(b"{") else []
    for fmt in () if names else table_formats(first):
        if fmt.separator in first:
            names = list(tables.columns_of(first, fmt.separator, source.columns))
            break
    if not names or not look_like_names(names):
        return None
    fields = {COLUMN_NAMES[field] for field in mapped(source.columns, names)}
    if not is_counted(fields) or lacking(fields) != ["time"]:
        return None
    return _UNDATED.format(", ".join(names[:_KEYS_SHOWN]))


def _why_unknown_json(line: bytes) -> str:
    """Return the message on what an object lacks, with its keys, which are hardly ever private."""
    if line == b"{":
        return f"JSON over several lines: {_ONE_A_LINE.format('.')}"
    needs = (
        "JSON lines need a time, an address and a target under names that are known "
        f"({', '.join(JSON_FORMATS[:-1])}) or given by `columns`"
    )
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return f"the first line is no JSON, though it looks like it; {needs}. {_ADVICE}"
    for path in WRAPPERS:
        within = lines_within(line, path).split(b"\n")[0]
        if within.count(b" ") >= _WORDS_OF_A_LINE:
            return (
                f"lines of a log within `{place_of(path)}`, and these fit no known format: they"
                f" look like `{shape(within)}` (letters are a, digits 9). {_ADVICE}"
            )
    for key, value in record.items():
        if key.isidentifier() and isinstance(value, list) and value and isinstance(value[0], dict):
            return f"a JSON object with a list of all records: {_ONE_A_LINE.format(f'.{key}[]')}"
    keys = list(_keys(record))
    shown = ", ".join(keys[:_KEYS_SHOWN]) + (", …" if len(keys) > _KEYS_SHOWN else "")
    return f"{needs}; here the keys are {shown or 'none'}. {_ADVICE}"


def _keys(record: dict[str, Any], above: str = "") -> Iterator[str]:
    """Yield the dotted paths to all values of a record, as the option `columns` takes them."""
    for key, value in record.items():
        # Objects may be keyed by what they are about.
        path = above + ("[address]" if packed_address(key.encode()) is not None else key)
        if isinstance(value, dict) and value:
            yield from _keys(value, f"{path}.")
        else:
            yield "".join(c if c.isprintable() else "?" for c in path[:SHAPE_LENGTH])


_YEARLESS: Final = re.compile(
    rb"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: +\d{1,2} +|:)\d\d:\d\d"
)
"""Expression for a month, a day and a clock without a year, as in syslog."""
_WITH_YEAR: Final = re.compile(rb"[-/ ](?:19|20)\d\d[:\s\]]|\b(?:19|20)\d\d-\d\d")
"""Expression for a year in a date."""
_NO_YEAR: Final = (
    "their times have no year, so that no line can be given to its day: have the server write it"
    " (nginx: $time_iso8601; Apache: %t)"
)


def why_unknown(source: LogSource, head: bytes) -> str:
    """Return the message with what detection saw, and what to do."""
    refused = streams.refusal(head)
    if refused:
        return f"{refused}. {_ADVICE}"
    if _is_binary(head):
        return f"no text but binary, or UTF-16 without a mark: no log that is known. {_ADVICE}"
    if ends_lines_in_returns(head):
        return RETURNS_ALONE
    if old := _fits_but_for_time(source, head):
        return (
            f"the lines look like `{old}`, but their times lie before 1990: the clock of the server"
            " was not set, and no line can be given to its day. Remove the file from the source,"
            " or correct its times"
        )
    first = without_comments(first_lines(head)).split(b"\n")[0].rstrip()
    if other := _why_other_log(source, without_comments(first_lines(tables.behind_preamble(head)))):
        return other
    if fmt := detect(source, first + b"\n"):
        return (
            f"the first line is one of `{fmt.name}`, but most of those behind it are not. Where"
            f" they are to be counted as rejected, name the format (--format {fmt.name})"
        )
    what = f"no known format fits: lines look like `{shape(first)}` (letters are a, digits 9)"
    if _YEARLESS.search(first) and not _WITH_YEAR.search(first):
        return f"{what}; {_NO_YEAR}"
    sample = without_comments(first_lines(head, INFERRED_LINES))
    if first.startswith(b"{"):
        return _why_unknown_json(first) + _options_by_values(_values_of_json(sample))
    if _ARRAY.match(first):
        return f"a JSON array: {_ONE_A_LINE.format('.[]')}"
    for fmt in table_formats(first):
        if first.count(fmt.separator) > 1:
            why = _why_no_table(source, first, fmt.separator)
            values = tables.values_of(sample, fmt.separator)
            names = tables.columns_of(first, fmt.separator, source.columns)
            hint = why and (_options_by_values(values) or _options_by_names(source, names, values))
            return f"{why}{hint}" if why else f"{what}; {_UNNAMED}. {_ADVICE}"
    return f"{what}. {_ADVICE}"


def _options_by_values(values: Mapping[str, Sequence[str]]) -> str:
    """Return options to try, inferred from the values of columns, or an empty text."""
    options = suggested(values)
    return f". By their values: {options} (--dry-run shows what comes of it)" if options else ""


def _options_by_names(
    source: LogSource, names: Sequence[str], values: Mapping[str, Sequence[str]]
) -> str:
    """Return options to try, inferred from the names of columns, or an empty text."""
    if by_number(source.columns):
        return ""
    has_prefix = bool(source.url_prefix)
    options = suggested_by_names(source.columns, names, values, has_prefix=has_prefix)
    return f". By their names: {options} (--dry-run shows what comes of it)" if options else ""


def _values_of_json(sample: bytes) -> dict[str, list[str]]:
    """Return the values of each path in some objects, as texts."""
    values: dict[str, list[str]] = {}
    for line in sample.splitlines():
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        for path, value in _leaves(record) if isinstance(record, dict) else ():
            values.setdefault(path, []).append("" if value is None else str(value))
    return values


def _leaves(record: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        if packed_address(key.encode()) is not None:
            continue  # it is content, which no message shows
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield above + key, value


def _why_no_table(source: LogSource, first: bytes, separator: bytes) -> str | None:
    """Return the message on missing columns.

    None if the first line does not name any, and no numbers are given.
    """
    names = tables.columns_of(first, separator, source.columns)
    if not by_number(source.columns) and not look_like_names(names):
        return None
    try:
        slots_of(mapped(source.columns, names), names)
    except ColumnsError as error:
        return f"{error} (docs/log-formats.md)"
    return None
