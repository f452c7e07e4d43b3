"""The kinds of archives that logs are packed as, and their decompressors behind one interface.

Here: recognising and unpacking. Not here: what becomes of damage (`streams`), finding a place to
begin within an archive (`splits`).
"""

from __future__ import annotations

import bz2
import lzma
from typing import Final, Protocol, cast

import zstandard
from isal import igzip_lib

READ: Final = 1 << 20
"""Bytes that are read from a plain file, or returned by a decompressor, at once."""

ZSTD_INPUT: Final = 2048
"""Bytes given to zstd at once: its output cannot be limited, and 4 bytes can become 128 KiB, so
this keeps one step under 64 MiB. Honest logs lose nothing measurable."""

MAX_EXPANSION: Final = 1000
"""Decompressed bytes per compressed byte beyond which a file is taken for a bomb: reading ends
there, and lines up to it count. Access logs compress 5 to 40 times; gzip's own limit is 1032."""

EXPANSION_SLACK: Final = 64 << 20
"""Decompressed bytes that are never a bomb: a small file of equal lines expands enormously."""

MAGIC: Final = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
)
LONGEST_MAGIC: Final = max(len(magic) for magic, _ in MAGIC)
ZSTD_SKIPPABLE: Final = tuple(bytes([0x50 + n]) + b"\x2a\x4d\x18" for n in range(16))
"""zstd files may begin with a frame of metadata (pzstd writes one)."""

_ERRORS: Final[tuple[type[Exception], ...]] = (
    lzma.LZMAError,
    cast("type[Exception]", igzip_lib.error),
    zstandard.ZstdError,
    OSError,
    EOFError,
    ValueError,
)
"""Errors that decompressors raise on damage; bz2 has no error of its own."""


class BrokenArchiveError(Exception):
    """Error: an archive cannot be decompressed further; the message says why."""


class Unpacker(Protocol):
    """The interface that bz2, lzma and igzip share."""

    @property
    def eof(self) -> bool:
        """True at the end of a member."""
        ...

    @property
    def needs_input(self) -> bool:
        """True if there is no more text without more input."""
        ...

    @property
    def unused_data(self) -> bytes:
        """The input behind the end."""
        ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return the next text, no more than `max_length` bytes."""
        ...


class _Zstd:
    """A zstd frame behind the same interface."""

    needs_input = True

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()

    @property
    def eof(self) -> bool:
        return self._frame.eof

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:  # noqa: ARG002
        return self._frame.decompress(data)


def kind_of(data: bytes) -> str | None:
    """Return the kind of archive that begins so, or None."""
    if data.startswith(ZSTD_SKIPPABLE):
        return "zstd"
    return next((kind for magic, kind in MAGIC if data.startswith(magic)), None)


def unpacker_of(kind: str) -> Unpacker:
    """Return a decompressor of one member of an archive."""
    if kind == "gzip":
        member: Unpacker = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        return member
    if kind == "zstd":
        return _Zstd()
    if kind == "bzip2":
        return bz2.BZ2Decompressor()
    return lzma.LZMADecompressor(lzma.FORMAT_XZ)


def may_begin(kind: str, data: bytes) -> bool:
    """Return True if a member may begin so; decompressors wait for the rest of invalid heads."""
    magics = [magic for magic, magic_kind in MAGIC if magic_kind == kind]
    magics += ZSTD_SKIPPABLE if kind == "zstd" else ()
    return any(magic.startswith(data[: len(magic)]) for magic in magics)


def unpack(unpacker: Unpacker, piece: bytes, kind: str, first_of_later: bool) -> bytes:
    """Return the text of a piece of an archive. Raises `BrokenArchiveError`."""
    try:
        return unpacker.decompress(piece, READ)
    except _ERRORS as error:
        what = "trailing garbage in" if first_of_later else "damaged"
        raise BrokenArchiveError(f"{what} {kind}") from error
