"""The sections of a URL: the folders and the program it lies under, and the trees they form.

Here: which sections a page is part of, and numbering them so that sums over a whole tree are one
pass. Not here: what is summed and which sections are chosen (`prefix_tree`, `site_scores`).

The definition (TW 6, NP 5.2), on canonical URLs (docs/canonical-urls.md). A section is a prefix of
the URL, written without the scheme:

* the root: host and port, `a.example/`;
* a folder: everything up to a `/` of the path, `a.example/news/`. The page `/news/` lies in the
  folder `/news/`; the page `/news` lies in the root. `/a//b` lies in a folder without a name,
  `/a//`;
* a program: everything up to the first `?`. A URL with a query is a page of its program,
  `a.example/news.jsp?`, whose parent is the program's folder; `/news.jsp` without a query is a
  page of the folder. A `/` in the query is no folder.

So the sections of a page are nested, the root first, and a URL lies in a section exactly when it
begins with it. Folders deeper than MAX_DEPTH are part of the last that counts.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.arrays import Bytes, Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import inlined, loop
from temporal_assets.core.text.texts import SEED, Texts, equal_bytes, hash_bytes, take

MAX_DEPTH: Final = 24
"""Folders below the root. Real paths are shorter; a hostile one of 30,000 slashes would make
30,000 sections of 30,000 bytes."""

_COLON: Final = 58
_SLASH: Final = 47
_QUESTION: Final = 63


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections of each URL, one after the other, the root first."""

    urls: Texts
    first: Int64s
    """Shape (urls + 1): URL i has the sections `first[i]` to `first[i + 1] - 1`."""
    start: Int64s
    """Shape (urls): where the host begins in `urls.data`; all sections of the URL begin here."""
    stop: Int64s
    """Shape (sections): where a section ends in `urls.data`."""
    is_program: Flags
    """Shape (sections): programs; the others are folders."""

    def innermost(self) -> Texts:
        """Return the name of the deepest section of each URL."""
        return take(self.urls.data, self.start, self.stop[self.first[1:] - 1])

    def names(self) -> Texts:
        """Return the names of all sections of all URLs."""
        start = np.repeat(self.start, np.diff(self.first))
        return take(self.urls.data, start, self.stop)

    def of(self, url: int) -> list[str]:
        """Return the names of the sections of one URL."""
        begin = int(self.start[url])
        ends = self.stop[self.first[url] : self.first[url + 1]].tolist()
        return [_text(self.urls.data, begin, end) for end in ends]


@dataclass(frozen=True, slots=True)
class SectionTrees:
    """The distinct sections of many URLs: one tree per host, parents before their children."""

    urls: Texts
    parent: Int32s
    """Number of the section above, or -1 for a root."""
    depth: Int32s
    """Depth below the root, which has 0."""
    is_program: Flags
    start: Int64s
    stop: Int64s
    """Positions of the sections in `urls.data`."""
    innermost: Int32s
    """Shape (urls): the deepest section of each URL."""

    def __len__(self) -> int:
        return len(self.parent)

    def name(self, section: int) -> str:
        """Return a section as text, like `a.example/news/`."""
        return _text(self.urls.data, int(self.start[section]), int(self.stop[section]))

    def names(self) -> list[str]:
        """Return the names of all sections."""
        return [self.name(section) for section in range(len(self))]

    def find(self, names: Collection[str]) -> Flags:
        """Return flags of the sections with one of these names."""
        wanted = frozenset(names)
        return np.array([name in wanted for name in self.names()], np.bool_)

    @property
    def roots(self) -> Int32s:
        """Shape (urls): the root of the tree that each URL lies in."""
        root = np.where(self.parent < 0, np.arange(len(self)), self.parent)
        while True:
            above = root[root]
            if np.array_equal(above, root):
                return np.asarray(root[self.innermost], np.int32)
            root = above

    def total(self, values: NDArray[np.int64]) -> Int64s:
        """Return the sum of a value per URL over each section and the sections below it."""
        sums: Int64s = _total(self.parent, self.innermost, np.asarray(values, np.int64))
        return sums

    def most(self, values: NDArray[np.int64]) -> Int64s:
        """Return the largest value per URL of each section and the sections below it."""
        largest: Int64s = _most(self.parent, self.innermost, np.asarray(values, np.int64))
        return largest

    def beneath(self, sections: Flags) -> Flags:
        """Return flags of the sections that are flagged or lie below a flagged one."""
        flags_beneath: Flags = _beneath(self.parent, np.asarray(sections, np.bool_))
        return flags_beneath

    def covered(self, sections: Flags) -> Flags:
        """Return flags of the URLs that lie in one of the flagged sections."""
        flags: Flags = self.beneath(sections)[self.innermost]
        return flags


def sections(urls: Texts) -> Sections:
    """Return the sections of canonical URLs, in time linear in their bytes."""
    first, start, stop, is_program = _sections(urls.data, urls.offsets)
    return Sections(urls, first, start, stop, is_program)


def section_trees(urls: Texts) -> SectionTrees:
    """Return the distinct sections of canonical URLs, numbered by first occurrence."""
    cut_urls = sections(urls)
    parent, depth, is_program, start, stop, innermost = _number(
        urls.data, cut_urls.first, cut_urls.start, cut_urls.stop, cut_urls.is_program, SEED
    )
    return SectionTrees(urls, parent, depth, is_program, start, stop, innermost)


def _text(data: Bytes, start: int, stop: int) -> str:
    return data[start:stop].tobytes().decode("utf-8", "replace")


@inlined
def _host_start(data: Bytes, start: int, stop: int) -> int:
    """Return the position after `://`, or `start` where a URL names no scheme."""
    for at in range(start, stop - 2):
        if data[at] == _SLASH or data[at] == _QUESTION:
            break
        if data[at] == _COLON and data[at + 1] == _SLASH and data[at + 2] == _SLASH:
            return at + 3
    return start


@loop
def _sections(data: Bytes, offsets: Int64s) -> tuple[Int64s, Int64s, Int64s, Flags]:
    """Return each URL's first section and start, and the stop and kind of each section."""
    urls = len(offsets) - 1
    separators = 0
    for byte in data:
        separators += byte in (_SLASH, _QUESTION)
    first = np.zeros(urls + 1, np.int64)
    start = np.empty(urls, np.int64)
    # Memory that is never written is never taken.
    stop = np.empty(separators + urls, np.int64)
    is_program = np.zeros(separators + urls, np.bool_)
    count = 0
    for url in range(urls):
        at, end = _host_start(data, offsets[url], offsets[url + 1]), offsets[url + 1]
        start[url] = at
        last = count + MAX_DEPTH
        while at < end and data[at] != _QUESTION:
            if data[at] == _SLASH and count <= last:
                stop[count] = at + 1
                count += 1
            at += 1
        if count == first[url]:  # a host without a path
            stop[count] = at
            count += 1
        if at < end:
            stop[count], is_program[count] = at + 1, True
            count += 1
        first[url + 1] = count
    return first, start, stop[:count].copy(), is_program[:count].copy()


@inlined
def _place(
    data: Bytes,
    above: int,
    begin: int,
    end: int,
    value: np.uint64,
    table: Int32s,
    hashes: NDArray[np.uint64],
    parent: Int32s,
    names: Int64s,
    stop: Int64s,
) -> int:
    """Return the index in `table` of the section `above` + `data[begin:end]`, or a free one."""
    mask = len(table) - 1
    at = np.int64(value) & mask
    while table[at] >= 0:
        other = table[at]
        if (
            hashes[other] == value
            and parent[other] == above
            and stop[other] - names[other] == end - begin
            and equal_bytes(data, begin, data, names[other], end - begin)
        ):
            break
        at = (at + 1) & mask
    return int(at)


@loop
def _grown(table: Int32s, hashes: NDArray[np.uint64], count: int) -> Int32s:
    """Return a hash table four times as large with the same entries."""
    larger = np.full(4 * len(table), -1, np.int32)
    mask = len(larger) - 1
    for number in range(count):
        at = np.int64(hashes[number]) & mask
        while larger[at] >= 0:
            at = (at + 1) & mask
        larger[at] = number
    return larger


@loop
def _number(
    data: Bytes, first: Int64s, host: Int64s, ends: Int64s, programs: Flags, seed: np.uint64
) -> tuple[Int32s, Int32s, Flags, Int64s, Int64s, Int32s]:
    """Number the distinct sections and return the columns of `SectionTrees`.

    A section is looked up by its parent and its own name, so that no byte is read twice.
    """
    urls, bound = len(first) - 1, len(ends)
    hashes = np.empty(bound, np.uint64)
    parent, depth = np.empty(bound, np.int32), np.empty(bound, np.int32)
    is_program = np.empty(bound, np.bool_)
    start, stop = np.empty(bound, np.int64), np.empty(bound, np.int64)
    names = np.empty(bound, np.int64)  # where the section's own part begins
    innermost = np.empty(urls, np.int32)
    table = np.full(1024, -1, np.int32)
    section_count = 0
    for url in range(urls):
        above, begin = -1, host[url]
        for i in range(first[url], first[url + 1]):
            value = hash_bytes(data, begin, ends[i], above, seed)
            at = _place(
                data, above, begin, ends[i], value, table, hashes, parent, names, stop
            )  # fmt: skip
            if table[at] < 0:
                table[at] = section_count
                hashes[section_count], parent[section_count], names[section_count] = (
                    value,
                    above,
                    begin,
                )
                depth[section_count] = 0 if above < 0 else depth[above] + 1
                start[section_count], stop[section_count], is_program[section_count] = (
                    host[url],
                    ends[i],
                    programs[i],
                )
                section_count += 1
            above, begin = table[at], ends[i]
            if 2 * section_count > len(table):
                table = _grown(table, hashes, section_count)
        innermost[url] = above
    return (
        parent[:section_count].copy(),
        depth[:section_count].copy(),
        is_program[:section_count].copy(),
        start[:section_count].copy(),
        stop[:section_count].copy(),
        innermost,
    )


@loop
def _most(parent: Int32s, innermost: Int32s, values: Int64s) -> Int64s:
    largest = np.full(len(parent), np.iinfo(np.int64).min, np.int64)
    for url in range(len(innermost)):
        largest[innermost[url]] = max(largest[innermost[url]], values[url])
    for section in range(len(parent) - 1, -1, -1):
        if parent[section] >= 0:
            largest[parent[section]] = max(largest[parent[section]], largest[section])
    return largest


@loop
def _total(parent: Int32s, innermost: Int32s, values: Int64s) -> Int64s:
    sums = np.zeros(len(parent), np.int64)
    for url in range(len(innermost)):
        sums[innermost[url]] += values[url]
    for section in range(len(parent) - 1, -1, -1):
        if parent[section] >= 0:
            sums[parent[section]] += sums[section]
    return sums


@loop
def _beneath(parent: Int32s, flags: Flags) -> Flags:
    is_beneath = flags.copy()
    for section in range(len(parent)):
        if parent[section] >= 0 and is_beneath[parent[section]]:
            is_beneath[section] = True
    return is_beneath
