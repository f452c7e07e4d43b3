"""Logs packed in pieces, as the tools do that work in parallel."""

from __future__ import annotations

import bz2
import struct
import zlib
from collections.abc import Callable, Sequence

import zstandard


def bgzf_member(text: bytes) -> bytes:
    """Pack up to 64 KiB as `bgzip` does."""
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    data = deflate.compress(text) + deflate.flush()
    head = b"\x1f\x8b\x08\x04" + bytes(4) + b"\x00\xff\x06\x00BC\x02\x00"
    size = struct.pack("<H", len(head) + 2 + len(data) + 8 - 1)
    return head + size + data + struct.pack("<II", zlib.crc32(text), len(text))


def zstd_frames(*pieces: bytes) -> bytes:
    """Pack as pzstd does: each frame behind one that says how long it is."""
    packer = zstandard.ZstdCompressor(write_checksum=True)
    frames = [packer.compress(piece) for piece in pieces]
    meta = [b"\x50\x2a\x4d\x18\x04\x00\x00\x00" + struct.pack("<I", len(f)) for f in frames]
    return b"".join(part for pair in zip(meta, frames, strict=True) for part in pair)


PACKERS: dict[str, Callable[[Sequence[bytes]], bytes]] = {
    "plain": b"".join,
    "bzip2": lambda pieces: b"".join(bz2.compress(piece, 1) for piece in pieces),
    "zstd": lambda pieces: b"".join(map(zstandard.compress, pieces)),
    "pzstd": lambda pieces: zstd_frames(*pieces),
    "bgzf": lambda pieces: b"".join(map(bgzf_member, [*pieces, b""])),
}
"""Kind of archive -> function that packs each piece of a text by itself."""
