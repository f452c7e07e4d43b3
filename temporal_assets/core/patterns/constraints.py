"""The requirements of a node of a pattern tree on each key, collected from the root down.

Here: constraints of a node from its branch and its tests, and from those of its parent. Not here:
how they are written (`pattern_text`), how URLs are matched (`pattern_match`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from temporal_assets.core.patterns.pattern_tree import OTHER, SHAPED, PatternTree
from temporal_assets.core.text.url_keys import ABSENT
from temporal_assets.core.text.url_split import PATH
from temporal_assets.core.text.value_shapes import ANY_CLASS, NONEMPTY, tightest


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """The requirement of a pattern on one key.

    Constraints are compared as objects, so that looking one up costs the same however many values
    it excludes. Nodes of a tree share them (`NodeConstraints`).
    """

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


ByKey = dict[int, Constraint]
"""Constraints of a node by the number of their key; keys that are not in it are free."""

ANYTHING: Final = Constraint(OTHER)
MISSING: Final = Constraint(ABSENT)


def constraints(tree: PatternTree, node: int) -> ByKey:
    """Return the requirements of one node on the keys of its site."""
    path = []
    at = node
    while at >= 0:
        path.append(at)
        at = int(tree.hierarchy.parent[at])
    collector = NodeConstraints(tree)
    by_key: ByKey = {}
    for at in reversed(path):
        collector.narrow(at, by_key)
    return by_key


class NodeConstraints:
    """Collector of the constraints of a tree's nodes, which share those that are equal."""

    def __init__(self, tree: PatternTree) -> None:
        self._is_path = (tree.keys.keys.kind == PATH).tolist()
        # As Python's own numbers: they are asked for one by one.
        self._parent: list[int] = tree.hierarchy.parent.tolist()
        self._end: list[int] = tree.hierarchy.end.tolist()
        self._branch: list[int] = tree.branch.tolist()
        self._split_key: list[int] = tree.split_key.tolist()
        self._split_bit: list[int] = tree.split_bit.tolist()
        self._first_test: list[int] = tree.first_test.tolist()
        self._tests: list[tuple[int, int, int, int]] = list(
            zip(
                tree.test_key.tolist(),
                tree.test_value.tolist(),
                tree.test_bits.tolist(),
                tree.test_class.tolist(),
                strict=True,
            )
        )
        self._fixed = {ABSENT: MISSING}
        """Constraints that fix a value, by its code."""
        self._tested: dict[tuple[Constraint, int, int], Constraint] = {}
        """Constraints with the shape and the class of a test added, by all three."""

    def of_all(self) -> list[ByKey]:
        """Return the constraints of every node."""
        by_node: list[ByKey] = []
        for node, parent in enumerate(self._parent):
            by_key = by_node[parent].copy() if parent >= 0 else {}
            self.narrow(node, by_key)
            by_node.append(by_key)
        return by_node

    def narrow(self, node: int, by_key: ByKey) -> None:
        """Add the requirements of a node to those of its parent."""
        parent = self._parent[node]
        if parent >= 0:
            key = self._split_key[parent]
            by_key[key] = self._by_branch(node, parent, by_key.get(key, ANYTHING))
        for key, value, bits, name in self._tests[
            self._first_test[node] : self._first_test[node + 1]
        ]:
            if value == OTHER:
                by_key[key] = self._by_test(by_key.get(key, ANYTHING), bits, name)
            else:
                by_key[key] = self._fixing(value)

    def _by_branch(self, node: int, parent: int, before: Constraint) -> Constraint:
        """Return the constraint on the parent's split key that holds in the branch of a node."""
        branch, bit = self._branch[node], self._split_bit[parent]
        if branch == SHAPED:
            return _with_shape(before, bit, before.name)
        if branch != OTHER:
            return self._fixing(branch)
        values = [self._branch[child] for child in self._children(parent)]
        return replace(
            before,
            bits=before.bits | (NONEMPTY if self._is_path[self._split_key[parent]] else 0),
            excluded=before.excluded + tuple(value for value in values if value > 0),
            excluded_bits=before.excluded_bits | bit,
        )

    def _by_test(self, before: Constraint, bits: int, name: int) -> Constraint:
        asked = before, bits, name
        tested = self._tested.get(asked)
        if tested is None:
            tested = self._tested[asked] = _with_shape(before, bits, name)
        return tested

    def _fixing(self, value: int) -> Constraint:
        fixed = self._fixed.get(value)
        if fixed is None:
            fixed = self._fixed[value] = Constraint(value)
        return fixed

    def _children(self, node: int) -> list[int]:
        children, child = [], node + 1
        while child < self._end[node]:
            children.append(child)
            child = self._end[child]
        return children


def _with_shape(before: Constraint, bits: int, name: int) -> Constraint:
    """Return a constraint whose values have further shape bits, and a class that names them."""
    # Several times as fast as `dataclasses.replace`, and there is one for nearly every test.
    return Constraint(before.value, before.bits | bits, name, before.excluded, before.excluded_bits)
