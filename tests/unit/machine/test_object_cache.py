"""The files of object stores that are kept on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from temporal_assets.machine.object_cache import DiskCache

CONTENT = b"what the store has"


def kept(folder: Path) -> Path:
    DiskCache(folder).add("part", CONTENT)
    (file,) = (path for path in folder.iterdir() if path.suffix != ".sha256")
    return file


def content_of(folder: Path) -> bytes | None:
    """What another process finds."""
    file = DiskCache(folder).open("part")
    if file is None:
        return None
    with file:
        return file.read()


def test_what_is_kept_is_found(tmp_path: Path) -> None:
    kept(tmp_path)
    assert content_of(tmp_path) == CONTENT
    assert DiskCache(tmp_path).open("another part") is None


@pytest.mark.parametrize("name", ["file", "sum"])
def test_a_flipped_bit_is_no_answer(tmp_path: Path, name: str) -> None:
    file = kept(tmp_path)
    victim = file if name == "file" else file.with_suffix(".sha256")
    written = victim.read_bytes()
    for at in range(len(written)):
        victim.write_bytes(written[:at] + bytes([written[at] ^ 1]) + written[at + 1 :])
        assert content_of(tmp_path) is None
        assert not file.exists()
        assert kept(tmp_path) == file
    assert content_of(tmp_path) == CONTENT


def test_what_has_no_sum_is_asked_for_again(tmp_path: Path) -> None:
    kept(tmp_path).with_suffix(".sha256").unlink()
    assert content_of(tmp_path) is None
