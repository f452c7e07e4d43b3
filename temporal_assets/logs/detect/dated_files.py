"""Day, hour or month of a whole file of counts, from its name or its beginning.

In: the name of a file and its first bytes. Out: the date for rows that name none, and the format if
the file is one of Wikipedia's dumps. Not here: reading the counts (`logs.counts`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final
from zoneinfo import ZoneInfo

from temporal_assets.logs.counts.file_dates import clickstream_of, moment_of_file
from temporal_assets.logs.formats.format import Format, Syntax
from temporal_assets.logs.formats.known_formats import FORMATS
from temporal_assets.settings import LogSource


class UnknownFormatError(ValueError):
    """Error: the lines fit no known format; the message shows their shape, never an address."""


@dataclass(frozen=True, slots=True)
class FileDate:
    """Day or hour of all of a file's counts, for rows that do not name theirs."""

    moment: int | None = None
    site: str = ""
    """Host of all pages, if the name of the file says so."""
    is_month: bool = False

    @classmethod
    def of(cls, source: LogSource, head: bytes, name: str) -> FileDate:
        """Return what the name and the beginning of a file say."""
        if month := clickstream_of(name):
            return cls(month[1], month[0], is_month=True)
        return cls(moment_of_file(name, head, ZoneInfo(source.timezone)))

    def give(self, fmt: Format, head: bytes) -> Format:
        """Return the format with this time. Raises `UnknownFormatError` if it is unknown."""
        if fmt.syntax is not Syntax.COUNTS:
            return replace(fmt, moment=None if self.is_month else self.moment)
        needs_month = fmt.name == "wikipedia_clickstream"
        if head.strip() and (self.moment is None or needs_month != self.is_month):
            raise UnknownFormatError(_NO_MONTH if needs_month else _NO_HOUR)
        return replace(fmt, moment=self.moment, site=self.site)


_NO_HOUR: Final = (
    "Wikipedia's pageviews do not say when they were made: leave the name that the dump has"
    " (pageviews-20240501-010000.gz, pageviews-20240501-user.bz2)"
)
_NO_MONTH: Final = (
    "Wikipedia's clickstream does not say of which wiki and month it is: leave the name that the"
    " dump has (clickstream-enwiki-2024-05.tsv.gz)"
)
_DUMPS: Final = {
    "wikipedia_pageviews": re.compile(rb"[a-z0-9.-]{1,40} [^ \t]* \d{1,12}( \d{1,18})?"),
    "wikipedia_days": re.compile(rb"[a-z0-9.-]{1,40} [^ \t]* (null|\d+) [a-z-]+ \d{1,12}( \S*)?"),
    "wikipedia_clickstream": re.compile(rb"[^\t]+\t[^\t]+\t(link|external|other)\t\d{1,12}"),
}
"""Expressions for lines of Wikipedia's dumps, by format."""


def dump_format(lines: bytes) -> Format | None:
    """Return the format of one of Wikipedia's dumps."""
    some = lines.splitlines()
    for name, line in _DUMPS.items():
        if all(map(line.fullmatch, some)):
            return FORMATS[name]
    return None
