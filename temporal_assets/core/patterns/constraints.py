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


ANYTHING: Final = Constraint(OTHER)
MISSING: Final = Constraint(ABSENT)


def constraints(tree: PatternTree, node: int) -> dict[int, Constraint]:
    """Return what a node requires of each key; keys that are not in the result are free."""
    path = []
    at = node
    while at >= 0:
        path.append(at)
        at = int(tree.hierarchy.parent[at])
    by_key: dict[int, Constraint] = {}
    for at in reversed(path):
        narrow(tree, at, by_key)
    return by_key


def narrow(tree: PatternTree, node: int, by_key: dict[int, Constraint]) -> None:
    """Add the requirements of a node to those of its parent."""
    _add_branch(tree, node, by_key)
    for test in range(int(tree.first_test[node]), int(tree.first_test[node + 1])):
        key, value = int(tree.test_key[test]), int(tree.test_value[test])
        if value == OTHER:
            before = by_key.get(key, ANYTHING)
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
    before = by_key.get(key, ANYTHING)
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
