"""Measure of how much of some lines a format explains, to choose between two that fit.

In: a format and some lines. Out: `Explained`, the numbers of values that look right and wrong. Not
here: whether a format fits at all (`plausible`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.logs.detect.line_fields import count_fields
from temporal_assets.logs.detect.plausible import DEFAULT_READING, value_of
from temporal_assets.logs.detect.sample import SAMPLE_LINES
from temporal_assets.logs.detect.value_kinds import is_agent, is_host, is_target, is_url
from temporal_assets.logs.fields.layouts import Kind
from temporal_assets.logs.formats.format import Format
from temporal_assets.logs.formats.parsing import parse
from temporal_assets.logs.read.records import Block, Reject
from temporal_assets.settings import LogSource

LEAST_SHARE: Final = 0.8
"""Least share of lines, relative to a named format, that an inferred format must read."""

_OFTEN_EXTENDED: Final = ("gandi", "combined", "combined_vhost", "common", "common_vhost", "ovh")
"""Formats that servers write with a few fields more."""


@dataclass(frozen=True, slots=True)
class Explained:
    """Measure of how well a format explains some lines."""

    lines: int
    records: int
    """Number of lines that are complete records."""
    right: int
    """Number of targets, hosts, referrers and agents in them that look right."""
    wrong: int
    """Number of values that look wrong; of hosts and agents only clear cases."""
    is_doubtful: bool
    """True if most values of any of these fields look wrong."""

    @property
    def score(self) -> int:
        """Score for comparison; higher is better."""
        return self.records + self.right - self.wrong

    @classmethod
    def by(cls, fmt: Format, lines: bytes) -> Explained:
        """Return how much `fmt` explains."""
        block = Block(np.frombuffer(lines, np.uint8), 1, last=True)
        records = parse(block, fmt, LogSource(path=""), DEFAULT_READING)
        rows = np.flatnonzero(records.reason == Reject.NONE).tolist()
        right = wrong = 0
        is_doubtful = False
        for column, is_right, is_other in (
            (records.target, is_target, is_host),
            (records.host, is_host, is_url),
            (records.referrer, is_url, bool),
            (records.agent, is_agent, lambda value: is_url(value) or is_host(value)),
        ):
            values = [value for row in rows if (value := value_of(column, row)) not in (b"", b"-")]
            good = sum(map(is_right, values))
            right += good
            wrong += sum(is_other(value) for value in values if not is_right(value))
            # Sites of an own network have short names, where the format has them first.
            is_short = column is records.host and fmt.name in _OFTEN_EXTENDED
            is_doubtful |= not is_short and 2 * good < len(values)
            is_doubtful |= column is not None and column is not records.referrer and not values
        return cls(len(records), len(rows), right, wrong, is_doubtful)


def explains_all(fmt: Format, explained: Explained, lines: bytes) -> bool:
    """Return True if lines have no more fields than the format, and these look right.

    Formats with special fields of their own are accepted regardless of the number of fields.
    """
    if explained.is_doubtful:
        return False
    if " after " in fmt.name:
        return False  # one of the words may be the host
    if fmt.name not in _OFTEN_EXTENDED:
        return explained.records >= LEAST_SHARE * explained.lines
    kinds = () if fmt.layout is None else fmt.layout.kinds
    fields = kinds.index(Kind.TO_QUOTE) if Kind.TO_QUOTE in kinds else len(kinds)
    first = lines.split(b"\n", SAMPLE_LINES)[:SAMPLE_LINES]
    return not explained.wrong and all(count_fields(line) <= fields for line in first)
