"""Detection of the format of a log from its first lines: the order in which formats are tried.

In: the first bytes of a file. Out: the first `Format` that most lines have, also where a log
shipper (a program such as syslog, Docker or Fluent Bit) has put each line into a line of its own;
None if no format fits. Not here: formats that settings name (`resolve`), whether lines fit a format
(`plausible`), inference from values (`inference`), why nothing fits (`diagnosis`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from temporal_assets.logs.detect.dated_files import FileDate, dump_format
from temporal_assets.logs.detect.explained import LEAST_SHARE, Explained, explains_all
from temporal_assets.logs.detect.inference import Inferred, infer
from temporal_assets.logs.detect.plausible import (
    Address,
    count_plausible,
    first_that_fits,
    fits,
    has_user,
)
from temporal_assets.logs.detect.sample import (
    INFERRED_LINES,
    first_lines,
    json_keys,
    without_comments,
)
from temporal_assets.logs.detect.table_formats import table_format
from temporal_assets.logs.formats import directives, tables
from temporal_assets.logs.formats.format import Format, Syntax, server_format, shipped
from temporal_assets.logs.formats.json_columns import with_known_keys
from temporal_assets.logs.formats.known_formats import FORMATS, SNOWPLOW_FIELDS
from temporal_assets.logs.formats.shipped_lines import (
    EVENT,
    VISIT,
    WRAPPERS,
    lines_within,
    may_hold_lines,
    place_of,
)
from temporal_assets.logs.read import streams
from temporal_assets.settings import LogSource

_SHIPPED: Final = range(1, 9)
"""Numbers of words that shippers put before a line: 2 for docker compose, 3 for a container's log
or syslog with ISO 8601 times, 5 for traditional syslog, 7 for RFC 5424."""

JSON_FORMATS: Final = tuple(fmt.name for fmt in FORMATS.values() if fmt.syntax is Syntax.JSON)
"""JSON formats, the more specific first."""

PARQUET_START: Final = b"PAR1"
"""Bytes that every Parquet file begins with."""

WRAPPED_SYNTAXES: Final = (Syntax.DELIMITED, Syntax.JSON)
"""Syntaxes that lines within others may have: no header is needed to read them."""

_SNOWPLOW: Final = re.compile(
    rb"([^\t]*\t){3}\d{4}-\d\d-\d\d [\d:.]+\t[^\t]*\t[a-z_]+\t"
    rb"([^\t]*\t){%d}[^\t]*" % (SNOWPLOW_FIELDS - 7)
)
"""Expression for a line of Snowplow's enriched events."""


def likely_format(head: bytes) -> str | None:
    """Return the name of the format that lines seem to have, for messages about a wrong one."""
    if not first_lines(head).strip():
        return None
    detected = detect(LogSource(path=""), head)
    return detected.name if detected else None


def detect(source: LogSource, head: bytes, dated: FileDate | None = None) -> Format | None:
    """Return the format that most of the first lines have; None if none fits.

    Formats that say what they are come first (Parquet, directives, JSON), those of words last.
    """
    if head.startswith(PARQUET_START):
        return FORMATS["parquet"]
    if not head.strip():
        # An empty log has any format; nothing will be read from it.
        return FORMATS["combined"]
    if streams.refusal(head):
        return None
    sample = first_lines(head)
    header = directives.header_of(sample)
    if header.fields:
        return FORMATS["cloudfront" if header.cloudfront else "w3c"]
    lines = without_comments(sample)
    if (
        detected := _event_format(lines)
        or _json_format(source, lines)
        or _wrapped_format(source, lines)
    ):
        return detected
    if dump := dump_format(lines):
        return dump
    named = _delimited_format(source, lines)
    is_dated = dated is not None and dated.moment is not None and not dated.is_month
    rows = first_lines(tables.behind_preamble(head))
    if named is None and (table := table_format(source, rows, is_dated=is_dated)):
        return table
    return _best_explaining(named, source, without_comments(first_lines(head, INFERRED_LINES)))


def _best_explaining(named: Format | None, source: LogSource, lines: bytes) -> Format | None:
    """Return the format that explains more of the lines: a named or an inferred one.

    Formats ignore what follows their last field, and take a host for a referrer where a
    server was told to write one more field.
    """
    by_name = None if named is None else Explained.by(named, lines)
    if named is not None and by_name is not None and explains_all(named, by_name, lines):
        return named
    better = infer(lines, source.host)
    if better is None:
        return named
    inferred = _inferred_format(better)
    if by_name is None:
        return inferred if fits(inferred, source, lines, Address.INFERRED) else None
    by_value = Explained.by(inferred, lines)
    is_better = by_value.score > by_name.score and by_value.records >= LEAST_SHARE * by_name.records
    return inferred if is_better else named


def _inferred_format(inference: Inferred) -> Format:
    """Return the format of an inferred directive, named as it can be given for a source."""
    server, _, directive = inference.directive.partition(":")
    return replace(
        server_format(server, directive), name=inference.directive, doubts=inference.doubts
    )


def _json_format(source: LogSource, sample: bytes) -> Format | None:
    """Return the first JSON format that most lines have, or None."""
    if b"{" not in sample:
        return None
    if source.columns:
        return FORMATS["jsonl"]
    extended = with_known_keys(FORMATS["jsonl"], source, json_keys(sample))
    return first_that_fits((*(FORMATS[name] for name in JSON_FORMATS), extended), source, sample)


def _event_format(sample: bytes) -> Format | None:
    """Return the format of an analytics tool's events that name visitors, or None."""
    if b"{" in sample:
        for name, path in (("matomo_json", VISIT), ("ga4_json", EVENT)):
            if f'"{path[0]}"'.encode() in sample and lines_within(sample, path):
                return FORMATS[name]
    lines = sample.splitlines()
    return FORMATS["snowplow"] if all(map(_SNOWPLOW.fullmatch, lines)) else None


def _wrapped_format(source: LogSource, sample: bytes) -> Format | None:
    """Return the format of lines within a shipper's JSON, perhaps several times."""
    for path in WRAPPERS if may_hold_lines(sample) and not source.columns else ():
        within = lines_within(sample, path)
        inner = detect(source, within) if within and within != sample else None
        if inner is not None and inner.wrapped is None and inner.syntax in WRAPPED_SYNTAXES:
            return replace(inner, name=f"{inner.name} within {place_of(path)}", wrapped=path)
    return None


def _delimited_format(source: LogSource, sample: bytes) -> Format | None:
    """Return the first format of words, brackets and quotes that most lines have, or None.

    The strictest test comes first: an address must be logged, then words of a shipper may come
    before it, then it may be a name, and at last it may be missing on every line.
    """
    candidates = [fmt for fmt in FORMATS.values() if fmt.syntax is Syntax.DELIMITED]
    return (
        first_that_fits(candidates, source, sample)
        or first_that_fits(_all_shipped(candidates), source, sample, Address.REAL)
        or first_that_fits(candidates, source, sample, Address.ANY)
        or first_that_fits(_all_anonymous(), source, sample, Address.NONE)
    )


def _all_anonymous() -> Iterator[Format]:
    """Return the formats in which a server may leave the address of every line empty."""
    return (FORMATS[name] for name in ("combined", "common"))


def as_shipped(fmt: Format, source: LogSource, sample: bytes) -> Format:
    """Return a configured format, extended by the words that a shipper puts before lines.

    Other lines may be in the log of a whole machine.
    """
    if fits(fmt, source, sample):
        return fmt
    for path in WRAPPERS if may_hold_lines(sample) else ():
        within = lines_within(sample, path)
        if within and fits(fmt, source, within):
            return replace(fmt, name=f"{fmt.name} within {place_of(path)}", wrapped=path)
    if not _may_be_shipped(fmt):
        return fmt
    candidates = [fmt, *_all_shipped([fmt])]
    return max(
        candidates,
        key=lambda candidate: count_plausible(candidate, source, sample, Address.REAL)[0],
    )


def _all_shipped(candidates: Iterable[Format]) -> Iterator[Format]:
    """Return the formats after each possible number of a shipper's words, few words first."""
    some = [fmt for fmt in candidates if _may_be_shipped(fmt)]
    return (shipped(fmt, words) for words in _SHIPPED for fmt in some)


def _may_be_shipped(fmt: Format) -> bool:
    """Return True for formats that shippers put words before, and that do not fit otherwise."""
    return has_user(fmt) or fmt.name in ("haproxy", "envoy")
