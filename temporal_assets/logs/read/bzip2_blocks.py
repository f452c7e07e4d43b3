"""The blocks of bzip2 archives, from any place on.

A block begins with 48 known bits at any bit of a byte, and a stream ends with 48 others; an archive
is one stream or more. Here: finding blocks, unpacking each by itself (as a stream of one block),
and checksums of streams, which go over blocks of several tasks. Not here: which blocks a task reads
(`splits`). Libraries that unpack bzip2 in parallel have no way to begin in the middle.
"""

from __future__ import annotations

import bz2
import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import IO, Final, NamedTuple

from temporal_assets.logs.read import packed

_STREAM: Final = re.compile(rb"BZh[1-9]")
_ANY_STREAM: Final = b"BZh9"

_MARK_BITS: Final = 48
_BLOCK: Final = 0x314159265359
_END: Final = 0x177245385090
_SUM_BITS: Final = 32
_TAIL: Final = _MARK_BITS + _SUM_BITS
"""Bits at the end of a stream."""
_INNER: Final = 5
"""Bytes that a mark fills whole, at whichever bit it begins."""
_MARK_BYTES: Final = 7
"""Bytes that a mark lies in."""

_LONGEST: Final = 2 << 20
"""Bytes that no block has: packed text of 900,000 bytes hardly grows."""


class DoubtError(Exception):
    """Error: something is not as expected, and one task has to read the whole log."""


class Block(NamedTuple):
    """A block of an archive."""

    place: int
    """Number of its first bit in the archive."""
    end: int
    """Number of the first bit behind it."""
    text: bytes
    sum: int
    """Checksum of its text."""
    stream_sum: int | None
    """Checksum of the stream, if it is the stream's last."""


class StreamSums(NamedTuple):
    """Checksums of streams over some consecutive blocks."""

    ended: tuple[int, int, int] | None = None
    """Number of blocks up to the first end of a stream, their sum, and what it should be."""
    blocks: int = 0
    """Number of blocks behind the last end of a stream."""
    value: int = 0
    """Sum of those blocks."""
    is_right: bool = True
    """True if streams that begin and end here have the right sums."""

    def with_block(self, block: Block) -> StreamSums:
        """Return the sums over one more block."""
        count, value = self.blocks + 1, _rotated(self.value, 1) ^ block.sum
        if block.stream_sum is None:
            return self._replace(blocks=count, value=value)
        if self.ended is None:
            return StreamSums((count, value, block.stream_sum))
        is_right = self.is_right and value == block.stream_sum
        return self._replace(blocks=0, value=0, is_right=is_right)

    @staticmethod
    def agree(parts: Iterable[StreamSums]) -> bool:
        """Return whether all streams of an archive have the right sums, given all of its parts."""
        before = 0
        for part in parts:
            if part.ended:
                count, value, wanted = part.ended
                if _rotated(before, count) ^ value != wanted:
                    return False
                before = part.value
            else:
                before = _rotated(before, part.blocks) ^ part.value
            if not part.is_right:
                return False
        return True


def blocks(file: IO[bytes], start: int) -> Iterator[Block]:
    """Yield the blocks that begin at byte `start` or behind it. Raises `DoubtError`."""
    window = _Window(file, start)
    stream: bytes | None = _ANY_STREAM
    mark = window.mark(8 * start)
    if start == 0:
        stream, mark = window.stream(0)
    elif mark is not None and mark.is_end:
        stream, mark = window.stream_behind(mark)
    while mark is not None and stream is not None:
        end = window.mark(mark.bit + _MARK_BITS, keep=mark.bit)
        if mark.is_end or end is None:
            raise DoubtError  # a stream without blocks, or without an end
        bits, count = window.bits(mark.bit, end.bit), end.bit - mark.bit
        sum_of_block = bits >> (count - _MARK_BITS - _SUM_BITS) & (1 << _SUM_BITS) - 1
        text = _unpacked(stream, bits, count, sum_of_block)
        stream_sum = window.bits(end.bit + _MARK_BITS, end.bit + _TAIL) if end.is_end else None
        yield Block(mark.bit, end.bit, text, sum_of_block, stream_sum)
        mark = end
        if end.is_end:
            stream, mark = window.stream_behind(end)


class _Mark(NamedTuple):
    bit: int
    is_end: bool


class _Window:
    """Bytes of an archive around the place where it is being read."""

    def __init__(self, file: IO[bytes], start: int) -> None:
        file.seek(start)
        self._file = file
        self._base = start
        self._data = b""
        self._searched = 0
        self._marks: deque[_Mark] = deque()
        self._ended = False

    def mark(self, bit: int, keep: int | None = None) -> _Mark | None:
        """Return the first mark at a bit or behind it, or None at the end of the archive.

        The bits from `keep` on can still be had.
        """
        while True:
            while self._marks and self._marks[0].bit < bit:
                self._marks.popleft()
            if self._marks:
                return self._marks[0]
            if self._ended:
                return None
            if 8 * (self._base + len(self._data) - _LONGEST) > bit:
                raise DoubtError
            self._read((bit if keep is None else keep) // 8)

    def bits(self, first: int, stop: int) -> int:
        """Return some bits as a number. Raises `DoubtError` where the archive ends before."""
        start, behind = first // 8, -(-stop // 8)
        while self._base + len(self._data) < behind and not self._ended:
            self._read(start)
        data = self._data[start - self._base : behind - self._base]
        if len(data) < behind - start:
            raise DoubtError
        return int.from_bytes(data) >> (8 * behind - stop) & (1 << stop - first) - 1

    def stream(self, at: int) -> tuple[bytes, _Mark]:
        """Return the beginning of the stream at a byte, and the mark of its first block."""
        first, behind = 8 * at, 8 * (at + len(_ANY_STREAM))
        head = self.bits(first, behind).to_bytes(len(_ANY_STREAM))
        mark = self.mark(behind)
        if not _STREAM.fullmatch(head) or mark is None or mark.bit != behind:
            raise DoubtError
        return head, mark

    def stream_behind(self, end: _Mark) -> tuple[bytes, _Mark] | tuple[None, None]:
        """Return the same of the stream behind the end of another; nothing at the archive's end."""
        at = -(-(end.bit + _TAIL) // 8)
        while self._base + len(self._data) <= at and not self._ended:
            self._read(end.bit // 8)
        return self.stream(at) if self._base + len(self._data) > at else (None, None)

    def _read(self, keep: int) -> None:
        """Read more, and forget what lies before byte `keep`."""
        more = self._file.read(packed.READ)
        self._ended = not more
        self._data += more
        # The last bytes may be the beginning of a mark; behind the last of all there is none.
        stop = len(self._data) if self._ended else len(self._data) - _MARK_BYTES + 1
        for mark in _marks(self._data, self._searched, stop):
            self._marks.append(mark._replace(bit=mark.bit + 8 * self._base))
        self._searched = max(stop, self._searched)
        cut = max(min(keep - self._base, self._searched), 0)
        self._data, self._base = self._data[cut:], self._base + cut
        self._searched -= cut


def _marks(data: bytes, start: int, stop: int) -> list[_Mark]:
    """Return the marks that begin in bytes `start` to `stop`, in their order."""
    marks = []
    for value in (_BLOCK, _END):
        for bit in range(8):
            inner = (value >> bit & (1 << 8 * _INNER) - 1).to_bytes(_INNER)
            at = data.find(inner, start + 1, stop + _INNER)
            while at >= 0:
                whole = int.from_bytes(
                    data[at - 1 : at - 1 + _MARK_BYTES].ljust(_MARK_BYTES, b"\0")
                )
                if whole >> 8 - bit & (1 << _MARK_BITS) - 1 == value:
                    marks.append(_Mark(8 * (at - 1) + bit, value == _END))
                at = data.find(inner, at + 1, stop + _INNER)
    return sorted(marks)


def _unpacked(stream: bytes, bits: int, count: int, sum_of_block: int) -> bytes:
    """Return the text of a block, as a stream of one block, whose sum is the block's."""
    whole = int.from_bytes(stream) << count | bits
    whole = whole << _TAIL | _END << _SUM_BITS | sum_of_block
    count += 8 * len(stream) + _TAIL
    size = -(-count // 8)
    unpacker = bz2.BZ2Decompressor()
    try:
        text = unpacker.decompress((whole << 8 * size - count).to_bytes(size))
    except (OSError, ValueError, EOFError) as error:
        raise DoubtError from error
    if not unpacker.eof or unpacker.unused_data:
        raise DoubtError
    return text


def _rotated(value: int, bits: int) -> int:
    """Return a number of 32 bits rotated to the left."""
    bits %= _SUM_BITS
    return (value << bits | value >> _SUM_BITS - bits) & (1 << _SUM_BITS) - 1
