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
from temporal_assets.core.patterns.constraints import MISSING, ByKey, NodeConstraints, constraints
from temporal_assets.core.patterns.pattern_expression import ExpressionWriter
from temporal_assets.core.patterns.pattern_tree import MOST_PARTS, NO_KEY, PatternTree
from temporal_assets.core.patterns.pattern_union import joined
from temporal_assets.core.patterns.site_texts import SiteTexts
from temporal_assets.core.text.readable import readable
from temporal_assets.core.text.url_keys import ABSENT
from temporal_assets.core.text.url_split import HOST, MAX_LABELS


def pattern_texts(tree: PatternTree, merged: Flags | None = None) -> list[PatternText]:
    """Return the text of all nodes of a tree; several times as fast as one by one.

    The flagged nodes are written as leaves of a cut of the tree.
    """
    writer = SiteWriter(tree)
    texts = [PatternText(by_key, writer) for by_key in NodeConstraints(tree).of_all()]
    is_leaf, end = tree.hierarchy.is_leaf, tree.hierarchy.end
    for node in [] if merged is None else np.flatnonzero(merged & ~is_leaf).tolist():
        parts = node + np.flatnonzero(is_leaf[node : end[node]])
        if len(parts) <= MOST_PARTS:
            texts[node].parts = [texts[part] for part in parts]
    return texts


def pattern_text(tree: PatternTree, node: int) -> PatternText:
    """Return the text of one node, which may be a merged leaf of a cut tree."""
    text = PatternText(constraints(tree, node), SiteWriter(tree))
    if tree.parts is not None and tree.hierarchy.is_leaf[node]:
        whole, leaves = tree.parts.tree, tree.parts.leaves_of(node)
        if len(leaves) > 1:
            writer = SiteWriter(whole)
            text.parts = [PatternText(constraints(whole, leaf), writer) for leaf in leaves]
    return text


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
    """Text of one pattern in its three forms."""

    def __init__(self, by_key: ByKey, writer: SiteWriter) -> None:
        """Keep the node's constraints, and what writes patterns of its site."""
        self._constraints = by_key
        self._writer = writer
        self.parts: list[PatternText] = []
        """The patterns that a merged leaf stands for."""

    def key_values(self) -> dict[str, str | None]:
        """Return the value of each key: a text, a wildcard (`{digits}`), or None for ∅.

        Free keys are left out. A merged leaf has the values of its parts, as `{china|finance}`.
        """
        if self.parts:
            return _together([part.key_values() for part in self.parts])
        site, by_key = self._writer.site, self._constraints
        return {
            site.labels[key]: None if c.value == ABSENT else site.shown(key, c)
            for key, c in sorted(by_key.items())
        }

    def template(self) -> str:
        """Return path and query as people write them; the host too if it varies within the site."""
        if not self.parts:
            return readable("".join(self.template_pieces))
        return readable(joined([part.template_pieces for part in self.parts], "{", "}", "/.?"))

    @cached_property
    def template_pieces(self) -> list[str]:
        """The template in pieces: host, segments, extension, query."""
        return self._writer.template_pieces(self._constraints)

    def expression(self) -> str:
        """Return the anchored regular expression over canonical URLs."""
        if not self.parts:
            return f"^{''.join(self.expression_pieces)}$"
        alternatives = [part.expression_pieces for part in self.parts]
        return f"^{joined(alternatives, '(?:', ')', '/')}$"

    @cached_property
    def expression_pieces(self) -> list[str]:
        """The expression in pieces: origin, segments, query."""
        return self._writer.expressions.pieces(self._constraints)


class SiteWriter:
    """Writer of the patterns of a site: their templates, and the writer of their expressions."""

    def __init__(self, tree: PatternTree) -> None:
        """Prepare what the patterns of a tree have in common."""
        self.site = SiteTexts(tree)
        self.expressions = ExpressionWriter(self.site)

    def template_pieces(self, by_key: ByKey) -> list[str]:
        """Return the template for a node's constraints: host, segments, extension, query."""
        site = self.site
        is_host_known = not site.varying_hosts and by_key.keys() >= site.hosts
        pieces = ["" if is_host_known else self._host(by_key)]
        for key in site.segments:
            constraint = by_key.get(key)
            if constraint is None:
                pieces.append("/{**}")
                break
            if constraint.value == ABSENT:
                break
            pieces.append("/" + site.shown(key, constraint))
        extension = by_key.get(site.extension)
        if extension is not None and extension.value != ABSENT:
            pieces.append("." + site.shown(site.extension, extension))
        pieces.append(self._query(by_key) if site.fields else "")
        return pieces

    def _host(self, by_key: ByKey) -> str:
        """Return the template of the host."""
        labels = []
        for index in range(MAX_LABELS):
            key = self.site.places.get((HOST, index), NO_KEY)
            constraint = MISSING if key == NO_KEY else by_key.get(key)
            if constraint is None:
                labels.append("{**}")
                break
            if constraint.value == ABSENT:
                break
            labels.append(self.site.shown(key, constraint))
        return "//" + ".".join(reversed(labels))

    def _query(self, by_key: ByKey) -> str:
        """Return the template of the query fields that must be there."""
        fields = []
        for key, (name, _) in self.site.fields.items():
            constraint = by_key.get(key)
            if constraint is not None and constraint.value != ABSENT:
                shown = self.site.shown(key, constraint)
                fields.append(f"{name}={shown}".removeprefix("="))
        return "?" + "&".join(fields) if fields else ""
