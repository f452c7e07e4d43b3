"""Files that settings name."""

from __future__ import annotations

from pathlib import Path

from temporal_assets.windows.frame.given_files import content_of_file, file_in


def test_files_are_named_below_the_state_folder() -> None:
    state = Path("/state")
    assert file_in(state, None) is None
    assert file_in(state, Path("list.txt")) == Path("/state/list.txt")
    assert file_in(state, Path("/elsewhere/list.txt")) == Path("/elsewhere/list.txt")


def test_a_file_is_told_by_its_bytes(tmp_path: Path) -> None:
    first, other = tmp_path / "one", tmp_path / "other"
    first.write_bytes(b"\xffa")
    other.write_bytes(b"\xffa")
    assert content_of_file(None) is None
    assert content_of_file(first) == content_of_file(other)
    other.write_bytes(b"\xffb")
    contents = {content_of_file(path) for path in (first, other, tmp_path / "none", tmp_path)}
    assert len(contents) == 3
    assert "cannot be read" in contents
