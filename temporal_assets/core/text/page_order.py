"""URLs of a day in the order of pages, that of sites and then of URLs, and numbers for their text.

A site is the host without its port (`logs.urls.site_of`), so that URLs in their own order lie in
runs of one site each, and only runs have to change places. Not here: which URLs there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes, Int32s, Int64s
from temporal_assets.core.numerics.compiled import inlined, leaf
from temporal_assets.core.text.texts import MULTIPLIER, Texts, equal_bytes, hash_bytes

_NONE = np.uint64(0)
"""The seed of hashes, none: hashes written today are compared with those of two months later."""

_SLASH, _COLON, _BRACKET, _END = (ord(letter) for letter in "/:[]")


@dataclass(frozen=True, slots=True)
class SiteRuns:
    """Neighbouring URLs of one site each."""

    first: Int64s
    """The first URL of each run."""
    start: Int64s
    stop: Int64s
    """Positions of the sites' names in the bytes of the URLs."""


def site_runs(urls: Texts) -> SiteRuns:
    """Runs of canonical URLs, in whatever order."""
    first, start, stop = (np.empty(len(urls), np.int64) for _ in range(3))
    runs = _runs(urls.data, urls.offsets, first, start, stop)
    return SiteRuns(first[:runs], start[:runs], stop[:runs])


def page_order(runs: SiteRuns, order: Int64s, urls: int) -> Int32s:
    """The place of each of `urls` ascending URLs; `order` is that of the runs by site, stable."""
    sizes = np.diff(runs.first, append=urls)
    begin = np.empty(len(order), np.int64)
    begin[order] = np.cumsum(sizes[order]) - sizes[order]
    place: Int32s = (np.arange(urls) + np.repeat(begin - runs.first, sizes)).astype(np.int32)
    return place


def text_numbers(texts: Texts) -> Int64s:
    """A number of 62 bits for each text, more than 0; two texts hardly ever have the same."""
    numbers = np.empty(len(texts), np.int64)
    _hash(texts.data, texts.offsets, numbers)
    return numbers


@leaf
def _hash(data: Bytes, offsets: Int64s, numbers: Int64s) -> None:
    for i in range(len(numbers)):
        begin, stop = offsets[i], offsets[i + 1]
        # Without a seed, its length alone would be made up for by a word of so many ones.
        value = hash_bytes(data, begin, stop, stop - begin, _NONE) * MULTIPLIER
        numbers[i] = np.int64(value >> np.uint64(2)) | 1


@leaf
def _runs(data: Bytes, offsets: Int64s, first: Int64s, start: Int64s, stop: Int64s) -> int:
    runs = 0
    for i in range(len(offsets) - 1):
        begin, end = _site(data, offsets[i], offsets[i + 1])
        if runs > 0:
            length = stop[runs - 1] - start[runs - 1]
            if end - begin == length and equal_bytes(data, begin, data, start[runs - 1], length):
                continue
        first[runs], start[runs], stop[runs] = i, begin, end
        runs += 1
    return runs


@inlined
def _site(data: Bytes, begin: int, stop: int) -> tuple[int, int]:
    """Return where the name of a URL's site begins and ends."""
    while begin < stop and data[begin] != _SLASH:
        begin += 1
    begin = min(begin + 2, stop)  # behind the scheme
    end = begin
    if end < stop and data[end] == _BRACKET:
        while end < stop and data[end] != _END:
            end += 1
        return begin, min(end + 1, stop)
    while end < stop and data[end] != _SLASH and data[end] != _COLON:
        end += 1
    return begin, end
