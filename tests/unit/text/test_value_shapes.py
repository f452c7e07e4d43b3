"""Shapes of values: what each bit means, and the names of wildcards."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.value_shapes import (
    CLASSES,
    COMPACT,
    DATE,
    DATED,
    DAY,
    DIGITS,
    DOTLESS,
    EPOCH,
    EXPRESSIONS,
    MONTH,
    MONTH_DAY,
    MONTHLY,
    NONEMPTY,
    SIX,
    SMALL,
    WRITTEN,
    YEAR,
    YEAR_MONTH,
    bits_of,
    class_of,
    shapes,
    tightest,
)
from tests.shapes import required_expression


def shape(value: str) -> int:
    packed = texts([value])
    return int(shapes(packed.data, packed.offsets[:-1], packed.offsets[1:])[0])


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("", "*"),
        ("2024", "year"),
        ("1899", "digits"),
        ("2024-01", "date"),
        ("2024-01-31", "date"),
        ("2024_12_01", "date"),
        ("2024-13-01", "*"),
        ("22-03-2025", "date"),
        ("22-mar-2025", "date"),
        ("202503", "date"),
        ("1742601600", "time"),
        ("250322", "digits"),
        ("story-20250322-name", "slug-date"),
        ("20240131", "date"),
        ("20241399", "digits"),
        ("31", "digits"),
        ("may", "month"),
        ("September", "month"),
        ("MAY", "word"),
        ("123e4567-e89b-12d3-a456-426614174000", "uuid"),
        ("9f86d081", "hex"),
        ("fabaceae", "word"),
        ("a-small-town", "slug"),
        ("two_words", "slug"),
        ("r%C3%A9sum%C3%A9", "slug"),
        ("trump-wins-rcna53923", "slug-id"),
        ("story-97058163", "slug-id"),
        ("top-10", "slug"),
        ("politics", "word"),
        ("dQw4w9WgXcQ", "token"),
        ("a1", "*"),
        ("v1.10", "*"),
    ],
)
def test_names(value: str, name: str) -> None:
    assert CLASSES[class_of(shape(value))] == name


values = st.one_of(
    st.text("0123456789-_abcdefgG.", max_size=12),
    st.text("0123459-_marfebMW", max_size=12),
    st.from_regex("|".join(EXPRESSIONS.values()), fullmatch=True),
    st.sampled_from(
        ["Mar", "march", "marc", "00", "32", "0", "7", "07", "1900", "2100", "2024-1-1"]
    ),
)


@given(values)
def test_bits_mean_what_the_expressions_say(value: str) -> None:
    bits = bits_of(shape(value))
    for bit, expression in EXPRESSIONS.items():
        assert bool(bits & bit) == bool(re.fullmatch(expression, value)), (value, expression)
    assert bool(bits & NONEMPTY) == bool(value)
    assert bool(bits & DOTLESS) == ("." not in value)


@given(st.lists(values, min_size=1, max_size=4), values)
def test_what_values_share_is_one_expression(some: list[str], other: str) -> None:
    """Requiring the common bits is the same as matching the tightest of them."""
    common = int(np.bitwise_and.reduce([bits_of(shape(v)) for v in some]))
    required = tightest(common)
    expression = required_expression(required, "/?")
    assert all(re.fullmatch(expression, v) for v in some)
    assert (bits_of(shape(other)) & required == required) == bool(re.fullmatch(expression, other))


WITHIN = {
    MONTHLY: DATE, MONTH: DAY, DAY: SMALL, SMALL: DIGITS, YEAR: DIGITS, YEAR_MONTH: SIX,
    SIX: DIGITS, COMPACT: DIGITS, MONTH_DAY: DIGITS, EPOCH: DIGITS,
}  # fmt: skip
"""The next larger shape, where there is one."""


@given(values)
def test_shapes_contain_each_other_or_exclude_each_other(value: str) -> None:
    bits = bits_of(shape(value))
    special = [bit for bit in EXPRESSIONS if bits & bit]
    for bit in special:
        assert bits & WITHIN.get(bit, bit)
    smallest = [bit for bit in special if bit not in {WITHIN.get(other) for other in special}]
    assert len(smallest) <= 1
    if special:
        assert smallest == special[:1], "the most specific comes first"
        assert bits & NONEMPTY
        assert bits & DOTLESS


@pytest.mark.parametrize(
    "value",
    [
        *("story-20250322-name", "2025.03.22", "22.03.2025", "news-2025-03-22-evening"),
        *("022523-cbs-weekend-news", "march-22-2025-update", "22-march-report", "20feb2025"),
        *("2025-03-22T14:30", "daily_20250322143000", "show-22-03-2025"),
    ],
)
def test_dates_within_a_value_are_found(value: str) -> None:
    assert bits_of(shape(value)) & (DATED | WRITTEN)


@pytest.mark.parametrize(
    "value",
    [
        "story-12345678",
        "top-10-of-2024",
        "mayor-5",
        "v1.10",
        "a-march",
        "1234567890123-x",
        "a-139999",
    ],
)
def test_other_numbers_are_no_dates(value: str) -> None:
    assert not bits_of(shape(value)) & DATED
