"""Assembly of `Records` from the fields of a block, the last step of parsing of all formats.

In: `Fields`, and the settings of the source. Out: `Records`, after the choice between several
addresses, with missing values, local times as UTC, and a cut line at the end of a broken file
rejected. Not here: finding fields (`tokenize`, `structured`, ...).
"""

from __future__ import annotations

from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import loop
from temporal_assets.logs.counts.row_counts import CountColumns
from temporal_assets.logs.fields.field_arrays import Fields, Lines
from temporal_assets.logs.fields.forwarded import forwarded_or_remote
from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.fields.times import BAD, localise
from temporal_assets.logs.read.byte_values import MINUS, NEWLINE
from temporal_assets.logs.read.encode import encode, to_list
from temporal_assets.logs.read.records import Block, Bytes, Column, Offsets, Records, Reject
from temporal_assets.settings import LogSource


def assemble(
    fields: Fields,
    number: Offsets,
    text: Column,
    source: LogSource,
    *,
    escaped: bool,
    before: int = BAD,
) -> Records:
    """Return records of interpreted fields; `number` and `text` describe their lines.

    `before` is the result of `times.last_repeated` for the lines before these.
    """
    localise(fields.time, fields.naive, ZoneInfo(source.timezone), before)
    is_page = _page_views(fields) if fields.used[Slot.EVENT] else None
    return Records(
        line=number,
        text=text,
        reason=fields.reason,
        time=fields.time,
        status=fields.status,
        method=optional(fields, Slot.METHOD),
        target=column(fields, Slot.TARGET),
        host=optional(fields, Slot.HOST),
        scheme=optional(fields, Slot.SCHEME),
        referrer=optional(fields, Slot.REFERRER),
        agent=optional(fields, Slot.AGENT),
        address=_address(fields, source),
        escaped=escaped,
        is_page=is_page,
    )


_PAGE_VIEW: Final = b"page_view"
"""Name of page views among events, in all trackers that name events."""


def _page_views(fields: Fields) -> NDArray[np.bool_]:
    """Return True for lines that are page views; other events need no page and are not rejected."""
    events = encode(column(fields, Slot.EVENT), np.arange(len(fields.reason)))
    named = [value == _PAGE_VIEW for value in to_list(events.distinct)]
    is_page = np.array([*named, True], np.bool_)[events.codes]
    fields.reason[~is_page & (fields.reason == Reject.BAD_REQUEST)] = Reject.NONE
    return is_page


def known_times(records: Records) -> Offsets:
    """Return the readable times, in order."""
    times: Offsets = records.time[records.reason == Reject.NONE]
    return times


def line_text(block: Block, lines: Lines) -> Column:
    """Return the lines themselves."""
    return Column(block.data, lines.start, lines.stop)


def reject_cut_line(fields: Fields, lines: Lines, block: Block) -> None:
    """Reject a last line without newline unless it parses.

    In a broken archive it is always rejected: what is left of it may parse and still be wrong.
    """
    if not block.last or not len(lines) or block.data[-1] == NEWLINE:
        return
    if lines.number[-1] < last_number(block) or fields.reason[-1] == Reject.TOO_LONG:
        return
    if block.cut or fields.reason[-1] == Reject.NOT_THE_FORMAT:
        fields.reason[-1] = Reject.TRUNCATED


def last_number(block: Block) -> int:
    """Return the number of the block's last line."""
    newlines = int(np.count_nonzero(block.data == NEWLINE))
    return block.first_line + newlines - int(block.data[-1] == NEWLINE)


def column(fields: Fields, slot: Slot) -> Column:
    """Return a slot's column; without any value if the format lacks it."""
    if not fields.used[slot]:
        nothing = np.full(len(fields.reason), -1, np.int64)
        return Column(fields.data, nothing, nothing)
    return Column(fields.data, fields.start[slot], fields.stop[slot])


def optional(fields: Fields, slot: Slot) -> Column | None:
    """Return a slot's column, None if the format lacks it; `-` and empty are no value."""
    if not fields.used[slot]:
        return None
    _drop_empty(fields.data, fields.start[slot], fields.stop[slot])
    return column(fields, slot)


def count_columns(fields: Fields) -> CountColumns:
    """Return the columns of counts."""
    slots = (Slot.DATE, Slot.VIEWS, Slot.VISITORS, Slot.TRANSITS)
    return CountColumns(*(column(fields, slot) for slot in slots))


def _address(fields: Fields, source: LogSource) -> Column:
    remote = optional(fields, Slot.ADDRESS) or column(fields, Slot.ADDRESS)
    if source.address != "forwarded":
        return remote
    forwarded = optional(fields, Slot.FORWARDED)
    if forwarded is None:
        return remote
    return forwarded_or_remote(forwarded, remote)


@loop
def _drop_empty(data: Bytes, start: Offsets, stop: Offsets) -> None:
    for i in range(start.size):
        length = stop[i] - start[i]
        if start[i] >= 0 and (length <= 0 or (length == 1 and data[start[i]] == MINUS)):
            start[i] = stop[i] = -1
