"""Patterns as anchored regular expressions over canonical URLs.

Here: the order of the parts of an expression: origin, segments, extension, query fields. Not here:
expressions for the values of one key (`value_expressions`), what a node requires (`constraints`).

RE2 can read the expressions: they have no look-ahead. No group repeats more often than a URL has
fields or segments, and no text can be matched in two ways, so that a hostile URL costs no more than
another of its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Final

from temporal_assets.core.patterns.constraints import ANYTHING, MISSING, ByKey, Constraint
from temporal_assets.core.patterns.pattern_tree import OTHER
from temporal_assets.core.patterns.site_texts import SiteTexts
from temporal_assets.core.text.url_keys import ABSENT
from temporal_assets.core.text.url_split import (
    EXTENSION,
    HOST,
    MAX_FIELDS,
    MAX_LABELS,
    MAX_SEGMENTS,
    PORT,
    SCHEME,
)
from temporal_assets.core.text.value_expressions import EXTENSION as EXTENSION_TEXT
from temporal_assets.core.text.value_expressions import (
    NOTHING,
    Kind,
    escape,
    value_expression,
)
from temporal_assets.core.text.value_shapes import NONEMPTY

_ANY_EXTENSION: Final = rf"\.{EXTENSION_TEXT}"

_MOST_FIELDS: Final = MAX_FIELDS - 1
"""Largest number of other fields before and after a field: `url_split` reads no more. Expressions
bound it, because Java keeps a frame of its stack for every repetition of a group."""

_ANY_ORDER: Final = 2
"""Most fields that an expression finds in any order."""

_MOST_ORDERS: Final = 24

_FREE: Final = (-1, ANYTHING)
"""Constraint of a field that must be present and may have any value."""

_Constraints = tuple[Constraint | None, ...]
"""Requirements of a node on some keys; None where a key is free."""


class ExpressionWriter:
    """Writer of regular expressions of a site's patterns.

    Patterns have most of their parts in common, so each part is written once.
    """

    def __init__(self, site: SiteTexts) -> None:
        self._site = site
        self._origin_keys = [
            site.places[place]
            for place in ((SCHEME, 0), (PORT, 0), *((HOST, index) for index in range(MAX_LABELS)))
            if place in site.places
        ]
        self._origins: dict[_Constraints, str] = {}
        self._queries: dict[_Constraints, str] = {}
        self._last_segments: dict[tuple[int, Constraint, int, Constraint | None], str] = {}

    def pieces(self, by_key: ByKey) -> list[str]:
        """Return the expression for a node's constraints in pieces: origin, segments, query."""
        origin_constraints = tuple(map(by_key.get, self._origin_keys))
        origin = self._origins.get(origin_constraints)
        if origin is None:
            origin = self._origins[origin_constraints] = self._origin(by_key)
        query_constraints = tuple(map(by_key.get, self._site.fields))
        query = self._queries.get(query_constraints)
        if query is None:
            query = self._queries[query_constraints] = self._query(by_key)
        return [origin, *self._path(by_key), query]

    def _at(self, by_key: ByKey, kind: int, index: int = 0) -> tuple[int, Constraint | None]:
        """Return a key and its constraint; a key that the site never had is absent."""
        key = self._site.places.get((kind, index))
        return (-1, MISSING) if key is None else (key, by_key.get(key))

    def _origin(self, by_key: ByKey) -> str:
        """Return the expression for scheme, host and port."""
        if (HOST, 0) not in self._site.places:
            return ""
        key, scheme = self._at(by_key, SCHEME)
        written = "[^:/?]+" if scheme is None or scheme.value == OTHER else ""
        if scheme is not None and scheme.value > 0:
            written = escape(self._site.text(key, scheme.value))
        return f"{written}://{self._host(by_key)}{self._port(by_key)}"

    def _host(self, by_key: ByKey) -> str:
        """Return the expression for the host."""
        labels: list[str] = []
        for index in range(MAX_LABELS):
            key, constraint = self._at(by_key, HOST, index)
            more = r"\." if index else ""
            if constraint is None:
                rest = "[^/:?]+" if index else "[^/?]*"
                labels.append(rf"(?:{rest}\.)?" if index else rest)
                break
            if constraint.value == ABSENT:
                break
            separators = "/:?" if index == MAX_LABELS - 1 else "./:?"
            labels.append(self._value(key, constraint, separators) + more)
        return "".join(reversed(labels))

    def _port(self, by_key: ByKey) -> str:
        key, port = self._at(by_key, PORT)
        if port is None:
            return "(?::[^/?]*)?"
        return "" if port.value == ABSENT else ":" + self._value(key, port, "/?")

    def _path(self, by_key: ByKey) -> list[str]:
        """Return the expressions for the segments, the last with the extension."""
        certain: list[Constraint] = []
        free = 0
        for key in self._site.segments:
            constraint = by_key.get(key)
            if constraint is None:
                free += 1
            elif free or constraint.value == ABSENT:
                break
            else:
                certain.append(constraint)
        if not certain:
            return [_tail(0, free)] if free else []
        segments = [
            f"/{self._segment(index, constraint)}" for index, constraint in enumerate(certain[:-1])
        ]
        extension = self._at(by_key, EXTENSION)[1]
        asked = len(certain), certain[-1], free, extension
        last = self._last_segments.get(asked)
        if last is None:
            last = self._last_segments[asked] = self._last_segment(*asked)
        return [*segments, last]

    def _last_segment(
        self, certain: int, constraint: Constraint, free: int, extension: Constraint | None
    ) -> str:
        """Return the expression for the last segment that must be there and all behind it.

        Args:
            certain: Number of segments that must be there.
            constraint: Requirement on the last of them.
            free: Number of segments that may follow.
            extension: Requirement on the extension.
        """
        ends = self._ends(certain - 1, constraint, extension)
        if free:
            tail = self._named_tail(certain, free, extension)
            ends.append(self._segment(certain - 1, constraint) + tail)
        return f"/{_one_of(ends)}"

    def _named_tail(self, certain: int, free: int, extension: Constraint | None) -> str:
        """Return an expression for one or more further segments, the last with the extension."""
        if certain + free == MAX_SEGMENTS:
            free = MAX_SEGMENTS
        if extension is None:
            return _tail(1, free)
        if extension.value == ABSENT:
            last = value_expression(0, "/?", "bare") or ""
        else:
            last = rf"[^/?]+\.{self._extension(extension)}"
        between = "/(?:[^?]*/)?" if free == MAX_SEGMENTS else f"{_tail(0, free - 1)}/"
        return between + last

    def _segment(
        self, index: int, constraint: Constraint, kind: Kind = "whole", bits: int = 0
    ) -> str:
        separators = "?" if index == MAX_SEGMENTS - 1 else "/?"
        return self._value(self._site.segments[index], constraint, separators, kind, bits)

    def _ends(self, index: int, constraint: Constraint, extension: Constraint | None) -> list[str]:
        """Return expressions for the last segment and the extension, before the query."""
        if extension is None and constraint.takes_anything:
            return [self._segment(index, constraint)]
        ends: list[str] = []
        if extension is None or extension.value == ABSENT:
            ends.append(self._segment(index, constraint, "bare"))
        if extension is None or extension.value != ABSENT:
            stem = self._segment(index, constraint, bits=NONEMPTY)
            ends.append(rf"{stem}\.{self._extension(extension)}")
        ends = [end for end in ends if not end.startswith(NOTHING)] or [NOTHING]
        if len(ends) == 2 and ends[1] == f"{ends[0]}{_ANY_EXTENSION}":
            return [f"{ends[0]}(?:{_ANY_EXTENSION})?"]
        return ends

    def _extension(self, extension: Constraint | None) -> str:
        if extension is None:
            return EXTENSION_TEXT
        key = self._site.places[EXTENSION, 0]
        return self._value(key, replace(extension, bits=0), "", "extension")

    def _value(
        self,
        key: int,
        constraint: Constraint,
        separators: str,
        kind: Kind = "whole",
        bits: int = 0,
    ) -> str:
        """Return an expression for one value, which must also have the additional shape `bits`."""
        expression = self._site.value(key, constraint, separators, kind, bits)
        return NOTHING if expression is None else expression

    def _query(self, by_key: ByKey) -> str:
        """Return an expression for the required fields among others.

        Two required fields may come in any order, more in the order of canonical URLs.
        """
        fields = {
            field: (key, by_key[key]) for key, field in self._site.fields.items() if key in by_key
        }
        written = [
            self._fields([(name, *fields.get((name, n), _FREE)) for name, n in order], bounded)
            for wanted, bounded in _counts(fields)
            for order in _orders(wanted)
        ]
        return _one_of(written)

    def _fields(self, order: Sequence[tuple[str, int, Constraint]], bounded: frozenset[str]) -> str:
        """Return an expression for fields in this order, with others between them.

        The other fields must not have one of the names in `bounded`.
        """
        names = [name for name, _, _ in order]
        written = ""
        for place, (name, key, constraint) in enumerate(order):
            other = self._site.others(bounded.union(names[place:]))
            value = self._value(key, constraint, "&", "whole" if name else "nameless")
            named = escape(name) + "=" if name else ""
            begins = "&" if place else r"\?"
            written += f"{begins}(?:{other}&){{0,{_MOST_FIELDS}}}{named}{value}"
        if not bounded:
            return f"{written}(?:&.*)?" if order else r"(?:\?.*)?"
        other = self._site.others(bounded)
        others = f"(?:&{other}){{0,{_MOST_FIELDS}}}"
        return written + others if order else rf"(?:\?{other}{others})?"


def _tail(least: int, most: int) -> str:
    """Return an expression for optional further segments, at most `most` of them.

    The number is unbounded if `most` is the largest number that a URL can have.
    """
    if most >= MAX_SEGMENTS - 1:
        return "/[^?]*" if least else "(?:/[^?]*)?"
    return f"(?:/[^/?]*){{{least},{most}}}"


def _counts(
    fields: Mapping[tuple[str, int], tuple[int, Constraint]],
) -> Iterator[tuple[dict[str, int], frozenset[str]]]:
    """Yield how often each name is required, and the names that may not occur more often."""
    least: dict[str, int] = {}
    most: dict[str, int] = {}
    for (name, repeat), (_, constraint) in fields.items():
        if constraint.value == ABSENT:
            most[name] = min(repeat, most.get(name, repeat))
        else:
            least[name] = max(repeat + 1, least.get(name, 0))
    names = sorted({*least, *most})
    ranges = [range(least.get(n, 0), most.get(n, least.get(n, 0)) + 1) for n in names]
    for counts in product(*ranges):
        yield dict(zip(names, counts, strict=True)), frozenset(most)


def _orders(counts: Mapping[str, int]) -> list[tuple[tuple[str, int], ...]]:
    """Return orders in which fields may follow each other, keeping repetitions of a name in order.

    Canonical URLs sort fields by name; a field without a name is sorted by its value, so it may be
    anywhere.
    """
    each = [tuple((name, n) for n in range(count)) for name, count in counts.items() if count]
    if sum(map(len, each)) > _ANY_ORDER:
        named = tuple(field for group in each for field in group if field[0])
        each = [named, *(group for group in each if not group[0][0])]
    return list(islice(_interleaved([group for group in each if group]), _MOST_ORDERS))


def _interleaved(
    groups: Sequence[tuple[tuple[str, int], ...]],
) -> Iterator[tuple[tuple[str, int], ...]]:
    """Yield all ways to merge some sequences, each of which keeps its order."""
    if not groups:
        yield ()
    for place, (first, *others) in enumerate(groups):
        left = [*groups[:place], *([tuple(others)] if others else []), *groups[place + 1 :]]
        for rest in _interleaved(left):
            yield (first, *rest)


def _one_of(written: Sequence[str]) -> str:
    return written[0] if len(written) == 1 else f"(?:{'|'.join(written)})"
