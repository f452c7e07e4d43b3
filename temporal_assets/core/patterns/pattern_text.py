r"""Patterns as text: as a template, as key-values, as an anchored regular expression.

Here: what a node requires of each key, collected from the root down, and three ways to write it.
Not here: matching in bulk (`pattern_match`), which decides the same without expressions.

    template            /news/{year}/{slug}.html?id={digits}
    key-values          path[0]=news  path[1]={year}  path[2]={slug}  extension=html  ...
    regular expression  ^https://example\.com/news/(?:19|20)[0-9]{2}/[^./?]+\.html(?:\?.*)?$

In templates `{*}` is any value, `{**}` any number of further segments, and a key that is not
mentioned may be there or not. Expressions are for canonical URLs and match exactly what the matcher
puts under the node. RE2 can read them: they have no look-ahead. No group repeats more often than a
URL has fields or segments, and no text can be matched in two ways, so that a hostile URL costs no
more than another of its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Flags
from temporal_assets.core.patterns.pattern_tree import MOST_PARTS, OTHER, SHAPED, PatternTree
from temporal_assets.core.patterns.pattern_union import joined
from temporal_assets.core.text.readable import readable
from temporal_assets.core.text.url_keys import ABSENT
from temporal_assets.core.text.url_split import (
    EXTENSION,
    HOST,
    MAX_FIELDS,
    MAX_LABELS,
    MAX_SEGMENTS,
    PATH,
    PORT,
    QUERY,
    SCHEME,
)
from temporal_assets.core.text.value_expressions import EXTENSION as EXTENSION_TEXT
from temporal_assets.core.text.value_expressions import (
    NOTHING,
    Kind,
    escape,
    other_fields,
    value_expression,
)
from temporal_assets.core.text.value_shapes import ANY_CLASS, CLASSES, NONEMPTY, tightest

_HAS_EXTENSION: Final = re.compile(rf".+\.{EXTENSION_TEXT}", re.DOTALL)
_ANY_EXTENSION: Final = rf"\.{EXTENSION_TEXT}"

_MOST_FIELDS: Final = MAX_FIELDS - 1
"""Largest number of other fields before and after a field: `url_split` reads no more. Expressions
bound it, because Java keeps a frame of its stack for every repetition of a group."""

_ANY_ORDER: Final = 2
"""Most fields that an expression finds in any order."""

_MOST_ORDERS: Final = 24


@dataclass(frozen=True, slots=True)
class Constraint:
    """The requirement of a pattern on one key."""

    value: int
    """Code of the value, ABSENT, or OTHER for any value."""
    bits: int = 0
    """Shape bits that the value must have (`value_shapes`)."""
    name: int = ANY_CLASS
    """Class that names the wildcard, an index into CLASSES."""
    excluded: tuple[int, ...] = ()
    """Values that belong to a sibling."""
    excluded_bits: int = 0
    """Shape that belongs to a sibling."""

    @property
    def takes_anything(self) -> bool:
        """True if any value will do, except perhaps the empty one."""
        return (
            self.value == OTHER
            and not self.excluded
            and not self.excluded_bits
            and tightest(self.bits) in (0, NONEMPTY)
        )


_ANYTHING: Final = Constraint(OTHER)
_MISSING: Final = Constraint(ABSENT)

_FREE: Final = (-1, _ANYTHING)
"""Constraint of a field that must be present and may have any value."""


def constraints(tree: PatternTree, node: int) -> dict[int, Constraint]:
    """Return what a node requires of each key; keys that are not in the result are free."""
    path = []
    at = node
    while at >= 0:
        path.append(at)
        at = int(tree.hierarchy.parent[at])
    by_key: dict[int, Constraint] = {}
    for at in reversed(path):
        _narrow(tree, at, by_key)
    return by_key


def _narrow(tree: PatternTree, node: int, by_key: dict[int, Constraint]) -> None:
    """Add the requirements of a node to those of its parent."""
    _add_branch(tree, node, by_key)
    for test in range(int(tree.first_test[node]), int(tree.first_test[node + 1])):
        key, value = int(tree.test_key[test]), int(tree.test_value[test])
        if value == OTHER:
            before = by_key.get(key, _ANYTHING)
            bits = before.bits | int(tree.test_bits[test])
            name = int(tree.test_class[test])
            by_key[key] = Constraint(
                before.value, bits, name, before.excluded, before.excluded_bits
            )
        else:
            by_key[key] = Constraint(value)


def _add_branch(tree: PatternTree, node: int, by_key: dict[int, Constraint]) -> None:
    """Add to `by_key` what the branch that leads to a node says about its key."""
    parent = int(tree.hierarchy.parent[node])
    if parent < 0:
        return
    key, branch, bit = (
        int(tree.split_key[parent]),
        int(tree.branch[node]),
        int(tree.split_bit[parent]),
    )
    before = by_key.get(key, _ANYTHING)
    if branch == SHAPED:
        by_key[key] = replace(before, bits=before.bits | bit)
    elif branch == OTHER:
        siblings = (int(tree.branch[child]) for child in tree.hierarchy.children(parent))
        by_key[key] = replace(
            before,
            bits=before.bits | (NONEMPTY if tree.keys.keys.kind[key] == PATH else 0),
            excluded=before.excluded + tuple(b for b in siblings if b > 0),
            excluded_bits=before.excluded_bits | bit,
        )
    else:
        by_key[key] = Constraint(branch)


def pattern_texts(tree: PatternTree, merged: Flags | None = None) -> list[PatternText]:
    """Return the text of all nodes of a tree; several times as fast as one by one.

    The flagged nodes are written as leaves of a cut of the tree.
    """
    site = _SiteWords(tree)
    by_node: list[dict[int, Constraint]] = []
    for node, parent in enumerate(tree.hierarchy.parent.tolist()):
        own = dict(by_node[parent]) if parent >= 0 else {}
        _narrow(tree, node, own)
        by_node.append(own)
    texts = [
        PatternText(tree, node, node_constraints, site)
        for node, node_constraints in enumerate(by_node)
    ]
    is_leaf, end = tree.hierarchy.is_leaf, tree.hierarchy.end
    for node in [] if merged is None else np.flatnonzero(merged & ~is_leaf).tolist():
        parts = node + np.flatnonzero(is_leaf[node : end[node]])
        if len(parts) <= MOST_PARTS:
            texts[node].parts = [texts[part] for part in parts]
    return texts


def _together(values: Sequence[Mapping[str, str | None]]) -> dict[str, str | None]:
    """Return the values of some patterns under each key that all of them constrain."""
    joined: dict[str, str | None] = {}
    for key in values[0]:
        if all(key in values_of_node for values_of_node in values):
            shown = list(dict.fromkeys(values_of_node[key] for values_of_node in values))
            several = "{" + "|".join("∅" if text is None else text for text in shown) + "}"
            joined[key] = shown[0] if len(shown) == 1 else several
    return joined


class _SiteWords:
    """The written values of a site, shared by its patterns."""

    def __init__(self, tree: PatternTree) -> None:
        keys = tree.keys.keys
        self._values = tree.keys
        self._known: dict[tuple[int, int], str] = {}
        self._written: dict[tuple[object, ...], str | None] = {}
        self._others: dict[frozenset[str], str] = {}
        self.labels = [keys.label(key) for key in range(len(keys))]
        kinds, indices = keys.kind.tolist(), keys.index.tolist()
        self.places = {
            (kind, index): key
            for key, (kind, index) in enumerate(zip(kinds, indices, strict=True))
            if kind != QUERY
        }
        """The key of each kind and index, but for query keys."""
        self.fields = {
            key: (keys.name[key].decode("utf-8", "replace"), indices[key])
            for key, kind in enumerate(kinds)
            if kind == QUERY
        }
        """Name and repetition of query keys."""
        hosts = [key for (kind, _), key in self.places.items() if kind == HOST]
        self.varying_hosts = [key for key in hosts if np.diff(tree.keys.first[key : key + 2]) != 1]
        self.hosts = hosts

    def text(self, key: int, code: int) -> str:
        """Return the text of a value, cached: few values are written in many patterns."""
        text = self._known.get((key, code))
        if text is None:
            text = self._values.value(key, code).decode("utf-8", "replace")
            self._known[key, code] = text
        return text

    def value(
        self, key: int, constraint: Constraint, separators: str, kind: Kind, bits: int
    ) -> str | None:
        """Return an expression for the values that a constraint takes, or None if there is none."""
        if constraint.value > 0:
            text = self.text(key, constraint.value)
            fails = (
                _HAS_EXTENSION.fullmatch(text) if kind == "bare" else bits & NONEMPTY and not text
            )
            return None if fails else escape(text)
        asked = key, constraint.excluded, constraint.excluded_bits, bits, separators, kind
        if asked not in self._written:
            excluded = [self.text(key, code) for code in constraint.excluded]
            self._written[asked] = value_expression(
                bits, separators, kind, excluded, constraint.excluded_bits
            )
        return self._written[asked]

    def others(self, names: frozenset[str]) -> str:
        """Return an expression for query fields with none of the names."""
        if names not in self._others:
            self._others[names] = other_fields(sorted(names - {""}), "" not in names)
        return self._others[names]


class PatternText:
    """Text of one pattern in its three forms.

    `by_key` (the node's `constraints`) and `site` are computed if they are not given; whoever
    writes all nodes of a tree gives them.
    """

    def __init__(
        self,
        tree: PatternTree,
        node: int,
        by_key: dict[int, Constraint] | None = None,
        site: _SiteWords | None = None,
    ) -> None:
        self._constraints = constraints(tree, node) if by_key is None else by_key
        self._site = _SiteWords(tree) if site is None else site
        self.parts: list[PatternText] = []
        """The patterns that a merged leaf stands for."""
        if tree.parts is not None and tree.hierarchy.is_leaf[node]:
            whole, leaves = tree.parts.tree, tree.parts.leaves_of(node)
            if len(leaves) > 1:
                words = _SiteWords(whole)
                self.parts = [PatternText(whole, leaf, None, words) for leaf in leaves]

    def key_values(self) -> dict[str, str | None]:
        """Return the value of each key: a text, a wildcard (`{digits}`), or None for ∅.

        Free keys are left out. A merged leaf has the values of its parts, as `{china|finance}`.
        """
        if self.parts:
            return _together([part.key_values() for part in self.parts])
        return {
            self._site.labels[key]: None if c.value == ABSENT else self._shown(key, c)
            for key, c in sorted(self._constraints.items())
        }

    def template(self) -> str:
        """Return path and query as people write them; the host too if it varies within the site."""
        alternatives = [part.template_pieces for part in self.parts or [self]]
        return readable(joined(alternatives, "{", "}", "/.?"))

    @cached_property
    def template_pieces(self) -> list[str]:
        """The template in pieces: host, segments, extension, query."""
        return [self._host_template(), *self._path_pieces(), self._query_template()]

    def expression(self) -> str:
        """Return the anchored regular expression over canonical URLs."""
        alternatives = [part.expression_pieces for part in self.parts or [self]]
        return f"^{joined(alternatives, '(?:', ')', '/')}$"

    @cached_property
    def expression_pieces(self) -> list[str]:
        """The expression in pieces: origin, segments, query."""
        writer = _Expression(self._at, self._site)
        return [writer.origin(), *writer.path(), writer.query(self._query_keys())]

    def _shown(self, key: int, constraint: Constraint) -> str:
        if constraint.value > 0:
            return self._site.text(key, constraint.value)
        return "{" + CLASSES[constraint.name] + "}"

    def _query_keys(self) -> list[tuple[int, str, int, Constraint]]:
        return [
            (key, *field, self._constraints[key])
            for key, field in self._site.fields.items()
            if key in self._constraints
        ]

    def _at(self, kind: int, index: int = 0) -> tuple[int, Constraint | None]:
        """Return a key and its constraint; a key that the site never had is absent."""
        key = self._site.places.get((kind, index))
        return (-1, _MISSING) if key is None else (key, self._constraints.get(key))

    def _host_template(self) -> str:
        """Return the template of the host; empty if all URLs of the site have the same host."""
        site = self._site
        if not site.varying_hosts and all(key in self._constraints for key in site.hosts):
            return ""
        labels = []
        for index in range(MAX_LABELS):
            key, constraint = self._at(HOST, index)
            if constraint is None:
                labels.append("{**}")
                break
            if constraint.value == ABSENT:
                break
            labels.append(self._shown(key, constraint))
        return "//" + ".".join(reversed(labels))

    def _path_pieces(self) -> list[str]:
        """Return the templates of the segments and of the extension."""
        written = []
        for index in range(MAX_SEGMENTS):
            key, constraint = self._at(PATH, index)
            if constraint is None:
                written.append("/{**}")
                break
            if constraint.value == ABSENT:
                break
            written.append("/" + self._shown(key, constraint))
        key, constraint = self._at(EXTENSION)
        if constraint is not None and constraint.value != ABSENT:
            written.append("." + self._shown(key, constraint))
        return written

    def _query_template(self) -> str:
        fields = []
        for key, name, _, constraint in self._query_keys():
            if constraint.value != ABSENT:
                fields.append(f"{name}={self._shown(key, constraint)}".removeprefix("="))
        return "?" + "&".join(fields) if fields else ""


class _Expression:
    """Writer of the parts of one regular expression."""

    def __init__(
        self,
        at: Callable[..., tuple[int, Constraint | None]],
        site: _SiteWords,
    ) -> None:
        self._at = at
        self._site = site

    def origin(self) -> str:
        """Return the expression for scheme, host and port."""
        if self._at(HOST)[0] < 0:
            return ""
        key, scheme = self._at(SCHEME)
        written = "[^:/?]+" if scheme is None or scheme.value == OTHER else ""
        if scheme is not None and scheme.value > 0:
            written = escape(self._site.text(key, scheme.value))
        return f"{written}://{self._host()}{self._port()}"

    def _host(self) -> str:
        """Return the expression for the host."""
        labels: list[str] = []
        for index in range(MAX_LABELS):
            key, constraint = self._at(HOST, index)
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

    def _port(self) -> str:
        key, port = self._at(PORT)
        if port is None:
            return "(?::[^/?]*)?"
        return "" if port.value == ABSENT else ":" + self._value(key, port, "/?")

    def path(self) -> list[str]:
        """Return the expressions for the segments, the last with the extension."""
        certain = 0
        while (constraint := self._at(PATH, certain)[1]) and constraint.value != ABSENT:
            certain += 1
        free = 0
        while certain + free < MAX_SEGMENTS and self._at(PATH, certain + free)[1] is None:
            free += 1
        if certain == 0:
            return [self._tail(0, free)] if free else []
        segments = [f"/{self._segment(index)}" for index in range(certain - 1)]
        ends = self._ends(certain - 1)
        if free:
            ends.append(self._segment(certain - 1) + self._named_tail(certain, free))
        return [*segments, f"/{_one_of(ends)}"]

    def _tail(self, least: int, most: int) -> str:
        """Return an expression for optional further segments, at most `most` of them.

        The number is unbounded if `most` is the largest number that a URL can have.
        """
        if most >= MAX_SEGMENTS - 1:
            return "/[^?]*" if least else "(?:/[^?]*)?"
        return f"(?:/[^/?]*){{{least},{most}}}"

    def _named_tail(self, certain: int, free: int) -> str:
        """Return an expression for one or more further segments, the last with the extension."""
        key, extension = self._at(EXTENSION)
        if certain + free == MAX_SEGMENTS:
            free = MAX_SEGMENTS
        if extension is None:
            return self._tail(1, free)
        if extension.value == ABSENT:
            last = value_expression(0, "/?", "bare") or ""
        else:
            last = rf"[^/?]+\.{self._extension(key, extension)}"
        between = "/(?:[^?]*/)?" if free == MAX_SEGMENTS else f"{self._tail(0, free - 1)}/"
        return between + last

    def _segment(self, index: int, kind: Kind = "whole", bits: int = 0) -> str:
        key, constraint = self._at(PATH, index)
        separators = "?" if index == MAX_SEGMENTS - 1 else "/?"
        return self._value(key, constraint or Constraint(OTHER), separators, kind, bits)

    def _ends(self, index: int) -> list[str]:
        """Return expressions for the last segment and the extension, before the query."""
        constraint = self._at(PATH, index)[1] or Constraint(OTHER)
        key, extension = self._at(EXTENSION)
        if extension is None and constraint.takes_anything:
            return [self._segment(index)]
        ends: list[str] = []
        if extension is None or extension.value == ABSENT:
            ends.append(self._segment(index, "bare"))
        if extension is None or extension.value != ABSENT:
            stem = self._segment(index, bits=NONEMPTY)
            ends.append(rf"{stem}\.{self._extension(key, extension)}")
        ends = [end for end in ends if not end.startswith(NOTHING)] or [NOTHING]
        if len(ends) == 2 and ends[1] == f"{ends[0]}{_ANY_EXTENSION}":
            return [f"{ends[0]}(?:{_ANY_EXTENSION})?"]
        return ends

    def _extension(self, key: int, extension: Constraint | None) -> str:
        if extension is None:
            return EXTENSION_TEXT
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
        expression = self._site.value(key, constraint, separators, kind, constraint.bits | bits)
        return NOTHING if expression is None else expression

    def query(self, keys: list[tuple[int, str, int, Constraint]]) -> str:
        """Return an expression for the required fields among others.

        Two required fields may come in any order, more in the order of canonical URLs.
        """
        fields = {(name, repeat): (key, constraint) for key, name, repeat, constraint in keys}
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
