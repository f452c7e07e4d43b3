"""Ends of windows and files that people give."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from temporal_assets.windows.frame.given_files import content_of_file, file_in
from temporal_assets.windows.frame.standing import Standing
from temporal_assets.windows.frame.window_end import WindowEnd, last_usual


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


PORTAL = [94056, 303177, 261159, 215415, 190003, 207646, 139323, 108110]
TAIL = [19641, 386, 128, 23, 46, 23, 17, 31, 21, 15, 10, 7, 1, 5, 4, 11, 4, 3]
"""Clicks on a real portal by day, and those with late times behind them (`globo_clicks`)."""

OFFICE = [100, 105, 98, 110, 102, 20, 21]


@pytest.mark.parametrize(
    ("requests", "stray"),
    [
        ([*PORTAL, *TAIL], len(TAIL)),
        (PORTAL, 0),
        ([311, 541, 635, 440], 0),
        ([311, 15], 1),
        ([29, 46, 80, 82, 99, 30, 29, 18], 0),
        (OFFICE * 4, 0),
        ([*OFFICE * 4, 2, 2, 2], 3),
        ([100] * 30 + [10_000] + [100] * 28, 0),
        ([10_000] + [100] * 9, 0),
        ([100] * 60 + [5] * 9, 9),
        ([100] * 60 + [5] * 10, 0),
        ([7], 0),
        ([0, 0], 0),
        ([3, 1, 4, 1], 0),
    ],
)
def test_a_handful_of_late_lines_is_no_last_day(requests: list[int], stray: int) -> None:
    last, _ = last_usual(requests)
    assert len(requests) - 1 - last == stray


def test_all_commands_say_the_same_of_days() -> None:
    day = dt.date(2026, 1, 4)
    late = (day + dt.timedelta(3), day + dt.timedelta(4), day + dt.timedelta(9))
    standing = Standing(WindowEnd(day, late, 5, 1200), 4, 7)
    first, second = standing.sentences
    assert first.startswith("4 days are there, and 7 are needed (`window.min_days`)")
    assert "come with 3 more days" in first
    assert second == (
        "The window ends with 2026-01-04, the last day with a usual amount of requests (about"
        " 1,200). Left out behind it: 2026-01-07 to 2026-01-08, 2026-01-13, with 5 in all."
    )
    assert standing.report["stray_days"] == list(late)
    older = Standing(WindowEnd(day), 4, 7, older=8)
    assert older.of_days_outside == [
        "8 older days are not in the window that ends with 2026-01-04 (`window.days`)."
    ]
    assert older.sentences == [first, *older.of_days_outside]
    assert Standing(WindowEnd(day), 7, 7, older=8).sentences == []
    assert Standing(WindowEnd(day), 7, 7).sentences == []
    assert Standing(None, 0, 7).sentences == ["No day of the logs has been built yet."]
