"""HMAC-SHA256 (RFC 2104, FIPS 180-4) of many short messages under one key.

Calling a library once per message costs twenty times the hash itself, and a log has as many
messages as visitors. Messages of up to 55 bytes are one block, so each costs two compressions:
the states after the padded key are the same for all. Some are hashed side by side, as one vector:
rounds wait for one another, messages do not. `hmac.digest` is the witness in the tests.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import inlined
from temporal_assets.logs.read.kernels import kernel
from temporal_assets.logs.read.records import Column, Offsets

LONGEST: Final = 55
"""Bytes of a message that fit one block of 64 with the padding bit and the length."""

_BLOCK: Final = 64
_DIGEST_BITS: Final = 8 * (_BLOCK + 32)
"""Length, in bits, of what the outer hash sees: the key's block and the inner digest."""

_LANES: Final = 64
"""Messages side by side: some registers full, and what a round costs before its loop is shared by
all. 111 ns a message in place of 481, one after the other, on a machine with AVX-512; with 16 lanes
227, with 128, whose schedules fill the nearest cache, 258."""

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
    """Shape (8, lanes): the same state in every lane."""
    state = np.repeat(_START[:, np.newaxis], _LANES, axis=1)
    schedule = np.zeros((64, _LANES), np.uint32)
    schedule[:16] = block.view(">u4")[:, np.newaxis]
    _compress(state, schedule, np.empty_like(state), _ROUND)
    return state


@inlined
def _rotate(x: np.uint32, bits: np.uint32) -> np.uint32:
    return np.uint32((x >> bits) | (x << np.uint32(np.uint32(32) - bits)))


@kernel
def _compress(state: Words, w: Words, v: Words, k: Words) -> None:
    """FIPS 180-4, 6.2.2, in every lane; the blocks are in w[:16], and `v` has the shape of `state`.

    The working variables a to h move on by one place a round; here the places move instead.
    """
    for i in range(16, 64):
        for lane in range(_LANES):
            x, y = w[i - 15, lane], w[i - 2, lane]
            s0 = _rotate(x, np.uint32(7)) ^ _rotate(x, np.uint32(18)) ^ (x >> np.uint32(3))
            s1 = _rotate(y, np.uint32(17)) ^ _rotate(y, np.uint32(19)) ^ (y >> np.uint32(10))
            w[i, lane] = np.uint32(w[i - 16, lane] + s0 + w[i - 7, lane] + s1)
    v[:] = state
    for i in range(64):
        a, b, c, d = -i & 7, 1 - i & 7, 2 - i & 7, 3 - i & 7
        e, f, g, h = 4 - i & 7, 5 - i & 7, 6 - i & 7, 7 - i & 7
        for lane in range(_LANES):
            x, y = v[e, lane], v[a, lane]
            s1 = _rotate(x, np.uint32(6)) ^ _rotate(x, np.uint32(11)) ^ _rotate(x, np.uint32(25))
            choice = (x & v[f, lane]) ^ (~x & v[g, lane])
            t1 = np.uint32(v[h, lane] + s1 + choice + k[i] + w[i, lane])
            s0 = _rotate(y, np.uint32(2)) ^ _rotate(y, np.uint32(13)) ^ _rotate(y, np.uint32(22))
            majority = (y & v[b, lane]) ^ (y & v[c, lane]) ^ (v[b, lane] & v[c, lane])
            v[d, lane] = np.uint32(v[d, lane] + t1)
            v[h, lane] = np.uint32(t1 + s0 + majority)
    for i in range(8):
        for lane in range(_LANES):
            state[i, lane] = np.uint32(state[i, lane] + v[i, lane])


@kernel
def _hmac_heads(
    data: NDArray[np.uint8], start: Offsets, stop: Offsets, inner: Words, outer: Words, k: Words
) -> Offsets:
    heads = np.empty(start.size, np.int64)
    w = np.zeros((64, _LANES), np.uint32)
    state, v = np.empty((8, _LANES), np.uint32), np.empty((8, _LANES), np.uint32)
    for first in range(0, start.size, _LANES):
        lanes = min(_LANES, start.size - first)  # others hold what does no harm
        w[:16] = 0
        for lane in range(lanes):
            _put(data, start[first + lane], stop[first + lane], w, lane)
        state[:] = inner
        _compress(state, w, v, k)
        w[:8] = state
        w[8] = np.uint32(0x80000000)
        w[9:15] = 0
        w[15] = np.uint32(_DIGEST_BITS)
        state[:] = outer
        _compress(state, w, v, k)
        for lane in range(lanes):
            high, low = np.uint64(state[0, lane]), np.uint64(state[1, lane])
            heads[first + lane] = np.int64(high << np.uint64(32) | low)
    return heads


@kernel
def _put(data: NDArray[np.uint8], start: int, stop: int, w: Words, lane: int) -> None:
    """The block of a message: its bytes, a bit and its length after the padded key."""
    length = stop - start
    for i in range(length):
        w[i >> 2, lane] |= np.uint32(data[start + i]) << np.uint32(24 - 8 * (i & 3))
    w[length >> 2, lane] |= np.uint32(0x80) << np.uint32(24 - 8 * (length & 3))
    w[15, lane] = np.uint32(8 * (_BLOCK + length))
