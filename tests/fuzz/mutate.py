"""Seeded mutations of bytes: of a block of many lines at once, and of one small text.

Bytes that mean something to some format are drawn more often than others; pieces of other inputs
are pasted in; places are cut out and doubled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_TELLING: Final = np.frombuffer(
    b"\"'\\ \t\r\n\0%+-=&?#/:;,.@[](){}<>|_~*^$!019azAZxeTZ\x1b\x7f\x80\xc3\xa9\xe2\x80\xae"
    b"\xef\xbb\xbf\xff",
    np.uint8,
)
_WORDS: Final = (
    b"http://", b"https://", b"%00", b"%2e%2e/", b"../", b"\\x", b"\\u00", b"%25", b"xn--", b"::1",
    b"999999999999999999999", b"-1", b"1e309", b"NaN", b"null", b"#Fields:", b"[[", b"\xed\xa0\x80",
    b"31/Feb/2026:25:61:61 +9999", b"1970-01-01T00:00:00Z", b"\xff\xfe", b"PAR1", b"\r\n\r\n",
)  # fmt: skip


def block(lines: Sequence[bytes], count: int, dice: np.random.Generator) -> Bytes:
    """`count` lines drawn from some, each changed in about two places."""
    drawn = dice.integers(0, len(lines), count)
    data = np.frombuffer(b"".join(lines[n] for n in drawn.tolist()), np.uint8).copy()
    at = dice.integers(0, len(data), count)
    data[at] = dice.choice(_TELLING, len(at))
    at = dice.integers(0, len(data), count // 2)
    data[at] = dice.integers(0, 256, len(at), np.uint8)
    source, target = dice.integers(0, max(1, len(data) - 40), (2, count // 8))
    for begin, end in zip(source.tolist(), target.tolist(), strict=True):
        data[end : end + 20] = data[begin : begin + 20]
    away = dice.random(len(data)) < 0.3 / max(1.0, len(data) / count)
    data = data[~away]
    more = np.sort(dice.integers(0, len(data), count // 4))
    return np.insert(data, more, dice.choice(_TELLING, len(more)))


def text(original: bytes, dice: np.random.Generator) -> bytes:
    """Return a text changed in one to six places."""
    data = bytearray(original)
    for _ in range(int(dice.integers(1, 7))):
        at = int(dice.integers(0, len(data) + 1))
        how = int(dice.integers(0, 6))
        if how == 0:
            data[at : at + 1] = bytes([int(dice.integers(0, 256))])
        elif how == 1:
            data[at:at] = bytes([int(dice.choice(_TELLING))])
        elif how == 2:
            del data[at : at + int(dice.integers(1, 30))]
        elif how == 3:
            data[at:at] = _WORDS[int(dice.integers(0, len(_WORDS)))]
        elif how == 4:
            begin = int(dice.integers(0, len(data) + 1))
            data[at:at] = data[begin : begin + int(dice.integers(1, 40))]
        else:
            data[at:at] = bytes([int(dice.choice(_TELLING))]) * int(2 ** dice.integers(0, 9))
    return bytes(data)
