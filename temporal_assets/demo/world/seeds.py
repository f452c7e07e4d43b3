"""Independent random streams by purpose, so that order and number of workers do not matter."""

from __future__ import annotations

import zlib

import numpy as np


def generator(seed: int, purpose: str, *keys: int) -> np.random.Generator:
    """Return the stream of a purpose (`"visits"`) and its keys (site, day), all non-negative."""
    words = (seed, zlib.crc32(purpose.encode()), *keys)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words)))
