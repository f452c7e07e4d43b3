"""Encoded columns, and tallies of what became of lines."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.logs.read.encode import concatenate, encode, encode_keys, from_values, to_arrow
from temporal_assets.logs.read.records import Column
from temporal_assets.logs.read.tally import UNKNOWN_DAY, Tally


@given(st.lists(st.binary(max_size=40)))
def test_codes_are_numbered_by_first_occurrence_and_give_back_the_values(
    values: list[bytes],
) -> None:
    encoded = encode(from_values(values), np.arange(len(values)))
    seen = list(dict.fromkeys(values))
    assert [encoded.distinct.value(i) for i in range(len(encoded.distinct))] == seen
    assert [seen[code] for code in encoded.codes] == values


def test_missing_values_have_no_code() -> None:
    column = Column(
        np.frombuffer(b"aab", np.uint8), np.array([0, -1, 2, 1]), np.array([1, -1, 3, 2])
    )
    assert encode(column, np.arange(4)).codes.tolist() == [0, -1, 1, 0]


def test_only_the_chosen_rows_count() -> None:
    encoded = encode(from_values([b"a", b"b", b"c", b"b"]), np.array([3, 1]))
    assert encoded.codes.tolist() == [0, 0]
    assert encoded.distinct.value(0) == b"b"


def test_more_values_than_the_first_table_holds() -> None:
    values = [b"/page/%d" % (n % 30_000) for n in range(60_000)]
    encoded = encode(from_values(values), np.arange(len(values)))
    assert len(encoded.distinct) == 30_000
    assert encoded.codes.tolist() == [n % 30_000 for n in range(60_000)]


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integer_keys(keys: list[int]) -> None:
    codes, distinct = encode_keys(np.array(keys, np.int64))
    assert distinct.tolist() == list(dict.fromkeys(keys))
    assert [int(distinct[code]) for code in codes] == keys


@given(st.lists(st.text(max_size=20)))
def test_arrow_strings_are_the_values(values: list[str]) -> None:
    assert to_arrow(from_values([v.encode() for v in values])).to_pylist() == values


def test_concatenation_puts_each_value_behind_its_prefix() -> None:
    prefixes = from_values([b"https://a.example", b"", b"https://b.example"])
    paths = from_values([b"/1", b"/2", b"", b"/long/path/to/a/page"])
    joined = concatenate(prefixes, np.array([2, 1, 0, 0], np.int32), paths)
    assert [joined.value(i) for i in range(4)] == [
        b"https://b.example/1",
        b"/2",
        b"https://a.example",
        b"https://a.example/long/path/to/a/page",
    ]


def test_values_may_not_be_written_wherever_they_come_from() -> None:
    """The compiler would make every loop over them twice."""
    data = np.frombuffer(b"ab", np.uint8).copy()
    column = Column(data, np.array([0]), np.array([2]))
    assert not column.data.flags.writeable
    assert column.value(0) == b"ab"


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
