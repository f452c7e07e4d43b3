"""Reading the lines that begin in one range of a log's bytes, for tasks that share a large log.

    plain text                 a range is cut anywhere
    bzip2                      blocks (`bzip2_blocks`)
    zstd of several frames     frames, which begin with four known bytes
    BGZF (`bgzip`)             members of gzip with 16 known bytes

A line belongs to the range in which the line before it ends: a task leaves out all up to its first
newline, and reads on up to the first newline behind its range. A block, frame or member belongs to
the range in which it begins. Each task notes where it found the first one and the next task's first
one, so known bytes within other data deceive nobody. Whatever is not as it should be is a doubt, on
which one task reads the whole log: damage costs the same lines, and has the same sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import IO, Final, NamedTuple

from temporal_assets.logs.read import packed
from temporal_assets.logs.read.bzip2_blocks import DoubtError, StreamSums, blocks

_LOOKED_AT: Final = 4 << 20
"""Bytes at the beginning of a zstd file within which its second frame must begin."""

_BEGINNINGS: Final = {
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
    "bgzf": re.compile(rb"\x1f\x8b\x08\x04.{8}BC\x02\x00", re.DOTALL),
}
_LONGEST_BEGINNING: Final = 16

_SLACK: Final = 2 << 20
"""Bytes of text that are never a bomb; in all ranges together no more than in one reading."""


def kind_of(file: IO[bytes]) -> str | None:
    """Return how a log can be divided, or None; afterwards the file is at any place."""
    file.seek(0)
    head = file.read(packed.READ)
    kind = packed.kind_of(head)
    if kind == "zstd":
        while not (second := _BEGINNINGS[kind].search(head, 1)) and len(head) < _LOOKED_AT:
            more = file.read(packed.READ)
            if not more:
                break
            head += more
        return kind if second else None
    if kind == "gzip":
        return "bgzf" if _BEGINNINGS["bgzf"].match(head) else None
    return {None: "plain", "bzip2": kind}.get(kind)


class Edges(NamedTuple):
    """What a task found at both ends of its range; places are counted in bits."""

    first: int | None = None
    """Place of the first block, frame or member in the range or behind it; None if the log ends."""
    next: int | None = None
    """Place of the first one behind the range; None if the log ends."""
    sums: StreamSums = StreamSums()

    @staticmethod
    def fit(parts: Sequence[Edges]) -> bool:
        """Return whether the ranges of consecutive tasks are the whole log, undamaged."""
        return all(
            before.next == after.first for before, after in pairwise(parts)
        ) and StreamSums.agree(part.sums for part in parts)


class _Piece(NamedTuple):
    """A piece of text."""

    place: int
    """Where the block, frame or member begins that it is of."""
    end: int
    """Where its last packed byte ends."""
    text: bytes


class Range:
    """A range of a log's bytes."""

    def __init__(self, start: int, stop: int | None) -> None:
        """Take the bytes from `start` to `stop`, which is None for the end of the log."""
        self.start = start
        self.stop = stop
        self.edges = Edges()
        """What was found at both ends, when the lines were read."""

    def lines(self, file: IO[bytes], kind: str) -> Iterator[bytes]:
        """Yield the text of the lines. Raises `DoubtError`."""
        is_skipping = self.start > 0
        unpacked = 0
        for place, end, text in self._members(file, kind):
            behind = self._is_behind(place)
            unpacked += len(text)
            if unpacked > packed.MAX_EXPANSION * (end - self._first(place)) // 8 + _SLACK:
                raise DoubtError
            if behind and self.edges.next is None:
                self.edges = self.edges._replace(next=place)
            if behind and is_skipping:
                return  # no line begins here
            newline = text.find(b"\n") if behind or is_skipping else -1
            if newline < 0:
                if not is_skipping:
                    yield text
            elif behind:
                yield text[: newline + 1]
                return
            else:
                is_skipping = False
                yield text[newline + 1 :]

    def _first(self, place: int) -> int:
        """Return the place of the first block, frame or member, which is this one or was before."""
        if self.edges.first is None:
            self.edges = self.edges._replace(first=place)
            return place
        return self.edges.first

    def _members(self, file: IO[bytes], kind: str) -> Iterator[_Piece]:
        """Yield pieces of text with their places."""
        if kind == "plain":
            yield from self._plain(file)
        elif kind == "bzip2":
            for block in blocks(file, self.start):
                if not self._is_behind(block.place):
                    self.edges = self.edges._replace(sums=self.edges.sums.with_block(block))
                yield _Piece(block.place, block.end, block.text)
        else:
            yield from _members(file, self.start, kind)

    def _is_behind(self, place: int) -> bool:
        return self.stop is not None and place >= 8 * self.stop

    def _plain(self, file: IO[bytes]) -> Iterator[_Piece]:
        at = file.seek(self.start)
        while text := file.read(self._left(at)):
            yield _Piece(8 * at, 8 * (at + len(text)), text)
            at += len(text)

    def _left(self, at: int) -> int:
        """Return how much is read at byte `at`, so that no piece crosses the end of the range."""
        if self.stop is None or at >= self.stop:
            return packed.READ
        return min(packed.READ, self.stop - at)


def _members(file: IO[bytes], start: int, kind: str) -> Iterator[_Piece]:
    """Yield the text of frames or members that begin at byte `start` or behind it."""
    beginning = _BEGINNINGS[kind]
    name = "gzip" if kind == "bgzf" else kind
    at, data = _first(file, start, beginning)
    while data or (data := file.read(packed.READ)):
        if len(data) < _LONGEST_BEGINNING:
            data += file.read(packed.READ)
        if not beginning.match(data):
            raise DoubtError
        place, unpacker = at, packed.unpacker_of(name)
        while not unpacker.eof:
            piece = b""
            if unpacker.needs_input:
                data = data or file.read(packed.READ)
                if not data:
                    raise DoubtError
                piece, data = data[: packed.ZSTD_INPUT], data[packed.ZSTD_INPUT :]
            at += len(piece)
            try:
                text = packed.unpack(unpacker, piece, name, first_of_later=False)
            except packed.BrokenArchiveError as error:
                raise DoubtError from error
            yield _Piece(8 * place, 8 * at, text)
        at -= len(unpacker.unused_data)
        data = unpacker.unused_data + data


def _first(file: IO[bytes], start: int, beginning: re.Pattern[bytes]) -> tuple[int, bytes]:
    """Return the byte where a frame or member begins, and some bytes from there on."""
    at, data = file.seek(start), b""
    if start == 0:
        return at, data
    while not (match := beginning.search(data)):
        more = file.read(packed.READ)
        if not more:
            return at + len(data), b""
        cut = max(len(data) - _LONGEST_BEGINNING, 0)
        at, data = at + cut, data[cut:] + more
    return at + match.start(), data[match.start() :]
