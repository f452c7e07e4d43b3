"""Statistics of the values of keys among some URLs of a site.

Here: how many URLs have a key, how many different values it has, of which shapes and classes they
are, and their entropy. Not here: what follows for a node (`node_tests`, `node_division`).

Arrays in loops have these names: `rows` are the numbers of a node's URLs; a `column` has the code
of one key for every URL of the site; `counts` and `touched` are scratch with one entry per code,
where `touched` lists the codes whose entry in `counts` is not zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import leaf, loop
from temporal_assets.core.patterns.syntax.growing_site import GrowingSite
from temporal_assets.core.text.url_keys import ABSENT
from temporal_assets.core.text.value_shapes import ALL_BITS, CLASSES, bits_of, class_of

_BITS: Final = ALL_BITS.bit_length()
_CLASS_COUNT: Final = len(CLASSES)
_NUMBERS: Final = 6
"""Fields of `KeyStatistics` with one number per key: every array that a loop returns costs more
than counting the values of a small node."""


@dataclass(slots=True)
class KeyStatistics:
    """Statistics of the values of open keys among a node's URLs; lists have one entry per key."""

    present: list[int]
    """Number of URLs that have the key."""
    distinct: list[int]
    """Number of different values."""
    any_bits: list[int]
    """Shape bits that some value has."""
    constant: list[int]
    """The value, if there is only one; otherwise any of them."""
    common: list[int]
    """Shape bits that all values have."""
    most: list[int]
    """Number of URLs with the most frequent value."""
    bit_urls: list[list[int]]
    """Number of URLs whose value has a shape, by the index of the shape's bit."""
    class_urls: list[list[int]]
    """Number of URLs whose value is of a class, by its index in CLASSES."""
    entropy: list[float]
    """Entropy of the values, a missing key included, in nats."""


def key_statistics(site: GrowingSite, rows: Int32s, open_keys: Int32s) -> KeyStatistics:
    """Return the statistics of some keys among some URLs, one entry per key."""
    keys = site.keys
    numbers, bit_urls, class_urls, entropy = _measure(
        keys.codes, rows, open_keys, keys.first, keys.shape, site.counts, site.touched
    )
    present, distinct, any_bits, constant, common, most = numbers.tolist()
    by_shape, by_class = bit_urls.tolist(), class_urls.tolist()
    return KeyStatistics(
        present, distinct, any_bits, constant, common, most, by_shape, by_class, entropy.tolist()
    )


def bit_place(bit: int) -> int:
    """Return the index of a bit, 0 for the lowest."""
    return bit.bit_length() - 1


@loop
def _measure(
    codes: Int32s,
    rows: Int32s,
    open_keys: Int32s,
    first: Int64s,
    shape: Int32s,
    counts: Int32s,
    touched: Int32s,
) -> tuple[Int64s, Int64s, Int64s, Floats]:
    """Return `KeyStatistics` as arrays: the first six fields as rows of one, then the others.

    `counts` is all zeros before and after.
    """
    keys = len(open_keys)
    urls = len(rows)
    numbers = np.zeros((_NUMBERS, keys), np.int64)
    present, distinct, any_bits, constant, common, most = numbers
    common[:] = -1
    bit_urls = np.zeros((keys, _BITS), np.int64)
    class_urls = np.zeros((keys, _CLASS_COUNT), np.int64)
    entropy = np.zeros(keys, np.float64)
    for i in range(keys):
        key = open_keys[i]
        value_count = count_codes(codes[key], rows, counts, touched)
        last, term = 0, 0.0
        last_shape, shape_urls = 0, 0
        for j in range(value_count):
            code = touched[j]
            count = counts[code]
            counts[code] = 0
            # Most values have one URL and the shape of the value before: computing the logarithm
            # and the bits of each value would be slow.
            if count != last:
                last, term = count, count / urls * np.log(count / urls)
            entropy[i] -= term
            if code == ABSENT:
                continue
            present[i] += count
            distinct[i] += 1
            constant[i] = code
            most[i] = max(most[i], count)
            value = shape[first[key] + code - 1]
            if value != last_shape:
                _add_shape(last_shape, shape_urls, bit_urls[i], class_urls[i])
                last_shape, shape_urls = value, 0
                common[i] &= bits_of(value)
                any_bits[i] |= bits_of(value)
            shape_urls += count
        _add_shape(last_shape, shape_urls, bit_urls[i], class_urls[i])
    return numbers, bit_urls, class_urls, entropy


@leaf
def _add_shape(value: int, urls: int, bit_urls: Int64s, class_urls: Int64s) -> None:
    """Add URLs whose values have a shape to the counts by shape bit and by class."""
    bits = bits_of(value)
    class_urls[class_of(value)] += urls
    for bit in range(_BITS):
        if bits >> bit & 1:
            bit_urls[bit] += urls


@leaf
def count_codes(column: Int32s, rows: Int32s, counts: Int32s, touched: Int32s) -> int:
    """Count the codes of some URLs into `counts`, list them in `touched`, and return how many."""
    distinct = at = 0
    while at < len(rows):
        # URLs come in order: values come in runs.
        code, begin = column[rows[at]], at
        while at < len(rows) and column[rows[at]] == code:
            at += 1
        if counts[code] == 0:
            touched[distinct] = code
            distinct += 1
        counts[code] += at - begin
    return distinct
