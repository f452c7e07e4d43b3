"""Streams of whole lines in bounded memory, of packed and damaged files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from blake3 import blake3

from temporal_assets.logs.read import streams
from temporal_assets.logs.read.records import Block
from temporal_assets.logs.read.streams import LogStream, head_digest, open_stream, peek
from temporal_assets.settings import Reading

READING = Reading()


@pytest.fixture(autouse=True)
def blocks_of_a_mebibyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", 1 << 20)


Pack = Callable[[bytes], bytes]
PACKERS: dict[str, Pack] = {
    "gz": gzip.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
NAMES = {"gz": "gzip", "zst": "zstd", "bz2": "bzip2", "xz": "xz"}

each_packer = pytest.mark.parametrize("kind", sorted(PACKERS))


SHORT = Reading().model_copy(update={"max_line_bytes": 2048})


def incompressible_lines(size: int) -> bytes:
    """Lines that compress badly, so that cutting an archive cuts them somewhere."""
    generator = random.Random(7)
    lines = [b"%08d %s\n" % (i, generator.randbytes(60).hex().encode()) for i in range(size // 130)]
    return b"".join(lines)


TEXT = incompressible_lines(300_000)


def read(path: Path, reading: Reading = READING) -> tuple[bytes, LogStream, list[Block]]:
    with open_stream(path, reading) as stream:
        blocks = list(stream)
    return b"".join(block.data.tobytes() for block in blocks), stream, blocks


def write(tmp_path: Path, data: bytes, name: str = "access.log") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def digest(data: bytes) -> str:
    return str(blake3(data).hexdigest(length=16))


@each_packer
def test_packed_and_plain_are_the_same_content(tmp_path: Path, kind: str) -> None:
    # Names say nothing: the content decides.
    text, stream, _ = read(write(tmp_path, PACKERS[kind](TEXT), "access.log"))
    assert text == TEXT
    assert stream.problem is None
    assert (stream.digests, stream.size) == ({digest(TEXT)}, len(TEXT))
    assert stream.lines == TEXT.count(b"\n")
    assert stream.compressed_bytes == (tmp_path / "access.log").stat().st_size


@each_packer
def test_members_are_concatenated(tmp_path: Path, kind: str) -> None:
    pack = PACKERS[kind]
    data = pack(b"one\ntw") + pack(b"") + pack(b"o\nthree\n")
    text, stream, _ = read(write(tmp_path, data))
    assert text == b"one\ntwo\nthree\n"
    assert stream.problem is None


@each_packer
def test_padding_with_zeros_is_no_member(tmp_path: Path, kind: str) -> None:
    pack = PACKERS[kind]
    data = pack(b"one\n") + bytes(2048) + pack(b"two\n") + bytes(3_000_000)
    text, stream, _ = read(write(tmp_path, data))
    assert text == b"one\ntwo\n"
    assert stream.problem is None


@each_packer
def test_truncated_archives_give_what_is_readable(tmp_path: Path, kind: str) -> None:
    packed = PACKERS[kind](TEXT)
    text, stream, blocks = read(write(tmp_path, packed[: len(packed) * 2 // 3]))
    assert TEXT.startswith(text)
    whole = text.count(b"\n")
    assert stream.problem == f"truncated {NAMES[kind]} after line {whole}"
    if kind != "bz2":  # bzip2 makes blocks of 900 kB: of a small file nothing is readable
        assert len(text) >= 128 << 10  # a block of zstd
        assert blocks[-1].last
        assert blocks[-1].cut == (not text.endswith(b"\n"))


def test_truncated_bzip2_of_several_blocks(tmp_path: Path) -> None:
    packed = bz2.compress(TEXT, 1)
    text, stream, _ = read(write(tmp_path, packed[: len(packed) * 2 // 3]))
    assert len(text) > len(TEXT) // 3
    assert TEXT.startswith(text)
    whole = text.count(b"\n")
    assert stream.problem == f"truncated bzip2 after line {whole}"


@each_packer
@pytest.mark.parametrize("length", [3, 6, 12])
def test_archives_cut_within_their_header(tmp_path: Path, kind: str, length: int) -> None:
    text, stream, _ = read(write(tmp_path, PACKERS[kind](TEXT)[: max(length, len(MAGICS[kind]))]))
    assert text == b""
    assert stream.problem == f"truncated {NAMES[kind]} after line 0"


MAGICS = {"gz": b"\x1f\x8b\x08", "zst": b"\x28\xb5\x2f\xfd", "bz2": b"BZh", "xz": b"\xfd7zXZ\0"}


@each_packer
def test_damage_in_the_middle_is_reported_with_its_line(tmp_path: Path, kind: str) -> None:
    packed = bytearray(PACKERS[kind](TEXT))
    middle = len(packed) // 2
    packed[middle : middle + 64] = bytes(64)
    text, stream, _ = read(write(tmp_path, bytes(packed)))
    assert text != TEXT
    assert kind == "bz2" or text.startswith(TEXT[:10_000])
    assert stream.problem is not None
    assert stream.problem.startswith(f"damaged {NAMES[kind]} after line ")


def test_a_wrong_checksum_is_damage(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b"one\ntwo\n"))
    packed[-8] ^= 1
    text, stream, _ = read(write(tmp_path, bytes(packed)))
    assert text == b"one\ntwo\n", "a file whose end is missing gives as much"
    assert stream.problem is not None
    assert "gzip after line" in stream.problem


@each_packer
@pytest.mark.parametrize("garbage", [b"garbage" * 100, b"\xff\xfe\xfd" * 500, b"JUNKJUNK"])
def test_garbage_after_an_archive_is_reported_and_not_read(
    tmp_path: Path, kind: str, garbage: bytes
) -> None:
    text, stream, _ = read(write(tmp_path, PACKERS[kind](b"one\ntwo\n") + garbage))
    assert text == b"one\ntwo\n"
    assert stream.problem == f"trailing garbage in {NAMES[kind]} after line 2"


def test_a_zstd_file_may_begin_with_a_skippable_frame(tmp_path: Path) -> None:
    frame = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"meta"
    text, stream, _ = read(write(tmp_path, frame + PACKERS["zst"](b"one\n")))
    assert (text, stream.problem) == (b"one\n", None)


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_decompression_bomb_is_refused_in_bounded_memory(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = b"a" * 127 + b"\n"
    if kind == "gz":
        bomb = b"".join(gzip.compress(line * 80_000) for _ in range(40))
    else:
        bomb = b"".join(PACKERS["zst"](line * 80_000) for _ in range(40))
    path = write(tmp_path, bomb)
    monkeypatch.setattr("temporal_assets.logs.read.packed.MAX_EXPANSION", 20)
    tracemalloc.start()
    with open_stream(path, READING) as stream:
        lines = sum(block.data.size // 128 for block in stream)
        problem = stream.problem
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert problem is not None
    assert problem.startswith(f"{NAMES[kind]} expands ")
    assert problem.endswith(f"times: refused after line {lines}")
    # 64 MiB are never a bomb: 524,288 lines of 128 bytes.
    assert 524_288 <= lines < 40 * 80_000
    assert peak < 160 << 20


def refused_files() -> dict[str, bytes]:
    packed_zip, packed_tar = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed_zip, "w") as archive:
        archive.writestr("access.log", "one\n")
    with tarfile.open(fileobj=packed_tar, mode="w") as tar:
        entry = tarfile.TarInfo("access.log")
        entry.size = 4
        tar.addfile(entry, io.BytesIO(b"one\n"))
    return {
        "zip archives are not read": packed_zip.getvalue(),
        "tar archives are not read": packed_tar.getvalue(),
        "tar archives are not read: unpack": gzip.compress(packed_tar.getvalue()),
        "7z archives are not read": b"7z\xbc\xaf\x27\x1c" + bytes(32),
        "lz4 files are not read": b"\x04\x22\x4d\x18" + bytes(32),
        "read it with format `parquet`": b"PAR1" + bytes(32),
        "packed twice, inside with gzip": gzip.compress(gzip.compress(b"one\n")),
        "packed twice, inside with bzip2": gzip.compress(bz2.compress(b"one\n")),
    }


# Packed bytes hold the time: without names, two processes would collect different tests.
@pytest.mark.parametrize(("why", "data"), refused_files().items(), ids=refused_files().keys())
def test_other_containers_are_refused_with_advice(tmp_path: Path, why: str, data: bytes) -> None:
    text, stream, blocks = read(write(tmp_path, data))
    assert (text, blocks, stream.lines) == (b"", [], 0)
    assert stream.problem is not None
    assert why in stream.problem
    # Detection sees what it is, and the digest still names the content.
    assert stream.head
    assert stream.size > 0


@pytest.mark.parametrize(
    "data",
    [b"", gzip.compress(b""), zstandard.ZstdCompressor().compress(b"")],
    ids=["plain", "gzip", "zstd"],
)
def test_empty_files_have_no_blocks_and_no_problem(tmp_path: Path, data: bytes) -> None:
    text, stream, blocks = read(write(tmp_path, data))
    assert (text, blocks, stream.lines, stream.problem) == (b"", [], 0, None)
    assert (stream.size, stream.digests, stream.head) == (0, {digest(b"")}, b"")


def test_a_missing_final_newline_is_kept_missing(tmp_path: Path) -> None:
    text, stream, blocks = read(write(tmp_path, b"one\ntwo"))
    assert (text, stream.lines) == (b"one\ntwo", 2)
    assert (blocks[-1].last, blocks[-1].cut) == (True, False)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_byte_order_marks_are_understood_and_removed(tmp_path: Path, encoding: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    original = "GET /zürich\r\n" * 30_000
    text, stream, _ = read(write(tmp_path, mark + original.encode(encoding)))
    assert text == original.encode()
    # The digest is of the file's own bytes.
    assert stream.size == len(mark + original.encode(encoding))


def test_other_bytes_pass_unchanged(tmp_path: Path) -> None:
    data = bytes(range(256)) * 10
    assert read(write(tmp_path, b"x" + data))[0] == b"x" + data


def test_blocks_are_whole_lines_with_their_numbers(tmp_path: Path) -> None:
    data = incompressible_lines(3_500_000) + b"\n\nno newline at the end"
    text, stream, blocks = read(write(tmp_path, data))
    assert text == data
    assert len(blocks) >= 3
    line = 1
    for block in blocks:
        assert block.first_line == line
        assert block.last == (block is blocks[-1])
        assert block.last or block.data[-1] == ord("\n")
        assert block.data.size < 3 << 20
        line += int((block.data == ord("\n")).sum())
    assert stream.lines == line


def test_blocks_grow_to_their_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", 10 << 20)
    data = incompressible_lines(30 << 20)
    text, _, blocks = read(write(tmp_path, data))
    assert text == data
    sizes = [round(len(block.data) / (1 << 20)) for block in blocks]
    assert sizes[:3] == [4, 8, 10]
    assert [block.first_line for block in blocks[1:]] == [
        1 + data[: sum(len(block.data) for block in blocks[:n])].count(b"\n")
        for n in range(1, len(blocks))
    ]


def test_a_line_of_100_mb_costs_no_memory_and_loses_no_neighbour(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    with path.open("wb") as file:
        file.write(b"before\n")
        for _ in range(100):
            file.write(b"a" * 1_000_000)
        file.write(b"\nafter\n")
    tracemalloc.start()
    text, stream, _ = read(path, SHORT)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # One byte more than allowed is enough to be rejected for.
    assert text == b"before\n" + b"a" * 2049 + b"\nafter\n"
    assert stream.lines == 3
    assert stream.size == 100_000_014
    assert peak < 16 << 20


def test_a_long_line_without_end(tmp_path: Path) -> None:
    path = write(tmp_path, b"one\n" + b"a" * 9_000_000)
    text, stream, _ = read(path, SHORT)
    assert text == b"one\n" + b"a" * 2049
    assert stream.lines == 2


def test_the_beginnings_of_a_grown_file_are_recognised(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    with open_stream(path, READING, [10, 200_000, 200_000, len(TEXT), len(TEXT) + 1]) as stream:
        for _ in stream:
            pass
    assert stream.prefix_digests == {
        10: {digest(TEXT[:10])},
        200_000: {digest(TEXT[:200_000])},
        len(TEXT): {digest(TEXT)},
    }


@each_packer
def test_the_head_is_the_same_however_it_is_packed(tmp_path: Path, kind: str) -> None:
    plain = write(tmp_path, TEXT, "plain")
    packed = write(tmp_path, PACKERS[kind](TEXT), "packed")
    assert peek(packed) == TEXT[: 64 << 10]
    assert head_digest(packed) == head_digest(plain) == digest(TEXT.split(b"\n")[0])


@pytest.mark.parametrize(
    "header",
    [
        b"#Version: 1.0\n#Fields: date time cs-uri-stem\n",
        b"time,address,url\n",
        b"#Software: IIS 10.0\r\n#Date: 2026-03-02\r\n#Fields: time cs-uri-stem\r\n\r\n",
    ],
)
def test_what_many_files_begin_with_is_not_their_head(tmp_path: Path, header: bytes) -> None:
    first, other = b"2026-03-02 00:00:01 /a", b"2026-03-02 00:00:02 /a"
    assert head_digest(write(tmp_path, header + first + b"\n" + other, "one")) == digest(first)
    assert head_digest(write(tmp_path, header + other + b"\n" + first, "two")) == digest(other)


def test_without_a_record_the_first_line_is_the_head(tmp_path: Path) -> None:
    assert head_digest(write(tmp_path, b"#Version: 1.0\n#Fields: date\n")) == digest(
        b"#Version: 1.0"
    )
    assert head_digest(write(tmp_path, b"")) == digest(b"")


def test_reading_the_head_does_not_take_it_away(tmp_path: Path) -> None:
    with open_stream(write(tmp_path, TEXT), READING) as stream:
        assert stream.head == TEXT[: 64 << 10]
        assert b"".join(block.data.tobytes() for block in stream) == TEXT


def test_a_missing_file_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_stream(tmp_path / "gone.log", READING)


@pytest.mark.parametrize("hole", [16, 511, 512, 3 << 20])
@pytest.mark.parametrize("kind", ["", "gz"])
def test_a_hole_at_the_beginning_is_no_line(tmp_path: Path, hole: int, kind: str) -> None:
    """The log was emptied while its server wrote on where it was."""
    whole = bytes(hole) + TEXT
    packed = PACKERS[kind](whole) if kind else whole
    path = write(tmp_path, packed, f"access.log.{kind}")
    data, stream, blocks = read(path)
    assert data == TEXT
    assert (blocks[0].first_line, stream.problem) == (1, None)
    assert stream.digests == {digest(whole)}
    assert peek(path).startswith(TEXT[:100])


def test_a_log_that_is_a_hole_has_no_lines(tmp_path: Path) -> None:
    assert read(write(tmp_path, bytes(2 << 20)))[0] == b""


def test_few_zeros_are_text(tmp_path: Path) -> None:
    assert read(write(tmp_path, bytes(15) + TEXT))[0] == bytes(15) + TEXT
