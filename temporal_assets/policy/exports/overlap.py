"""Deciding whether any URL matches both an exported expression and a prefix.

Here: following an expression along a text, on all its paths at once. Not here: what exports do with
the answer (`rules`). `re` says whether a whole URL matches. For a prefix the question is whether
any URL that begins with it does, which needs the parts of the expression; Python's own parser of
regular expressions provides them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

Places = frozenset[int]
"""Positions in a text up to which an expression may have matched."""


class Beginnings:
    """Test of prefixes against the URLs that an anchored expression matches."""

    def __init__(self, expression: str) -> None:
        self._steps: list[Any] = list(_parser.parse(expression))

    def hold(self, text: str) -> bool:
        """Return True if some URL that begins with the text matches the expression.

        This is so if the text ends before the expression does: the rest of an expression can always
        be matched. The text is empty for the path of a prefix that is only a host.
        """
        return not text or _read(self._steps, text, frozenset({0})) is None


def _read(steps: Iterable[Any], text: str, places: Places) -> Places | None:
    """Return the positions after parsed parts of an expression that start at given positions.

    None if the end of the text was reached, which decides for a match.
    """
    reached: Places | None = places
    for name, argument in steps:
        reached = _STEPS[str(name)](argument, text, places)
        if not reached:
            return reached
        places = reached
    return reached


def _after(text: str, places: Iterable[int], takes: Callable[[int], bool]) -> Places | None:
    """Return the positions after one character that `takes` accepts."""
    reached = frozenset(place + 1 for place in places if takes(ord(text[place])))
    return None if len(text) in reached else reached


def _class(argument: Sequence[tuple[Any, Any]], text: str, places: Places) -> Places | None:
    return _after(text, places, lambda code: _is_in(argument, code))


def _is_in(argument: Sequence[tuple[Any, Any]], code: int) -> bool:
    negated = str(argument[0][0]) == "NEGATE"
    ranges = (
        (value, value) if str(name) == "LITERAL" else value for name, value in argument[negated:]
    )
    return negated != any(first <= code <= last for first, last in ranges)


def _branch(argument: tuple[Any, Sequence[Any]], text: str, places: Places) -> Places | None:
    reached = [_read(steps, text, places) for steps in argument[1]]
    return None if None in reached else frozenset().union(*filter(None, reached))


def _repeat(argument: tuple[int, int, Any], text: str, places: Places) -> Places | None:
    """Return the places in a text that a repeated part can reach, or None if any goes on."""
    least, most, steps = argument
    reached: set[int] = set() if least else set(places)
    turn, turns = places, 0
    while turn and turns < most:
        after = _read(steps, text, turn)
        if after is None:
            return None
        turns += 1
        turn = after if turns < least else after - reached
        if turns >= least:
            reached |= after
    return frozenset(reached)


def _literal(argument: int, text: str, places: Places) -> Places | None:
    return _after(text, places, lambda code: code == argument)


def _not_literal(argument: int, text: str, places: Places) -> Places | None:
    return _after(text, places, lambda code: code != argument)


def _any(_: None, text: str, places: Places) -> Places | None:
    return _after(text, places, bool)


def _at(argument: Any, _: str, places: Places) -> Places | None:
    """Return all positions for the anchor of the beginning, none for one of an end.

    The text has not come to an end yet.
    """
    return places if "BEGINNING" in str(argument) else frozenset()


def _group(argument: Sequence[Any], text: str, places: Places) -> Places | None:
    return _read(argument[-1], text, places)


_STEPS: Final[dict[str, Callable[[Any, str, Places], Places | None]]] = {
    "LITERAL": _literal,
    "NOT_LITERAL": _not_literal,
    "ANY": _any,
    "IN": _class,
    "BRANCH": _branch,
    "SUBPATTERN": _group,
    "MAX_REPEAT": _repeat,
    "AT": _at,
}
