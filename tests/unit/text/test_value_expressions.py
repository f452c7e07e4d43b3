"""Values without some others: what is written takes what look-ahead would take."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from temporal_assets.core.text.value_expressions import (
    EXTENSION,
    LONGEST,
    escape,
    other_fields,
    value_expression,
)
from temporal_assets.core.text.value_shapes import DIGITS, DOTLESS, EXPRESSIONS, HEX, NONEMPTY, YEAR
from tests.shapes import required_expression

WORDS = ("news", "new", "n", "sport", "2024", "7", "a.html", "v1.2", ".x", "x-y", "1a2b3c4d", "[a]")
values = st.one_of(
    st.sampled_from(WORDS),
    st.text("nesw.x-html12[]a", max_size=9),
    st.from_regex("|".join(EXPRESSIONS.values()), fullmatch=True),
)
SHAPES = [bit for bit, text in EXPRESSIONS.items() if len(text) < 120]


@given(
    st.sampled_from([0, NONEMPTY, DOTLESS, NONEMPTY | DOTLESS, DIGITS, YEAR, HEX]),
    st.lists(st.sampled_from(WORDS), max_size=5),
    st.sampled_from([0, *SHAPES]),
    st.lists(values, min_size=1, max_size=20),
)
@example(0, ["a", "ab"], 0, ["", "a", "ab", "abc", "b"])
def test_what_is_excluded_is_not_taken_and_all_else_is(
    bits: int, excluded: list[str], shape: int, asked: list[str]
) -> None:
    written = value_expression(bits, "/?", "whole", excluded, shape)
    wanted = required_expression(bits, "/?")
    alternatives = [*map(escape, excluded), *([EXPRESSIONS[shape]] if shape else [])]
    unless = f"(?!(?:{'|'.join(alternatives)})$)" if alternatives else ""
    for value in asked:
        expected = bool(re.fullmatch(f"{unless}{wanted}", value))
        assert bool(written and re.fullmatch(written, value)) == expected, (value, written)


@given(st.lists(st.sampled_from(WORDS), max_size=4), st.lists(values, min_size=1, max_size=20))
def test_bare_values_have_no_extension(excluded: list[str], asked: list[str]) -> None:
    written = value_expression(0, "/?", "bare", excluded)
    assert written is not None
    for value in asked:
        expected = value not in excluded and not re.fullmatch(rf".+\.{EXTENSION}", value)
        assert bool(re.fullmatch(written, value)) == expected, (value, written)


@pytest.mark.parametrize("nameless", [True, False])
@given(
    st.lists(st.sampled_from(["id", "i", "page", "p.x"]), max_size=3),
    st.text("idpage.x=", max_size=6),
)
def test_other_fields(nameless: bool, names: list[str], field: str) -> None:
    name, equals, _ = field.partition("=")
    is_other = not (equals and name in names) and (nameless or not field or bool(equals and name))
    assert bool(re.fullmatch(other_fields(names, nameless), field)) == is_other


def test_long_values_are_told_apart_by_their_beginning() -> None:
    """Groups are nested as deep as values are long."""
    written = value_expression(0, "/?", "whole", ["a" * 500, "b" * LONGEST])
    assert written is not None
    for value, is_taken in (
        ("a" * (LONGEST - 1), True),
        ("a" * LONGEST, False),
        ("a" * 501, False),
        ("b" * LONGEST, False),
        ("b" * (LONGEST + 1), True),
    ):
        assert bool(re.fullmatch(written, value)) == is_taken


def test_what_would_be_endless_is_not_written() -> None:
    words = [f"{number:x}-{number:o}-{number}" for number in range(5000)]
    assert value_expression(0, "/?", "whole", words) is None
    assert value_expression(0, "/?", "whole", words[:300]) is not None
