"""Arrays for the lines of a block and for the fields of each line, as ranges of its bytes.

`Lines` holds where lines begin and end. `Fields` holds a row per `Slot` and a column per line,
which compiled loops fill in place. Not here: the loops (`lines`, `tokenize`, `interpretation`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import readonly
from temporal_assets.logs.fields.layouts import SKIP, SLOTS, Slot
from temporal_assets.logs.read.records import Bytes, Offsets

Flags = NDArray[np.bool_]
Reasons = NDArray[np.uint8]
Statuses = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Lines:
    """The non-empty lines of a block as ranges without line ends."""

    number: Offsets
    start: Offsets
    stop: Offsets

    def __len__(self) -> int:
        return len(self.number)


@dataclass(slots=True)
class Fields:
    """Fields of a block's lines, filled in place by the kernels.

    `start` and `stop` have a row per `Slot` and a column per line; rows of slots that are not
    `used` are undefined.
    """

    data: Bytes
    start: Offsets
    stop: Offsets
    used: Flags
    reason: Reasons
    time: Offsets
    naive: Flags
    status: Statuses

    @classmethod
    def empty(cls, data: Bytes, lines: int, slots: set[int]) -> Fields:
        """Return empty fields for a number of lines."""
        return cls(
            data=readonly(data),
            start=np.empty((SLOTS, lines), np.int64),
            stop=np.empty((SLOTS, lines), np.int64),
            used=slot_flags(slots),
            reason=np.zeros(lines, np.uint8),
            time=np.zeros(lines, np.int64),
            naive=np.zeros(lines, np.bool_),
            status=np.zeros(lines, np.int16),
        )


class FieldArrays(NamedTuple):
    """The arrays of `Fields`, for compiled code."""

    used: Flags
    start: Offsets
    stop: Offsets
    reason: Reasons
    time: Offsets
    naive: Flags
    status: Statuses


def arrays_of(fields: Fields) -> FieldArrays:
    """Return the arrays of fields as a named tuple, which compiled loops take."""
    return FieldArrays(
        *(fields.used, fields.start, fields.stop, fields.reason),
        *(fields.time, fields.naive, fields.status),
    )


def slot_flags(slots: set[int]) -> Flags:
    """Return flags of the slots, including those that are parts of one of them."""
    used = np.zeros(SLOTS, np.bool_)
    used[sorted(slots - {SKIP})] = True
    if used[Slot.REQUEST]:
        used[[Slot.METHOD, Slot.TARGET]] = True
    return used
