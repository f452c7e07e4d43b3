"""Whole numbers of fractions, against arithmetic without rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.numerics.rounding import rounded_down, rounded_up


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
