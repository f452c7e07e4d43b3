"""Logs described by the user's own regular expression with named groups.

In: a block of lines, and the expression. Out: `Records`. Python's `re` is slow but reads anything.
Not here: what the groups' values mean (`interpretation`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import numpy as np

from temporal_assets.logs.fields.assemble import assemble, column, line_text, reject_cut_line
from temporal_assets.logs.fields.field_arrays import Fields
from temporal_assets.logs.fields.interpretation import interpret_fields
from temporal_assets.logs.fields.layouts import COLUMN_NAMES, Slot
from temporal_assets.logs.fields.lines import check_lines, find_lines
from temporal_assets.logs.fields.rewrite import with_query
from temporal_assets.logs.fields.times import BAD
from temporal_assets.logs.formats.columns import require
from temporal_assets.logs.read.records import Block, Records, Reject
from temporal_assets.settings import LogSource, Reading

_ALIASES: Final = {
    "ip": Slot.ADDRESS,
    "path": Slot.TARGET,
    "query_string": Slot.QUERY,
    "referer": Slot.REFERRER,
    "user_agent": Slot.AGENT,
}
"""Names that patterns written for Matomo's log import use."""


class PatternError(ValueError):
    """The pattern cannot be used; the message says why."""


def compile_pattern(pattern: str) -> re.Pattern[bytes]:
    """Return the pattern on bytes. Raises `PatternError` or `ColumnsError`."""
    try:
        compiled = re.compile(pattern.encode())
    except re.error as error:
        raise PatternError(f"regex: {error}") from error
    require(groups(compiled).values())
    return compiled


def groups(pattern: re.Pattern[bytes]) -> dict[str, Slot]:
    """Return the slot of each named group with a known name."""
    slot_names = COLUMN_NAMES | _ALIASES
    return {name: slot_names[name] for name in pattern.groupindex if name in slot_names}


def parse(
    block: Block,
    pattern: re.Pattern[bytes],
    source: LogSource,
    reading: Reading,
    before: int = BAD,
) -> Records:
    """Parse the lines whose beginning the pattern matches; `before` as for `assemble`."""
    lines = find_lines(block)
    slots = groups(pattern)
    fields = Fields.empty(block.data, len(lines), {int(slot) for slot in slots.values()})
    fields.start[:] = fields.stop[:] = -1
    check_lines(fields, lines, reading.max_line_bytes)
    raw = block.data.tobytes()
    index = [(pattern.groupindex[name], int(slot)) for name, slot in slots.items()]
    for i in np.flatnonzero(fields.reason == Reject.NONE).tolist():
        match = pattern.match(raw[lines.start[i] : lines.stop[i]])
        if match is None:
            fields.reason[i] = Reject.NOT_THE_FORMAT
            continue
        for group, slot in index:
            start, stop = match.span(group)
            if start >= 0:
                fields.start[slot, i] = lines.start[i] + start
                fields.stop[slot, i] = lines.start[i] + stop
    interpret_fields(fields)
    reject_cut_line(fields, lines, block)
    text = line_text(block, lines)
    records = assemble(fields, lines.number, text, source, escaped=True, before=before)
    if not fields.used[Slot.QUERY]:
        return records
    return replace(records, target=with_query(records.target, column(fields, Slot.QUERY)))
