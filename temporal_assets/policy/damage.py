"""Validation of a policy document: types, bounds and references of every field.

Values are checked a column at a time: a policy has a hundred thousand entries and is read in a
second. The compiled matcher does not check them again: a tree node that is its own child would
never end. Not here: versions and files (`document`), and the same rules for other programs
(`schema.json`).
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from temporal_assets.core.patterns.pattern_forest import KINDS
from temporal_assets.core.text.url_split import MAX_LABELS, MAX_REPEATS, MAX_SEGMENTS

LAST_TIER: Final = 16

_SHOWN: Final = 40
"""Number of characters of a wrong value in messages."""

_SIGNS: Final = re.compile(r"[!-\"$-~]+")
"""Allowed characters: ASCII without blanks and `#`, as in canonical URLs; exports rely on it."""

_URL: Final = re.compile(r"https?://[!-\"$-~]+")
_EXTENSION: Final = re.compile(r"[0-9a-z]+")
_MOST: Final = 2**31 - 1


class Damage(ValueError):
    """Error: a field has a wrong value; the message names both."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of value: its name and a test of many values at once."""

    words: str
    holds: Callable[[Sequence[Any]], bool]


def _all_of(*types: type) -> Callable[[Sequence[Any]], bool]:
    # By exact type: to Python, `true` is a number.
    return lambda values: set(map(type, values)) <= set(types)


def _texts(words: str, form: re.Pattern[str]) -> _Kind:
    is_text = _all_of(str)
    return _Kind(words, lambda values: is_text(values) and all(map(form.fullmatch, values)))


def _whole(least: int, most: int = _MOST, *, or_none: bool = False) -> _Kind:
    """Return the kind of whole numbers within bounds."""
    types: tuple[type, ...] = (int, type(None)) if or_none else (int,)
    is_whole = _all_of(*types)

    def holds(values: Sequence[Any]) -> bool:
        numbers = [value for value in values if value is not None] if or_none else values
        return is_whole(values) and (not numbers or least <= min(numbers) <= max(numbers) <= most)

    bounds = f"from {least} to {most}" if most < _MOST else f"from {least} on"
    return _Kind(f"a whole number {bounds}{' or null' if or_none else ''}", holds)


def _number(*, or_none: bool = False) -> _Kind:
    """Return the kind of finite numbers."""
    is_number = _all_of(int, float, *([type(None)] if or_none else []))

    def holds(values: Sequence[Any]) -> bool:
        return is_number(values) and all(
            abs(value) < math.inf for value in values if value is not None
        )

    return _Kind(f"a number{' or null' if or_none else ''}", holds)


def _is_day(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(dt.date.fromisoformat(value))
    except ValueError:
        return False


_TEXT: Final = _Kind("a text", _all_of(str))
_NAME: Final = _texts("a part of a canonical URL", _SIGNS)
_DAY: Final = _Kind("a day like 2025-05-01", lambda values: all(map(_is_day, values)))
_FLAG: Final = _Kind("true or false", _all_of(bool))
_LIST: Final = _Kind("a list", _all_of(list))
_OBJECT: Final = _Kind("an object", _all_of(dict))
_TIER: Final = _whole(1, LAST_TIER)


def _one_of(*words: str) -> _Kind:
    # A list may hold what cannot be hashed.
    return _Kind(f"one of {', '.join(words)}", lambda values: all(v in words for v in values))


_TOP: Final = {
    "generator": _TEXT,
    "day": _DAY,
    "window": _OBJECT,
    "settings": _OBJECT,
    "inputs": _LIST,
    "includes_subdomains": _FLAG,
    "provisional": _FLAG,
    "notes": _LIST,
    "urls": _OBJECT,
    "sites": _LIST,
    "hubs": _LIST,
    "sources": _LIST,
    "prefixes": _LIST,
    "patterns": _LIST,
    "trees": _LIST,
}
_WINDOW: Final = {"first": _DAY, "days": _whole(1), "missing_days": _LIST}
_URLS: Final = {
    "scheme": _one_of("https", "http", "keep"),
    "dropped_keys": _LIST,
    "kept_keys": _LIST,
    "static_extensions": _LIST,
}
_ENTRIES: Final[Mapping[str, Mapping[str, _Kind]]] = {
    "inputs": {"name": _TEXT, "digest": _TEXT},
    "sites": {
        "site": _NAME,
        "rank": _whole(1, or_none=True),
        "score": _number(or_none=True),
        "tier": _TIER,
        "provisional": _FLAG,
    },
    "hubs": {
        "url": _texts("a canonical URL", _URL),
        "site": _NAME,
        "rank": _whole(1),
        "tier": _TIER,
        "interval_seconds": _whole(1),
        "new_per_day": _number(or_none=True),
        "temporal_pages": _whole(0),
        "provisional": _FLAG,
    },
    "sources": {
        "url": _texts("a URL", _URL),
        "kind": _one_of("feed", "sitemap"),
        "is_news": _FLAG,
        "site": _NAME,
        "tier": _TIER,
        "interval_seconds": _whole(1),
        "new_per_day": _number(or_none=True),
    },
    "prefixes": {
        "prefix": _NAME,
        "site": _NAME,
        "tier": _TIER,
        "score": _number(),
        "pages": _whole(0),
        "provisional": _FLAG,
    },
    "patterns": {
        "site": _NAME,
        "template": _TEXT,
        "expression": _texts("a regular expression for canonical URLs", _SIGNS),
        "decision": _one_of("now", "later", "skip"),
        "tier": _TIER,
        "fetch": _number(),
        "discovery": _number(),
        "urgency": _number(or_none=True),
        "overrules": _FLAG,
        "visits": _whole(0, 2**63 - 1),
        "provisional": _FLAG,
    },
    "trees": {
        "site": _NAME,
        **dict.fromkeys(("keys", "texts", "parent", "value", "key", "shape"), _LIST),
        **dict.fromkeys(("tests", "test_key", "test_value", "test_shape", "pattern"), _LIST),
    },
}


def check(document: Mapping[str, Any]) -> None:
    """Raise `Damage` unless every field is present and valid."""
    _check_fields("", document, _TOP)
    _check_fields("window.", document["window"], _WINDOW)
    _check("window.missing_days", document["window"]["missing_days"], _DAY)
    _check("notes", document["notes"], _TEXT)
    _check_fields("urls.", document["urls"], _URLS)
    for name, kind in (
        ("dropped_keys", _TEXT),
        ("kept_keys", _TEXT),
        ("static_extensions", _texts("letters a to z and digits", _EXTENSION)),
    ):
        _check(f"urls.{name}", document["urls"][name], kind)
    for name, fields in _ENTRIES.items():
        _check_entries(name, document[name], fields)
    sites = {entry["site"] for entry in document["sites"]}
    is_site = _Kind("one of the policy's `sites`", sites.issuperset)
    for name in ("hubs", "sources", "prefixes", "patterns", "trees"):
        _check_column(name, document[name], "site", is_site)
    for place, tree in enumerate(document["trees"]):
        _check_tree(f"trees[{place}]", tree, len(document["patterns"]))


def _check_fields(where: str, document: Mapping[str, Any], fields: Mapping[str, _Kind]) -> None:
    for field, kind in fields.items():
        if field not in document:
            raise Damage(f"it lacks `{where}{field}`")
        if not kind.holds([document[field]]):
            raise _wrong(f"{where}{field}", document[field], kind)


def _check(where: str, values: Sequence[Any], kind: _Kind) -> None:
    if not kind.holds(values):
        place, value = _first(values, kind)
        raise _wrong(f"{where}[{place}]", value, kind)


def _check_entries(name: str, entries: Sequence[Any], fields: Mapping[str, _Kind]) -> None:
    _check(name, entries, _OBJECT)
    for field, kind in fields.items():
        _check_column(name, entries, field, kind)


def _check_column(name: str, entries: Sequence[Any], field: str, kind: _Kind) -> None:
    """Raise `Damage` if a field is missing or of another kind in any entry of a list."""
    try:
        values = [entry[field] for entry in entries]
    except KeyError:
        place = next(place for place, entry in enumerate(entries) if field not in entry)
        raise Damage(f"it lacks `{name}[{place}].{field}`") from None
    if not kind.holds(values):
        place, value = _first(values, kind)
        raise _wrong(f"{name}[{place}].{field}", value, kind)


def _first(values: Sequence[Any], kind: _Kind) -> tuple[int, Any]:
    return next(item for item in enumerate(values) if not kind.holds([item[1]]))


def _wrong(where: str, value: Any, kind: _Kind) -> Damage:
    shown = ascii(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return Damage(f"its `{where}` is {shown}, which is not {kind.words}")


def _check_tree(where: str, tree: Mapping[str, Any], patterns: int) -> None:
    """Check that all numbers of a tree are indices in their lists and children follow parents."""
    for place, key in enumerate(tree["keys"]):
        if not _is_key(key):
            raise Damage(f"its `{where}.keys[{place}]` is no key of a URL")
    _check(f"{where}.texts", tree["texts"], _TEXT)
    keys, texts = len(tree["keys"]) - 1, len(tree["texts"])
    numbers = {
        "parent": _whole(-1),
        "value": _whole(-3, texts),
        "key": _whole(-1, keys),
        "shape": _whole(0),
        "tests": _whole(0),
        "pattern": _whole(-1, patterns - 1),
        "test_key": _whole(0, keys),
        "test_value": _whole(-1, texts),
        "test_shape": _whole(0),
    }
    for field, kind in numbers.items():
        _check(f"{where}.{field}", tree[field], kind)
    nodes = len(tree["parent"])
    _check_lengths(where, tree, ("value", "key", "shape", "tests", "pattern"), nodes)
    _check_lengths(where, tree, ("test_key", "test_value", "test_shape"), sum(tree["tests"]))
    parents = tree["parent"]
    divided = tree["key"]
    if parents[:1] != [-1] or not all(
        0 <= parent < node and divided[parent] >= 0
        for node, parent in enumerate(parents[1:], start=1)
    ):
        raise Damage(f"its `{where}.parent` is no tree")


def _check_lengths(where: str, tree: Mapping[str, Any], fields: Iterable[str], wanted: int) -> None:
    for field in fields:
        if len(tree[field]) != wanted:
            raise Damage(f"its `{where}.{field}` has {len(tree[field])} values, not {wanted}")


_MOST_KEYS: Final = {"host": MAX_LABELS, "path": MAX_SEGMENTS, "query": MAX_REPEATS}


def _is_key(key: Any) -> bool:
    if not isinstance(key, list | tuple) or [type(part) for part in key] != [str, int, str]:
        return False
    kind, index, _ = key
    return kind in KINDS and 0 <= index < _MOST_KEYS.get(kind, 1)
