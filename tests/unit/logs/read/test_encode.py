"""Distinct values of ragged columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.logs.read.encode import concatenate, encode, encode_keys, from_values, to_arrow
from temporal_assets.logs.read.records import Column


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
