"""Many strings as flat bytes, and distinct values among them.

Here: the one form in which `core` takes strings in bulk (the layout of an Arrow string array),
and the hashing that finds equal ones. Not here: what the strings mean.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes, Int64s
from temporal_assets.core.numerics.compiled import inlined, leaf, low_zeros, readonly

SEED: Final = np.uint64(secrets.randbits(64))
"""URLs are hostile input: with a secret seed nobody can prepare values that collide. Codes are
numbered by first occurrence, so no result depends on it."""

MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
"""2^64 / golden ratio: spreads the bits of each 8-byte word (Fibonacci hashing)."""

_ONES: Final = np.uint64(0x0101010101010101)
_TOPS: Final = np.uint64(0x8080808080808080)
_BLOCK: Final = 32
"""Bytes that are compared at once after as many without a match: values of kilobytes are hostile,
and must not cost more per byte than others."""


@dataclass(frozen=True, slots=True)
class Texts:
    """`len(offsets) - 1` strings: string i is `data[offsets[i]:offsets[i + 1]]`, UTF-8."""

    data: Bytes
    offsets: Int64s

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", readonly(self.data))
        object.__setattr__(self, "offsets", readonly(self.offsets))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        begin, end = int(self.offsets[index]), int(self.offsets[index + 1])
        return self.data[begin:end].tobytes().decode("utf-8", "replace")


def texts(strings: Sequence[str]) -> Texts:
    """Return Python strings as flat bytes."""
    whole = "".join(strings)
    if whole.isascii():
        data = whole.encode("ascii")
        lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    else:
        encoded = [utf8(text) for text in strings]
        data = b"".join(encoded)
        lengths = np.fromiter(map(len, encoded), np.int64, len(strings))
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    return Texts(np.frombuffer(data, np.uint8), offsets)


def utf8(text: str) -> bytes:
    """Return the UTF-8 bytes of any string; surrogates stand for undecodable bytes."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def take(data: Bytes, starts: Int64s, stops: Int64s) -> Texts:
    """Return the strings `data[starts[i]:stops[i]]`, one after the other."""
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(stops - starts)))
    taken = np.empty(int(offsets[-1]), np.uint8)
    _copy(data, starts, offsets, taken)
    return Texts(taken, offsets)


@leaf
def _copy(data: Bytes, starts: Int64s, offsets: Int64s, taken: Bytes) -> None:
    for i in range(len(starts)):
        for at in range(offsets[i], offsets[i + 1]):
            taken[at] = data[starts[i] + at - offsets[i]]


@inlined
def hash_bytes(data: Bytes, start: int, stop: int, salt: int, seed: np.uint64) -> np.uint64:
    """Return a hash of `data[start:stop]`; the same bytes have another hash under another salt."""
    value = (seed ^ np.uint64(stop - start)) + np.uint64(salt) * MULTIPLIER
    at = start
    while at < stop:
        value = (value ^ _word(data, at, stop - at)) * MULTIPLIER
        value ^= value >> np.uint64(29)
        at += 8
    return value ^ (value >> np.uint64(32))


@inlined
def equal_bytes(a: Bytes, a_start: int, b: Bytes, b_start: int, length: int) -> bool:
    """Return whether `length` bytes of `a` and `b` are the same."""
    i = 0
    while i + 8 <= length:
        if _word(a, a_start + i, 8) != _word(b, b_start + i, 8):
            return False
        i += 8
    return bool(_word(a, a_start + i, length - i) == _word(b, b_start + i, length - i))


@inlined
def alike(data: Bytes, first: int, other: int, most: int) -> int:
    """Return how many bytes from `first` and from `other` on are equal, up to `most`."""
    at = 0
    while at < most:
        left = most - at
        odd = _word(data, first + at, left) ^ _word(data, other + at, left)
        if odd:
            return at + int(np.int64(low_zeros(odd) >> np.uint64(3)))
        at += 8
    return most


@leaf
def find_byte(data: Bytes, start: int, stop: int, byte: int) -> int:
    """Return the first position of a byte in `data[start:stop]`, or `stop`."""
    return int(find_either(data, start, stop, byte, byte))


@leaf
def find_either(data: Bytes, start: int, stop: int, byte: int, other: int) -> int:
    """Return the first position of either byte in `data[start:stop]`, or `stop`."""
    first_mask, second_mask = np.uint64(byte) * _ONES, np.uint64(other) * _ONES
    at = start
    while at < stop and at + 8 <= len(data):
        word = eight_bytes(data, at)
        matches = _zeros(word ^ first_mask) | _zeros(word ^ second_mask)
        if matches:
            # Of all flags the lowest is surely right; as many bytes are below it.
            below = (matches & (~matches + np.uint64(1))) - np.uint64(1)
            at += int(np.int64(((below & _ONES) * _ONES) >> np.uint64(56))) - 1
            return min(at, stop)
        at += 8
        if at - start == _BLOCK:
            at = _without(data, at, stop, np.uint8(byte), np.uint8(other))
    while at < stop and data[at] != byte and data[at] != other:
        at += 1
    return min(at, stop)


@leaf
def _without(data: Bytes, start: int, stop: int, byte: np.uint8, other: np.uint8) -> int:
    """Skip blocks that have neither byte; return the start of the first other or incomplete one."""
    at, end = np.uint64(start), np.uint64(stop)
    while at + np.uint64(_BLOCK) <= end:
        hit = False
        # No way out of the inner loop: the compiler makes a few wide comparisons of it.
        for i in range(_BLOCK):
            value = data[at + np.uint64(i)]
            hit |= (value == byte) | (value == other)
        if hit:
            break
        at += np.uint64(_BLOCK)
    return int(np.int64(at))


@leaf
def after_digits(data: Bytes, start: int, stop: int) -> int:
    """Return the end of the digits at the beginning of `data[start:stop]`."""
    at = start
    while at < stop and 48 <= data[at] <= 57:
        at += 1
    return at


@leaf
def after_hex(data: Bytes, start: int, stop: int) -> int:
    """Return the end of the hexadecimal digits at the beginning of `data[start:stop]`."""
    at = start
    while at < stop and (48 <= data[at] <= 57 or 97 <= data[at] | 32 <= 102):
        at += 1
    return at


@inlined
def _zeros(word: np.uint64) -> np.uint64:
    """Return a word whose lowest set bit marks the lowest zero byte (Mycroft's test).

    Higher bits may be set by chance.
    """
    return (word - _ONES) & ~word & _TOPS


@inlined
def _word(data: Bytes, at: int, count: int) -> np.uint64:
    """Return up to 8 bytes as a little-endian integer."""
    if count >= 8:
        return eight_bytes(data, at)
    if at + 8 <= len(data):
        # What follows is cut off: cheaper than as many single bytes.
        return eight_bytes(data, at) & ((np.uint64(1) << np.uint64(8 * count)) - np.uint64(1))
    word = np.uint64(0)
    for i in range(count):
        word |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return word


@inlined
def eight_bytes(data: Bytes, at: int) -> np.uint64:
    """Return 8 bytes as a little-endian integer.

    The index is unsigned, so that the compiler makes one load of them.
    """
    place = np.uint64(at)
    return (
        np.uint64(data[place])
        | np.uint64(data[place + np.uint64(1)]) << np.uint64(8)
        | np.uint64(data[place + np.uint64(2)]) << np.uint64(16)
        | np.uint64(data[place + np.uint64(3)]) << np.uint64(24)
        | np.uint64(data[place + np.uint64(4)]) << np.uint64(32)
        | np.uint64(data[place + np.uint64(5)]) << np.uint64(40)
        | np.uint64(data[place + np.uint64(6)]) << np.uint64(48)
        | np.uint64(data[place + np.uint64(7)]) << np.uint64(56)
    )
