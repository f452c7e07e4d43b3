"""Layouts of delimited log lines, as data: the order of their fields.

Here: the fields a record is made of, and the notation layouts are written in. Not here: the loop
that follows a layout (`tokenize`), and the list of known formats (`known_formats`).

A layout is written as the line looks: `address - user [time] "request" status -`. A word is a
field up to the separator, `-` one that is skipped; `[x]` and `"x"` are delimited as they look;
`user` may hold spaces and ends before a `[`; `...` skips to the next quote. Behind `address:port`
there always is a port. Fields after `?` may be missing. A field named twice takes the later value
unless that is `-`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray


class Slot(IntEnum):
    """Fields of a record. Users map columns to them by the names in `COLUMN_NAMES`."""

    TIME = 0
    ADDRESS = 1
    METHOD = 2
    TARGET = 3
    HOST = 4
    SCHEME = 5
    STATUS = 6
    REFERRER = 7
    AGENT = 8
    QUERY = 9
    DATE = 10
    """A date in a field apart from its time."""
    REQUEST = 11
    """`METHOD target protocol`."""
    FORWARDED = 12
    """X-Forwarded-For."""
    VIEWS = 13
    """Number of times a page was opened: the row stands for many requests."""
    VISITORS = 14
    """Number of visitors who opened it."""
    TRANSITS = 15
    """Number of times it was opened by a link on the referrer."""
    EVENT = 16
    """Kind of event: only rows with `page_view` are requests."""


SLOTS: Final = len(Slot)
"""Number of slots, and so of rows in the arrays of fields."""

COUNTS: Final = frozenset({Slot.VIEWS, Slot.VISITORS, Slot.TRANSITS})
"""Fields of rows that stand for many requests."""

COLUMN_NAMES: Final = {slot.name.lower(): slot for slot in Slot} | {"url": Slot.TARGET}
"""Names users give columns, JSON paths and regex groups; `url` is an absolute target."""


class Kind(IntEnum):
    """What delimits a field."""

    WORD = 0
    USER = 1
    BRACKETED = 2
    QUOTED = 3
    TO_QUOTE = 4
    CSV = 5
    """Bare, or quoted with doubled quotes inside (RFC 4180)."""


SKIP: Final = -1
"""Slot of a field that is not used."""

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of a line: their order, and what delimits each."""

    kinds: tuple[int, ...]
    slots: tuple[int, ...]
    required: int
    """Fields a line must have; the others may be missing from the end."""
    separator: bytes = b" "
    collapse: bool = False
    """True if any run of blanks separates."""
    exact: bool = False
    """True if surplus fields are an error."""
    escaped: bool = False
    """True if a backslash protects the byte after it."""
    has_ports: bool = False
    """True if a port follows every address, also one of IPv6 without brackets."""

    def arrays(self) -> tuple[Codes, Codes]:
        """Return kinds and slots as the kernel takes them."""
        return np.array(self.kinds, np.int64), np.array(self.slots, np.int64)

    def has(self, slot: Slot) -> bool:
        """Return whether the layout names the slot."""
        return slot in self.slots


_DELIMITERS: Final = {'"': Kind.QUOTED, "[": Kind.BRACKETED}
_PORT: Final = ":port"
"""Ending of a word of the notation whose field has a port."""


def layout(notation: str, *, collapse: bool = False, escaped: bool = False) -> Layout:
    """Return the layout that a notation describes (see the module)."""
    kinds: list[int] = []
    slots: list[int] = []
    required: int | None = None
    for word in notation.split():
        if word == "?":
            required = len(kinds)
            continue
        kinds.append(_kind(word))
        slots.append(_slot(word.strip('[]"').removesuffix(_PORT)))
    return Layout(
        kinds=tuple(kinds),
        slots=tuple(slots),
        required=len(kinds) if required is None else required,
        collapse=collapse,
        escaped=escaped,
        has_ports=_PORT in notation,
    )


def after_words(form: Layout, words: int) -> Layout:
    """Return the layout of lines that a log shipper has put so many words before."""
    return replace(
        form,
        kinds=(int(Kind.WORD),) * words + form.kinds,
        slots=(SKIP,) * words + form.slots,
        required=words + form.required,
        # Syslog pads the days of a month with a blank.
        collapse=True,
    )


def _kind(word: str) -> Kind:
    if word == "user":
        return Kind.USER
    if word == "...":
        return Kind.TO_QUOTE
    return _DELIMITERS.get(word[0], Kind.WORD)


def _slot(name: str) -> int:
    return SKIP if name in ("-", "user", "...") else Slot[name.upper()]
