"""The columns that every log format is turned into, and the reasons a line may be refused.

`Block` is a piece of a log with whole lines, `Records` are its lines as columns (time, address,
target …), `Column` is a column as ranges of bytes, `Reject` a reason. Plain containers over flat
arrays. Not here: how a format fills them (`parsing`) and what is kept of them (`cleaning`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import readonly

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
"""Positions in an array of bytes, or other 64-bit numbers of rows."""


class Reject(IntEnum):
    """Reasons why a line is no record. Users see the name in lower case."""

    NONE = 0
    NOT_THE_FORMAT = 1
    """Fields are missing, surplus or unterminated."""
    BAD_TIME = 2
    BAD_REQUEST = 3
    """The request is not `METHOD target [protocol]`: TLS bytes, garbage, `-`."""
    BAD_STATUS = 4
    TOO_LONG = 5
    NUL_BYTES = 6
    FUTURE = 7
    ANCIENT = 8
    NO_HOST = 9
    """Neither the line, nor the target, nor the `host` option names the site."""
    BAD_URL = 10
    """The target is not a URL the WHATWG parser accepts."""
    TRUNCATED = 11
    """The file ends, or its archive breaks, within this line."""

    @property
    def label(self) -> str:
        """The reason as users see it."""
        return self.name.lower()


_REMEDIES: Final = {
    Reject.BAD_TIME.label: (
        "See docs/log-formats.md for the times that are understood. Dates like 5/6/2026, none with"
        " a number above 12, need their order: --dates day-first or --dates month-first. Times"
        " without a year (Jan 5 10:00:00) belong to no day: have the server write it"
    ),
    Reject.ANCIENT.label: "There were no access logs then: see docs/log-formats.md for its times",
    Reject.NO_HOST.label: "Their lines name no site: read them with --host www.example.com",
    Reject.BAD_URL.label: (
        "If their pages are bare ids or names, say what stands before them (--url-prefix"
        " https://www.example.com/article/); if they are in two columns, join these (--column"
        " 'url={HOST}{PATH}'); if they are whole requests like `GET /page HTTP/1.1`, say so"
        " (--column request=NAME)"
    ),
}
"""What to do about lines that are rejected, by reason."""


def remedy(reason: str) -> str:
    """Return advice for a file most of whose lines are rejected for the reason of this label."""
    return _REMEDIES.get(reason, "Say what their format is: --format (docs/log-formats.md)")


@dataclass(frozen=True, slots=True)
class Column:
    """Ragged bytes: value i is `data[start[i]:stop[i]]`; `start[i] < 0` means no value."""

    data: Bytes
    start: Offsets
    stop: Offsets

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", readonly(self.data))

    def __len__(self) -> int:
        return len(self.start)

    def value(self, i: int) -> bytes | None:
        """Return one value as bytes; for samples and tests, not for loops."""
        if self.start[i] < 0:
            return None
        return self.data[self.start[i] : self.stop[i]].tobytes()


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of one file."""

    data: Bytes
    """The bytes; every line ends in a newline, except perhaps the last of the file."""
    first_line: int
    """1-based number of the first line in the (decompressed) file."""
    last: bool
    """True if the file ends here."""
    cut: bool = False
    """True if the last line is known to be incomplete: its archive is broken."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of rows that stand for many requests; -1 where a row does not state one."""

    views: Offsets
    visitors: Offsets
    transits: Offsets
    """Number of times the page was opened by a link on the referrer, or from nowhere without
    one."""

    def take(self, rows: Offsets) -> Counts:
        """Return the counts of some rows."""
        return Counts(self.views[rows], self.visitors[rows], self.transits[rows])


@dataclass(frozen=True, slots=True)
class Records:
    """Records, one row per non-empty line (or per row of a columnar file), in file order."""

    line: Offsets
    """1-based line number in the file."""
    text: Column
    """The raw line without its newline: for samples of rejected lines."""
    reason: NDArray[np.uint8]
    """A `Reject`; columns below are meaningful only where it is NONE."""
    time: Offsets
    """Microseconds since 1970-01-01T00:00:00Z."""
    status: NDArray[np.int16]
    """0 where the format has no status."""
    method: Column | None
    target: Column
    """Request target (origin form) or absolute URL, query included, escapes still in place."""
    host: Column | None
    scheme: Column | None
    referrer: Column | None
    """None when the format does not log it: then transits are unknown, not absent."""
    agent: Column | None
    address: Column
    """Client address or other client id. `-`/empty/missing where unknown."""
    escaped: bool
    r"""True if values may hold backslash escapes (Apache's and nginx's \", \\, \xHH)."""
    counts: Counts | None = None
    """None where a row is a request, as those of logs are."""
    is_page: NDArray[np.bool_] | None = None
    """True for events that are views of a page; None where all rows are requests."""

    def __len__(self) -> int:
        return len(self.line)
