"""Distinct integers, as NumPy's own `unique` tells them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.numerics.distinct import distinct_numbers

NUMBERS = st.lists(st.integers(-5, 5) | st.integers(-(2**31), 2**31 - 1))


@given(NUMBERS)
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_each_once_in_order(kind: type[np.integer], values: list[int]) -> None:
    actual = distinct_numbers(np.array(values, kind))
    assert actual.tolist() == sorted(set(values))
    assert actual.dtype == kind
