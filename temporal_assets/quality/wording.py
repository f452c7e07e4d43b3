"""Measured numbers and their limits as text. Not here: what a check protects (`contracts`)."""

from __future__ import annotations

from typing import Final

_DIGITS: Final = (6, 9, 12, 17)
"""Digits of numbers that are not whole; more if one would look equal to its limit."""

_LARGEST: Final = 1e15
"""Number from which on floats are not exact to the last digit, and are written as powers."""


def number(value: float, digits: int = _DIGITS[0]) -> str:
    """Return a whole number with all digits, others with `digits` and at least two decimals."""
    if not abs(value) < _LARGEST:
        return f"{value:.{digits}g}"
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.{max(digits, len(f'{abs(value):.0f}') + 2)}g}"


def told_apart(*values: float | None) -> tuple[str, ...]:
    """Return numbers as text with enough digits to differ; an unknown one is empty."""
    different = {value for value in values if value is not None}
    digits = next(
        (
            n
            for n in _DIGITS
            if len({number(number_, n) for number_ in different}) == len(different)
        ),
        _DIGITS[-1],
    )
    return tuple("" if value is None else number(value, digits) for value in values)


def compared(value: float | None, minimum: float | None, maximum: float | None) -> str:
    """Return a measured number and its limits as a phrase."""
    shown, low, high = told_apart(value, minimum, maximum)
    limits = [f"{word} {limit}" for word, limit in (("at least", low), ("at most", high)) if limit]
    return f"{shown}, expected {' and '.join(limits)}" if limits else shown
