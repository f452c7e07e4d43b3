"""IPv6 addresses in the one spelling that is hashed, without the interpreter.

Here: those that consist of digits and colons, as servers write them. Not here: brackets, zones,
ports and IPv4 within IPv6 (`pseudonyms`, which is the witness in the tests).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import inlined
from temporal_assets.logs.read.kernels import COLON, NINE, ZERO, kernel
from temporal_assets.logs.read.records import Bytes, Column, Offsets

_GROUPS: Final = 8
_DIGITS: Final = 4
_GROUP_BITS: Final = 16
_LENGTH: Final = _GROUPS * (_DIGITS + 1) - 1
_MAPPED_AT: Final = 5
"""The group of ones that IPv4 within IPv6 has after groups of zeros."""
_MAPPED: Final = 0xFFFF

_A: Final = ord("a")
_F: Final = ord("f")
_TO_LOWER: Final = 0x20
_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_NO_DIGIT: Final = -1


def group_masks(removed: int) -> Offsets:
    """What is kept of each group where the last `removed` bits of an address are masked."""
    kept = (1 << _GROUPS * _GROUP_BITS) - (1 << removed)
    return np.frombuffer(kept.to_bytes(2 * _GROUPS, "big"), ">u2").astype(np.int64)


def in_full(addresses: Column, masks: Offsets) -> tuple[NDArray[np.bool_], Column]:
    """Which values are addresses that are plain enough, and those with all groups in full."""
    plain, data = _in_full(addresses.data, addresses.start, addresses.stop, masks, _HEX)
    start = np.arange(0, len(data), _LENGTH)
    return plain, Column(data, start, start + _LENGTH)


@inlined
def _digit(byte: int) -> int:
    if ZERO <= byte <= NINE:
        return byte - ZERO
    letter = byte | _TO_LOWER
    return letter - _A + 10 if _A <= letter <= _F else _NO_DIGIT


@inlined
def _read(data: Bytes, start: int, stop: int, groups: Offsets) -> bool:
    """Fill in the eight groups; False where these are not exactly they."""
    groups[:] = 0
    found, gap, digits, colons = 0, -1, 0, 0
    for i in range(start, stop):
        byte = int(data[i])
        if byte == COLON:
            colons += 1
            if digits:
                found += 1
                digits = 0
            if colons == 2 and gap < 0:
                gap = found
            elif colons > 1:
                return False
            continue
        digit = _digit(byte)
        begins_with_colon = colons == 1 and found == 0
        if digit < 0 or found == _GROUPS or digits == _DIGITS or begins_with_colon:
            return False
        groups[found] = groups[found] << 4 | digit
        digits += 1
        colons = 0
    if digits:
        found += 1
    if colons == 1 or (found != _GROUPS if gap < 0 else found == _GROUPS):
        return False
    if gap >= 0:
        moved = _GROUPS - found
        for at in range(found - 1, gap - 1, -1):
            groups[at + moved] = groups[at]
        groups[gap : gap + moved] = 0
    return not _is_mapped(groups)


@inlined
def _is_mapped(groups: Offsets) -> bool:
    for at in range(_MAPPED_AT):
        if groups[at]:
            return False
    return bool(groups[_MAPPED_AT] == _MAPPED)


@kernel
def _in_full(
    data: Bytes, start: Offsets, stop: Offsets, masks: Offsets, letters: Bytes
) -> tuple[NDArray[np.bool_], Bytes]:
    plain = np.zeros(start.size, np.bool_)
    out = np.empty(start.size * _LENGTH, np.uint8)
    groups = np.zeros(_GROUPS, np.int64)
    at = 0
    for n in range(start.size):
        plain[n] = start[n] >= 0 and _read(data, start[n], stop[n], groups)
        if not plain[n]:
            continue
        for group in range(_GROUPS):
            if group:
                out[at] = COLON
                at += 1
            kept = groups[group] & masks[group]
            for shift in range(_GROUP_BITS - 4, -1, -4):
                out[at] = letters[kept >> shift & 15]
                at += 1
    return plain, out[:at].copy()
