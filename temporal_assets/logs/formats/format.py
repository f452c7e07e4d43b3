"""The type of a format of access logs, and formats that users describe themselves.

In: a regular expression, or the log format directive of nginx or Apache. Out: a `Format`, which
says how lines are divided and what the fields mean. Not here: formats with a name
(`known_formats`), parsing (`parsing`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from temporal_assets.logs.fields.layouts import Layout, Slot, after_words
from temporal_assets.logs.fields.rewrite import Decode
from temporal_assets.logs.formats import patterns
from temporal_assets.logs.formats.server_formats import layout_of
from temporal_assets.logs.formats.structured import Path


class Syntax(Enum):
    """Syntax of a format's lines."""

    DELIMITED = "delimited"
    DIRECTIVES = "directives"
    TABLE = "table"
    JSON = "json"
    REGEX = "regex"
    PARQUET = "parquet"
    COUNTS = "counts"
    """Lines of words that each stand for many requests."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of access logs."""

    name: str
    description: str
    syntax: Syntax
    has_referrer: bool | None = None
    """True if lines tell where the visitor came from; None: the header or the columns decide."""
    layout: Layout | None = None
    paths: Mapping[Slot, tuple[Path, ...]] | None = None
    encoded: Mapping[str, Decode] = field(default_factory=dict)
    """Functions that undo the server's own encoding of some columns of `Records`."""
    separator: bytes = b""
    pattern: re.Pattern[bytes] | None = None
    by: str = ""
    """Columns that were chosen for a file, or other findings, to be shown beside the name."""
    wrapped: Path | None = None
    """Path of the lines in a JSON object, if a log shipper has put them into one."""
    moment: int | None = None
    """Microseconds since 1970 of the day or hour of all of a file's counts, if rows do not name
    theirs."""
    site: str = ""
    """Host of all pages, if the name of the file says so."""
    doubts: tuple[str, ...] = ()
    """Sentences on fields that were inferred from their values and should be looked at."""

    @property
    def label(self) -> str:
        """Text that tells people how a file was read."""
        return f"{self.name} by {self.by}" if self.by else self.name


def regex_format(pattern: str) -> Format:
    """The format of `regex:` followed by a pattern. Raises `PatternError` or `ColumnsError`."""
    compiled = patterns.compile_pattern(pattern)
    return Format(
        name="regex",
        description="your own pattern with named groups",
        syntax=Syntax.REGEX,
        has_referrer=Slot.REFERRER in patterns.groups(compiled).values(),
        pattern=compiled,
    )


def server_format(server: str, directive: str) -> Format:
    """Return the format of `nginx:` or `apache:` followed by a log format directive.

    Raises `ServerFormatError`.
    """
    form = layout_of(server, directive)
    return Format(
        name=f"{server}'s own",
        description=f"as the configuration of {server} says",
        syntax=Syntax.DELIMITED,
        has_referrer=form.has(Slot.REFERRER),
        layout=form,
    )


def shipped(fmt: Format, words: int) -> Format:
    """Return a delimited format after a number of leading words (syslog, a container's log)."""
    if fmt.layout is None:
        raise ValueError(f"{fmt.name} has no layout")
    return replace(
        fmt, name=f"{fmt.name} after {words} words", layout=after_words(fmt.layout, words)
    )
