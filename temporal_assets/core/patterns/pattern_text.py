r"""Patterns as text: as a template, as key-values, as an anchored regular expression.

Here: three ways to write what a node requires of each key (`constraints`). Not here: the parts of
an expression (`pattern_expression`), and matching in bulk (`pattern_match`), which decides the same
without expressions.

    template            /news/{year}/{slug}.html?id={digits}
    key-values          path[0]=news  path[1]={year}  path[2]={slug}  extension=html  ...
    regular expression  ^https://example\.com/news/(?:19|20)[0-9]{2}/[^./?]+\.html(?:\?.*)?$

In templates `{*}` is any value, `{**}` any number of further segments, and a key that is not
mentioned may be there or not. Expressions are for canonical URLs and match exactly what the matcher
puts under the node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from temporal_assets.core.numerics.arrays import Flags
from temporal_assets.core.patterns.constraints import MISSING, Constraint, constraints, narrow
from temporal_assets.core.patterns.pattern_expression import Expression
from temporal_assets.core.patterns.pattern_tree import MOST_PARTS, PatternTree
from temporal_assets.core.patterns.pattern_union import joined
from temporal_assets.core.patterns.site_texts import SiteTexts
from temporal_assets.core.text.readable import readable
from temporal_assets.core.text.url_keys import ABSENT
from temporal_assets.core.text.url_split import (
    EXTENSION,
    HOST,
    MAX_LABELS,
    MAX_SEGMENTS,
    PATH,
)
from temporal_assets.core.text.value_shapes import CLASSES


def pattern_texts(tree: PatternTree, merged: Flags | None = None) -> list[PatternText]:
    """Return the text of all nodes of a tree; several times as fast as one by one.

    The flagged nodes are written as leaves of a cut of the tree.
    """
    site = SiteTexts(tree)
    by_node: list[dict[int, Constraint]] = []
    for node, parent in enumerate(tree.hierarchy.parent.tolist()):
        own = dict(by_node[parent]) if parent >= 0 else {}
        narrow(tree, node, own)
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
        site: SiteTexts | None = None,
    ) -> None:
        self._constraints = constraints(tree, node) if by_key is None else by_key
        self._site = SiteTexts(tree) if site is None else site
        self.parts: list[PatternText] = []
        """The patterns that a merged leaf stands for."""
        if tree.parts is not None and tree.hierarchy.is_leaf[node]:
            whole, leaves = tree.parts.tree, tree.parts.leaves_of(node)
            if len(leaves) > 1:
                words = SiteTexts(whole)
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
        writer = Expression(self._at, self._site)
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
        return (-1, MISSING) if key is None else (key, self._constraints.get(key))

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
