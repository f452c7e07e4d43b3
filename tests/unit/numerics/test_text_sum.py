"""Sums of texts: joined they are those of the joined text."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.numerics import text_sum as module
from temporal_assets.core.numerics.text_sum import TextSum, text_sum

TEXTS = st.one_of(st.binary(max_size=20), st.builds(lambda b, n: b * n, st.binary(), st.just(99)))


def by_definition(text: bytes) -> TextSum:
    value = reduce(lambda before, byte: (before * module._BASE + byte) % module._PRIME, text, 0)
    return TextSum(len(text), value)


@given(text=TEXTS)
def test_a_sum_is_the_value_of_a_polynomial(text: bytes) -> None:
    assert text_sum(text) == by_definition(text)


def test_the_largest_bytes_do_not_overflow() -> None:
    for size in (255, 256, 257, 5000):
        assert text_sum(b"\xff" * size) == by_definition(b"\xff" * size)


@given(first=TEXTS, second=TEXTS)
def test_sums_can_be_joined(first: bytes, second: bytes) -> None:
    assert text_sum(first).then(text_sum(second)) == text_sum(first + second)
