"""Shapes of values as regular expressions, which tests compare the product with."""

from __future__ import annotations

from temporal_assets.core.text.value_shapes import DOTLESS, EXPRESSIONS, NONEMPTY, tightest


def required_expression(required: int, excluded: str) -> str:
    """Regular expression of the values that have all bits of `required`.

    `excluded` are the characters no value can hold, as in a character class (`/?`).
    """
    shape = tightest(required)
    if shape in EXPRESSIONS:
        return EXPRESSIONS[shape]
    dot = "." if shape & DOTLESS and "." not in excluded else ""
    return f"[^{excluded}{dot}]{'+' if shape & NONEMPTY else '*'}"
