"""Hashes of texts under a secret seed of this process, so that nobody can prepare collisions.

Not here: the numbers of a day's URLs, which are their positions.
"""

from __future__ import annotations

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes, Int64s
from temporal_assets.core.numerics.compiled import leaf
from temporal_assets.core.text.texts import MULTIPLIER, SEED, Texts, hash_bytes


def text_numbers(texts: Texts) -> Int64s:
    """Return a positive hash of 62 bits for each text; two texts hardly ever have the same one."""
    numbers = np.empty(len(texts), np.int64)
    _hash(texts.data, texts.offsets, SEED, numbers)
    return numbers


@leaf
def _hash(data: Bytes, offsets: Int64s, seed: np.uint64, numbers: Int64s) -> None:
    for i in range(len(numbers)):
        begin, stop = offsets[i], offsets[i + 1]
        value = hash_bytes(data, begin, stop, stop - begin, seed) * MULTIPLIER
        numbers[i] = np.int64(value >> np.uint64(2)) | 1
