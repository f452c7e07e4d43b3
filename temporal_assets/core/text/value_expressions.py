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
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final, Literal

from temporal_assets.core.text.value_shapes import DOTLESS, EXPRESSIONS, NONEMPTY, tightest

Kind = Literal["whole", "bare", "extension", "nameless", "named"]
"""Kind of text to be written: a whole value, a value without an extension, an extension, or a query
field without or with a name."""

LONGEST: Final = 100
"""Characters of a value that tell it from others. One that begins with the first hundred of an
excluded value is excluded with it: groups are nested as deep as values are long."""

MOST_CHARACTERS: Final = 50_000
"""Length beyond which an expression is not written, as RE2 would refuse it. 2,000 words need so
many."""

EXTENSION: Final = "[A-Za-z][0-9A-Za-z]{0,4}"
"""Expression of what `url_split` takes for an extension."""

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
    """Return whether both are in one run of digits or letters, side by side."""
    return following == code + 1 and any(chr(code) + chr(following) in run for run in _RUNS)


def _in_class(character: str) -> str:
    return f"\\{character}" if character in _ESCAPED else character


_SPECIAL: Final = str.maketrans({sign: "\\" + sign for sign in ".^$*+?{}[]|()\\"})
"""Characters with a meaning in every dialect, escaped; `re.escape` would spoil every hyphen."""


def escape(text: str) -> str:
    """Return the text as an expression that matches it and nothing else."""
    return text.translate(_SPECIAL)


Places = frozenset[int]
"""Positions in some texts."""


class Texts:
    """A set of texts that can be read side by side: words, and what an expression takes.

    Places are numbers; from each, characters lead to others. `ENDS` is after a whole text, and
    `NEVER_ENDS` after one with which all that begins like it is in the set.
    """

    ENDS: Final = 0
    NEVER_ENDS: Final = 1

    def __init__(self) -> None:
        self._arcs: list[list[tuple[Mask, Places]]] = [[], []]
        self.start: Places = frozenset()

    def add_word(self, word: str, *, with_longer: bool = False) -> None:
        """Add a text; `with_longer` adds all texts that begin with it."""
        end = self.NEVER_ENDS if with_longer or len(word) > LONGEST else self.ENDS
        self.start |= self._before([(_parser.LITERAL, ord(c)) for c in word[:LONGEST]], {end})

    def add_expression(self, expression: str) -> None:
        """All texts of an expression without look-around."""
        self.start |= self._before(list(_parser.parse(expression)), {self.ENDS})

    def arcs(self, places: Places) -> list[tuple[Mask, Places]]:
        """Return disjoint sets of characters, and where each leads."""
        blocks: list[tuple[Mask, Places]] = []
        for place in sorted(places):
            for mask, reached in self._arcs[place]:
                split, left = [], mask
                for block, others in blocks:
                    if block & mask:
                        split.append((block & mask, others | reached))
                    if block & ~mask:
                        split.append((block & ~mask, others))
                    left &= ~block
                blocks = [*split, (left, reached)] if left else split
        return blocks

    def _place(self, mask: Mask, reached: Iterable[int]) -> int:
        self._arcs.append([(mask, frozenset(reached))])
        return len(self._arcs) - 1

    def _before(self, steps: Sequence[Any], after: Iterable[int]) -> Places:
        """Return the places from which steps lead to those after them."""
        places = frozenset(after)
        for name, given in reversed(steps):
            places = self._before_step(str(name), given, places)
        return places

    def _before_step(self, name: str, given: Any, after: Places) -> Places:
        if name == "BRANCH":
            return frozenset().union(*(self._before(list(steps), after) for steps in given[1]))
        if name == "SUBPATTERN":
            return self._before(list(given[-1]), after)
        if name != "MAX_REPEAT":
            return frozenset({self._place(_characters(name, given), after)})
        least, most, steps = given
        if most == _parser.MAXREPEAT:  # of one class
            ((name, given),) = steps
            loop = self._place(mask := _characters(name, given), after)
            self._arcs[loop] = [(mask, after | {loop})]
            before = after | {loop}
        else:
            before = after
            for _ in range(most - least):
                before = after | self._before(list(steps), before)
        for _ in range(least):
            before = self._before(list(steps), before)
        return before


def _characters(name: Any, given: Any) -> Mask:
    """Return the characters of one step of an expression."""
    kind = str(name)
    if kind == "LITERAL":
        return 1 << min(int(given), 128)
    if kind == "RANGE":
        first, last = map(int, given)
        return (2 << last) - (1 << first)
    if kind != "IN":
        raise ValueError(f"{name} has no characters of its own")
    mask = 0
    for each in given:
        mask |= _characters(*each)
    return mask


@dataclass(frozen=True, slots=True)
class _State:
    """A state of what is written when nothing is excluded."""

    accepts: bool
    arcs: tuple[tuple[Mask, int], ...]
    rest: str | None = None
    """Expression of all that may follow, if states lead back to each other."""


def _any(allowed: Mask, nonempty: bool) -> list[_State]:
    return [_State(not nonempty, ((allowed, 1),)), _State(True, ((allowed, 1),))]


def _named(allowed: Mask) -> list[_State]:
    """Return query fields with a name, and the empty field, which is none."""
    name = allowed & ~_mask("=")
    return [
        _State(True, ((name, 1),)),
        _State(False, ((name, 1), (_mask("="), 2))),
        _State(True, ((allowed, 2),)),
    ]


def _nameless(allowed: Mask) -> list[_State]:
    """Return query fields without `=`, or with nothing before it."""
    name = allowed & ~_mask("=")
    return [
        _State(False, ((name, 1), (allowed & _mask("="), 2))),
        _State(True, ((name, 1),)),
        _State(True, ((allowed, 2),)),
    ]


def _bare(allowed: Mask, nonempty: bool) -> list[_State]:
    """Return values that do not end in an extension; one that begins with its only dot has none.

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


def _of_expression(expression: str) -> list[_State]:
    """Return the states of a shape."""
    automaton = Texts()
    automaton.add_expression(expression)
    numbers: dict[Places, int] = {automaton.start: 0}
    states: list[_State] = []
    for places in (waiting := [automaton.start]):
        arcs = []
        for mask, reached in automaton.arcs(places):
            if reached not in numbers:
                numbers[reached] = len(numbers)
                waiting.append(reached)
            arcs.append((mask, numbers[reached]))
        states.append(_State(Texts.ENDS in places, tuple(arcs)))
    return states


def _states(bits: int, separators: str, kind: Kind) -> list[_State]:
    """Return what values of a shape may hold, if nothing is excluded."""
    if kind == "extension":
        letters = _LETTER | _DIGIT
        more = [_State(True, ((letters, n + 1),) if n < 5 else ()) for n in range(1, 6)]
        return [_State(False, ((_LETTER, 1),)), *more]
    shape = tightest(bits)
    if shape in EXPRESSIONS:
        return _of_expression(EXPRESSIONS[shape])
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
    """The values that have all `bits`, but for those excluded; None if there are none, or too many.

    `separators` are the characters no value can hold. `excluded` are values, and `excluded_bits`
    a shape (0: none).
    """
    others = Texts()
    for value in excluded:
        others.add_word(value)
    if excluded_bits:
        others.add_expression(EXPRESSIONS[tightest(excluded_bits)])
    if not others.start:
        shape = tightest(bits)
        if shape in EXPRESSIONS:
            return EXPRESSIONS[shape]
    written = _Writer(_states(bits, separators, kind), others).text()
    return None if written is None or len(written) > MOST_CHARACTERS else written


def other_fields(names: Iterable[str], allows_nameless: bool = True) -> str:
    """Return query fields that have none of the names; without `=` too if that is allowed.

    The empty field is always among them: it is none.
    """
    others = Texts()
    for name in names:
        others.add_word(f"{name}=", with_longer=True)
    written = _Writer(_states(0, "&", "whole" if allows_nameless else "named"), others).text()
    return NOTHING if written is None else written


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes what an automaton takes and some sequences do not."""

    states: Sequence[_State]
    excluded: Texts
    known: dict[tuple[int, Places], str | None] = field(default_factory=dict)

    def text(self) -> str | None:
        """Return all of it; None for nothing."""
        return self._rest(0, self.excluded.start)

    def _rest(self, state: int, places: Places) -> str | None:
        """Return what may follow; None for nothing, not even the end."""
        if (state, places) not in self.known:
            self.known[state, places] = self._written(state, places)
        return self.known[state, places]

    def _written(self, state: int, places: Places) -> str | None:
        here = self.states[state]
        if not places and here.rest is not None:
            return here.rest
        accepts = here.accepts and Texts.ENDS not in places
        loop: Mask = 0
        branches: dict[str, Mask] = {}
        for mask, following, reached in self._arcs(here, places):
            if (following, reached) == (state, places):
                loop |= mask
            elif Texts.NEVER_ENDS not in reached:
                rest = self._rest(following, reached)
                if rest is not None:
                    branches[rest] = branches.get(rest, 0) | mask
        repeated = f"{_class(loop)}*" if loop else ""
        if not branches:
            return repeated if accepts else None
        written = sorted(branches.items(), key=itemgetter(1))
        return repeated + _alternatives([_followed(m, rest) for rest, m in written], accepts)

    def _arcs(self, here: _State, places: Places) -> Iterable[tuple[Mask, int, Places]]:
        excluded = self.excluded.arcs(places)
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
