"""Written values and query fields of a site, shared by the texts of its patterns.

Here: texts and expressions of values, each written once. Not here: how they follow each other in a
pattern (`pattern_text`, `pattern_expression`).
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from temporal_assets.core.patterns.constraints import Constraint
from temporal_assets.core.patterns.pattern_tree import NO_KEY, PatternTree
from temporal_assets.core.text.url_split import EXTENSION, HOST, MAX_SEGMENTS, PATH, QUERY
from temporal_assets.core.text.value_expressions import EXTENSION as EXTENSION_TEXT
from temporal_assets.core.text.value_expressions import (
    Kind,
    escape,
    other_fields,
    value_expression,
)
from temporal_assets.core.text.value_shapes import CLASSES, NONEMPTY

_HAS_EXTENSION: Final = re.compile(rf".+\.{EXTENSION_TEXT}", re.DOTALL)


class SiteTexts:
    """The written values of a site, shared by its patterns."""

    def __init__(self, tree: PatternTree) -> None:
        keys = tree.keys.keys
        self._values = tree.keys
        self._texts: dict[tuple[int, int], str] = {}
        self._shown: dict[tuple[int, Constraint], str] = {}
        self._expressions: dict[tuple[int, Constraint, str, Kind, int], str | None] = {}
        self._wildcards: dict[tuple[object, ...], str | None] = {}
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
        last = next(i for i in range(MAX_SEGMENTS + 1) if (PATH, i) not in self.places)
        self.segments = [self.places[PATH, i] for i in range(last)]
        """The keys of the path, in their order."""
        self.extension = self.places.get((EXTENSION, 0), NO_KEY)
        hosts = [key for (kind, _), key in self.places.items() if kind == HOST]
        self.varying_hosts = [key for key in hosts if np.diff(tree.keys.first[key : key + 2]) != 1]
        self.hosts = frozenset(hosts)

    def text(self, key: int, code: int) -> str:
        """Return the text of a value, cached: few values are written in many patterns."""
        text = self._texts.get((key, code))
        if text is None:
            text = self._values.value(key, code).decode("utf-8", "replace")
            self._texts[key, code] = text
        return text

    def shown(self, key: int, constraint: Constraint) -> str:
        """Return a value as people read it: its text, or a wildcard such as `{digits}`."""
        shown = self._shown.get((key, constraint))
        if shown is None:
            is_fixed = constraint.value > 0
            wildcard = "{" + CLASSES[constraint.name] + "}"
            shown = self.text(key, constraint.value) if is_fixed else wildcard
            self._shown[key, constraint] = shown
        return shown

    def value(
        self, key: int, constraint: Constraint, separators: str, kind: Kind, bits: int
    ) -> str | None:
        """Return an expression for the values that a constraint takes, or None if there is none.

        Args:
            key: Number of the key.
            constraint: What the pattern requires of it.
            separators: Characters that end a value.
            kind: Kind of text that the expression matches.
            bits: Shape bits that the value must have besides those of the constraint.
        """
        asked = key, constraint, separators, kind, bits
        if asked not in self._expressions:
            self._expressions[asked] = self._value(*asked)
        return self._expressions[asked]

    def _value(
        self, key: int, constraint: Constraint, separators: str, kind: Kind, bits: int
    ) -> str | None:
        bits |= constraint.bits
        if constraint.value > 0:
            text = self.text(key, constraint.value)
            fails = (
                _HAS_EXTENSION.fullmatch(text) if kind == "bare" else bits & NONEMPTY and not text
            )
            return None if fails else escape(text)
        # Nodes without common ancestors may exclude the same values.
        asked = key, constraint.excluded, constraint.excluded_bits, bits, separators, kind
        if asked not in self._wildcards:
            excluded = [self.text(key, code) for code in constraint.excluded]
            self._wildcards[asked] = value_expression(
                bits, separators, kind, excluded, constraint.excluded_bits
            )
        return self._wildcards[asked]

    def others(self, names: frozenset[str]) -> str:
        """Return an expression for query fields with none of the names."""
        if names not in self._others:
            self._others[names] = other_fields(sorted(names - {""}), "" not in names)
        return self._others[names]
