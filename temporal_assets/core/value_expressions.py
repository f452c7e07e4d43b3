"""Regular expressions of values without some others, in what every engine reads and none hurts by.

Here: a small deterministic automaton for what one key may hold, and how it is written. Not here:
how the values of a URL follow each other (`pattern_text`), what the shapes are (`value_shapes`).

"Any segment but `news` and `sport`" is a look-ahead in most dialects. RE2 has none, and what
backtracks can be kept busy with them, so the same is spelled out by characters: not `n` and not
`s`, or `n` and then not `e`, and so on. Every branch begins with characters of its own: no engine
ever has two ways to read a value, and the cost of a match is linear in the URL. Only classes of
characters repeat without bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from typing import Final, Literal

from temporal_assets.core.value_shapes import (
    DATE,
    DAY,
    DIGITS,
    DOTLESS,
    HEX,
    MONTH_NAME,
    NONEMPTY,
    UUID,
    YEAR,
    tightest,
)

Kind = Literal["whole", "bare", "extension", "nameless", "named"]
"""What is written: a whole value, one that does not end in an extension, an extension, or a query
field without or with a name."""

LONGEST: Final = 100
"""Characters of a value that tell it from others. One that begins with the first hundred of an
excluded value is excluded with it: groups are nested as deep as values are long."""

EXTENSION: Final = "[A-Za-z][0-9A-Za-z]{0,4}"
"""What `url_split` takes for an extension."""

NOTHING: Final = r"[^\s\S]"
"""Matches nothing."""

Mask = int
"""A set of characters: bits 0 to 127 are ASCII, bit 128 is everything else."""

_OTHERS: Final[Mask] = 1 << 128
_EVERYTHING: Final[Mask] = (1 << 129) - 1


@cache
def _mask(characters: str) -> Mask:
    mask = 0
    for character in characters:
        mask |= 1 << min(ord(character), 128)
    return mask


_DIGIT: Final = _mask("0123456789")
_LETTER: Final = _mask("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_HEX_LETTER: Final = _mask("abcdefABCDEF")
_DOT: Final = _mask(".")
_ESCAPED: Final = frozenset("\\]^[")
_RUNS: Final = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")


@cache
def _class(mask: Mask) -> str:
    """A character or a class, written so that all dialects read the same."""
    negated = bool(mask & _OTHERS)
    listed = _EVERYTHING & ~mask if negated else mask
    codes = [code for code in range(128) if listed >> code & 1]
    if not codes:
        return r"[\s\S]" if negated else r"[^\s\S]"
    if len(codes) == 1 and not negated:
        return escape(chr(codes[0]))
    written, hyphen, start = "", "", 0
    while start < len(codes):
        end = start
        while end + 1 < len(codes) and _are_neighbours(codes[end], codes[end + 1]):
            end += 1
        first, last = chr(codes[start]), chr(codes[end])
        if end - start >= 2:
            written += f"{first}-{last}"
        else:
            for code in codes[start : end + 1]:
                if chr(code) == "-":
                    hyphen = "-"
                else:
                    written += _in_class(chr(code))
        start = end + 1
    return f"[{'^' if negated else ''}{written}{hyphen}]"


def _are_neighbours(code: int, following: int) -> bool:
    """Whether both are in one run of digits or letters, side by side."""
    return following == code + 1 and any(chr(code) + chr(following) in run for run in _RUNS)


def _in_class(character: str) -> str:
    return f"\\{character}" if character in _ESCAPED else character


_SPECIAL: Final = str.maketrans({sign: "\\" + sign for sign in ".^$*+?{}[]|()\\"})
"""What has a meaning in every dialect; `re.escape` would spoil every hyphen."""


def escape(text: str) -> str:
    """Text as an expression that matches it and nothing else."""
    return text.translate(_SPECIAL)


Step = tuple[Mask, bool]
"""Characters, and whether they may be there any number of times, none included."""

Items = frozenset[tuple[int, int]]
"""Where one may be in a set of sequences: which of them, and how far."""


def _steps(*masks: Mask, then: Mask = 0) -> tuple[Step, ...]:
    return (*((mask, False) for mask in masks), *(((then, True),) if then else ()))


_HEX: Final = _DIGIT | _HEX_LETTER
_DAYS: Final = ((_mask("0"), _mask("123456789")), (_mask("12"), _DIGIT), (_mask("3"), _mask("01")))
_MONTHS: Final = ((_mask("0"), _mask("123456789")), (_mask("1"), _mask("012")))
_YEARS: Final = tuple((_mask(a), _mask(b), _DIGIT, _DIGIT) for a, b in ("19", "20"))
_DASH: Final = (_mask("-_"),)
_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)


def _named_months() -> Iterable[tuple[Step, ...]]:
    for form in sorted({*_NAMES, *(name[:3] for name in _NAMES)}):
        yield _steps(_mask(form[0] + form[0].upper()), *map(_mask, form[1:]))


_SHAPES: Final[dict[int, tuple[tuple[Step, ...], ...]]] = {
    UUID: (
        _steps(*((_HEX,) * 8), *((_mask("-"), *((_HEX,) * 4)) * 3), _mask("-"), *((_HEX,) * 12)),
    ),
    YEAR: tuple(_steps(*year) for year in _YEARS),
    DATE: (
        *(_steps(*y, *_DASH, *m) for y in _YEARS for m in _MONTHS),
        *(_steps(*y, *_DASH, *m, *_DASH, *d) for y in _YEARS for m in _MONTHS for d in _DAYS),
    ),
    MONTH_NAME: tuple(_named_months()),
    DAY: (_steps(_mask("123456789")), *(_steps(*day) for day in _DAYS)),
    DIGITS: (_steps(_DIGIT, then=_DIGIT),),
    HEX: (
        *(_steps(*((_DIGIT,) * n), _HEX_LETTER, *((_HEX,) * (7 - n)), then=_HEX) for n in range(8)),
        (*_steps(*((_DIGIT,) * 8), then=_DIGIT), *_steps(_HEX_LETTER, then=_HEX)),
    ),
}
"""The languages of EXPRESSIONS by characters."""


@dataclass(frozen=True, slots=True)
class Sequences:
    """A set of texts, as sequences of characters."""

    sequences: Sequence[tuple[Step, ...]]
    takes_prefixes: bool = False
    """Whether all that begins as one of them is in the set as well."""
    endless: frozenset[int] = frozenset()
    """Sequences of which that holds alone."""

    def start(self) -> Items:
        """Before the first character."""
        return self._closed((number, 0) for number in range(len(self.sequences)))

    def accepts(self, items: Items) -> bool:
        """Whether what was read is in the set."""
        return any(at == len(self.sequences[number]) for number, at in items)

    def swallows(self, items: Items) -> bool:
        """Whether all that begins with what was read is in the set."""
        return any(
            at == len(self.sequences[number]) and (self.takes_prefixes or number in self.endless)
            for number, at in items
        )

    def arcs(self, items: Items) -> list[tuple[Mask, Items]]:
        """Disjoint sets of characters, and where each leads."""
        by_character: dict[Mask, list[tuple[int, int]]] = {}
        for number, at in items:
            if at < len(self.sequences[number]):
                mask, repeats = self.sequences[number][at]
                by_character.setdefault(mask, []).append((number, at if repeats else at + 1))
        blocks: list[tuple[Mask, list[tuple[int, int]]]] = []
        for mask, targets in by_character.items():
            split: list[tuple[Mask, list[tuple[int, int]]]] = []
            for block, reached in blocks:
                if block & mask:
                    split.append((block & mask, reached + targets))
                if block & ~mask:
                    split.append((block & ~mask, reached))
                mask &= ~block
            blocks = [*split, (mask, targets)] if mask else split
        return [(mask, self._closed(reached)) for mask, reached in blocks]

    def _closed(self, items: Iterable[tuple[int, int]]) -> Items:
        """With what may be passed over."""
        closed = set(items)
        waiting = list(closed)
        while waiting:
            number, at = waiting.pop()
            steps = self.sequences[number]
            if at < len(steps) and steps[at][1] and (number, at + 1) not in closed:
                closed.add((number, at + 1))
                waiting.append((number, at + 1))
        return frozenset(closed)


@dataclass(frozen=True, slots=True)
class _State:
    """A state of what is written when nothing is excluded."""

    accepts: bool
    arcs: tuple[tuple[Mask, int], ...]
    rest: str | None = None
    """How all that may follow is written, where states lead back to each other."""


def _any(allowed: Mask, nonempty: bool) -> list[_State]:
    return [_State(not nonempty, ((allowed, 1),)), _State(True, ((allowed, 1),))]


def _named(allowed: Mask) -> list[_State]:
    """Query fields with a name, and the empty field, which is none."""
    name = allowed & ~_mask("=")
    return [
        _State(True, ((name, 1),)),
        _State(False, ((name, 1), (_mask("="), 2))),
        _State(True, ((allowed, 2),)),
    ]


def _nameless(allowed: Mask) -> list[_State]:
    """Query fields without `=`, or with nothing before it."""
    name = allowed & ~_mask("=")
    return [
        _State(False, ((name, 1), (allowed & _mask("="), 2))),
        _State(True, ((name, 1),)),
        _State(True, ((allowed, 2),)),
    ]


def _bare(allowed: Mask, nonempty: bool) -> list[_State]:
    """Values that do not end in an extension; one that begins with its only dot has none.

    States: nothing read, no dot that could begin an extension since, such a dot, and 1 to 5
    characters of what may turn out to be an extension.
    """
    anything, dotless = _class(allowed), _class(allowed & ~_DOT)
    letter, extension = _LETTER & allowed, (_LETTER | _DIGIT) & allowed
    odd = _class(allowed & ~_DOT & ~extension)
    first = _class(allowed & ~_DOT & ~letter)
    alnum = "[0-9A-Za-z]"
    # What follows the last dot and is no extension.
    end = rf"(?:[A-Za-z](?:{alnum}{{0,4}}{odd}|{alnum}{{5}}){dotless}*|{first}{dotless}*)?"
    empty = rf"\.{dotless}*|{dotless}+" if nonempty else rf"\.?{dotless}*"
    states = [
        _State(not nonempty, ((allowed, 1),), rf"(?:{anything}+\.{end}|{empty})"),
        _State(True, ((allowed & ~_DOT, 1), (_DOT, 2)), rf"(?:{anything}*\.{end}|{dotless}*)"),
        _State(
            True,
            ((letter, 3), (allowed & ~_DOT & ~letter, 1), (_DOT, 2)),
            rf"(?:{anything}*\.)?{end}",
        ),
    ]
    for read in range(1, 6):
        more = rf"{alnum}{{0,{5 - read}}}{odd}{dotless}*|{alnum}{{{6 - read}}}{dotless}*"
        states.append(
            _State(
                False,
                (
                    (extension, 3 + read if read < 5 else 1),
                    (allowed & ~_DOT & ~extension, 1),
                    (_DOT, 2),
                ),
                rf"(?:{anything}*\.{end}|{more})",
            )
        )
    return states


def _of_sequences(found: Sequences) -> list[_State]:
    """The states of a set of sequences."""
    numbers: dict[Items, int] = {found.start(): 0}
    states: list[_State] = []
    for items in (waiting := [found.start()]):
        arcs = []
        for mask, reached in found.arcs(items):
            if reached not in numbers:
                numbers[reached] = len(numbers)
                waiting.append(reached)
            arcs.append((mask, numbers[reached]))
        states.append(_State(found.accepts(items), tuple(arcs)))
    return states


def _states(bits: int, separators: str, kind: Kind) -> list[_State]:
    """What values of a shape may hold, if nothing is excluded."""
    if kind == "extension":
        letters = _LETTER | _DIGIT
        more = [_State(True, ((letters, n + 1),) if n < 5 else ()) for n in range(1, 6)]
        return [_State(False, ((_LETTER, 1),)), *more]
    shape = tightest(bits)
    if shape in _SHAPES:
        return _of_sequences(Sequences(_SHAPES[shape]))
    allowed = _EVERYTHING & ~_mask(separators)
    if shape & DOTLESS:
        allowed &= ~_DOT
    elif kind == "bare":
        return _bare(allowed, bool(shape & NONEMPTY))
    if kind == "nameless":
        return _nameless(allowed)
    if kind == "named":
        return _named(allowed)
    return _any(allowed, bool(shape & NONEMPTY))


def value_expression(
    bits: int,
    separators: str,
    kind: Kind = "whole",
    excluded: Iterable[str] = (),
    excluded_bits: int = 0,
) -> str | None:
    """The values that have all `bits`, but for those excluded; None if there are none.

    `separators` are the characters no value can hold. `excluded` are values, and `excluded_bits`
    a shape (0: none).
    """
    words = [*excluded]
    sequences = [_steps(*map(_mask, word[:LONGEST])) for word in words]
    endless = frozenset(n for n, word in enumerate(words) if len(word) > LONGEST)
    if excluded_bits:
        sequences += _SHAPES[tightest(excluded_bits)]
    return _Writer(_states(bits, separators, kind), Sequences(sequences, endless=endless)).text()


def other_fields(names: Iterable[str], allows_nameless: bool = True) -> str:
    """Query fields that have none of the names; without `=` too if that is allowed.

    The empty field is always among them: it is none.
    """
    sequences = [_steps(*map(_mask, f"{name}="[:LONGEST])) for name in names]
    kind: Kind = "whole" if allows_nameless else "named"
    excluded = Sequences(sequences, takes_prefixes=True)
    written = _Writer(_states(0, "&", kind), excluded).text()
    assert written is not None  # noqa: S101 - the empty field is there
    return written


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes what an automaton takes and some sequences do not."""

    states: Sequence[_State]
    excluded: Sequences
    known: dict[tuple[int, Items], str | None] = field(default_factory=dict)

    def text(self) -> str | None:
        """All of it, as one group or without alternatives."""
        start = self.excluded.start()
        return None if self.excluded.swallows(start) else self._rest(0, start)

    def _rest(self, state: int, items: Items) -> str | None:
        """What may follow; None for nothing, not even the end."""
        if (state, items) not in self.known:
            self.known[state, items] = self._written(state, items)
        return self.known[state, items]

    def _written(self, state: int, items: Items) -> str | None:
        here = self.states[state]
        if not items and here.rest is not None:
            return here.rest
        accepts = here.accepts and not self.excluded.accepts(items)
        loop: Mask = 0
        branches: dict[str, Mask] = {}
        for mask, following, reached in self._arcs(here, items):
            if (following, reached) == (state, items):
                loop |= mask
            elif not self.excluded.swallows(reached):
                rest = self._rest(following, reached)
                if rest is not None:
                    branches[rest] = branches.get(rest, 0) | mask
        repeated = f"{_class(loop)}*" if loop else ""
        if not branches:
            return repeated if accepts else None
        written = sorted(branches.items(), key=itemgetter(1))
        return repeated + _alternatives([_followed(m, rest) for rest, m in written], accepts)

    def _arcs(self, here: _State, items: Items) -> Iterable[tuple[Mask, int, Items]]:
        excluded = self.excluded.arcs(items)
        for mask, following in here.arcs:
            for block, reached in excluded:
                if mask & block:
                    yield mask & block, following, reached
                    mask &= ~block
            if mask:
                yield mask, following, frozenset()


def _followed(mask: Mask, rest: str) -> str:
    written = _class(mask)
    return f"{written}+" if rest == f"{written}*" else written + rest


def _alternatives(written: Sequence[str], may_be_none: bool) -> str:
    if may_be_none and len(written) == 1 and _is_repeated_class(written[0]):
        return written[0][:-1] + "*"
    text = written[0] if len(written) == 1 else f"(?:{'|'.join(written)})"
    if not may_be_none:
        return text
    return f"(?:{text})?" if len(written) == 1 else f"{text}?"


def _is_repeated_class(text: str) -> bool:
    return text.endswith("]+") and text.startswith("[") and text.count("[") == 1
