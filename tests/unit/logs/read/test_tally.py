"""Counting lines that are not kept."""

from __future__ import annotations

from temporal_assets.logs.read.tally import UNKNOWN_DAY, Tally


def test_blocks_add_up_and_samples_are_capped() -> None:
    whole = Tally(samples_kept=2)
    for first in (1, 11):
        block = Tally(samples_kept=2)
        block.saw(5, 10)
        block.add(5, "rejected", "bad_time", 3, [(first, "x"), (first + 1, "y")])
        whole.merge(block, day_before=UNKNOWN_DAY)
    (row,) = whole.rows()
    assert row == {
        "day": 5,
        "kind": "rejected",
        "reason": "bad_time",
        "lines": 6,
        "samples": [(1, "x"), (2, "y")],
    }
    assert whole.read == {5: 20}


def test_lines_without_a_time_belong_to_the_day_of_the_line_before() -> None:
    whole = Tally(samples_kept=1)
    block = Tally(samples_kept=1)
    block.saw(UNKNOWN_DAY, 4)
    block.add(UNKNOWN_DAY, "rejected", "bad_time", 4, [])
    whole.merge(block, day_before=7)
    assert whole.read == {7: 4}
    assert [row["day"] for row in whole.rows()] == [7]


def test_lines_before_the_first_time_belong_to_the_first_day() -> None:
    tally = Tally(samples_kept=3)
    tally.saw(UNKNOWN_DAY, 1)
    tally.add(UNKNOWN_DAY, "rejected", "bad_time", 1, [(1, "first")])
    tally.saw(9, 2)
    tally.add(9, "rejected", "bad_time", 2, [(5, "later")])
    tally.assign_unknown(9)
    assert tally.read == {9: 3}
    (row,) = tally.rows()
    assert row["samples"] == [(1, "first"), (5, "later")]
    assert row["lines"] == 3


def test_rejected_and_dropped_are_counted_apart() -> None:
    tally = Tally(samples_kept=1)
    tally.add(1, "rejected", "bad_time", 2, [])
    tally.add(2, "dropped", "static", 5, [])
    assert (tally.total("rejected"), tally.total("dropped")) == (2, 5)
