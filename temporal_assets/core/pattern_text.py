r"""Patterns in words: as a template, as key-values, as an anchored regular expression.

Here: what a node requires of each key, collected from the root down, and three ways to write it.
Not here: matching in bulk (`pattern_match`), which decides the same without expressions.

    template            /news/{year}/{slug}.html?id={digits}
    key-values          path[0]=news  path[1]={year}  path[2]={slug}  extension=html  ...
    regular expression  ^https://example\.com/news/(?:19|20)[0-9]{2}/[^/?.]+\.html\?(?=...).*$

In templates `{*}` is any value, `{**}` any number of further segments, and a key that is not
mentioned may be there or not. Expressions are for canonical URLs and use look-ahead, which
Python, Java and JavaScript know; they match exactly what the matcher puts under the node.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from temporal_assets.core.pattern_tree import OTHER, SHAPED, PatternTree
from temporal_assets.core.url_keys import ABSENT
from temporal_assets.core.url_split import (
    EXTENSION,
    HOST,
    MAX_LABELS,
    MAX_SEGMENTS,
    PATH,
    PORT,
    QUERY,
    SCHEME,
)
from temporal_assets.core.value_shapes import (
    ANY_CLASS,
    CLASSES,
    DOTLESS,
    EXPRESSIONS,
    NONEMPTY,
    required_expression,
    tightest,
)

_EXTENSION = "[A-Za-z][0-9A-Za-z]{0,4}"
_HAS_EXTENSION = re.compile(rf".+\.{_EXTENSION}", re.DOTALL)
_ENDS = r"(?:\?|$)"
"""Where the path ends."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a pattern requires of one key."""

    value: int
    """A value's code, ABSENT, or OTHER for any value."""
    bits: int = 0
    """Shape bits that the value must have."""
    name: int = ANY_CLASS
    """What most values look like, an index into CLASSES."""
    excluded: tuple[int, ...] = ()
    """Values that belong to a sibling."""
    excluded_bits: int = 0
    """Shape that belongs to a sibling."""


_ANYTHING: Final = Constraint(OTHER)
_MISSING: Final = Constraint(ABSENT)

_SPECIAL: Final = str.maketrans({sign: "\\" + sign for sign in ".^$*+?{}[]|()\\"})
"""What has a meaning in every dialect; `re.escape` would spoil every hyphen."""


def constraints(tree: PatternTree, node: int) -> dict[int, Constraint]:
    """What a node requires of each key; keys that are not named are free."""
    path = []
    at = node
    while at >= 0:
        path.append(at)
        at = int(tree.hierarchy.parent[at])
    found: dict[int, Constraint] = {}
    for at in reversed(path):
        _narrow(tree, at, found)
    return found


def _narrow(tree: PatternTree, node: int, found: dict[int, Constraint]) -> None:
    """Add what a node requires to what its parent does."""
    _add_branch(tree, node, found)
    for test in range(int(tree.first_test[node]), int(tree.first_test[node + 1])):
        key, value = int(tree.test_key[test]), int(tree.test_value[test])
        if value == OTHER:
            before = found.get(key, _ANYTHING)
            bits = before.bits | int(tree.test_bits[test])
            name = int(tree.test_class[test])
            found[key] = Constraint(before.value, bits, name, before.excluded, before.excluded_bits)
        else:
            found[key] = Constraint(value)


def _add_branch(tree: PatternTree, node: int, found: dict[int, Constraint]) -> None:
    parent = int(tree.hierarchy.parent[node])
    if parent < 0:
        return
    key, branch, bit = (
        int(tree.split_key[parent]),
        int(tree.branch[node]),
        int(tree.split_bit[parent]),
    )
    before = found.get(key, _ANYTHING)
    if branch == SHAPED:
        found[key] = replace(before, bits=before.bits | bit)
    elif branch == OTHER:
        siblings = (int(tree.branch[child]) for child in tree.hierarchy.children(parent))
        found[key] = replace(
            before,
            bits=before.bits | (NONEMPTY if tree.keys.keys.kind[key] == PATH else 0),
            excluded=before.excluded + tuple(b for b in siblings if b > 0),
            excluded_bits=before.excluded_bits | bit,
        )
    else:
        found[key] = Constraint(branch)


def _escape(text: str) -> str:
    return text.translate(_SPECIAL)


def pattern_texts(tree: PatternTree) -> list[PatternText]:
    """All nodes of a tree; several times as fast as one by one."""
    site = _SiteWords(tree)
    found: list[dict[int, Constraint]] = []
    for node, parent in enumerate(tree.hierarchy.parent.tolist()):
        own = dict(found[parent]) if parent >= 0 else {}
        _narrow(tree, node, own)
        found.append(own)
    return [PatternText(tree, node, one, site) for node, one in enumerate(found)]


class _SiteWords:
    """What all patterns of a site are written with."""

    def __init__(self, tree: PatternTree) -> None:
        keys = tree.keys.keys
        self._values = tree.keys
        self._known: dict[tuple[int, int], str] = {}
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
        """A value; the same few are written in many patterns."""
        known = self._known.get((key, code))
        if known is None:
            known = self._values.value(key, code).decode("utf-8", "replace")
            self._known[key, code] = known
        return known


class PatternText:
    """One pattern, ready to be written."""

    def __init__(
        self,
        tree: PatternTree,
        node: int,
        found: dict[int, Constraint] | None = None,
        site: _SiteWords | None = None,
    ) -> None:
        # Given where all nodes of a tree are written.
        self._found = constraints(tree, node) if found is None else found
        self._site = _SiteWords(tree) if site is None else site

    def key_values(self) -> dict[str, str | None]:
        """Key -> value, wildcard (`{digits}`), or None for ∅. Free keys are left out."""
        return {
            self._site.labels[key]: None if c.value == ABSENT else self._shown(key, c)
            for key, c in sorted(self._found.items())
        }

    def template(self) -> str:
        """Path and query as people write them; the host too where it varies within the site."""
        return self._host_template() + self._path_template() + self._query_template()

    def expression(self, exclusive: bool = True) -> str:
        """Anchored regular expression over canonical URLs.

        Unless `exclusive`, a wildcard also takes values that have a pattern of their own: the
        expression is shorter, and patterns must be tried deepest first.
        """
        writer = _Expression(self._at, exclusive, self._site.text)
        path = writer.path()
        return f"^{writer.origin()}{path}{writer.query(self._query_keys())}$"

    def _shown(self, key: int, constraint: Constraint) -> str:
        if constraint.value > 0:
            return self._site.text(key, constraint.value)
        return "{" + CLASSES[constraint.name] + "}"

    def _query_keys(self) -> list[tuple[int, str, int, Constraint]]:
        return [
            (key, *field, self._found[key])
            for key, field in self._site.fields.items()
            if key in self._found
        ]

    def _at(self, kind: int, index: int = 0) -> tuple[int, Constraint | None]:
        """Key and constraint; a key that the site never had is absent."""
        key = self._site.places.get((kind, index))
        return (-1, _MISSING) if key is None else (key, self._found.get(key))

    def _host_template(self) -> str:
        site = self._site
        if not site.varying_hosts and all(key in self._found for key in site.hosts):
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

    def _path_template(self) -> str:
        written = ""
        for index in range(MAX_SEGMENTS):
            key, constraint = self._at(PATH, index)
            if constraint is None:
                written += "/{**}"
                break
            if constraint.value == ABSENT:
                break
            written += "/" + self._shown(key, constraint)
        key, constraint = self._at(EXTENSION)
        if constraint is not None and constraint.value != ABSENT:
            written += "." + self._shown(key, constraint)
        return written

    def _query_template(self) -> str:
        fields = []
        for key, name, _, constraint in self._query_keys():
            if constraint.value != ABSENT:
                fields.append(f"{name}={self._shown(key, constraint)}".removeprefix("="))
        return "?" + "&".join(fields) if fields else ""


class _Expression:
    """Writes the parts of one regular expression."""

    def __init__(
        self,
        at: Callable[..., tuple[int, Constraint | None]],
        exclusive: bool,
        text: Callable[[int, int], str],
    ) -> None:
        self._at = at
        self._exclusive = exclusive
        self._value = text

    def origin(self) -> str:
        """Scheme, host and port."""
        if self._at(HOST)[0] < 0:
            return ""
        key, scheme = self._at(SCHEME)
        written = "[^:/?]+" if scheme is None or scheme.value == OTHER else ""
        if scheme is not None and scheme.value > 0:
            written = _escape(self._value(key, scheme.value))
        return f"{written}://{self._host()}{self._port()}"

    def _host(self) -> str:
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
            ends = r"\." if index else "(?:[:/?]|$)"
            excluded = "/:?" if index == MAX_LABELS - 1 else "./:?"
            labels.append(self._one(key, constraint, excluded, ends) + more)
        return "".join(reversed(labels))

    def _port(self) -> str:
        key, port = self._at(PORT)
        if port is None:
            return "(?::[^/?]*)?"
        if port.value == ABSENT:
            return ""
        return ":" + self._one(key, port, "/?", "(?:[/?]|$)")

    def path(self) -> str:
        """Segments and extension."""
        certain = 0
        while (constraint := self._at(PATH, certain)[1]) and constraint.value != ABSENT:
            certain += 1
        free = 0
        while certain + free < MAX_SEGMENTS and self._at(PATH, certain + free)[1] is None:
            free += 1
        if certain == 0:
            return self._tail(0, free) if free else ""
        written = "".join(f"/{self._segment(i, '/')}" for i in range(certain - 1))
        return self._guard(certain, free) + written + "/" + self._last(certain - 1, free)

    def _tail(self, least: int, most: int) -> str:
        """Further segments that may be there."""
        return f"(?:/[^/?]*){{{least},{most}}}" if most < MAX_SEGMENTS - 1 else r"(?:/[^?]*)?"

    def _segment(self, index: int, ends: str, stem: bool = False) -> str:
        key, constraint = self._at(PATH, index)
        excluded = "?" if index == MAX_SEGMENTS - 1 else "/?"
        return self._one(key, constraint or Constraint(OTHER), excluded, ends, stem)

    def _last(self, index: int, free: int) -> str:
        """The last certain segment, the extension, and the segments that may follow."""
        constraint = self._at(PATH, index)[1]
        key, extension = self._at(EXTENSION)
        segment = self._segment(index, "", stem=not free and self._needs_stem())
        named = constraint is not None and constraint.value > 0
        dotted = bool(named and _HAS_EXTENSION.fullmatch(self._value(*self._named(index))))
        if not free:
            return segment + self._extension(key, extension)
        tail = self._tail(1, free)
        if extension is None and not dotted:
            return rf"{segment}(?:(?:\.{_EXTENSION})?|{tail})"
        if extension is not None and extension.value == ABSENT:
            return f"{segment}{self._tail(0, free)}"
        return rf"{segment}(?:\.{_EXTENSION}|{tail})"

    def _named(self, index: int) -> tuple[int, int]:
        key, constraint = self._at(PATH, index)
        return key, constraint.value if constraint else ABSENT

    def _extension(self, key: int, extension: Constraint | None) -> str:
        if extension is None:
            return rf"(?:\.{_EXTENSION})?"
        if extension.value == ABSENT:
            return ""
        if extension.value > 0:
            return r"\." + _escape(self._value(key, extension.value))
        return rf"\.{self._excluding(key, extension, _ENDS)}{_EXTENSION}"

    def _guard(self, certain: int, free: int) -> str:
        """What must be known of the end of the path before its segments are read."""
        key, extension = self._at(EXTENSION)
        last = self._at(PATH, certain - 1)[1]
        if extension is None:
            return ""
        if extension.value == ABSENT:
            dotless = last is not None and (last.value > 0 or self._is_dotless(last))
            if dotless and not free:
                return ""
            return rf"(?![^?]*[^/?]\.{_EXTENSION}{_ENDS})"
        if not free:
            # `/.html` has an empty stem, hence no extension.
            return ""
        return rf"(?=[^?]*[^/?]{self._extension(key, extension)}{_ENDS})"

    @staticmethod
    def _is_dotless(constraint: Constraint) -> bool:
        shape = tightest(constraint.bits)
        return shape in EXPRESSIONS or bool(shape & DOTLESS)

    def _one(
        self, key: int, constraint: Constraint, excluded: str, ends: str, stem: bool = False
    ) -> str:
        """One value; `ends` is what follows it, empty for the last certain segment.

        A `stem` is followed by an extension, and cannot be empty.
        """
        if constraint.value > 0:
            return _escape(self._value(key, constraint.value))
        bits = constraint.bits
        if stem:
            bits |= NONEMPTY
        elif not ends and tightest(bits) & DOTLESS and not bits & NONEMPTY:
            # `.html` is no extension of an empty segment, but a value with a dot.
            return self._excluding(key, constraint, ends) + rf"(?!\.)[^{excluded}.]*"
        return self._excluding(key, constraint, ends) + required_expression(bits, excluded)

    def _needs_stem(self) -> bool:
        extension = self._at(EXTENSION)[1]
        return extension is not None and extension.value != ABSENT

    def _excluding(self, key: int, constraint: Constraint, ends: str) -> str:
        """Look-ahead that leaves the siblings' values to the siblings."""
        if not self._exclusive:
            return ""
        values = [self._value(key, code) for code in constraint.excluded]
        plain = [_escape(v) for v in values if ends or not _HAS_EXTENSION.fullmatch(v)]
        dotted = [_escape(v) for v in values if not ends and _HAS_EXTENSION.fullmatch(v)]
        if constraint.excluded_bits:
            plain.append(EXPRESSIONS[constraint.excluded_bits])
        written = ""
        if not ends and "" in plain:
            # An empty segment has no extension: `.html` is another value.
            plain.remove("")
            written += f"(?!/|{_ENDS})"
        if plain:
            after = ends or rf"(?:/|(?:\.{_EXTENSION})?{_ENDS})"
            written += f"(?!(?:{'|'.join(plain)}){after})"
        if dotted:
            written += rf"(?!(?:{'|'.join(dotted)})(?:/|\.{_EXTENSION}{_ENDS}))"
        return written

    def query(self, keys: list[tuple[int, str, int, Constraint]]) -> str:
        """Fields in any order, among others."""
        written = ""
        required = False
        for key, name, repeat, constraint in keys:
            field = self._field(key, name, repeat, constraint)
            absent = constraint.value == ABSENT
            required |= not absent
            written += f"(?!{field})" if absent else f"(?={field})"
        return rf"\?{written}.*" if required else rf"(?:\?{written}.*)?"

    def _field(self, key: int, name: str, repeat: int, constraint: Constraint) -> str:
        """The field of a name and a repetition, seen from the beginning of the query."""
        begin = _escape(name) + "=" if name else "(?:=|[^&=]+(?:&|$))"
        skip = f"(?:(?!{begin})[^&]*&)*"
        again = f"(?:{skip}(?={begin})[^&]*&){{{repeat}}}" if repeat else ""
        prefix = begin if name else f"(?={begin})"
        if constraint.value == ABSENT:
            return f"{again}{skip}{prefix}"
        return f"{again}{skip}{prefix}{self._one(key, constraint, '&', '(?:&|$)')}(?:&|$)"
