"""Rows that are packed, sorted and told apart are those of a set, sorted."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from temporal_assets.core.numerics.packed_rows import Bits, Rows, distinct

rows = st.tuples(st.integers(3, 2**20), st.integers(-1, 2**20 - 2), st.integers(0, 2**20 - 1))


@given(rows=st.lists(rows, min_size=1, max_size=40), seed=st.integers(0, 99))
@example(rows=[(7, -1, 0)], seed=0)
@example(rows=[(2**23 + 3, 2**20 - 2, 2**20 - 1), (3, -1, 0)] * 2, seed=0)
def test_some_rows_are_a_sorted_set(rows: list[tuple[int, int, int]], seed: int) -> None:
    """At most 23 bits of targets, and 20 of each of the others, are all 63."""
    random = np.random.default_rng(seed)
    some = random.permutation(len(rows))[: random.integers(1, len(rows), endpoint=True)]
    columns = (np.array(column, np.int32) for column in zip(*rows, strict=True))
    found = distinct(Rows(*columns), some, Bits(20, 20))
    assert list(zip(*found, strict=True)) == sorted({rows[at] for at in some})
    assert {column.dtype for column in found} == {np.dtype(np.int32)}
