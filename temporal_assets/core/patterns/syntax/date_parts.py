"""Dates among the values of a node's keys.

Here: which shape of a date most values of a key have, and which part of a date a key holds beside
others. Not here: the shapes (`date_shapes`) and the roles (`date_roles`) themselves.
"""

from __future__ import annotations

from typing import Final

from temporal_assets.core.patterns.syntax.growing_site import GrowingSite
from temporal_assets.core.patterns.syntax.key_statistics import KeyStatistics, bit_place
from temporal_assets.core.text.date_roles import NO_ROLE, ROLE_BITS, Look, date_roles
from temporal_assets.core.text.value_shapes import (
    COMPACT,
    DASHED_DAY,
    DATE,
    DAY,
    DIGITS,
    EPOCH,
    MONTH_DAY,
    MONTH_NAME,
    SIX,
    SMALL,
    WRITTEN,
    YEAR,
    YEAR_MONTH,
)

DOMINANT: Final = 0.9
"""Share of a node's values that must look like dates before the rest is taken for exceptions,
and share of one class before a wildcard is called by its name."""

WHOLE_DATES: Final = (DATE, WRITTEN, YEAR, COMPACT, YEAR_MONTH, EPOCH)
"""Shapes that are dates under any key; values with one of them may share a branch."""
PARTS_OF_DATES: Final = (DAY, MONTH_NAME, MONTH_DAY, DASHED_DAY, SMALL, SIX)
"""Shapes that are parts of a date only if their key has a role in one."""
_PARTS: Final = DAY | MONTH_NAME | MONTH_DAY | DASHED_DAY | SMALL | SIX
"""Bits of `PARTS_OF_DATES`."""
_NUMBERS: Final = YEAR | COMPACT | YEAR_MONTH | EPOCH | DAY | MONTH_DAY | SMALL | SIX
"""Bits of the shapes of dates that consist of digits alone."""
_DIGITS_AT: Final = bit_place(DIGITS)
_DATES_OF_ROLE: Final = {
    role: tuple(
        (bit, bit_place(bit))
        for bit in sorted((*WHOLE_DATES, *(bit for bit in PARTS_OF_DATES if bit & bits)))
    )
    for role, bits in ROLE_BITS.items()
}
"""Shapes that may be dates under a key with a role, in their order, with the index of their bit."""


def roles_of(site: GrowingSite, open_keys: list[int], statistics: KeyStatistics) -> list[int]:
    """Return the role of each open key in a date that lies across keys (`date_roles`)."""
    if not any(bits & _PARTS for bits in statistics.any_bits):
        return [NO_ROLE] * len(open_keys)
    looks = [
        Look(*look)
        for look in zip(
            statistics.present,
            statistics.distinct,
            statistics.bit_urls,
            statistics.class_urls,
            strict=True,
        )
    ]
    return date_roles(
        [site.kind[key] for key in open_keys],
        [site.index[key] for key in open_keys],
        [site.keys.keys.name[key] for key in open_keys],
        looks,
    )


def date_bit(statistics: KeyStatistics, i: int, role: int, support: int) -> int:
    """Return the date shape that most of a key's numbers (or names) have, or 0."""
    urls = statistics.bit_urls[i]
    numbers = DOMINANT * urls[_DIGITS_AT]
    most, shape = support - 1, 0
    for bit, place in _DATES_OF_ROLE[role]:
        # Of shapes with equally many URLs the last one counts.
        if urls[place] >= max(most, support) and (bit & _NUMBERS == 0 or urls[place] >= numbers):
            most, shape = urls[place], bit
    return shape
