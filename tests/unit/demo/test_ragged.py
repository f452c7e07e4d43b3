"""Byte strings in bulk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.demo.world.ragged import Ragged, compose, find, integers, join, pack, stack

ROWS = st.lists(st.binary(max_size=12), min_size=1, max_size=20)


def rows_of(table: Ragged) -> list[bytes]:
    return [table.row(i) for i in range(len(table))]


@given(ROWS)
def test_pack_keeps_rows(values):
    assert rows_of(pack(values)) == values


@given(st.lists(st.integers(0, 10**18), max_size=20))
def test_integers_are_decimal(values):
    assert rows_of(integers(np.array(values, np.int64))) == [b"%d" % value for value in values]


@given(ROWS, ROWS)
def test_join_is_concatenation(first, second):
    assert rows_of(join(pack(first), pack(second))) == first + second


@given(st.lists(st.tuples(st.binary(max_size=9), st.binary(max_size=9)), min_size=1, max_size=20))
def test_compose_glues_columns(pairs):
    left, right = stack(pack([a for a, _ in pairs]), pack([b for _, b in pairs]))
    lines = compose(left.data, [left, right], [b"<", b"|", b">\n"])
    assert rows_of(lines) == [b"<" + a + b"|" + b + b">\n" for a, b in pairs]
    assert lines.data.tobytes() == b"".join(rows_of(lines))


def test_compose_breaks_off_and_replaces():
    a, b, c = stack(pack([b"a"] * 3), pack([b"b"] * 3), pack([b"c"] * 3))
    last = np.array([2, 1, 0], np.int8)
    lines = compose(a.data, [a, b, c], [b"[", b",", b",", b"]\n"], last)
    assert rows_of(lines) == [b"[a,b,c]\n", b"[a,b\n", b"a\n"]


def test_take_and_skip_share_the_bytes():
    table = pack([b"abc", b"de"])
    assert rows_of(table.take(np.array([1, 0, 1])).skip(1)) == [b"e", b"bc", b"e"]


def test_find_gives_the_size_where_there_is_none():
    assert find(pack([b"a?b?", b"ab", b""]), b"?").tolist() == [1, 2, 0]


@pytest.mark.parametrize("values", [[b"x", b"", "ß".encode()], []])
def test_arrow_strings(values):
    assert pack(values).to_arrow().to_pylist() == [value.decode() for value in values]
