"""JSON arrays of objects as one object a line.

Here: where an object ends, in one compiled pass that goes on from chunk to chunk. Not here: what
the objects mean (`structured`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from temporal_assets.core.numerics.compiled import loop, readonly
from temporal_assets.logs.read.byte_values import BACKSLASH, COMMA, NEWLINE, QUOTE, RETURN, SPACE
from temporal_assets.logs.read.records import Bytes, Offsets

_OPEN, _CLOSE = (ord("["), ord("{")), (ord("]"), ord("}"))
_DEPTH, _IN_TEXT, _IS_ESCAPED = range(3)
_OBJECTS: Final = 2
"""Depth of what is within an object of the array."""


def array_lines(data: Bytes, state: Offsets) -> Bytes:
    """Return the objects of a part of an array, each on a line of its own.

    `state` is three zeros for the first part, and is changed for the next.
    """
    lines: Bytes = _array_lines(readonly(data), state)
    return lines


@loop
def _array_lines(data: Bytes, state: Offsets) -> Bytes:
    """Return a block of a JSON array with one object a line; `state` continues across blocks."""
    out = np.empty(data.size, np.uint8)
    to = 0
    depth, in_text, is_escaped = state[_DEPTH], state[_IN_TEXT], state[_IS_ESCAPED]
    for byte in data:
        last = byte
        was_within = depth >= _OBJECTS
        if in_text:
            if is_escaped:
                is_escaped = 0
            elif byte == BACKSLASH:
                is_escaped = 1
            elif byte == QUOTE:
                in_text = 0
        elif byte == QUOTE:
            in_text = 1
        elif byte in _OPEN:
            depth += 1
        elif byte in _CLOSE:
            depth -= 1
        elif byte in (NEWLINE, RETURN):
            last = SPACE
        if was_within or depth >= _OBJECTS:
            out[to] = last
            to += 1
        elif byte == COMMA or depth == 0:
            out[to] = NEWLINE
            to += 1
    state[_DEPTH], state[_IN_TEXT], state[_IS_ESCAPED] = depth, in_text, is_escaped
    return out[:to].copy()
