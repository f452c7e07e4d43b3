"""The pattern tree of a site: URLs grouped by their keys and values, top down.

Here: construction (BB 3.1, after Lei et al., WWW 2010). Not here: the tree as a data structure
(`pattern_tree`), which nodes users' behaviour merges (`visit_cut`, `transit_cut`).

A URL is a set of keys with values (`url_keys`): host labels, path segments, the extension, query
fields. Values are integers (*codes*) that number the distinct values of a key; every value has a
*shape*: bits such as "all digits" or "a year", and a *class* that names a wildcard
(`value_shapes`).

A node is divided by the key with the lowest entropy of its values. A value is *salient* if it gets
a branch of its own (`salience`): it must at least have *support*, enough URLs of the node. All
other values share the branch `*`. Three kinds of value are treated by what they are, whatever their
frequency, because each makes a different kind of page:

* ∅, the missing key, has its own branch, so that `*` always means one value;
* so has the empty segment: `/news/` lists what `/news/a` shows;
* dates never become salient and never become fixed: a pattern that names last year is useless
  today. Where dates and names meet under one key, dates get a branch of their own. A number is a
  day or month only by the *role* of its key beside other keys (`date_roles`).

What all URLs of a node share (a constant value, a missing or always present key) belongs to the
node and makes no level: it becomes a *test* of the node. Keys that are not constant stay *open*.
Small nodes test only structure: a value that a handful of URLs share may be chance.

`_Builder` grows the nodes in preorder. For each node it counts the values of every open key
(`_measure`), turns what all URLs share into tests (`_closes`), chooses the key that divides the
node (`_divide`), and sorts the node's URLs by the branch of their value (`_branches`).

Arrays in loops have these names: `rows` are the numbers of a node's URLs; a `column` has the code
of one key for every URL of the site; `counts` and `touched` are scratch with one entry per code,
where `touched` lists the codes whose entry in `counts` is not zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import leaf, loop
from temporal_assets.core.numerics.hierarchy import hierarchy
from temporal_assets.core.patterns.pattern_tree import NO_KEY, OTHER, ROOT, SHAPED, PatternTree
from temporal_assets.core.patterns.syntax.public_values import (
    PublicValues,
    everything_public,
    public_values,
)
from temporal_assets.core.patterns.syntax.salience import salient
from temporal_assets.core.text.date_roles import AMBIGUOUS, NO_ROLE, ROLE_BITS, Look, date_roles
from temporal_assets.core.text.running_values import (
    NAMES,
    NUMBERS,
    Births,
    births,
    counts_pages,
    is_counter,
    is_page_value,
    is_page_word,
    kind_of,
    kinds_of,
    numbered_families,
    passing_kinds,
)
from temporal_assets.core.text.texts import Texts
from temporal_assets.core.text.url_keys import ABSENT, UrlKeys, decompose
from temporal_assets.core.text.url_split import EXTENSION, PATH, QUERY
from temporal_assets.core.text.value_shapes import (
    ALL_BITS,
    ALWAYS_DATES,
    ANY_CLASS,
    CLASSES,
    COMPACT,
    DASHED_DAY,
    DATE,
    DATE_CLASS,
    DAY,
    DAY_CLASS,
    DIGITS,
    DIGITS_CLASS,
    DOTLESS,
    EPOCH,
    MONTH_CLASS,
    MONTH_DAY,
    MONTH_NAME,
    NONEMPTY,
    SIX,
    SLUG_CLASS,
    SLUG_DATE_CLASS,
    SLUG_ID_CLASS,
    SMALL,
    TWO_DIGITS_CLASS,
    WORD_CLASS,
    WRITTEN,
    YEAR,
    YEAR_CLASS,
    YEAR_MONTH,
    bits_of,
    class_of,
    tightest,
)
from temporal_assets.core.traffic.audience import Audience

_BITS: Final = ALL_BITS.bit_length()
_DIGITS_AT: Final = DIGITS.bit_length() - 1
_NONEMPTY_AT: Final = NONEMPTY.bit_length() - 1
"""Index of the bit NONEMPTY, as `_DIGITS_AT` is of DIGITS."""

_CLASS_COUNT: Final = len(CLASSES)

_DOMINANT: Final = 0.9
"""Share of a node's values that must look like dates before the rest is taken for exceptions,
and share of one class before a wildcard is called by its name."""

_LEAST_PASSING: Final = 2
"""Least number of values with support for one to pass with time: one alone has no successor."""

_WHOLE_DATES: Final = (DATE, WRITTEN, YEAR, COMPACT, YEAR_MONTH, EPOCH)
"""Shapes that are dates under any key; values with one of them may share a branch."""
_PARTS_OF_DATES: Final = (DAY, MONTH_NAME, MONTH_DAY, DASHED_DAY, SMALL, SIX)
"""Shapes that are parts of a date only if their key has a role in one."""
_PART_PLACES: Final = tuple(bit.bit_length() - 1 for bit in _PARTS_OF_DATES)
"""Indices of the bits of `_PARTS_OF_DATES`."""
_NUMBERS: Final = YEAR | COMPACT | YEAR_MONTH | EPOCH | DAY | MONTH_DAY | SMALL | SIX
"""Bits of the shapes of dates that consist of digits alone."""

_SAME: Final = 1e-9
"""Difference of two entropies below which they are equal: sums in different orders differ by
rounding."""


Salience = Literal["support", "drop"]


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """Options for dividing a site."""

    min_urls: int = 10
    """Support: nodes with fewer URLs are leaves, and no rarer value is salient."""
    min_share: float = 1e-4
    """Support as a share of the site's URLs, for large sites; the larger of the two counts."""
    salience: Salience = "support"
    """Rule that decides which values get a branch of their own (`salience`)."""
    most_urls: int = 3_000_000
    """Number of URLs above which a site is learned from a sample of that size (`sampled_tree`)."""

    def support(self, urls: int) -> int:
        """Return the support of a site with `urls` URLs."""
        return max(self.min_urls, int(np.ceil(self.min_share * urls)))


def pattern_tree(
    urls: Texts,
    options: TreeOptions | None = None,
    audience: Audience | None = None,
    born: Int32s | Int64s | None = None,
) -> PatternTree:
    """Return the tree T_syn of one site.

    Args:
        urls: Distinct canonical URLs of the site.
        options: Support and salience.
        audience: Clients of the URLs. If given, no pattern names a value that too few clients asked
            for: such values stay under `*`.
        born: Day on which each URL was first seen. If given, no pattern names a value that passes
            with time (`running_values`).
    """
    if len(urls) == 0:
        raise ValueError("a site without URLs has no patterns")
    options = options or TreeOptions()
    support = options.support(len(urls))
    keys = decompose(urls, min(support, len(urls)))
    public = public_values(keys, audience, support) if audience else everything_public(keys)
    return _Builder(keys, support, public, options.salience, births(born)).build()


@dataclass(slots=True)
class _Task:
    """A node that is still to be built, with its URLs `order[start:stop]`."""

    parent: int
    branch: int
    start: int
    stop: int
    open_keys: Int32s
    """Keys whose value the nodes above do not fix."""
    divided: frozenset[int]
    """Keys that divide the nodes above."""
    required: dict[int, tuple[int, int]]
    """Shape bits and class that tests of the nodes above require, by key."""


@dataclass(slots=True)
class _Measures:
    """Statistics of the values of open keys among a node's URLs; lists have one entry per key."""

    present: list[int]
    """Number of URLs that have the key."""
    distinct: list[int]
    """Number of different values."""
    constant: list[int]
    """The value, if there is only one; otherwise any of them."""
    common: list[int]
    """Shape bits that all values have."""
    most: list[int]
    """Number of URLs with the most frequent value."""
    bit_urls: list[list[int]]
    """Number of URLs whose value has a shape, by the index of the shape's bit."""
    class_urls: list[list[int]]
    """Number of URLs whose value is of a class, by its index in CLASSES."""
    entropy: list[float]
    """Entropy of the values, a missing key included, in nats."""


class _Builder:
    """Builder of one tree, from the root down.

    Attributes:
        keys: Keys and codes of the site's URLs.
        support: Number of URLs from which on a node is divided and a value is salient.
        public: Values that may be named.
        by_support: True for the rule `support` of `salience`, False for `drop`.
        born: Days on which the URLs were first seen, if known.
        order: Numbers of the URLs; those of each node so far are adjacent.
        spare: Scratch of `_partition`, one entry per URL.
        counts: Scratch with one entry per code of a key; all zeros between calls.
        touched: Scratch that lists codes.
        page_words: Cached results of `_page_words`, by key.
        nodes: Rows of parent, branch, split key, split bit, start and stop.
        tests: Rows of node, key, value, shape bits and class.
    """

    def __init__(
        self,
        keys: UrlKeys,
        support: int,
        public: PublicValues,
        salience: Salience,
        born: Births | None,
    ) -> None:
        self.keys = keys
        self.support = support
        self.public = public
        self.by_support = salience == "support"
        self.born = born
        # As Python's own numbers: they are asked for one by one.
        self.kind: list[int] = keys.keys.kind.tolist()
        self.index: list[int] = keys.keys.index.tolist()
        urls = keys.codes.shape[1]
        most = int(np.diff(keys.first).max(initial=0))
        self.order = np.arange(urls, dtype=np.int32)
        self.spare = np.empty(urls, np.int32)
        self.counts = np.zeros(most + 1, np.int32)
        self.touched = np.empty(most + 1, np.int32)
        self.page_words: dict[int, list[int]] = {}
        self.nodes: list[tuple[int, int, int, int, int, int]] = []
        self.tests: list[tuple[int, int, int, int, int]] = []

    def build(self) -> PatternTree:
        """Grow all nodes and return the tree."""
        open_keys = np.flatnonzero(self.public.is_key_public).astype(np.int32)
        root = _Task(-1, ROOT, 0, len(self.order), open_keys, frozenset(), {})
        waiting = [root]
        while waiting:
            # The last task is the next child in preorder.
            waiting.extend(reversed(self._grow(waiting.pop())))
        nodes = np.array(self.nodes, np.int64).reshape(-1, 6)
        tests = np.array(self.tests, np.int32).reshape(-1, 5)
        return PatternTree(
            self.keys,
            hierarchy(nodes[:, 0]),
            nodes[:, 1].astype(np.int32),
            nodes[:, 2].astype(np.int32),
            nodes[:, 3].astype(np.int32),
            self.order,
            nodes[:, 4].copy(),
            nodes[:, 5].copy(),
            np.searchsorted(tests[:, 0], np.arange(len(nodes) + 1)).astype(np.int64),
            tests[:, 1].copy(),
            tests[:, 2].copy(),
            tests[:, 3].copy(),
            tests[:, 4].astype(np.int8),
        )

    def _grow(self, task: _Task) -> list[_Task]:
        """Build the node of a task and return the tasks of its children."""
        node = len(self.nodes)
        urls = task.stop - task.start
        rows = self.order[task.start : task.stop]
        measures = self._measure(task)
        open_keys = task.open_keys.tolist()
        roles = self._roles(open_keys, measures)
        required = dict(task.required)
        still_open = []
        for i, key in enumerate(open_keys):
            if not self._closes(node, i, key, measures, roles[i], rows, required):
                still_open.append(i)
        key, bit, branches = NO_KEY, 0, list[tuple[int, int]]()
        if urls >= self.support:
            key, bit, branches = self._divide(task, measures, roles, still_open)
        self.nodes.append((task.parent, task.branch, key, bit, task.start, task.stop))
        left = task.open_keys[still_open]
        children = []
        start = task.start
        for branch, count in branches:
            children.append(
                _Task(node, branch, start, start + count, left, task.divided | {key}, required)
            )
            start += count
        return children

    def _measure(self, task: _Task) -> _Measures:
        """Return the statistics of a task's open keys."""
        keys = self.keys
        columns = _measure(
            keys.codes,
            self.order[task.start : task.stop],
            task.open_keys,
            keys.first,
            keys.shape,
            self.counts,
            self.touched,
        )
        return _Measures(*(column.tolist() for column in columns))

    def _roles(self, open_keys: list[int], measures: _Measures) -> list[int]:
        """Return the role of each open key in a date that lies across keys (`date_roles`)."""
        if not any(map(_has_parts, measures.bit_urls)):
            return [NO_ROLE] * len(open_keys)
        looks = [
            Look(*look)
            for look in zip(
                measures.present,
                measures.distinct,
                measures.bit_urls,
                measures.class_urls,
                strict=True,
            )
        ]
        return date_roles(
            [self.kind[key] for key in open_keys],
            [self.index[key] for key in open_keys],
            [self.keys.keys.name[key] for key in open_keys],
            looks,
        )

    def _closes(
        self,
        node: int,
        i: int,
        key: int,
        measures: _Measures,
        role: int,
        rows: Int32s,
        required_above: dict[int, tuple[int, int]],
    ) -> bool:
        """Test what all URLs of a node share under a key; return True if that fixes its value.

        A key with a fixed value, or one that no URL of the node has, is closed: nodes below neither
        test it nor are divided by it.

        Args:
            node: Number of the node, to which tests are added.
            i: Index of the key in `measures`.
            key: Number of the key.
            measures: Statistics of the open keys.
            role: Role of the key in a date across keys.
            rows: Numbers of the node's URLs.
            required_above: Shape bits and class that tests require so far, by key; updated.
        """
        kind = self.kind[key]
        urls = len(rows)
        present = measures.present[i]
        if present == 0:
            # That a query key does not occur here is no property of the page unless URLs were
            # divided by it.
            if kind != QUERY:
                self.tests.append((node, key, ABSENT, 0, ANY_CLASS))
            return True
        if present < urls:
            return False
        common = measures.common[i]
        constant = measures.constant[i]
        if measures.distinct[i] == 1 and self._fixes(key, constant, common, role, rows):
            self.tests.append((node, key, constant, 0, ANY_CLASS))
            return True
        required = self._required(kind, common, role, urls)
        name = _class_name(measures.class_urls[i], measures.bit_urls[i], present, role)
        if name == DIGITS_CLASS and required_above.get(key, (0, 0))[1] in _ROLE_NAMES:
            name = required_above[key][1]  # a few numbers say less than those of the node above
        if required_above.get(key) != (required, name):
            required_above[key] = (required, name)
            self.tests.append((node, key, OTHER, required, name))
        return False

    def _fixes(self, key: int, constant: int, common: int, role: int, rows: Int32s) -> bool:
        """Return True if the constant value of a key becomes part of the pattern."""
        urls = len(rows)
        kind = self.kind[key]
        if not self.public.is_value_public[self.keys.first[key] + constant - 1]:
            return False
        if kind not in (PATH, QUERY):
            return True
        if kind == PATH and not common & NONEMPTY:
            return True
        if urls < self.support or common & (ALWAYS_DATES | ROLE_BITS[role]):
            return False
        if self._counts_pages(key, constant, rows):
            return False
        shape = int(self.keys.shape[self.keys.first[key] + constant - 1])
        if self.born is None or kind_of(shape) == NAMES:
            return True
        return not self.born.is_passing(rows)

    def _required(self, kind: int, common: int, role: int, urls: int) -> int:
        """Return the shape bits that a wildcard requires, given those that all its values have."""
        if kind == EXTENSION:
            return 0
        if urls < self.support:
            return common & NONEMPTY
        # Page numbers happen to be below 32, words to be `may`.
        common &= ~AMBIGUOUS | ROLE_BITS[role]
        if kind == QUERY:
            common &= ~DOTLESS
        return tightest(common)

    def _divide(
        self, task: _Task, measures: _Measures, roles: list[int], still_open: list[int]
    ) -> tuple[int, int, list[tuple[int, int]]]:
        """Return the key that divides a node, the shape of its SHAPED branch, and its branches.

        Branches are pairs of a code and a number of URLs; there are none for a leaf.
        """
        candidates = [
            i
            for i in still_open
            if int(task.open_keys[i]) not in task.divided and self._divides(task, measures, i)
        ]
        # The sort keeps keys of equal entropy in the order of the design.
        candidates.sort(key=lambda i: round(measures.entropy[i] / _SAME))
        for i in candidates:
            key = int(task.open_keys[i])
            bit = self._date_bit(measures, i, roles[i])
            if self._is_one_branch(measures, i, bit, task.stop - task.start):
                continue
            dates = ALWAYS_DATES | ROLE_BITS[roles[i]]
            branches = self._branches(task, key, bit, dates)
            if branches:
                return key, bit, branches
        return NO_KEY, 0, []

    def _lasting(
        self, key: int, codes: Int32s, counts: Int64s, column: Int32s, rows: Int32s
    ) -> Flags:
        """Return flags of the values that do not pass with time (`running_values`).

        Args:
            key: Number of the key.
            codes: Distinct values of the key among the node's URLs.
            counts: Number of URLs of each value.
            column: Code of the key for every URL of the site.
            rows: Numbers of the node's URLs.

        A value passes for one of four reasons: it is the number of a page of a list; its kind
        (names or numbers) is replaced by new values as time goes on; numbered values follow each
        other (`issue-108`); or, without days of birth, the numbers look like a counter.
        """
        lasting = np.ones(len(codes), np.bool_)
        has_support = (counts >= self.support) & (codes != ABSENT)
        named = np.flatnonzero(has_support)
        lasting[[i for i in named if self._counts_pages(key, int(codes[i]), rows)]] = False
        if len(named) < _LEAST_PASSING:
            return lasting
        shape = np.where(codes == ABSENT, 0, self.keys.shape[self.keys.first[key] + codes - 1])
        kinds = kinds_of(shape.astype(np.int32))
        passing = np.full(len(codes), -1, np.int8)
        if self.born is not None:
            self.counts[codes] = np.arange(1, len(codes) + 1)
            passing = passing_kinds(
                column,
                rows,
                self.counts,
                kinds,
                has_support,
                self.born.day,
                self.born.late,
                self.support,
            )[kinds]
            self.counts[codes] = 0
            lasting[named[self._in_turn(key, codes[named], column, rows)]] = False
        lasting[passing > 0] = False
        numbers = np.flatnonzero(has_support & (kinds == NUMBERS) & (passing < 0))
        if is_counter([int(self.keys.value(key, int(codes[i]))) for i in numbers]):
            lasting[(kinds == NUMBERS) & (passing < 0)] = False
        return lasting

    def _in_turn(self, key: int, codes: Int32s, column: Int32s, rows: Int32s) -> list[int]:
        """Return indices into `codes` of numbered values whose pages follow each other in time."""
        families = numbered_families([self.keys.value(key, code) for code in codes.tolist()])
        if self.born is None or not families:
            return []
        self.counts[codes] = np.arange(1, len(codes) + 1)
        place = self.counts[column[rows]].astype(np.int64) - 1
        self.counts[codes] = 0
        inside = np.flatnonzero(place >= 0)
        return self.born.in_turn(families, place[inside], rows[inside])

    def _page_words(self, key: int) -> list[int]:
        """Return the codes of segments after which a number is a page of a list, such as `page`."""
        if key not in self.page_words:
            first, last = self.keys.first[key : key + 2].tolist()
            often = np.flatnonzero(self.keys.count[first:last] >= self.support) + 1
            self.page_words[key] = [
                code for code in often.tolist() if is_page_word(self.keys.value(key, code))
            ]
        return self.page_words[key]

    def _counts_pages(self, key: int, code: int, rows: Int32s) -> bool:
        """Return True if a value is the number of a page of a list."""
        keys = self.keys
        if self.kind[key] == QUERY:
            is_number = bits_of(int(keys.shape[keys.first[key] + code - 1])) & DIGITS
            return bool(is_number) and counts_pages(keys.keys.name[key])
        if self.kind[key] != PATH:
            return False
        value = keys.value(key, code)
        if not value.isdigit():
            return is_page_value(value)
        # Path segments are keys in their order.
        if self.index[key] == 0 or not (words := self._page_words(key - 1)):
            return False
        before = keys.codes[key - 1][rows[keys.codes[key][rows] == code]]
        return bool(np.isin(before, words).all())

    def _divides(self, task: _Task, measures: _Measures, i: int) -> bool:
        """Return True if a key may divide a node: any but a query key without support."""
        kind = self.kind[task.open_keys[i]]
        return bool(kind != QUERY or measures.present[i] >= self.support)

    def _is_one_branch(self, measures: _Measures, i: int, bit: int, urls: int) -> bool:
        """Return True if a key surely makes one branch: never missing, nothing salient or dated."""
        of_bits = measures.bit_urls[i]
        return bool(
            measures.present[i] == urls == of_bits[_NONEMPTY_AT]
            and measures.most[i] < self.support
            and (bit == 0 or of_bits[_place(bit)] == urls)
        )

    def _date_bit(self, measures: _Measures, i: int, role: int) -> int:
        """Return the date shape that most of a key's numbers (or names) have, or 0."""
        urls = measures.bit_urls[i]
        numbers = _DOMINANT * urls[_DIGITS_AT]
        parts = (bit for bit in _PARTS_OF_DATES if bit & ROLE_BITS[role])
        most, bit = max(
            (urls[_place(bit)], bit)
            for bit in (*_WHOLE_DATES, *parts)
            if not bit & _NUMBERS or urls[_place(bit)] >= numbers
        )
        return bit if most >= self.support else 0

    def _branches(self, task: _Task, key: int, bit: int, dates: int) -> list[tuple[int, int]]:
        """Divide a node's URLs by a key; return (branch, URLs) of each part, or nothing if one.

        Values with the shape `bit` share a branch; those with one of the shapes `dates` are not
        salient.
        """
        keys = self.keys
        rows = self.order[task.start : task.stop]
        column = keys.codes[key]
        distinct = _count(column, rows, self.counts, self.touched)
        codes = self.touched[:distinct].copy()
        counts = self.counts[codes].astype(np.int64)
        self.counts[codes] = 0
        is_path = self.kind[key] == PATH
        public = self.public.is_value_public
        branch = _assign(
            codes,
            counts,
            self._lasting(key, codes, counts, column, rows),
            keys.first[key],
            keys.shape,
            public,
            bit,
            dates,
            is_path,
            self.support,
            self.by_support,
        )
        named = np.flatnonzero(branch > 0).tolist()
        named.sort(key=lambda i: (-counts[i], keys.value(key, int(codes[i]))))
        pooled = [b for b in (SHAPED, OTHER, ABSENT) if (branch == b).any()]
        if len(named) + len(pooled) < 2:
            return []
        place = np.empty(len(codes), np.int32)
        place[named] = np.arange(len(named))
        for i, other in enumerate(pooled, len(named)):
            place[branch == other] = i
        order = codes[named].tolist() + pooled
        self.counts[codes] = place
        sizes = _partition(column, rows, self.counts, self.spare, len(order))
        self.counts[codes] = 0
        return list(zip(order, sizes.tolist(), strict=True))


_SLUG_CLASSES: Final = (SLUG_CLASS, SLUG_ID_CLASS, SLUG_DATE_CLASS)
_ROLE_NAMES: Final = (YEAR_CLASS, MONTH_CLASS, DAY_CLASS, DATE_CLASS)


def _class_name(class_urls: list[int], bit_urls: list[int], present: int, role: int) -> int:
    """Return the class that names a wildcard: that of nearly all its values."""
    least = _DOMINANT * present
    if role:
        whole = (MONTH_DAY | DASHED_DAY) & ROLE_BITS[role]
        if whole and sum(bit_urls[_place(bit)] for bit in (MONTH_DAY, DASHED_DAY)) >= least:
            return DATE_CLASS
        parts = (bit for bit in _PARTS_OF_DATES if bit & ROLE_BITS[role] & ~whole)
        if sum(bit_urls[_place(bit)] for bit in parts) >= least:
            return role
    counts = list(class_urls)
    counts[DIGITS_CLASS] += counts[TWO_DIGITS_CLASS]
    counts[TWO_DIGITS_CLASS] = 0
    most = max(counts)
    name = counts.index(most)
    if name != SLUG_DATE_CLASS:
        # One slug with a number in ten seems to hold a date.
        most += counts[SLUG_DATE_CLASS]
    if most >= least:
        return name
    if bit_urls[_DIGITS_AT] >= least:
        return DIGITS_CLASS  # Some numbers look like dates by chance.
    # Among slugs, a single word is a slug as well.
    slugs = sum(counts[kind] for kind in _SLUG_CLASSES)
    if slugs + counts[WORD_CLASS] >= least and slugs >= counts[WORD_CLASS]:
        return SLUG_CLASS
    return ANY_CLASS


def _has_parts(bit_urls: list[int]) -> bool:
    """Return True if some values of a key may be part of a date."""
    return any(bit_urls[place] for place in _PART_PLACES)


def _place(bit: int) -> int:
    """Return the index of a bit, 0 for the lowest."""
    return bit.bit_length() - 1


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
def _measure(
    codes: Int32s,
    rows: Int32s,
    open_keys: Int32s,
    first: Int64s,
    shape: Int32s,
    counts: Int32s,
    touched: Int32s,
) -> tuple[Int64s, Int64s, Int32s, Int32s, Int64s, Int64s, Int64s, Floats]:
    """Return the columns of `_Measures`. `counts` is scratch, and is all zeros before and after."""
    keys = len(open_keys)
    urls = len(rows)
    present = np.zeros(keys, np.int64)
    distinct = np.zeros(keys, np.int64)
    constant = np.zeros(keys, np.int32)
    common = np.full(keys, -1, np.int32)
    most = np.zeros(keys, np.int64)
    bit_urls = np.zeros((keys, _BITS), np.int64)
    class_urls = np.zeros((keys, _CLASS_COUNT), np.int64)
    entropy = np.zeros(keys, np.float64)
    for i in range(keys):
        key = open_keys[i]
        value_count = _count(codes[key], rows, counts, touched)
        last, term = 0, 0.0
        last_shape, shape_urls = 0, 0
        for j in range(value_count):
            code = touched[j]
            count = counts[code]
            counts[code] = 0
            # Most values have one URL and the shape of the value before: computing the logarithm
            # and the bits of each value would be slow.
            if count != last:
                last, term = count, count / urls * np.log(count / urls)
            entropy[i] -= term
            if code == ABSENT:
                continue
            present[i] += count
            distinct[i] += 1
            constant[i] = code
            most[i] = max(most[i], count)
            value = shape[first[key] + code - 1]
            if value != last_shape:
                _add_shape(last_shape, shape_urls, bit_urls[i], class_urls[i])
                last_shape, shape_urls = value, 0
                common[i] &= bits_of(value)
            shape_urls += count
        _add_shape(last_shape, shape_urls, bit_urls[i], class_urls[i])
    return present, distinct, constant, common, most, bit_urls, class_urls, entropy


@leaf
def _add_shape(value: int, urls: int, bit_urls: Int64s, class_urls: Int64s) -> None:
    """Add URLs whose values have a shape to the counts by shape bit and by class."""
    bits = bits_of(value)
    class_urls[class_of(value)] += urls
    for bit in range(_BITS):
        if bits >> bit & 1:
            bit_urls[bit] += urls


@leaf
def _count(column: Int32s, rows: Int32s, counts: Int32s, touched: Int32s) -> int:
    """Count the codes of some URLs into `counts`, list them in `touched`, and return how many."""
    distinct = at = 0
    while at < len(rows):
        # URLs come in order: values come in runs.
        code, begin = column[rows[at]], at
        while at < len(rows) and column[rows[at]] == code:
            at += 1
        if counts[code] == 0:
            touched[distinct] = code
            distinct += 1
        counts[code] += at - begin
    return distinct


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
