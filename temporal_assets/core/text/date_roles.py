"""Roles of keys in dates that lie across several keys, such as `/2025/03/22/`.

Here: which keys of a group of URLs hold the year, the month or the day of such a date:
`/2025/03/22/`, `/22/03/2025/`, `/25/03/22/`, `/2025-03/22/`, `/2025/0322/`, `/mar/22/`,
`?y=2025&m=3&d=22`. Not here: dates that one value holds (`date_shapes`).

`22` alone is a page number. Beside a year it is a day, and a pattern that names it is of no use the
day after. The decision holds for the group of URLs at hand, by the shares of its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from temporal_assets.core.text.url_split import PATH, QUERY
from temporal_assets.core.text.value_shapes import (
    DASHED_DAY,
    DATE_CLASS,
    DAY,
    DAY_CLASS,
    DIGITS,
    MONTH,
    MONTH_CLASS,
    MONTH_DAY,
    MONTH_NAME,
    MONTHLY,
    SIX,
    SMALL,
    TWO_DIGITS_CLASS,
    YEAR,
    YEAR_CLASS,
    YEAR_MONTH,
)

NO_ROLE: Final = 0

ROLE_BITS: Final = {
    NO_ROLE: 0,
    MONTH_CLASS: DAY | MONTH_NAME | MONTH_DAY | DASHED_DAY,
    DAY_CLASS: DAY | MONTH_NAME,
    YEAR_CLASS: SMALL,
    DATE_CLASS: SIX,
}
"""Shapes that are dates in a key with each role. Roles have the numbers of the wildcard classes."""

AMBIGUOUS: Final = DAY | MONTH | MONTH_NAME | MONTH_DAY | DASHED_DAY | SMALL | SIX
"""Shapes that are dates only by the role of their key."""

_DATED: Final = 0.1
"""Share of a key's URLs that must look like part of a date. Well below one half, because a site
has other sections, and a section may write its dates in two places."""

_DOMINANT: Final = 0.9
"""Share of the numbers, or month names, that must fit; the rest are exceptions."""

_NAMED_ROLES: Final = {
    name: role
    for role, names in (
        (YEAR_CLASS, (b"y", b"yy", b"year")),
        (MONTH_CLASS, (b"m", b"mm", b"mon", b"month")),
        (DAY_CLASS, (b"d", b"dd", b"day")),
    )
    for name in names
}
"""Roles of query keys by their names."""


@dataclass(slots=True)
class Look:
    """Statistics of one key's values in a group of URLs."""

    present: int
    """Number of URLs that have the key."""
    distinct: int
    bit_urls: Sequence[int]
    """Number of URLs whose value has a shape, by the index of its bit."""
    class_urls: Sequence[int]

    def urls(self, bit: int) -> int:
        """Return the number of URLs whose value has a shape."""
        return self.bit_urls[bit.bit_length() - 1]

    def is_part(self, *bits: int) -> bool:
        """Return True if nearly all numbers and month names of the key have one of these shapes."""
        fitting = sum(map(self.urls, bits))
        others = self.urls(DIGITS) + sum(self.urls(bit) for bit in bits if bit in _NO_DIGITS)
        return fitting > _DATED * self.present and fitting >= _DOMINANT * others

    @property
    def is_padded(self) -> bool:
        """Return whether the numbers have two digits."""
        two = self.class_urls[TWO_DIGITS_CLASS]
        return two > _DATED * self.present and two >= _DOMINANT * self.urls(DIGITS)


_NO_DIGITS: Final = (MONTH_NAME, DASHED_DAY)


def date_roles(
    kinds: Sequence[int], indices: Sequence[int], names: Sequence[bytes], looks: Sequence[Look]
) -> list[int]:
    """Return the role of each key; NO_ROLE for most."""
    roles = [NO_ROLE] * len(looks)
    path = {index: i for i, (kind, index) in enumerate(zip(kinds, indices, strict=True))
            if kind == PATH}  # fmt: skip
    segments = {index: looks[i] for index, i in path.items()}
    for index, role in _of_segments(segments).items():
        roles[path[index]] = role
    for i, look in enumerate(looks):
        if kinds[i] == QUERY and names[i] in _NAMED_ROLES:
            role = _NAMED_ROLES[names[i]]
            fits = look.is_part(SMALL) if role == YEAR_CLASS else look.is_part(DAY, MONTH_NAME)
            roles[i] = role if fits else NO_ROLE
        if roles[i] == NO_ROLE and kinds[i] in (PATH, QUERY) and look.is_part(SIX):
            roles[i] = DATE_CLASS
    return roles


def _of_segments(looks: dict[int, Look]) -> dict[int, int]:
    """Return the roles of path segments, by their index."""
    roles: dict[int, int] = {}
    for place in sorted(looks):
        look = looks[place]
        if place in roles:
            continue
        if look.urls(YEAR) > _DATED * look.present:
            roles |= _before_year(looks, place) or _after_year(looks, place)
        elif look.urls(MONTHLY) + look.urls(YEAR_MONTH) > _DATED * look.present:
            roles |= _where(looks, {place + 1: DAY_CLASS})
        elif look.distinct > 1 and look.urls(MONTH_NAME) >= _DOMINANT * look.present:
            days = {at: DAY_CLASS for at in (place - 1, place + 1)
                    if at in looks and looks[at].is_part(DAY)}  # fmt: skip
            roles |= {place: MONTH_CLASS} | days
        else:
            roles |= _of_short_year(looks, place)
    return roles


def _where(looks: dict[int, Look], roles: dict[int, int]) -> dict[int, int]:
    return {place: role for place, role in roles.items() if place in looks}


def _after_year(looks: dict[int, Look], place: int) -> dict[int, int]:
    """Return the roles of dates that begin with a year: 2025/03/22, 2025/mar/22, 2025/0322."""
    following = looks.get(place + 1)
    if following is not None and following.is_part(MONTH_DAY, DASHED_DAY):
        return {place + 1: MONTH_CLASS}
    return _where(looks, {place + 1: MONTH_CLASS, place + 2: DAY_CLASS})


def _before_year(looks: dict[int, Look], place: int) -> dict[int, int]:
    """Return roles of dates that end with a year: 22/03/2025, 03/22/2025, mar/2025, 0322/2025."""
    near, far = looks.get(place - 1), looks.get(place - 2)
    if near is None or not near.is_part(DAY, MONTH_NAME, MONTH_DAY):
        return {}
    if far is not None and far.is_part(DAY, MONTH_NAME):
        if near.is_part(MONTH, MONTH_NAME):
            return {place - 1: MONTH_CLASS, place - 2: DAY_CLASS}
        return {place - 1: DAY_CLASS, place - 2: MONTH_CLASS}
    following = looks.get(place + 1)
    if following is not None and following.is_part(DAY, MONTH_NAME, MONTH_DAY, DASHED_DAY):
        return {}
    # One number before a year may be a section; two digits up to 12 are hardly one.
    is_month = near.is_part(MONTH, MONTH_NAME) and (near.is_padded or near.urls(DIGITS) == 0)
    return {place - 1: MONTH_CLASS} if is_month or near.is_part(MONTH_DAY) else {}


def _of_short_year(looks: dict[int, Look], place: int) -> dict[int, int]:
    """Return the roles of dates with a two-digit year: 25/03/22, 22/03/25, 03/22/25, 25/0322."""
    first, second, third = (looks.get(place + i) for i in range(3))
    if first is None or second is None or not first.is_padded:
        return {}
    if second.is_part(MONTH_DAY):
        return {place: YEAR_CLASS, place + 1: MONTH_CLASS}
    if third is None or not second.is_padded or not third.is_padded:
        return {}
    for roles, parts in (
        ((YEAR_CLASS, MONTH_CLASS, DAY_CLASS), (SMALL, MONTH, DAY)),
        ((DAY_CLASS, MONTH_CLASS, YEAR_CLASS), (DAY, MONTH, SMALL)),
        ((MONTH_CLASS, DAY_CLASS, YEAR_CLASS), (MONTH, DAY, SMALL)),
    ):
        if all(look.is_part(bit) for look, bit in zip((first, second, third), parts, strict=True)):
            return {place + i: role for i, role in enumerate(roles)}
    return {}
