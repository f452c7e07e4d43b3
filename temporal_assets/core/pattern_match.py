"""Unseen URLs to the most specific pattern, in bulk.

Here: a tree compiled to flat tables, and the loop that walks it. Not here: how patterns are
written (`pattern_text`).

A URL walks from the root by its own values for as long as there is a branch for it and the node
passes. The node where it stops is the most specific pattern that holds it; it is *covered* if that
node is a leaf. Query keys that the site's tree does not know are ignored; any other unknown key
(a deeper path, a port) means that the URL is of no pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numba import njit

from temporal_assets.core import url_split
from temporal_assets.core.pattern_tree import OTHER, SHAPED, PatternTree
from temporal_assets.core.texts import (
    SEED,
    Bytes,
    Flags,
    Int8s,
    Int32s,
    Int64s,
    Texts,
    equal_bytes,
    hash_bytes,
    texts,
)
from temporal_assets.core.url_keys import ABSENT, slot_of
from temporal_assets.core.value_shapes import NONEMPTY, value_bits

NOWHERE = -1
"""The URL is not even under the root: another site, or a form the site never had."""

_SLOTS: Final = slot_of(url_split.QUERY, 0)
_UNKNOWN: Final = -1


class _Lookup(NamedTuple):
    """Texts with a salt each -> a number."""

    table: Int32s
    data: Bytes
    offsets: Int64s
    salt: Int32s
    number: Int32s


class _Nodes(NamedTuple):
    """The tree as the loop needs it."""

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


@dataclass(frozen=True, slots=True)
class PatternMatcher:
    """A compiled pattern tree."""

    _slots: Int32s
    _kinds: Int8s
    _longest: Int64s
    """Bytes of the longest value of each key that the tree names; -1 if it names none."""
    _names: _Lookup
    _values: _Lookup
    _nodes: _Nodes
    _seed: np.uint64
    is_leaf: Flags
    """One flag a node of the tree."""

    def match(self, urls: Texts) -> Int32s:
        """The most specific node of each canonical URL, NOWHERE if there is none."""
        nodes: Int32s = _match(
            urls.data,
            urls.offsets,
            self._slots,
            self._kinds,
            self._longest,
            self._names,
            self._values,
            self._nodes,
            self._seed,
        )
        return nodes

    def match_leaves(self, urls: Texts) -> Int32s:
        """The leaf of each canonical URL, NOWHERE if none covers it."""
        nodes = self.match(urls)
        covered = (nodes >= 0) & self.is_leaf[nodes]
        return np.where(covered, nodes, NOWHERE).astype(np.int32)


def compile_matcher(tree: PatternTree) -> PatternMatcher:
    """Compile a tree, whole or cut."""
    keys = tree.keys.keys
    slots = np.full(_SLOTS, -1, np.int32)
    names: list[tuple[bytes, int, int]] = []
    for key, (kind, index) in enumerate(zip(keys.kind.tolist(), keys.index.tolist(), strict=True)):
        if kind == url_split.QUERY:
            names.append((keys.name[key], index, key))
        else:
            slots[slot_of(kind, index)] = key
    values = [(tree.keys.value(key, code), key, code) for key, code in sorted(set(_named(tree)))]
    longest = np.full(len(keys), -1, np.int64)
    for text, key, _ in values:
        longest[key] = max(longest[key], len(text))
    named, valued = _lookup(names, salted=False), _lookup(values, salted=True)
    leaf = tree.hierarchy.is_leaf
    return PatternMatcher(slots, keys.kind, longest, named, valued, _nodes(tree), SEED, leaf)


def _named(tree: PatternTree) -> Iterator[tuple[int, int]]:
    """(key, value) wherever the tree tells a value from others."""
    inner = np.flatnonzero(tree.branch > 0)
    yield from zip(
        tree.split_key[tree.hierarchy.parent[inner]].tolist(),
        tree.branch[inner].tolist(),
        strict=True,
    )
    tests = np.flatnonzero(tree.test_value > 0)
    yield from zip(tree.test_key[tests].tolist(), tree.test_value[tests].tolist(), strict=True)


def _lookup(entries: list[tuple[bytes, int, int]], *, salted: bool) -> _Lookup:
    """A hash table of (text, salt, number); the hash is that of the text alone unless `salted`."""
    strings = texts([text.decode("utf-8", "surrogateescape") for text, _, _ in entries])
    salt = np.array([salt for _, salt, _ in entries], np.int32)
    number = np.array([number for _, _, number in entries], np.int32)
    size = 4
    while size < 4 * len(entries):
        size *= 2
    table = np.full(size, -1, np.int32)
    hashed_with = salt if salted else np.zeros(len(salt), np.int32)
    _enter(table, strings.data, strings.offsets, hashed_with, SEED)
    return _Lookup(table, strings.data, strings.offsets, salt, number)


def _nodes(tree: PatternTree) -> _Nodes:
    count = len(tree)
    parent = tree.hierarchy.parent
    children = {kind: np.full(count, -1, np.int32) for kind in (ABSENT, SHAPED, OTHER)}
    for kind, child in children.items():
        of_kind = np.flatnonzero((tree.branch == kind) & (parent >= 0))
        child[parent[of_kind]] = of_kind
    named = np.flatnonzero(tree.branch > 0)
    named = named[np.lexsort((tree.branch[named], parent[named]))]
    return _Nodes(
        tree.split_key,
        tree.split_bit,
        children[ABSENT],
        children[SHAPED],
        children[OTHER],
        np.searchsorted(parent[named], np.arange(count + 1)).astype(np.int64),
        tree.branch[named],
        named.astype(np.int32),
        tree.first_test,
        tree.test_key,
        tree.test_value,
        tree.test_bits,
    )


@njit(nogil=True, cache=True)
def _enter(table: Int32s, data: Bytes, offsets: Int64s, salt: Int32s, seed: np.uint64) -> None:
    mask = len(table) - 1
    for i in range(len(salt)):
        at = np.int64(hash_bytes(data, offsets[i], offsets[i + 1], salt[i], seed)) & mask
        while table[at] >= 0:
            at = (at + 1) & mask
        table[at] = i


@njit(nogil=True, cache=True, forceinline=True)
def _find(lookup: _Lookup, data: Bytes, start: int, stop: int, salt: int, seed: np.uint64) -> int:
    """The number of a text, -1 if it is unknown."""
    hashed = int(np.int64(hash_bytes(data, start, stop, salt, seed)))
    return _find_hashed(lookup, data, start, stop, salt, hashed)


@njit(nogil=True, cache=True, forceinline=True)
def _find_hashed(
    lookup: _Lookup, data: Bytes, start: int, stop: int, salt: int, hashed: int
) -> int:
    """The same, given the hash under which the text was entered."""
    mask = len(lookup.table) - 1
    at = hashed & mask
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


@njit(nogil=True, cache=True)
def _match(
    data: Bytes,
    offsets: Int64s,
    slots: Int32s,
    kinds: Int8s,
    longest: Int64s,
    names: _Lookup,
    values: _Lookup,
    nodes: _Nodes,
    seed: np.uint64,
) -> Int32s:
    matched = np.empty(len(offsets) - 1, np.int32)
    fields = np.zeros(url_split.TABLE_SHAPE, np.int64)
    codes = np.empty(len(kinds), np.int32)
    bits = np.empty(len(kinds), np.int32)
    starts = np.empty(len(kinds), np.int64)
    stops = np.empty(len(kinds), np.int64)
    for url in range(len(matched)):
        codes[:] = ABSENT
        count = url_split.split_url(data, offsets[url], offsets[url + 1], fields, seed)
        known = True
        for i in range(count):
            kind, index = fields[i, url_split.KIND], fields[i, url_split.INDEX]
            start, stop = fields[i, url_split.START], fields[i, url_split.STOP]
            if kind == url_split.QUERY:
                begin, end = fields[i, url_split.NAME_START], fields[i, url_split.NAME_STOP]
                hashed = fields[i, url_split.NAME_HASH]
                key = _find_hashed(names, data, begin, end, index, hashed)
                if key < 0:
                    continue
            else:
                key = slots[slot_of(kind, index)]
                if key < 0:
                    known = False
                    break
            starts[key], stops[key] = start, stop
            codes[key] = OTHER
            if stop - start <= longest[key]:
                codes[key] = _find(values, data, start, stop, key, seed)
            bits[key] = _UNKNOWN
        if known:
            matched[url] = _walk(data, codes, bits, starts, stops, kinds, nodes)
        else:
            matched[url] = NOWHERE
    return matched


@njit(nogil=True, cache=True, forceinline=True)
def _walk(
    data: Bytes,
    codes: Int32s,
    bits: Int32s,
    starts: Int64s,
    stops: Int64s,
    kinds: Int8s,
    nodes: _Nodes,
) -> int:
    at = NOWHERE
    following = 0
    while following >= 0 and _passes(following, data, codes, bits, starts, stops, nodes):
        at = following
        key = nodes.split_key[at]
        if key < 0:
            break
        following = _branch(at, key, data, codes, bits, starts, stops, kinds, nodes)
    return at


@njit(nogil=True, cache=True, forceinline=True)
def _branch(
    node: int,
    key: int,
    data: Bytes,
    codes: Int32s,
    bits: Int32s,
    starts: Int64s,
    stops: Int64s,
    kinds: Int8s,
    nodes: _Nodes,
) -> int:
    """The child that a URL belongs to, -1 if there is none."""
    code = codes[key]
    if code == ABSENT:
        return int(nodes.absent[node])
    low, high = nodes.first_named[node], nodes.first_named[node + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if nodes.named_code[middle] < code:
            low = middle + 1
        else:
            high = middle
    if low < end and nodes.named_code[low] == code:
        return int(nodes.named_node[low])
    shape = _bits(key, data, bits, starts, stops)
    if nodes.split_bit[node] & shape:
        return int(nodes.shaped[node])
    if kinds[key] == url_split.PATH and not shape & NONEMPTY:
        return -1
    return int(nodes.other[node])


@njit(nogil=True, cache=True, forceinline=True)
def _bits(key: int, data: Bytes, bits: Int32s, starts: Int64s, stops: Int64s) -> int:
    """Shape of a value, recognised once a URL."""
    if bits[key] == _UNKNOWN:
        bits[key] = value_bits(data, starts[key], stops[key])
    return int(bits[key])


@njit(nogil=True, cache=True, forceinline=True)
def _passes(
    node: int,
    data: Bytes,
    codes: Int32s,
    bits: Int32s,
    starts: Int64s,
    stops: Int64s,
    nodes: _Nodes,
) -> bool:
    for test in range(nodes.first_test[node], nodes.first_test[node + 1]):
        key, value = nodes.test_key[test], nodes.test_value[test]
        if value == OTHER:
            if codes[key] == ABSENT:
                return False
            required = nodes.test_bits[test]
            if required and required & ~_bits(key, data, bits, starts, stops):
                return False
        elif codes[key] != value:
            return False
    return True
