"""Checksums of texts that can be computed in parts and joined.

The bytes of a text are the coefficients of a polynomial, whose value at one number is the sum.
Joined texts have the joined sums' value, and two texts of one length agree by accident once in
2^61 times. Cryptographic digests cannot be joined, and cyclic checksums have 32 bits.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import inlined, loop

_U: Final = np.uint64
_PRIME: Final = (1 << 61) - 1
_BASE: Final = 0x1B5D7C0F3A962E84
"""Number at which polynomials are evaluated: any large one."""

_GROUP: Final = 256
"""Bytes that are multiplied at once, so that remainders are taken once for all of them."""

_HALF: Final = 31
"""Bits of the lower halves of numbers, whose products fit into 64 bits."""

_POWERS: Final = [pow(_BASE, exponent, _PRIME) for exponent in range(_GROUP, -1, -1)]
_LOW: Final = np.array([power & ((1 << _HALF) - 1) for power in _POWERS], _U)
_HIGH: Final = np.array([power >> _HALF for power in _POWERS], _U)


class TextSum(NamedTuple):
    """The sum of a text."""

    size: int = 0
    """Bytes of the text."""
    value: int = 0

    def then(self, other: TextSum) -> TextSum:
        """Return the sum of this text followed by the other."""
        moved = self.value * pow(_BASE, other.size, _PRIME)
        return TextSum(self.size + other.size, (moved + other.value) % _PRIME)


def text_sum(text: bytes | memoryview) -> TextSum:
    """Return the sum of a text."""
    data = np.frombuffer(text, np.uint8)
    return TextSum(len(data), int(_value(data, _LOW, _HIGH)))


@inlined
def _reduced(number: np.uint64) -> np.uint64:
    """Return the remainder of a number of 64 bits."""
    number = (number & _U(_PRIME)) + (number >> _U(61))
    return number - _U(_PRIME) if number >= _U(_PRIME) else number


@inlined
def _raised(high: np.uint64) -> np.uint64:
    """Return a number below the remainder's double for `high` times 2^31."""
    return (high >> _U(30)) + ((high & _U((1 << 30) - 1)) << _U(_HALF))


@inlined
def _product(a_low: np.uint64, a_high: np.uint64, b: np.uint64) -> np.uint64:
    """Return the remainder of a product, of which one factor is given in halves."""
    b_low, b_high = b & _U((1 << _HALF) - 1), b >> _U(_HALF)
    middle = a_low * b_high + a_high * b_low
    return _reduced(_U(2) * a_high * b_high + _raised(middle) + a_low * b_low)


@loop
def _group(data: NDArray[np.uint8], low: NDArray[np.uint64], high: NDArray[np.uint64]) -> np.uint64:
    """Return the value of a group of bytes, without branches, so that it is done eight at once."""
    of_low, of_high = _U(0), _U(0)
    for j in range(_GROUP):
        byte = _U(data[j])
        of_low += byte * low[j]
        of_high += byte * high[j]
    return _reduced(of_low) + _raised(of_high)


@loop
def _value(data: NDArray[np.uint8], low: NDArray[np.uint64], high: NDArray[np.uint64]) -> np.uint64:
    """Return the value of all bytes."""
    value = _U(0)
    whole = len(data) - len(data) % _GROUP
    for at in range(0, whole, _GROUP):
        group = _group(data[at : at + _GROUP], low[1:], high[1:])
        value = _reduced(_product(low[0], high[0], value) + group)
    for at in range(whole, len(data)):
        value = _reduced(_product(low[-2], high[-2], value) + _U(data[at]))
    return value
