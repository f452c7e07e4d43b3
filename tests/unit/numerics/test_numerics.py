"""Numbers and trees as arrays: distinct, rounded, in hierarchies; and what compiling costs."""

from __future__ import annotations

import gc
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from temporal_assets.core.numerics.compiled import inlined
from temporal_assets.core.numerics.distinct import distinct_numbers
from temporal_assets.core.numerics.hierarchy import hierarchy
from temporal_assets.core.numerics.rounding import rounded_down, rounded_up

NUMBERS = st.lists(st.integers(-5, 5) | st.integers(-(2**31), 2**31 - 1))


@given(NUMBERS)
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_each_once_in_order(kind: type[np.integer], values: list[int]) -> None:
    actual = distinct_numbers(np.array(values, kind))
    assert actual.tolist() == sorted(set(values))
    assert actual.dtype == kind


def test_what_is_whole_stays_whole() -> None:
    assert 0.175 * 360 < 63
    assert int(rounded_down(0.175 * 360)) == 63
    assert 2.2 * 25 > 55
    assert int(rounded_up(2.2 * 25)) == 55
    assert rounded_down(np.array([0.999, 1.0, 1.001])).tolist() == [0, 1, 1]
    assert rounded_up(np.array([0.999, 1.0, 1.001])).tolist() == [1, 1, 2]


@given(st.sampled_from([1, 2, 5, 10]), st.integers(1, 10**6), st.integers(1, 60))
def test_budgets_are_those_of_fractions(share: int, pages: int, days: int) -> None:
    budget = float(share) * pages / 1_000
    exact = Fraction(share * pages * days * 24, 1_000)
    assert int(rounded_down(budget * (days * 24.0))) == math.floor(exact)
    assert int(rounded_up(budget * (days * 24.0))) == math.ceil(exact)


#        0
#      1   5
#    2  3   6
#       4
PARENTS = [-1, 0, 1, 1, 3, 0, 5]


def test_measures() -> None:
    tree = hierarchy(PARENTS)
    assert tree.depth.tolist() == [0, 1, 2, 2, 3, 1, 2]
    assert tree.end.tolist() == [7, 5, 3, 5, 5, 7, 7]
    assert np.flatnonzero(tree.is_leaf).tolist() == [2, 4, 6]
    assert tree.children(0) == [1, 5]
    assert tree.children(1) == [2, 3]
    assert tree.children(4) == []
    assert tree.height == 3


def test_cut_keeps_what_is_above_the_new_leaves() -> None:
    tree = hierarchy(PARENTS)
    leaf = np.array([False, False, False, True, False, True, False])
    assert np.flatnonzero(tree.cut(leaf)).tolist() == [0, 1, 2, 3, 5]


@pytest.mark.parametrize("parents", [[], [0], [-1, 1], [-1, 2, 0], [-1, 0, 0, 1], [-1, -1]])
def test_disorder_is_refused(parents: list[int]) -> None:
    with pytest.raises(ValueError, match="node"):
        hierarchy(parents)


@inlined
def _doubled(value: int) -> int:
    return value + value


def test_garbage_is_seldom_searched_while_compiling() -> None:
    before = gc.get_threshold()
    seen = []

    loop = njit(lambda value: _doubled(value) + 1)
    compiler = loop._compiler
    compile_one = compiler.compile
    compiler.compile = lambda *given: seen.append(gc.get_threshold()) or compile_one(*given)
    assert loop(3) == 7
    assert seen[0][0] > before[0]
    assert gc.get_threshold() == before


def test_a_part_has_nothing_for_python_to_call_and_answers_it_all_the_same() -> None:
    assert _doubled(21) == 42
    (compiled,) = _doubled.overloads.values()  # type: ignore[attr-defined]
    assert "cpython" not in compiled.library.get_llvm_str()
