"""Traps of packed and rotated files."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest
import zstandard

from temporal_assets.logs.read import streams
from temporal_assets.logs.read.paths import expand
from temporal_assets.settings import LogSource, Settings
from tests.log_traps import Reader, page

PACKERS = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_files(read: Reader, kind: str) -> None:
    data = (page("/a") * 3).encode()
    assert len(read(PACKERS[kind](data)).urls) == 3


def test_concatenated_members(read: Reader) -> None:
    assert len(read(gzip.compress(page("/a").encode()) * 3).urls) == 3


def test_a_truncated_last_member(read: Reader) -> None:
    first = gzip.compress((page("/a") * 10).encode())
    second = gzip.compress("".join(page(f"/{i * 7919}") for i in range(10_000)).encode())
    kept = read(first + second[: len(second) // 2])
    assert kept.problem is not None
    assert kept.problem.startswith("truncated gzip after line ")
    assert 10 < len(kept.urls) < 10_010
    assert set(kept.reasons) <= {"truncated"}


def test_a_decompression_bomb(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_EXPANSION", 10)
    member = gzip.compress(b"a" * 20_000_000)
    path = read.folder / "access.log"
    path.write_bytes(member * 8)
    table = read.read(LogSource(path=str(path), format="combined"), Settings())
    assert table.problem is not None
    assert "expands" in table.problem
    assert table.reasons == {"too_long": 1}


def test_an_empty_file(read: Reader) -> None:
    kept = read(b"")
    assert (kept.urls, kept.reasons, kept.problem) == ([], {}, None)


def test_rotated_names_sort_as_numbers(tmp_path: Path) -> None:
    for name in ("access.log", "access.log.1", "access.log.2.gz", "access.log.10.gz"):
        (tmp_path / name).touch()
    assert [path.name for path in expand(str(tmp_path))] == [
        *("access.log.10.gz", "access.log.2.gz", "access.log.1", "access.log")
    ]


def test_a_file_that_was_rotated_and_packed_is_the_same_file(read: Reader) -> None:
    data = (page("/a") * 3).encode()
    digests = {read(pack(data)).digest for pack in PACKERS.values()}
    assert len(digests) == 1


def test_lines_of_rotations_that_overlap_are_one_view(read: Reader) -> None:
    first, second = read(page("/a") + page("/b")), read(page("/b") + page("/c"))
    views = {
        *zip(first.clients, first.urls, strict=True),
        *zip(second.clients, second.urls, strict=True),
    }
    assert len(views) == 3
