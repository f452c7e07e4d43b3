"""The pattern trees of many sites as one set of flat tables, and one walk over all of them.

Here: a tree written down so that it can travel (`portable`), many such trees compiled together
(`plant`), and the walk of one URL that compiled callers inline (`walk`). Not here: one tree in the
memory of the program that learned it (`pattern_match`), how patterns are written (`pattern_text`).

A policy holds thousands of small trees and meets the URLs of all their sites mixed. A matcher per
site would cost a call per URL; here a batch is one call whatever sites it holds.

A URL walks from the root by its own values for as long as there is a branch for it and the node
passes. The node where it stops is the most specific pattern that holds it. Query keys that the tree
does not know are ignored; any other unknown key (a deeper path, a port) means that the URL is of no
pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final, NamedTuple, TypedDict

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes, Int32s, Int64s
from temporal_assets.core.numerics.compiled import inlined, loop
from temporal_assets.core.numerics.distinct import distinct_numbers
from temporal_assets.core.patterns.pattern_tree import OTHER, SHAPED, PatternTree
from temporal_assets.core.text import url_split
from temporal_assets.core.text.texts import MULTIPLIER, SEED, equal_bytes, hash_bytes, texts
from temporal_assets.core.text.url_fields import slot_in_loops, slot_of
from temporal_assets.core.text.url_keys import ABSENT
from temporal_assets.core.text.value_shapes import NONEMPTY, value_bits

NOWHERE: Final = -1
"""Result for a URL that is not even under the root of its tree."""

KINDS: Final = ("scheme", "port", "host", "path", "extension", "query")
"""Names of the kinds of keys, from `url_split.SCHEME` to `QUERY`, by number."""

_SLOTS: Final = slot_of(url_split.QUERY, 0)
_UNKNOWN: Final = -1


class PortableTree(TypedDict):
    """A tree as lists of words and small integers; nodes are in preorder, node 0 is the root.

    Values are numbers: 0 is the missing key, n > 0 is `texts[n - 1]`, -1 any other value, -2 a
    value of the shape that the parent sets apart; -3 stands at the root, which no value leads to.
    Shapes are sums of bits (`core.text.value_shapes`).
    """

    keys: list[tuple[str, int, str]]
    """Keys as (kind, index, name): `("path", 0, "")`, `("query", 0, "id")`."""
    texts: list[str]
    parent: list[int]
    value: list[int]
    """The value of the parent's key that leads to the node."""
    key: list[int]
    """Index into `keys` of the key that divides the node; -1 for leaves, which are the patterns."""
    shape: list[int]
    """The shape that has a branch of its own, 0 for none."""
    tests: list[int]
    """Number of tests of each node; the three lists below hold those of all nodes in order."""
    test_key: list[int]
    test_value: list[int]
    test_shape: list[int]


def portable(tree: PatternTree) -> PortableTree:
    """Return a tree, whole or cut, as plain data without the URLs it was learned from."""
    numbers: dict[bytes, int] = {}

    def number(key: int, code: int) -> int:
        """Return the value's position in `texts`, from 1; special codes stay as they are."""
        if code <= 0:
            return code
        return numbers.setdefault(tree.keys.value(key, code), len(numbers) + 1)

    parent = tree.hierarchy.parent.tolist()
    split = tree.split_key.tolist()
    value = [
        number(split[above], code) if above >= 0 else code
        for above, code in zip(parent, tree.branch.tolist(), strict=True)
    ]
    keys = tree.test_key.tolist()
    test_value = [
        number(key, code) for key, code in zip(keys, tree.test_value.tolist(), strict=True)
    ]
    named = tree.keys.keys
    return PortableTree(
        keys=[
            (KINDS[kind], index, name.decode("utf-8", "replace"))
            for kind, index, name in zip(
                named.kind.tolist(), named.index.tolist(), named.name, strict=True
            )
        ],
        texts=[text.decode("utf-8", "replace") for text in numbers],
        parent=parent,
        value=value,
        key=split,
        shape=tree.split_bit.tolist(),
        tests=np.diff(tree.first_test).tolist(),
        test_key=keys,
        test_value=test_value,
        test_shape=tree.test_bits.tolist(),
    )


class _Lookup(NamedTuple):
    """A hash table from (text, salt) to a number."""

    table: Int32s
    data: Bytes
    offsets: Int64s
    salt: Int32s
    number: Int32s


class Forest(NamedTuple):
    """Trees in flat arrays, ready for the walk; the nodes of all trees are numbered in sequence."""

    root: Int64s
    """First node of each tree; the number of all nodes at the end."""
    first_key: Int32s
    """First key of each tree, numbered over all trees; the number of all keys at the end."""
    slots: Int32s
    """Shape (trees, slots): key in each fixed place of a URL, -1 if the tree has none."""
    kinds: Int32s
    longest: Int64s
    """Length in bytes of the longest value that the tree knows of each key; -1 if it knows none."""
    names: _Lookup
    values: _Lookup
    split_key: Int32s
    split_bit: Int32s
    absent: Int32s
    shaped: Int32s
    other: Int32s
    first_named: Int64s
    named_code: Int32s
    named_node: Int32s
    first_test: Int64s
    test_key: Int32s
    test_value: Int32s
    test_bits: Int32s
    ignores_scheme: bool
    ignores_host: bool
    seed: np.uint64


class Desk(NamedTuple):
    """Working memory for the walk of one URL; each thread has its own."""

    fields: Int64s
    codes: Int32s
    bits: Int32s
    starts: Int64s
    stops: Int64s


def plant(
    trees: Sequence[PortableTree], *, ignores_scheme: bool = False, ignores_host: bool = False
) -> Forest:
    """Compile trees into one forest.

    With `ignores_scheme` http and https are one: right where all URLs were learned under one
    scheme, and crawlers meet both. With `ignores_host` as well, URLs are only looked up in the tree
    of their host, so that the tree need not check it again; ports still count.
    """
    nodes = np.fromiter((len(tree["parent"]) for tree in trees), np.int64, len(trees))
    counts = np.fromiter((len(tree["keys"]) for tree in trees), np.int64, len(trees))
    root, first_key = _starts(nodes), _starts(counts)
    tree_of_node = np.repeat(np.arange(len(trees)), nodes)
    parent = _column(trees, "parent")
    parent = np.where(parent >= 0, parent + root[tree_of_node], -1)
    value, split, bit = (_column(trees, name) for name in ("value", "key", "shape"))
    number_of_tests = _column(trees, "tests")
    test_key, test_value, test_bits = (
        _column(trees, name) for name in ("test_key", "test_value", "test_shape")
    )
    kinds, slots, names = _keys(trees, first_key)
    node_of_test = np.repeat(np.arange(len(parent)), number_of_tests)
    ignored = _ignored(ignores_scheme, ignores_host)
    if ignored:
        key = first_key[tree_of_node[node_of_test]] + test_key
        kept = ~np.isin(kinds[key], ignored)
        node_of_test, test_key = node_of_test[kept], test_key[kept]
        test_value, test_bits = test_value[kept], test_bits[kept]
    branches = np.flatnonzero((value > 0) & (parent >= 0))
    branches = branches[np.lexsort((value[branches], parent[branches]))]
    tests = np.flatnonzero(test_value > 0)
    tree_of_text = np.concatenate((tree_of_node[branches], tree_of_node[node_of_test[tests]]))
    own_key = np.concatenate((split[parent[branches]], test_key[tests]))
    key_of_text = first_key[tree_of_text] + own_key
    code_of_text = np.concatenate((value[branches], test_value[tests]))
    values = _values(trees, first_key, key_of_text, code_of_text)
    longest = np.full(len(kinds), -1, np.int64)
    np.maximum.at(longest, values.salt, np.diff(values.offsets))
    children = {kind: _children(value, parent, kind) for kind in (ABSENT, SHAPED, OTHER)}
    return Forest(
        root,
        first_key.astype(np.int32),
        slots,
        kinds,
        longest,
        names,
        values,
        split.astype(np.int32),
        bit.astype(np.int32),
        children[ABSENT],
        children[SHAPED],
        children[OTHER],
        np.searchsorted(parent[branches], np.arange(len(parent) + 1)).astype(np.int64),
        value[branches].astype(np.int32),
        branches.astype(np.int32),
        np.searchsorted(node_of_test, np.arange(len(parent) + 1)).astype(np.int64),
        test_key.astype(np.int32),
        test_value.astype(np.int32),
        test_bits.astype(np.int32),
        url_split.SCHEME in ignored,
        url_split.HOST in ignored,
        SEED,
    )


def desk_for(forest: Forest) -> Desk:
    """Return working memory for the walks of one thread."""
    keys = max(1, int(np.diff(forest.first_key).max(initial=0)))
    return Desk(
        np.zeros(url_split.TABLE_SHAPE, np.int64),
        np.empty(keys, np.int32),
        np.empty(keys, np.int32),
        np.empty(keys, np.int64),
        np.empty(keys, np.int64),
    )


def _ignored(scheme: bool, host: bool) -> list[int]:
    """Return the kinds of keys that the walk skips."""
    return [kind for kind, is_ignored in ((url_split.SCHEME, scheme), (url_split.HOST, host))
            if is_ignored]  # fmt: skip


def _starts(counts: Int64s) -> Int64s:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))


def _column(trees: Sequence[PortableTree], name: str) -> Int64s:
    lists = [tree[name] for tree in trees]  # type: ignore[literal-required]
    return np.fromiter(chain.from_iterable(lists), np.int64, sum(map(len, lists)))


def _children(value: Int64s, parent: Int64s, kind: int) -> Int32s:
    """Return the child of each node under a special value, or -1."""
    child = np.full(len(value), -1, np.int32)
    nodes = np.flatnonzero((value == kind) & (parent >= 0))
    child[parent[nodes]] = nodes
    return child


def _keys(trees: Sequence[PortableTree], first_key: Int64s) -> tuple[Int32s, Int32s, _Lookup]:
    """Return the kind of each key, each tree's slots, and the lookup of query keys by name."""
    numbers = {kind: number for number, kind in enumerate(KINDS)}
    kinds = np.empty(int(first_key[-1]), np.int32)
    slots = np.full((len(trees), _SLOTS), -1, np.int32)
    query: list[tuple[str, int, int]] = []
    slot = {
        (kind, index): slot_of(kind, index)
        for kind in range(url_split.QUERY)
        for index in range(max(url_split.MAX_LABELS, url_split.MAX_SEGMENTS))
    }
    for number, tree in enumerate(trees):
        base = int(first_key[number])
        for key, (word, index, name) in enumerate(tree["keys"]):
            kind = numbers[word]
            kinds[base + key] = kind
            if kind == url_split.QUERY:
                query.append((name, number * url_split.MAX_REPEATS + index, key))
            else:
                slots[number, slot[kind, index]] = key
    return kinds, slots, _lookup(*_columns(query))


def _columns(rows: list[tuple[str, int, int]]) -> tuple[list[str], Int32s, Int32s]:
    return (
        [text for text, _, _ in rows],
        np.array([salt for _, salt, _ in rows], np.int32),
        np.array([number for _, _, number in rows], np.int32),
    )


def _values(trees: Sequence[PortableTree], first_key: Int64s, key: Int64s, code: Int64s) -> _Lookup:
    """Return the table from (text, key) to the number of the value in its tree."""
    codes = int(code.max(initial=0)) + 1
    # One number for both: distinct rows of two columns take ten times as long.
    key, code = np.divmod(distinct_numbers(key * codes + code), codes)
    tree = np.searchsorted(first_key, key, side="right") - 1
    strings = [
        trees[number]["texts"][value - 1]
        for number, value in zip(tree.tolist(), code.tolist(), strict=True)
    ]
    return _lookup(strings, key.astype(np.int32), code.astype(np.int32))


def _lookup(strings: list[str], salt: Int32s, number: Int32s) -> _Lookup:
    size = 4
    while size < 4 * len(strings):
        size *= 2
    table = np.full(size, -1, np.int32)
    flat = texts(strings)
    _enter(table, flat.data, flat.offsets, salt, SEED)
    return _Lookup(table, flat.data, flat.offsets, salt, number)


@loop
def _enter(table: Int32s, data: Bytes, offsets: Int64s, salt: Int32s, seed: np.uint64) -> None:
    mask = len(table) - 1
    for i in range(len(salt)):
        hashed = hash_bytes(data, offsets[i], offsets[i + 1], 0, seed)
        at = _place(hashed, salt[i], mask)
        while table[at] >= 0:
            at = (at + 1) & mask
        table[at] = i


@inlined
def _place(hashed: np.uint64, salt: int, mask: int) -> int:
    """Return the first index to probe for a text, from the hash that the split has computed."""
    mixed = (hashed ^ np.uint64(salt)) * MULTIPLIER
    return int(np.int64(mixed >> np.uint64(32)) & mask)


@inlined
def _find(lookup: _Lookup, data: Bytes, start: int, stop: int, hashed: np.uint64, salt: int) -> int:
    """Return the number of a text, given its hash; -1 if it is unknown."""
    mask = len(lookup.table) - 1
    at = _place(hashed, salt, mask)
    while lookup.table[at] >= 0:
        entry = lookup.table[at]
        begin = lookup.offsets[entry]
        if (
            lookup.salt[entry] == salt
            and lookup.offsets[entry + 1] - begin == stop - start
            and equal_bytes(data, start, lookup.data, begin, stop - start)
        ):
            return int(lookup.number[entry])
        at = (at + 1) & mask
    return -1


@inlined
def walk(forest: Forest, tree: int, data: Bytes, start: int, stop: int, desk: Desk) -> int:
    """Return the most specific node for the canonical URL `data[start:stop]`, or NOWHERE."""
    base = forest.first_key[tree]
    desk.codes[: forest.first_key[tree + 1] - base] = ABSENT
    for i in range(url_split.split_url(data, start, stop, desk.fields, forest.seed)):
        kind, index = desk.fields[i, url_split.KIND], desk.fields[i, url_split.INDEX]
        begin, end = desk.fields[i, url_split.START], desk.fields[i, url_split.STOP]
        if kind == url_split.SCHEME and forest.ignores_scheme:
            continue
        if kind == url_split.HOST and forest.ignores_host:
            continue
        if kind == url_split.QUERY:
            name, name_end = (
                desk.fields[i, url_split.NAME_START],
                desk.fields[i, url_split.NAME_STOP],
            )
            hashed = np.uint64(desk.fields[i, url_split.NAME_HASH])
            salt = tree * url_split.MAX_REPEATS + index
            key = _find(forest.names, data, name, name_end, hashed, salt)
            if key < 0:
                continue
        else:
            key = forest.slots[tree, slot_in_loops(kind, index)]
            if key < 0:
                return NOWHERE
        desk.starts[key], desk.stops[key] = begin, end
        desk.bits[key] = _UNKNOWN
        desk.codes[key] = OTHER
        if end - begin <= forest.longest[base + key]:
            hashed = hash_bytes(data, begin, end, 0, forest.seed)
            desk.codes[key] = _find(forest.values, data, begin, end, hashed, base + key)
    at = NOWHERE
    following = forest.root[tree]
    while following >= 0 and _passes(forest, following, data, desk):
        at = following
        if forest.split_key[at] < 0:
            break
        following = _branch(forest, at, base, data, desk)
    return int(at)


@inlined
def _branch(forest: Forest, node: int, base: int, data: Bytes, desk: Desk) -> int:
    """Return the child that a URL belongs to, -1 if there is none."""
    key = forest.split_key[node]
    code = desk.codes[key]
    if code == ABSENT:
        return int(forest.absent[node])
    low, end = forest.first_named[node], forest.first_named[node + 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if forest.named_code[middle] < code:
            low = middle + 1
        else:
            high = middle
    if low < end and forest.named_code[low] == code:
        return int(forest.named_node[low])
    shape = _shape(key, data, desk)
    if forest.split_bit[node] & shape:
        return int(forest.shaped[node])
    if forest.kinds[base + key] == url_split.PATH and not shape & NONEMPTY:
        return -1
    return int(forest.other[node])


@inlined
def _shape(key: int, data: Bytes, desk: Desk) -> int:
    """Return the shape of a value; it is computed once per URL and key."""
    if desk.bits[key] == _UNKNOWN:
        desk.bits[key] = value_bits(data, desk.starts[key], desk.stops[key])
    return int(desk.bits[key])


@inlined
def _passes(forest: Forest, node: int, data: Bytes, desk: Desk) -> bool:
    for test in range(forest.first_test[node], forest.first_test[node + 1]):
        key, value = forest.test_key[test], forest.test_value[test]
        if value == OTHER:
            if desk.codes[key] == ABSENT:
                return False
            required = forest.test_bits[test]
            if required and required & ~_shape(key, data, desk):
                return False
        elif desk.codes[key] != value:
            return False
    return True
