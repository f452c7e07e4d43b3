"""A pattern tree as rules, one line of text per node, and back, without the URLs learned from.

Here: the form in which trees are stored and shipped. Not here: the tables they are stored in.

A rule is a JSON object. What stands for a key is `[kind, index, name]` (`url_split`; the name is
that of a query key):

    branch  what leads here from the parent: ["value", text], ["absent"], ["other"], ["shaped"];
            null for the root
    split   the key that divides the node, null for a leaf; `bit` is the shape with its own branch
    tests   [key, ["value", text]], [key, ["absent"]] or [key, ["other", bits, class]]
    keys    root only: every key that the tree knows

The texts are those the tree names; other values of its URLs are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from temporal_assets.core.numerics.arrays import Int8s, Int32s
from temporal_assets.core.numerics.hierarchy import hierarchy
from temporal_assets.core.patterns.pattern_forest import KINDS, PortableTree
from temporal_assets.core.patterns.pattern_tree import NO_KEY, OTHER, ROOT, SHAPED, PatternTree
from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_keys import ABSENT, Keys, UrlKeys
from temporal_assets.core.text.url_split import QUERY
from temporal_assets.core.text.value_shapes import shapes

_VALUE: Final = "value"
_KINDS: Final = {ABSENT: "absent", OTHER: "other", SHAPED: "shaped"}
_CODES: Final = {name: code for code, name in _KINDS.items()}


def rules_of(tree: PatternTree) -> list[str]:
    """Return one rule per node, in the order of the nodes."""
    return _RuleWriter(tree).rules()


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class _RuleWriter:
    """Writer of the rules of one tree, which have most of their parts in common."""

    def __init__(self, tree: PatternTree) -> None:
        self._tree = tree
        keys = tree.keys.keys
        self._names = [
            _encode([kind, index, name.decode("utf-8", "replace")])
            for kind, index, name in zip(
                keys.kind.tolist(), keys.index.tolist(), keys.name, strict=True
            )
        ]
        self._operands: dict[tuple[int, int], str] = {}

    def rules(self) -> list[str]:
        """Return the rules of all nodes."""
        tree = self._tree
        parent, split = tree.hierarchy.parent.tolist(), tree.split_key.tolist()
        first = tree.first_test.tolist()
        tests = self._tests()
        rules = []
        for node, (above, branch, key, bit) in enumerate(
            zip(parent, tree.branch.tolist(), split, tree.split_bit.tolist(), strict=True)
        ):
            own = ",".join(tests[first[node] : first[node + 1]])
            operand = "null" if above < 0 else self._operand(split[above], branch)
            name = self._names[key] if key >= 0 else "null"
            keys = f',"keys":[{self._used_keys()}]' if above < 0 else ""
            rules.append(f'{{"branch":{operand},"split":{name},"bit":{bit},"tests":[{own}]{keys}}}')
        return rules

    def _used_keys(self) -> str:
        """Return the keys that the tree knows.

        A path, port or host that the site never had is of no pattern; other query keys are free.
        """
        tree = self._tree
        used = {*tree.split_key.tolist(), *tree.test_key.tolist()}
        kinds = tree.keys.keys.kind.tolist()
        return ",".join(
            name
            for key, (name, kind) in enumerate(zip(self._names, kinds, strict=True))
            if key in used or kind != QUERY
        )

    def _tests(self) -> list[str]:
        """Return the tests of all nodes, one after the other."""
        tree = self._tree
        columns = (tree.test_key, tree.test_value, tree.test_bits, tree.test_class)
        asked = list(zip(*(column.tolist() for column in columns), strict=True))
        written = {test: self._test(*test) for test in set(asked)}
        return [written[test] for test in asked]

    def _test(self, key: int, value: int, bits: int, name: int) -> str:
        if value == OTHER:
            return f'[{self._names[key]},["{_KINDS[OTHER]}",{bits},{name}]]'
        return f"[{self._names[key]},{self._operand(key, value)}]"

    def _operand(self, key: int, code: int) -> str:
        operand = self._operands.get((key, code))
        if operand is None:
            values = self._tree.keys
            fixed = [_VALUE, values.value(key, code).decode("utf-8", "replace")] if code > 0 else []
            operand = self._operands[key, code] = _encode(fixed or [_KINDS[code]])
        return operand


class _Values:
    """Numbering of the keys and texts that occur in rules."""

    def __init__(self, keys: Sequence[Sequence[Any]]) -> None:
        self.keys = [tuple(key) for key in keys]
        self.number = {key: number for number, key in enumerate(self.keys)}
        self.codes: list[dict[str, int]] = [{} for _ in keys]

    def key(self, name: Sequence[Any] | None) -> int:
        return -1 if name is None else self.number[tuple(name)]

    def code(self, key: int, operand: Sequence[Any] | None) -> int:
        if operand is None:
            return ROOT
        if operand[0] != _VALUE:
            return _CODES[operand[0]]
        codes = self.codes[key]
        return codes.setdefault(operand[1], len(codes) + 1)

    def url_keys(self) -> UrlKeys:
        """Return the keys and values as a table without URLs."""
        strings = texts([text for codes in self.codes for text in codes])
        counts = [len(codes) for codes in self.codes]
        start, stop = strings.offsets[:-1], strings.offsets[1:]
        return UrlKeys(
            strings,
            Keys(
                np.array([kind for kind, _, _ in self.keys], np.int8),
                np.array([index for _, index, _ in self.keys], np.int32),
                tuple(name.encode() for _, _, name in self.keys),
            ),
            np.zeros((len(self.keys), 0), np.int32),
            np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            start,
            stop,
            shapes(strings.data, start, stop),
            np.zeros(len(start), np.int32),
            0,
        )


def tree_of(parents: Sequence[int], rules: Sequence[str]) -> PatternTree:
    """Return the tree that the rules describe; its nodes have no URLs.

    Give all nodes of a site in their order, or those that remain of a cut with their parents
    renumbered. `pattern_match.compile_matcher` takes the result.
    """
    parsed = json.loads(f"[{','.join(rules)}]")
    values = _Values(parsed[0]["keys"])
    split = [values.key(rule["split"]) for rule in parsed]
    branch = [
        values.code(split[parent] if parent >= 0 else -1, rule["branch"])
        for parent, rule in zip(parents, parsed, strict=True)
    ]
    tests = [
        (node, key, values.code(key, operand), *(operand[1:] if operand[0] == "other" else (0, 0)))
        for node, rule in enumerate(parsed)
        for key, operand in ((values.key(name), operand) for name, operand in rule["tests"])
    ]
    columns = np.array(tests, np.int64).reshape(-1, 5)
    nothing = np.zeros(len(parsed), np.int64)
    return PatternTree(
        values.url_keys(),
        hierarchy(np.asarray(parents, np.int32)),
        _small(branch),
        _small(split),
        _small([rule["bit"] for rule in parsed]),
        np.zeros(0, np.int32),
        nothing,
        nothing,
        np.searchsorted(columns[:, 0], np.arange(len(parsed) + 1)).astype(np.int64),
        _small(columns[:, 1]),
        _small(columns[:, 2]),
        _small(columns[:, 3]),
        _classes(columns[:, 4]),
    )


def _small(numbers: Any) -> Int32s:
    return np.asarray(numbers, np.int32)


def _classes(numbers: Any) -> Int8s:
    return np.asarray(numbers, np.int8)


def portable_of(
    parents: Sequence[int], rules: Sequence[str], is_cut: Sequence[bool] | None = None
) -> PortableTree:
    """Return the tree that the rules describe as plain data, as `portable(tree_of(...))` does.

    Args:
        parents: Parent of each node, -1 for the root.
        rules: Rule of each node.
        is_cut: Flags of nodes whose children are left out, which become leaves.
    """
    parsed = json.loads(f"[{','.join(rules)}]")
    keys: list[tuple[int, int, str]] = [tuple(key) for key in parsed[0]["keys"]]
    number = {key: place for place, key in enumerate(keys)}
    codes: dict[str, int] = {}

    def code(operand: list[Any]) -> int:
        """Return the number of a value, from 1, or the code of what stands for others."""
        if operand[0] == _VALUE:
            return codes.setdefault(operand[1], len(codes) + 1)
        return _CODES[operand[0]]

    value = [ROOT if rule["branch"] is None else code(rule["branch"]) for rule in parsed]
    key = [NO_KEY if rule["split"] is None else number[tuple(rule["split"])] for rule in parsed]
    shape = [rule["bit"] for rule in parsed]
    for node, flag in enumerate(is_cut or ()):
        if flag:
            key[node], shape[node] = NO_KEY, 0
    tests = [test for rule in parsed for test in rule["tests"]]
    test_value = [code(operand) for _, operand in tests]
    return PortableTree(
        keys=[(KINDS[kind], index, name) for kind, index, name in keys],
        texts=list(codes),
        parent=list(parents),
        value=value,
        key=key,
        shape=shape,
        tests=[len(rule["tests"]) for rule in parsed],
        test_key=[number[tuple(name)] for name, _ in tests],
        test_value=test_value,
        test_shape=[operand[1] if operand[0] == "other" else 0 for _, operand in tests],
    )
