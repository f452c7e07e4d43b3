"""Streams of blocks of whole lines, whatever a file is packed with.

Here: decompression, bounded memory, the digest of what was read. Not here: which files there are
(`paths`), what a line means (`formats`).
"""

from __future__ import annotations

import codecs
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final

import numpy as np
from blake3 import blake3

from temporal_assets.core.numerics.compiled import loop
from temporal_assets.logs.read import objects, packed, splits
from temporal_assets.logs.read.byte_values import NEWLINE
from temporal_assets.logs.read.fingerprint import DIGEST_BYTES, Fingerprint, TextDigest
from temporal_assets.logs.read.json_array import array_lines
from temporal_assets.logs.read.objects import LogPath, ObjectStat
from temporal_assets.logs.read.records import Block, Bytes
from temporal_assets.logs.read.splits import Range
from temporal_assets.settings import Reading

__all__ = ["LogStream", "first_record", "head_digest", "open_stream", "peek", "refusal"]

BLOCK_BYTES: Final = 16 << 20
"""Bytes of a log handed to a thread at once; the first blocks of a file are smaller, so that all
threads have one soon. Larger ones need more memory and save little."""

_FIRST_BLOCK: Final = 4 << 20
"""Size of the first blocks: some 20 ms of work."""

_INPUT: Final = 16 << 10
"""Compressed bytes given to a decompressor at once: what damage costs at most."""

_CHECKSUM: Final = 8
"""Bytes at the end of an archive that say what it should hold: CRC and length of gzip."""

HEAD_BYTES: Final = 64 << 10
"""Bytes looked at to recognise a format and to tell files apart: many lines of any log."""

_HOLE: Final = bytes(16)
"""Zero bytes, as at the beginning of a log that was emptied while its server kept writing
(`copytruncate`). No text begins so, in any encoding."""

_DIGIT: Final = re.compile(rb"[0-9]")

_START: Final = 512
"""Bytes that are needed to recognise a file; a tar archive says so at its 257th."""

_TAR: Final = b"ustar"
_TAR_AT: Final = 257

_ZIP: Final = b"PK\x03\x04"

_REFUSED: Final = (
    (_ZIP, "zip archives are not read: unpack the file"),
    (b"7z\xbc\xaf\x27\x1c", "7z archives are not read: unpack the file"),
    (b"\x04\x22\x4d\x18", "lz4 files are not read: unpack the file"),
    (b"PAR1", "a Parquet file has no lines: read it with format `parquet`"),
    *((magic, f"packed twice, inside with {kind}: unpack it once") for magic, kind in packed.MAGIC),
)

_COUNTS: Final = re.compile(r"(^|/)(imported_pages_[^/]*|pages)\.csv$")
"""Name of the table of pages in an export of Plausible."""

_NAMES: Final = re.compile(rb"\A(?:\xef\xbb\xbf)?\"?name\"?(?=,)")
"""Expression for the beginning of the dashboard's table, whose column `name` has pages."""

_ARRAY: Final = re.compile(rb"\s*\[\s*\{")
"""Beginning of JSON that has all records in one list, as APIs answer."""

_TEXT_BOMS: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class LogStream:
    """Stream of the blocks of one file. Iterate once; the attributes are final afterwards.

    Memory is bounded by a block and a line whatever the file holds: of a line longer than
    `Reading.max_line_bytes` only the first part is passed on, long enough to be rejected.
    """

    def __init__(
        self,
        path: LogPath,
        reading: Reading,
        checkpoints: Sequence[int] = (),
        *,
        with_former: bool = False,
        part: Range | None = None,
    ) -> None:
        """Open a file, see `open_stream`."""
        self.path = path
        self.lines = 0
        """Lines passed on so far, empty ones included."""
        self.compressed_bytes = 0
        """Bytes of the file read so far, for progress bars."""
        self.is_packed = False
        """True if the file is an archive of a kind that is unpacked."""
        self.problem: str | None = None
        """Why reading ended early; what could be read was passed on."""
        self.part: Range | None = None
        """The range that is read, in a file that can be divided; None if all of it is."""
        self._kind_of_part = ""
        self._is_divisible = True
        """False if lines do not just follow one another in the text."""
        self._broken: str | None = None
        self._refused = b""
        self._reading = reading
        self._fingerprint = Fingerprint(checkpoints, with_former=with_former)
        self._file: IO[bytes] = path.open("rb")
        try:
            self.version = version_of(_stat(path, self._file))
            """Of the file that is read, whatever has its name by now."""
            kind = self._kind_of_range() if part else None
            self._texts = self._lines_of_array(self._text())
            self.head = self._first(HEAD_BYTES)
            """The first 64 KiB of text or less, for detection; of a file that is refused, what it
            begins with."""
            if part and kind and self._is_divisible and not self.problem:
                self._begin_part(part, kind)
        except BaseException:
            self._file.close()
            raise

    @property
    def digest(self) -> TextDigest:
        """Digest of the decompressed bytes read."""
        return self._fingerprint.digest()

    @property
    def digests(self) -> frozenset[str]:
        """Digests by which a record may know the decompressed bytes read."""
        return self._fingerprint.all_hex()

    @property
    def size(self) -> int:
        """Decompressed bytes read."""
        return self._fingerprint.size

    @property
    def prefix_digests(self) -> dict[int, frozenset[str]]:
        """Checkpoint -> digests of so many first bytes, for those the file reaches."""
        return self._fingerprint.prefixes

    def __enter__(self) -> LogStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the attributes stay."""
        self._file.close()

    def __iter__(self) -> Iterator[Block]:
        """Yield blocks of about `BLOCK_BYTES`, each but the last ending in a newline.

        The first are smaller: all workers have one soon, also of a file that makes few.
        """
        limit = min(BLOCK_BYTES, _FIRST_BLOCK)
        lines = _LineBuffer(self._reading.max_line_bytes)
        for text in self._texts:
            if lines.size >= limit:
                whole = lines.take_lines()
                if whole:
                    yield self._block(whole, last=False)
                    limit = min(BLOCK_BYTES, 2 * limit)
            lines.add(text)
        rest = lines.take_all()
        if rest:
            yield self._block(rest, last=True)
        if self._broken:
            is_cut = bool(rest) and rest[-1] != NEWLINE
            self.problem = f"{self._broken} after line {self.lines - is_cut}"

    def _kind_of_range(self) -> str | None:
        kind = splits.kind_of(self._file)
        self._file.seek(0)
        return kind

    def _begin_part(self, part: Range, kind: str) -> None:
        """Go on with a range of the file in the place of what follows the head."""
        self.part, self._kind_of_part = part, kind
        if not isinstance(self.path, Path):
            self._file.close()
            self._file = self.path.open(ahead=objects.RANGE_BYTES)
        self._fingerprint = Fingerprint(is_rest=part.start > 0)
        self._texts = self._chunks() if part.start else self._text()

    def _block(self, data: memoryview, last: bool) -> Block:
        first = self.lines + 1
        whole = data[-1] == NEWLINE
        cut = last and not whole and self._broken is not None
        values = np.frombuffer(data, np.uint8)
        self.lines += _newlines(values) + (not whole)
        return Block(values, first, last, cut)

    def _first(self, size: int) -> bytes:
        """Read the beginning and put it back."""
        head = b""
        for text in self._texts:
            head += text
            if len(head) >= size:
                break
        rest = self._texts
        self._texts = _chain(head, rest)
        return head[:size] or self._refused

    def _text(self) -> Iterator[bytes]:
        """Yield decompressed chunks as UTF-8 or whatever single-byte encoding they are in."""
        decoder: codecs.IncrementalDecoder | None = None
        start = True
        for chunk in _behind_hole(self._chunks()):
            text = chunk
            if start:
                decoder, text = _strip_mark(chunk)
                self._is_divisible &= decoder is None
                if why := refusal(chunk):
                    self.problem, self._refused = why, chunk[:_START]
                start = False
            if decoder:
                text = decoder.decode(text).encode()
            if text and not self._refused:
                yield text

    def _lines_of_array(self, texts: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the same text; where all of it is a JSON array of objects, one object a line."""
        first = next(texts, b"")
        if not _ARRAY.match(first):
            yield from _chain(first, texts)
            return
        self._is_divisible = False
        state = np.zeros(3, np.int64)
        for text in _chain(first, texts):
            data = np.frombuffer(text, np.uint8)
            yield array_lines(data, state).tobytes()

    def _chunks(self) -> Iterator[bytes]:
        """Yield decompressed bytes while hashing them; the first chunk has 512 bytes or all."""
        held = b""
        try:
            for chunk in self._raw():
                self._fingerprint.update(chunk)
                held += chunk
                if len(held) >= _START or self.size > _START:
                    yield held
                    held = b""
        except packed.BrokenArchiveError as error:
            if held:
                yield held
            self._broken = self.problem = str(error)
            return
        if held:
            yield held

    def _raw(self) -> Iterator[bytes]:
        """Yield decompressed bytes as they come."""
        if self.part:
            for text in self.part.lines(self._file, self._kind_of_part):
                self.compressed_bytes = self._file.tell()
                yield text
            self.compressed_bytes = self._file.tell()
            return
        first = self._read(packed.READ)
        kind = packed.kind_of(first)
        if kind:
            self.is_packed = True
            yield from self._decompressed(kind, first)
            return
        if first.startswith(_ZIP) and (member := _counts_in(self._file)):
            self.is_packed, self._is_divisible = True, False
            _, self.compressed_bytes, _ = self.version
            yield from member
            return
        while first:
            yield first
            first = self._read(packed.READ)

    def _read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.compressed_bytes += len(data)
        return data

    def _decompressed(self, kind: str, data: bytes) -> Iterator[bytes]:
        """Yield all members of an archive; whatever precedes damage is delivered first."""
        step = packed.ZSTD_INPUT if kind == "zstd" else _INPUT
        given = unpacked = members = 0
        unpacker = packed.unpacker_of(kind)
        inside = False
        while True:
            if unpacker.eof:
                data = unpacker.unused_data + data
                unpacker = packed.unpacker_of(kind)
                inside = False
                members += 1
            if members and not inside:
                # Members may be padded with zeros to a tape's or disk's block size.
                data = data.lstrip(b"\0")
                if data and len(data) < packed.LONGEST_MAGIC:
                    data += self._read(packed.READ)
                if not packed.may_begin(kind, data):
                    raise packed.BrokenArchiveError(f"trailing garbage in {kind}")
            if not data and unpacker.needs_input:
                data = self._read(packed.READ)
                if not data:
                    break
                continue
            piece = b""
            if unpacker.needs_input:
                # The checksum by itself: where only that is wrong, nothing else is lost.
                whole = len(data) - _CHECKSUM
                here = min(step, whole) if whole > 0 else len(data)
                piece, data = data[:here], data[here:]
            given += len(piece)
            text = packed.unpack(unpacker, piece, kind, first_of_later=members > 0 and not inside)
            inside = True
            unpacked += len(text)
            if text:
                yield text
            if unpacked > packed.MAX_EXPANSION * given + packed.EXPANSION_SLACK:
                raise packed.BrokenArchiveError(
                    f"{kind} expands {unpacked // given} times: refused"
                )
        if inside:
            raise packed.BrokenArchiveError(f"truncated {kind}")


def _counts_in(file: IO[bytes]) -> Iterator[bytes] | None:
    """Return the pages of an export of Plausible (a zip archive of tables), or None for others.

    Otherwise the position in the file is unchanged.
    """
    here = file.tell()
    try:
        archive = zipfile.ZipFile(file)
        members = [member for member in archive.infolist() if _COUNTS.search(member.filename)]
    except (zipfile.BadZipFile, ValueError, OSError):
        members = []
    if len(members) != 1:
        file.seek(here)
        return None
    return _unzipped(archive, members[0])


def _unzipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    unpacked, most = 0, packed.MAX_EXPANSION * member.compress_size + packed.EXPANSION_SLACK
    try:
        with archive.open(member) as text:
            while chunk := text.read(packed.READ):
                unpacked += len(chunk)
                if unpacked > most:
                    raise packed.BrokenArchiveError("zip expands more than any export: refused")
                yield chunk if unpacked > len(chunk) else _NAMES.sub(b"page", chunk, count=1)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError) as error:
        raise packed.BrokenArchiveError("damaged zip") from error


def _behind_hole(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the blocks of a stream without the zero bytes that it may begin with."""
    first = next(chunks, b"")
    in_hole = first.startswith(_HOLE)
    for chunk in _chain(first, chunks):
        rest = chunk.lstrip(b"\0") if in_hole else chunk
        if rest:
            in_hole = False
            yield rest


def refusal(head: bytes) -> str | None:
    """Return why a file with this beginning is not read as lines, or None."""
    for magic, why in _REFUSED:
        if head.startswith(magic):
            return why
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return "tar archives are not read: unpack the file"
    return None


def _strip_mark(chunk: bytes) -> tuple[codecs.IncrementalDecoder | None, bytes]:
    """Return the text behind a byte order mark, and a decoder for UTF-16 (PowerShell's output)."""
    if chunk.startswith(codecs.BOM_UTF8):
        return None, chunk[len(codecs.BOM_UTF8) :]
    for mark, encoding in _TEXT_BOMS:
        if chunk.startswith(mark):
            return codecs.getincrementaldecoder(encoding)("replace"), chunk[len(mark) :]
    return None, chunk


def _chain(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from rest


class _LineBuffer:
    """Text waiting to be passed on; overlong lines are cut as they arrive."""

    def __init__(self, max_line: int) -> None:
        self.size = 0
        self._max_line = max_line
        self._parts: list[bytes] = []
        self._tail = 0
        """Bytes since the last newline."""
        self._cutting = False
        """True if the line that is arriving is over its limit."""

    def add(self, text: bytes) -> None:
        if self._cutting:
            newline = text.find(b"\n")
            if newline < 0:
                return
            text = text[newline:]
            self._cutting = False
        newline = text.rfind(b"\n")
        tail = len(text) - newline - 1 if newline >= 0 else self._tail + len(text)
        # One byte over the limit is what makes the tokenizer reject the line.
        surplus = tail - (self._max_line + 1)
        if surplus > 0:
            text = text[: len(text) - surplus]
            tail -= surplus
            self._cutting = True
        self._tail = tail
        self.size += len(text)
        self._parts.append(text)

    def take_lines(self) -> memoryview:
        """Return all whole lines; what follows stays."""
        data = b"".join(self._parts)
        cut = len(data) - self._tail
        self._parts = [data[cut:]] if self._tail else []
        self.size = self._tail
        return memoryview(data)[:cut]

    def take_all(self) -> memoryview:
        data = b"".join(self._parts)
        self._parts = []
        self.size = 0
        return memoryview(data)


@loop
def _newlines(data: Bytes) -> int:
    """Return the number of newlines, without an array of comparisons, which would be slow."""
    count = 0
    for byte in data:
        count += byte == NEWLINE
    return count


def _stat(path: LogPath, file: IO[bytes]) -> os.stat_result | ObjectStat:
    return os.fstat(file.fileno()) if isinstance(path, Path) else path.stat()


def version_of(stat: os.stat_result | ObjectStat) -> tuple[int, int, int]:
    """Return a value that changes when a file is replaced or written to."""
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def can_be_divided(path: LogPath) -> bool:
    """Return whether tasks can each read a range of a file, by its beginning."""
    with LogStream(path, Reading(), part=Range(0, None)) as stream:
        return stream.part is not None


def open_stream(
    path: LogPath,
    reading: Reading,
    checkpoints: Sequence[int] = (),
    *,
    with_former: bool = False,
    part: Range | None = None,
) -> LogStream:
    """Open a file as a stream of blocks, as a context manager.

    Args:
        path: The file.
        reading: Settings.
        checkpoints: Byte lengths at which the digest of the beginning is wanted, to see whether the
            file begins with one that is known.
        with_former: True if digests as older records have them are wanted too.
        part: Range whose lines are wanted, if the file can be divided: iteration may then raise
            `DoubtError`.
    """
    return LogStream(path, reading, checkpoints, with_former=with_former, part=part)


def peek(path: LogPath, reading: Reading | None = None) -> bytes:
    """Return the first 64 KiB of a file's text, decompressed."""
    with open_stream(path, reading or Reading()) as stream:
        return stream.head


def head_digest(path: LogPath, reading: Reading | None = None) -> str:
    """Return the digest of a file's first record: a cheap hint that the file may be known."""
    return first_record(peek(path, reading))


def first_record(head: bytes) -> str:
    """Return the digest of the first record (64 KiB at most) of a file that begins so.

    Records have digits, as times do. Directives and the names of columns, which many files of a
    server begin with, would make each of them look known.
    """
    lines = head.split(b"\n")
    records = (line for line in lines if _DIGIT.search(line) and not line.startswith(b"#"))
    line = next(records, lines[0])
    return str(blake3(line).hexdigest(length=DIGEST_BYTES))
