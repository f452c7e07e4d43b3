"""The division of a node by the key with the lowest entropy of its values.

Here: the choice of the key, and of the values that get a branch of their own. Not here: which
frequencies are salient (`salience`), which values pass with time (`passing_values`), and what the
URLs of a node share (`node_tests`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.patterns.pattern_tree import NO_KEY, OTHER, SHAPED
from temporal_assets.core.patterns.syntax.date_parts import date_bit
from temporal_assets.core.patterns.syntax.growing_site import GrowingSite
from temporal_assets.core.patterns.syntax.key_statistics import (
    KeyStatistics,
    bit_place,
    count_codes,
)
from temporal_assets.core.patterns.syntax.passing_values import PassingValues
from temporal_assets.core.patterns.syntax.salience import salient
from temporal_assets.core.text.date_roles import ROLE_BITS
from temporal_assets.core.text.url_keys import ABSENT
from temporal_assets.core.text.url_split import PATH, QUERY
from temporal_assets.core.text.value_shapes import ALWAYS_DATES, NONEMPTY, bits_of

_SAME: Final = 1e-9
"""Difference of two entropies below which they are equal: sums in different orders differ by
rounding."""

_NONEMPTY_AT: Final = bit_place(NONEMPTY)

Branches = list[tuple[int, int]]
"""Code and number of URLs of each branch; empty for a leaf."""


class NodeDivider:
    """The rule of a site by which nodes are divided."""

    def __init__(self, site: GrowingSite, passing: PassingValues) -> None:
        """Keep the site, and the rule by which its values pass."""
        self.site = site
        self.passing = passing

    def divide(
        self,
        rows: Int32s,
        open_keys: list[int],
        statistics: KeyStatistics,
        roles: list[int],
        candidates: list[int],
    ) -> tuple[int, int, Branches]:
        """Return the key that divides a node, the shape of its SHAPED branch, and its branches.

        Args:
            rows: Numbers of the node's URLs; sorted by the branch of their value.
            open_keys: Keys that the statistics and roles are of.
            statistics: Statistics of the values of the keys.
            roles: Role of each key in a date across keys.
            candidates: Indices of the keys that may divide the node.
        """
        allowed = [i for i in candidates if self._divides(open_keys[i], statistics.present[i])]
        # The sort keeps keys of equal entropy in the order of the design.
        allowed.sort(key=lambda i: round(statistics.entropy[i] / _SAME))
        for i in allowed:
            key = open_keys[i]
            bit = date_bit(statistics, i, roles[i], self.site.support)
            if self._is_one_branch(statistics, i, bit, len(rows)):
                continue
            branches = self._branches(rows, key, bit, ALWAYS_DATES | ROLE_BITS[roles[i]])
            if branches:
                return key, bit, branches
        return NO_KEY, 0, []

    def _divides(self, key: int, urls: int) -> bool:
        """Return True if a key may divide a node: any but a query key without support."""
        return self.site.kind[key] != QUERY or urls >= self.site.support

    def _is_one_branch(self, statistics: KeyStatistics, i: int, bit: int, urls: int) -> bool:
        """Return True if a key surely makes one branch: never missing, nothing salient or dated."""
        of_bits = statistics.bit_urls[i]
        return bool(
            statistics.present[i] == urls == of_bits[_NONEMPTY_AT]
            and statistics.most[i] < self.site.support
            and (bit == 0 or of_bits[bit_place(bit)] == urls)
        )

    def _branches(self, rows: Int32s, key: int, bit: int, dates: int) -> Branches:
        """Divide a node's URLs by a key; return the branches, or nothing if there is only one.

        Values with the shape `bit` share a branch; those with one of the shapes `dates` are not
        salient.
        """
        site, keys = self.site, self.site.keys
        column = keys.codes[key]
        distinct = count_codes(column, rows, site.counts, site.touched)
        codes = site.touched[:distinct].copy()
        counts = site.counts[codes].astype(np.int64)
        site.counts[codes] = 0
        branch = _assign(
            codes,
            counts,
            self.passing.lasting(key, codes, counts, column, rows),
            keys.first[key],
            keys.shape,
            site.public.is_value_public,
            bit,
            dates,
            site.kind[key] == PATH,
            site.support,
            site.by_support,
        )
        named = np.flatnonzero(branch > 0).tolist()
        named.sort(key=lambda i: (-counts[i], self.passing.text(key, int(codes[i]))))
        pooled = [b for b in (SHAPED, OTHER, ABSENT) if (branch == b).any()]
        if len(named) + len(pooled) < 2:
            return []
        place = np.empty(len(codes), np.int32)
        place[named] = np.arange(len(named))
        for i, other in enumerate(pooled, len(named)):
            place[branch == other] = i
        order = codes[named].tolist() + pooled
        site.counts[codes] = place
        sizes = _partition(column, rows, site.counts, site.spare, len(order))
        site.counts[codes] = 0
        return list(zip(order, sizes.tolist(), strict=True))


@loop
def _assign(
    codes: Int32s,
    counts: Int64s,
    lasting: Flags,
    first: int,
    shape: Int32s,
    public: Flags,
    bit: int,
    dates: int,
    is_path: bool,
    min_urls: int,
    by_support: bool,
) -> Int32s:
    """Return the branch of each value of a node, given the frequencies.

    Args:
        codes: Values of the key among the node's URLs.
        counts: Number of URLs of each.
        lasting: False for values that pass with time.
        first: Row of the key's first value in `shape` and `public`.
        shape: Shape of all values of the site.
        public: False for values that too few clients asked for.
        bit: Shape that gets the branch SHAPED.
        dates: Shapes that are never salient.
        is_path: True for a path segment, whose empty value has its own branch.
        min_urls: Support.
        by_support: True for the rule `support` of `salience`.
    """
    branch = np.full(len(codes), OTHER, np.int32)
    rest = np.empty(len(codes), np.int64)
    left_over = 0
    for i in range(len(codes)):
        if codes[i] == ABSENT:
            branch[i] = ABSENT
            continue
        bits = bits_of(shape[first + codes[i] - 1])
        if is_path and not bits & NONEMPTY:
            branch[i] = codes[i]
        elif bits & bit:
            branch[i] = SHAPED
        elif lasting[i] and not bits & dates:
            rest[left_over] = i
            left_over += 1
    rest = rest[:left_over]
    ranked = rest[np.argsort(-counts[rest], kind="mergesort")]
    for i in ranked[: salient(counts[ranked], min_urls, by_support)]:
        if public[first + codes[i] - 1]:
            branch[i] = codes[i]
    return branch


@loop
def _partition(column: Int32s, rows: Int32s, place: Int32s, spare: Int32s, parts: int) -> Int64s:
    """Sort URLs stably by the part (`place`) of their code; return the sizes of the parts."""
    sizes = np.zeros(parts, np.int64)
    for row in rows:
        sizes[place[column[row]]] += 1
    at = np.cumsum(sizes) - sizes
    for i in range(len(rows)):
        part = place[column[rows[i]]]
        spare[at[part]] = rows[i]
        at[part] += 1
    for i in range(len(rows)):
        rows[i] = spare[i]
    return sizes
