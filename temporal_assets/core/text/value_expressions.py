"""Regular expressions for "any value except these", readable by every engine and linear in time.

Here: a small automaton for the values of one key, and how it is written as an expression. Not here:
how the values of a URL follow each other (`pattern_text`), what the shapes are (`value_shapes`).

"Any segment but `news` and `sport`" is a look-ahead in most dialects. RE2 has none, and
backtracking engines can be made slow with them, so the same is spelled out by characters: not `n`
and not `s`, or `n` and then not `e`, and so on. Every branch begins with characters of its own: no
engine ever has two ways to read a value, and the cost of a match is linear in the URL. Only classes
of characters repeat without bound.

The work has three steps. `_states` gives a deterministic automaton of the values of a shape.
`Words` is a trie of the excluded values; where a shape is excluded too, `Texts` is a
nondeterministic automaton of both, whose present positions are a set.
`_Writer` walks through both at once and writes an expression for the values that the first accepts
and the second does not.
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
"""Kind of text that an expression matches: a complete value (`whole`), a value that ends in no
extension (`bare`), an extension, or a query field without or with a name."""

LONGEST: Final = 100
"""Most characters of an excluded value that are compared; values with the same first hundred are
excluded with it. Groups are nested as deep as values are long."""

MOST_CHARACTERS: Final = 50_000
"""Length beyond which an expression is not written, as RE2 would refuse it: enough for 2,000
words."""

EXTENSION: Final = "[A-Za-z][0-9A-Za-z]{0,4}"
"""Expression for extensions, as `url_split` defines them."""

NOTHING: Final = r"[^\s\S]"
"""Expression that matches nothing."""

Mask = int
"""Set of characters as the bits of an integer: 0 to 127 are ASCII, 128 is everything else."""

_OTHERS: Final[Mask] = 1 << 128
_EVERYTHING: Final[Mask] = (1 << 129) - 1


@cache
def _mask(characters: str) -> Mask:
    """Return the set of some characters."""
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
    """Return an expression for a set of characters that all dialects read the same."""
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
    """Return True if two characters are adjacent in one run of digits or letters."""
    return following == code + 1 and any(chr(code) + chr(following) in run for run in _RUNS)


def _in_class(character: str) -> str:
    return f"\\{character}" if character in _ESCAPED else character


_SPECIAL: Final = str.maketrans({sign: "\\" + sign for sign in ".^$*+?{}[]|()\\"})
"""Characters with a meaning in every dialect, escaped; `re.escape` would spoil every hyphen."""


def escape(text: str) -> str:
    """Return an expression that matches a text and nothing else."""
    return text.translate(_SPECIAL)


Places = frozenset[int]
"""Set of positions in some texts: a state of the automaton."""


class Texts:
    """Automaton for a set of texts: words, and what an expression matches.

    A position is a number. An arc leads from it, by any character of a mask, to further positions.
    """

    ENDS: Final = 0
    """Position after the last character of a text."""
    NEVER_ENDS: Final = 1
    """Position after a text all of whose continuations are in the set too."""

    nothing: Final[Places] = frozenset()
    """Positions after a text that begins no text of the set."""

    def __init__(self) -> None:
        self._arcs: list[list[tuple[Mask, Places]]] = [[], []]
        """Arcs by the position they start from; there are none from ENDS and NEVER_ENDS."""
        self.start: Places = frozenset()
        """Positions before the first character."""

    def add_word(self, word: str, *, with_longer: bool = False) -> None:
        """Add a text; `with_longer` adds all texts that begin with it."""
        end = self.NEVER_ENDS if with_longer or len(word) > LONGEST else self.ENDS
        places = frozenset({end})
        for character in reversed(word[:LONGEST]):
            places = frozenset({self._place(_mask(character), places)})
        self.start |= places

    def add_expression(self, expression: str) -> None:
        """Add all texts that an expression without look-around matches."""
        self.start |= self._before(list(_parser.parse(expression)), {self.ENDS})

    def ends(self, places: Places) -> bool:
        """Return True if a text of the set ends at the positions."""
        return self.ENDS in places

    def never_ends(self, places: Places) -> bool:
        """Return True if all continuations from the positions are in the set."""
        return self.NEVER_ENDS in places

    def arcs(self, places: Places) -> list[tuple[Mask, Places]]:
        """Return disjoint sets of characters, and the positions that each leads to."""
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

    def _place(self, mask: Mask, reached: Places) -> int:
        """Add a position from which the characters of a mask lead to others; return its number."""
        self._arcs.append([(mask, reached)])
        return len(self._arcs) - 1

    def _before(self, steps: Sequence[Any], after: Iterable[int]) -> Places:
        """Add positions for parsed steps, last to first; return those before the first step.

        `steps` are pairs of an operation and its argument from Python's parser of expressions;
        `after` are the positions that follow the last step.
        """
        places = frozenset(after)
        for name, given in reversed(steps):
            places = self._before_step(str(name), given, places)
        return places

    def _before_step(self, name: str, given: Any, after: Places) -> Places:
        """Add the positions for one operation `name` with its argument `given`, as `_before`."""
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


@dataclass(slots=True, eq=False)
class _Beginning:
    """A node of a trie: the beginning of some words."""

    is_word: bool = False
    is_prefix: bool = False
    """True if all texts with this beginning are in the set."""
    longer: dict[Mask, _Beginning] = field(default_factory=dict)
    """The beginnings with one more character, by the set that holds that character."""


class Words:
    """A trie of words, which is a deterministic automaton: several times as fast as `Texts`."""

    nothing: Final = None
    """Place of a beginning of no word."""

    def __init__(self, words: Iterable[str], *, with_longer: bool = False) -> None:
        """Add words; `with_longer` adds all texts that begin with one of them."""
        root = _Beginning()
        for word in words:
            here = root
            for character in word[:LONGEST]:
                mask = _mask(character)
                following = here.longer.get(mask)
                if following is None:
                    following = here.longer[mask] = _Beginning()
                here = following
            if with_longer or len(word) > LONGEST:
                here.is_prefix = True
            else:
                here.is_word = True
        self.start = root if root.longer or root.is_word or root.is_prefix else self.nothing

    def ends(self, places: _Beginning | None) -> bool:
        """Return True if a word ends here."""
        return places is not None and places.is_word

    def never_ends(self, places: _Beginning | None) -> bool:
        """Return True if all texts that begin like this are in the set."""
        return places is not None and places.is_prefix

    def arcs(self, places: _Beginning | None) -> Iterable[tuple[Mask, _Beginning]]:
        """Return disjoint sets of characters, and the beginning that each leads to."""
        return places.longer.items() if places is not None else ()


def _characters(name: Any, given: Any) -> Mask:
    """Return the set of characters of one step of an expression."""
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
    """A state of the automaton of the values of a shape, before any are excluded."""

    accepts: bool
    """True if a value may end here."""
    arcs: tuple[tuple[Mask, int], ...]
    """Characters that may follow, and the number of the state that they lead to."""
    rest: str | None = None
    """Expression of all that may follow, where nothing is excluded. It must be given where two
    states lead back to each other, because `_Writer` would never end."""


def _any(allowed: Mask, nonempty: bool) -> list[_State]:
    """Return states for all values of allowed characters."""
    return [_State(not nonempty, ((allowed, 1),)), _State(True, ((allowed, 1),))]


def _named(allowed: Mask) -> list[_State]:
    """Return states for query fields with a name, and for the empty field."""
    name = allowed & ~_mask("=")
    return [
        _State(True, ((name, 1),)),
        _State(False, ((name, 1), (_mask("="), 2))),
        _State(True, ((allowed, 2),)),
    ]


def _nameless(allowed: Mask) -> list[_State]:
    """Return states for query fields without `=`, or with nothing before it."""
    name = allowed & ~_mask("=")
    return [
        _State(False, ((name, 1), (allowed & _mask("="), 2))),
        _State(True, ((name, 1),)),
        _State(True, ((allowed, 2),)),
    ]


def _bare(allowed: Mask, nonempty: bool) -> list[_State]:
    """Return states for values that end in no extension (`EXTENSION`).

    A dot at the very beginning starts no extension. The states are numbered by what has been read:

    * 0: nothing;
    * 1: something, and no extension can have begun since the last dot;
    * 2: a dot after other characters;
    * 3 to 7: such a dot, and 1 to 5 characters that are an extension if the value ends here.
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
    """Return states for the values of a shape."""
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
    """Return states for all values with the shape bits, before any are excluded."""
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
    """Return an expression for the values that have all `bits` and are not excluded.

    `separators` are the characters no value can hold. `excluded` are values, and `excluded_bits` a
    shape (0: none). Returns None if there are no such values, or the expression would be too long.
    """
    others: Texts | Words
    if excluded_bits:
        others = Texts()
        for value in excluded:
            others.add_word(value)
        others.add_expression(EXPRESSIONS[tightest(excluded_bits)])
    else:
        others = Words(excluded)
    if not others.start:
        shape = tightest(bits)
        if shape in EXPRESSIONS:
            return EXPRESSIONS[shape]
    written = _Writer(_states(bits, separators, kind), others).text()
    return None if written is None or len(written) > MOST_CHARACTERS else written


def other_fields(names: Iterable[str], allows_nameless: bool = True) -> str:
    """Return an expression for query fields with none of the names.

    With `allows_nameless`, fields without `=` are included. The empty field always is.
    """
    others = Words((f"{name}=" for name in names), with_longer=True)
    written = _Writer(_states(0, "&", "whole" if allows_nameless else "named"), others).text()
    return NOTHING if written is None else written


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writer of the texts that one automaton accepts and another does not."""

    states: Sequence[_State]
    """States of the first automaton, which begins in the first of them."""
    excluded: Texts | Words
    """The second automaton."""
    texts: dict[tuple[int, Any], str | None] = field(default_factory=dict)
    """Expressions written so far, by the state of both automata."""

    def text(self) -> str | None:
        """Return the complete expression, or None if no text is left."""
        return self._rest(0, self.excluded.start)

    def _rest(self, state: int, places: Any) -> str | None:
        """Return an expression for what may follow, or None if nothing may, not even the end."""
        if (state, places) not in self.texts:
            self.texts[state, places] = self._written(state, places)
        return self.texts[state, places]

    def _written(self, state: int, places: Any) -> str | None:
        """Return the result of `_rest`: arcs back to the same states, then one branch per rest."""
        here = self.states[state]
        if not places and here.rest is not None:
            return here.rest
        accepts = here.accepts and not self.excluded.ends(places)
        loop: Mask = 0
        branches: dict[str, Mask] = {}
        for mask, following, reached in self._arcs(here, places):
            if (following, reached) == (state, places):
                loop |= mask
            elif not self.excluded.never_ends(reached):
                rest = self._rest(following, reached)
                if rest is not None:
                    branches[rest] = branches.get(rest, 0) | mask
        repeated = f"{_class(loop)}*" if loop else ""
        if not branches:
            return repeated if accepts else None
        written = sorted(branches.items(), key=itemgetter(1))
        return repeated + _alternatives([_followed(m, rest) for rest, m in written], accepts)

    def _arcs(self, here: _State, places: Any) -> Iterable[tuple[Mask, int, Any]]:
        """Yield disjoint sets of characters, with the state of both automata they lead to."""
        excluded = self.excluded.arcs(places)
        for mask, following in here.arcs:
            for block, reached in excluded:
                if mask & block:
                    yield mask & block, following, reached
                    mask &= ~block
            if mask:
                yield mask, following, self.excluded.nothing


def _followed(mask: Mask, rest: str) -> str:
    """Return an expression for one character of a set followed by an expression."""
    written = _class(mask)
    return f"{written}+" if rest == f"{written}*" else written + rest


def _alternatives(written: Sequence[str], may_be_none: bool) -> str:
    """Return an expression for any of several; with `may_be_none` it also matches nothing."""
    if may_be_none and len(written) == 1 and _is_repeated_class(written[0]):
        return written[0][:-1] + "*"
    text = written[0] if len(written) == 1 else f"(?:{'|'.join(written)})"
    if not may_be_none:
        return text
    return f"(?:{text})?" if len(written) == 1 else f"{text}?"


def _is_repeated_class(text: str) -> bool:
    return text.endswith("]+") and text.startswith("[") and text.count("[") == 1
