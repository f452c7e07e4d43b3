"""HMAC-SHA256 (RFC 2104, FIPS 180-4) of many short messages under one key.

Calling a library once per message costs twenty times the hash itself, and a log has as many
messages as visitors. Messages of up to 55 bytes are one block, so each costs two compressions:
the states after the padded key are the same for all. `hmac.digest` is the witness in the tests.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.compiled import inlined
from temporal_assets.logs.kernels import kernel
from temporal_assets.logs.records import Column, Offsets

LONGEST: Final = 55
"""Bytes of a message that fit one block of 64 with the padding bit and the length."""

_BLOCK: Final = 64
_DIGEST_BITS: Final = 8 * (_BLOCK + 32)
"""Length, in bits, of what the outer hash sees: the key's block and the inner digest."""

Words = NDArray[np.uint32]


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


def _root_bits(prime: int, degree: int) -> int:
    """The first 32 bits of the fraction of a prime's root, exactly."""
    wanted = prime << (32 * degree)
    low, high = 0, 1 << 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= wanted else (low, middle)
    return low & 0xFFFFFFFF


_ROUND: Final[Words] = np.array([_root_bits(prime, 3) for prime in _primes(64)], np.uint32)
_START: Final[Words] = np.array([_root_bits(prime, 2) for prime in _primes(8)], np.uint32)


def hmac_heads(key: bytes, messages: Column) -> Offsets:
    """The first 8 bytes of each message's HMAC-SHA256, big-endian, as signed integers.

    Every message must have a value of at most `LONGEST` bytes.
    """
    if len(key) > _BLOCK:
        key = sha256(key).digest()
    padded = np.frombuffer(key.ljust(_BLOCK, b"\0"), np.uint8)
    inner = _state_after(padded ^ np.uint8(0x36))
    outer = _state_after(padded ^ np.uint8(0x5C))
    return _hmac_heads(messages.data, messages.start, messages.stop, inner, outer, _ROUND)


def _state_after(block: NDArray[np.uint8]) -> Words:
    state = _START.copy()
    schedule = np.zeros(64, np.uint32)
    schedule[:16] = block.view(">u4")
    _compress(state, schedule, _ROUND)
    return state


@inlined
def _rotate(x: np.uint32, bits: np.uint32) -> np.uint32:
    return np.uint32((x >> bits) | (x << np.uint32(np.uint32(32) - bits)))


@kernel
def _compress(state: Words, w: Words, k: Words) -> None:
    """FIPS 180-4, 6.2.2; the block is in w[:16]."""
    for i in range(16, 64):
        x, y = w[i - 15], w[i - 2]
        s0 = _rotate(x, np.uint32(7)) ^ _rotate(x, np.uint32(18)) ^ (x >> np.uint32(3))
        s1 = _rotate(y, np.uint32(17)) ^ _rotate(y, np.uint32(19)) ^ (y >> np.uint32(10))
        w[i] = np.uint32(w[i - 16] + s0 + w[i - 7] + s1)
    a, b, c, d = state[0], state[1], state[2], state[3]
    e, f, g, h = state[4], state[5], state[6], state[7]
    for i in range(64):
        s1 = _rotate(e, np.uint32(6)) ^ _rotate(e, np.uint32(11)) ^ _rotate(e, np.uint32(25))
        t1 = np.uint32(h + s1 + ((e & f) ^ (~e & g)) + k[i] + w[i])
        s0 = _rotate(a, np.uint32(2)) ^ _rotate(a, np.uint32(13)) ^ _rotate(a, np.uint32(22))
        t2 = np.uint32(s0 + ((a & b) ^ (a & c) ^ (b & c)))
        h, g, f, e = g, f, e, np.uint32(d + t1)
        d, c, b, a = c, b, a, np.uint32(t1 + t2)
    for i, value in enumerate((a, b, c, d, e, f, g, h)):
        state[i] = np.uint32(state[i] + value)


@kernel
def _hmac_heads(
    data: NDArray[np.uint8], start: Offsets, stop: Offsets, inner: Words, outer: Words, k: Words
) -> Offsets:
    heads = np.empty(start.size, np.int64)
    w = np.zeros(64, np.uint32)
    state = np.empty(8, np.uint32)
    for n in range(start.size):
        length = stop[n] - start[n]
        w[:16] = 0
        for i in range(length):
            w[i >> 2] |= np.uint32(data[start[n] + i]) << np.uint32(24 - 8 * (i & 3))
        w[length >> 2] |= np.uint32(0x80) << np.uint32(24 - 8 * (length & 3))
        w[15] = np.uint32(8 * (_BLOCK + length))
        for i in range(8):
            state[i] = inner[i]
        _compress(state, w, k)
        for i in range(8):
            w[i], state[i] = state[i], outer[i]
        w[8] = np.uint32(0x80000000)
        w[9:15] = 0
        w[15] = np.uint32(_DIGEST_BITS)
        _compress(state, w, k)
        heads[n] = np.int64((np.uint64(state[0]) << np.uint64(32)) | np.uint64(state[1]))
    return heads
