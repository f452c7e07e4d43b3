"""Archives that end early."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from tests import logs
from tests.landing import DAY, rows_of, settings_of


def test_an_archive_that_breaks_within_its_first_line_says_so(state: Path, folder: Path) -> None:
    whole = gzip.compress(logs.day_of_lines(DAY)[0].encode())
    for end, why in ((len(whole) // 2, "no known format fits"), (-12, "none of 1 lines")):
        (folder / "access.log.gz").write_bytes(whole[:end])
        (file,) = refresh(settings_of(state, folder)).failed
        assert "access.log.gz: truncated gzip" in str(file.error)
        assert f"; of what precedes it, {why}" in str(file.error)


def test_a_truncated_archive_gives_what_is_readable_and_says_so(state: Path, folder: Path) -> None:
    lines = logs.day_of_lines(DAY, clients=120)
    packed = gzip.compress("".join(f"{line}\n" for line in lines).encode())
    (folder / "access.log.gz").write_bytes(packed[: len(packed) * 2 // 3])
    settings = settings_of(state, folder)
    (file,) = refresh(settings).landed
    assert file.problem is not None
    assert "truncated gzip" in file.problem
    assert 0 < rows_of(settings) < 240
    (folder / "access.log.gz").write_bytes(packed)
    refresh(settings)
    assert rows_of(settings) == 240, "the whole archive replaces its beginning"


@pytest.mark.parametrize("end", ["\n", ""])
def test_an_archive_that_was_read_without_its_last_bytes_is_whole_later(
    state: Path, folder: Path, end: str
) -> None:
    """Its text was there. Without a newline its last line may have been cut, and is still lost."""
    packed = gzip.compress(("\n".join(logs.day_of_lines(DAY)) + end).encode())
    settings = settings_of(state, folder)
    (folder / "access.log.gz").write_bytes(packed[:-8])
    (file,) = refresh(settings).landed
    assert "truncated gzip" in str(file.problem)
    (folder / "access.log.gz").write_bytes(packed)
    assert refresh(settings).landed == ()
    (again,) = Inventory.load(settings).active
    assert again.problem == (None if end else file.problem)
    assert rows_of(settings) == (6 if end else 5)


def test_copies_of_which_one_is_truncated_have_no_problem(state: Path, folder: Path) -> None:
    packed = gzip.compress("".join(f"{line}\n" for line in logs.day_of_lines(DAY)).encode())
    (folder / "a.log.gz").write_bytes(packed[:-8])
    (folder / "b.log.gz").write_bytes(packed)
    (folder / "c.log.gz").write_bytes(packed[:-8])
    settings = settings_of(state, folder)
    refresh(settings)
    (file,) = Inventory.load(settings).active
    assert (file.problem, file.lines) == (None, 6)
