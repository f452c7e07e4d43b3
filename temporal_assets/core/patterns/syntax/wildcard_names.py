"""The name of a wildcard: the class of nearly all values that it stands for.

Here: the choice of the name. Not here: the classes and shapes of single values (`value_shapes`).
"""

from __future__ import annotations

from typing import Final

from temporal_assets.core.patterns.syntax.date_parts import DOMINANT, PARTS_OF_DATES
from temporal_assets.core.patterns.syntax.key_statistics import bit_place
from temporal_assets.core.text.date_roles import ROLE_BITS
from temporal_assets.core.text.value_shapes import (
    ANY_CLASS,
    DASHED_DAY,
    DATE_CLASS,
    DAY_CLASS,
    DIGITS,
    DIGITS_CLASS,
    MONTH_CLASS,
    MONTH_DAY,
    SLUG_CLASS,
    SLUG_DATE_CLASS,
    SLUG_ID_CLASS,
    TWO_DIGITS_CLASS,
    WORD_CLASS,
    YEAR_CLASS,
)

ROLE_NAMES: Final = (YEAR_CLASS, MONTH_CLASS, DAY_CLASS, DATE_CLASS)
"""Classes that say which part of a date a value is."""

_DIGITS_AT: Final = bit_place(DIGITS)

_SLUG_CLASSES: Final = (SLUG_CLASS, SLUG_ID_CLASS, SLUG_DATE_CLASS)


def wildcard_name(class_urls: list[int], bit_urls: list[int], present: int, role: int) -> int:
    """Return the class that names a wildcard: that of nearly all its values."""
    least = DOMINANT * present
    if role:
        whole = (MONTH_DAY | DASHED_DAY) & ROLE_BITS[role]
        if whole and sum(bit_urls[bit_place(bit)] for bit in (MONTH_DAY, DASHED_DAY)) >= least:
            return DATE_CLASS
        parts = (bit for bit in PARTS_OF_DATES if bit & ROLE_BITS[role] & ~whole)
        if sum(bit_urls[bit_place(bit)] for bit in parts) >= least:
            return role
    counts = list(class_urls)
    counts[DIGITS_CLASS] += counts[TWO_DIGITS_CLASS]
    counts[TWO_DIGITS_CLASS] = 0
    most = max(counts)
    name = counts.index(most)
    if name != SLUG_DATE_CLASS:
        # One slug with a number in ten seems to hold a date.
        most += counts[SLUG_DATE_CLASS]
    if most >= least:
        return name
    if bit_urls[_DIGITS_AT] >= least:
        return DIGITS_CLASS  # Some numbers look like dates by chance.
    # Among slugs, a single word is a slug as well.
    slugs = sum(counts[kind] for kind in _SLUG_CLASSES)
    if slugs + counts[WORD_CLASS] >= least and slugs >= counts[WORD_CLASS]:
        return SLUG_CLASS
    return ANY_CLASS
