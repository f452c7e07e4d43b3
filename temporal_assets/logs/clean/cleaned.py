"""The result of cleaning a block of parsed lines: its page requests, and a verdict on each line.

`Cleaned` is what `cleaning` returns and what the landing zone stores. Not here: how verdicts and
page requests come about (`cleaning`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets.logs.read.encode import Codes
from temporal_assets.logs.read.records import Counts, Offsets, Reject
from temporal_assets.logs.read.tally import Tally

DROPS: Final = ("method", "status", "static", "bot_agent", "event", "no_views")
"""Reasons to drop well-formed lines that are no page views, in the order of their verdicts."""

FIRST_DROP: Final = 100
"""Verdict of the first of DROPS, the others follow; 0 is kept, numbers between are a `Reject`."""


@dataclass(frozen=True, slots=True)
class Strings:
    """Rows as codes into distinct strings; a negative code is no value."""

    codes: Codes
    values: pa.StringArray

    def take(self, rows: NDArray[np.bool_]) -> Strings:
        """Return the chosen rows with only their strings, so that others are not kept in memory."""
        codes = self.codes[rows]
        used = np.zeros(len(self.values) + 1, np.bool_)
        used[codes] = True  # -1 is the last
        used = used[:-1]
        if used.all():
            return Strings(codes, self.values)
        place = np.append(np.cumsum(used, dtype=np.int32) - 1, np.int32(-1))
        return Strings(place[codes], self.values.filter(pa.array(used)))

    def to_arrow(self) -> pa.DictionaryArray:
        """Return a dictionary array; no value is NULL."""
        mask = self.codes < 0
        return pa.DictionaryArray.from_arrays(
            pa.array(self.codes, mask=mask if mask.any() else None), self.values
        )


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The page requests of one block, in the order of the log."""

    day: NDArray[np.int32]
    """Days since 1970-01-01 in the zone of the partitions."""
    time: Offsets
    """Microseconds since 1970-01-01T00:00:00Z."""
    client: Offsets
    """Pseudonyms of the clients; 0 in logs of counts."""
    url: Strings
    referrer: Strings
    site: Strings
    tally: Tally
    """Counts and samples of the lines that are not kept."""
    last_day: int
    """Day of the last line with a readable time, or UNKNOWN_DAY."""
    first_known_day: int
    """Day of the first line with a readable time, or UNKNOWN_DAY."""
    verdict: NDArray[np.int16]
    """Verdict on each line of the block: 0 for kept ones, else the reason (`reason_of`)."""
    referrers_given: int
    """Page requests whose line names a referrer."""
    referrers_usable: int
    """Number of records whose referrer is the URL of a web page."""
    counts: Counts | None = None
    """Counts of the rows; None where each row is one request."""


def reason_of(verdict: int) -> str:
    """Return the reason behind a verdict, as users see it; `kept` for a page request."""
    if not verdict:
        return "kept"
    is_drop = verdict >= FIRST_DROP
    return DROPS[verdict - FIRST_DROP] if is_drop else Reject(verdict).label
