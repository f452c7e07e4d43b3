"""Tests of a node: what all of its URLs share.

Here: which keys of a node have a fixed value, which are missing or always present, and what the
values under a wildcard have in common. Not here: the division of a node (`node_division`).

Small nodes test only structure: a value that a handful of URLs share may be chance.
"""

from __future__ import annotations

from temporal_assets.core.numerics.arrays import Int32s
from temporal_assets.core.patterns.pattern_tree import OTHER
from temporal_assets.core.patterns.syntax.growing_site import GrowingSite
from temporal_assets.core.patterns.syntax.key_statistics import KeyStatistics
from temporal_assets.core.patterns.syntax.passing_values import PassingValues
from temporal_assets.core.patterns.syntax.wildcard_names import ROLE_NAMES, wildcard_name
from temporal_assets.core.text.date_roles import AMBIGUOUS, ROLE_BITS
from temporal_assets.core.text.running_values import NAMES, kind_of
from temporal_assets.core.text.url_keys import ABSENT
from temporal_assets.core.text.url_split import EXTENSION, PATH, QUERY
from temporal_assets.core.text.value_shapes import (
    ALWAYS_DATES,
    ANY_CLASS,
    DIGITS_CLASS,
    DOTLESS,
    NONEMPTY,
    tightest,
)

Required = dict[int, tuple[int, int]]
"""Shape bits and class that tests require so far, by key."""


class NodeTests:
    """The tests of all nodes of a tree so far."""

    def __init__(self, site: GrowingSite, passing: PassingValues) -> None:
        """Begin without tests."""
        self.site = site
        self.passing = passing
        self.rows: list[tuple[int, int, int, int, int]] = []
        """Node, key, value, shape bits and class of each test."""

    def close(
        self,
        node: int,
        i: int,
        key: int,
        statistics: KeyStatistics,
        role: int,
        rows: Int32s,
        required_above: Required,
    ) -> bool:
        """Test what all URLs of a node share under a key; return True if that fixes its value.

        A key with a fixed value, or one that no URL of the node has, is closed: nodes below neither
        test it nor are divided by it.

        Args:
            node: Number of the node, to which tests are added.
            i: Index of the key in `statistics`.
            key: Number of the key.
            statistics: Statistics of the open keys.
            role: Role of the key in a date across keys.
            rows: Numbers of the node's URLs.
            required_above: Shape bits and class that tests require so far, by key; updated.
        """
        kind = self.site.kind[key]
        urls = len(rows)
        present = statistics.present[i]
        if present == 0:
            # That a query key does not occur here is no property of the page unless URLs were
            # divided by it.
            if kind != QUERY:
                self.rows.append((node, key, ABSENT, 0, ANY_CLASS))
            return True
        if present < urls:
            return False
        common = statistics.common[i]
        constant = statistics.constant[i]
        if statistics.distinct[i] == 1 and self._fixes(key, constant, common, role, rows):
            self.rows.append((node, key, constant, 0, ANY_CLASS))
            return True
        required = self._required(kind, common, role, urls)
        name = wildcard_name(statistics.class_urls[i], statistics.bit_urls[i], present, role)
        if name == DIGITS_CLASS and required_above.get(key, (0, 0))[1] in ROLE_NAMES:
            name = required_above[key][1]  # a few numbers say less than those of the node above
        if required_above.get(key) != (required, name):
            required_above[key] = (required, name)
            self.rows.append((node, key, OTHER, required, name))
        return False

    def _fixes(self, key: int, constant: int, common: int, role: int, rows: Int32s) -> bool:
        """Return True if the constant value of a key becomes part of the pattern."""
        urls = len(rows)
        kind = self.site.kind[key]
        if not self.site.public.is_value_public[self.site.keys.first[key] + constant - 1]:
            return False
        if kind not in (PATH, QUERY):
            return True
        if kind == PATH and not common & NONEMPTY:
            return True
        if urls < self.site.support or common & (ALWAYS_DATES | ROLE_BITS[role]):
            return False
        if self.passing.counts_pages(key, constant, rows):
            return False
        shape = int(self.site.keys.shape[self.site.keys.first[key] + constant - 1])
        if self.site.born is None or kind_of(shape) == NAMES:
            return True
        return not self.site.born.is_passing(rows)

    def _required(self, kind: int, common: int, role: int, urls: int) -> int:
        """Return the shape bits that a wildcard requires, given those that all its values have."""
        if kind == EXTENSION:
            return 0
        if urls < self.site.support:
            return common & NONEMPTY
        # Page numbers happen to be below 32, words to be `may`.
        common &= ~AMBIGUOUS | ROLE_BITS[role]
        if kind == QUERY:
            common &= ~DOTLESS
        return tightest(common)
