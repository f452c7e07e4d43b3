"""Letters and signs of URLs as numbers, for the compiled loops of this room.

Not here: characters that divide the lines of logs (`read.byte_values`).
"""

from __future__ import annotations

from typing import Final

from temporal_assets.core.numerics.compiled import loop
from temporal_assets.logs.read.byte_values import NINE, ZERO

LOWER_A: Final = ord("a")
LOWER_Z: Final = ord("z")
UPPER_A: Final = ord("A")
UPPER_F: Final = ord("F")
UPPER_Z: Final = ord("Z")
TO_UPPER: Final = 0xDF
"""Mask of a letter: all bits but the one that lower case has."""
AND: Final = ord("&")
EQUALS: Final = ord("=")
SEMICOLON: Final = ord(";")
EXCLAMATION: Final = ord("!")
"""The first byte that is neither control nor blank."""


@loop
def hex_digit(byte: int) -> int:
    """Return the value of a hexadecimal digit in upper case; -1 for other bytes."""
    if ZERO <= byte <= NINE:
        return int(byte) - ZERO
    if UPPER_A <= byte <= UPPER_F:
        return int(byte) - UPPER_A + 10
    return -1
