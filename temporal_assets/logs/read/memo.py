"""A cache of a pure function's results whose memory is bounded, however hostile the arguments.

For canonical URLs and static files, which `cleaning` computes once per distinct value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

_ENTRIES: Final = 500_000
"""Most entries before the cache is emptied: about 100 MB of URLs."""

_BYTES: Final = 256 << 20
"""Most bytes of keys and values together, before the cache is emptied."""

_LONGEST: Final = 1024
"""Longest key that is cached, in bytes. Of real URLs and agents hardly one is longer, and none of
those comes often enough to be worth its room."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memo(Generic[Key, Value]):
    """Cache of a function's results.

    When full it is emptied, so its memory stays bounded however hostile the log is. Threads may
    share it: at worst a value is computed twice.
    """

    def __init__(self, function: Callable[[Key], Value]) -> None:
        self._function = function
        self._known: dict[Key, Value] = {}
        self._bytes = 0

    def __call__(self, key: Key) -> Value:
        """Return the function's value for `key`, cached."""
        try:
            return self._known[key]
        except KeyError:
            return self._learn(key)

    def _learn(self, key: Key) -> Value:
        """Compute the value of a key, and keep it unless it is too long."""
        value = self._function(key)
        size = _bytes_of(key)
        if size > _LONGEST:
            return value
        size += _bytes_of(value)
        if len(self._known) >= _ENTRIES or self._bytes + size > _BYTES:
            self._known, self._bytes = {}, 0
        self._bytes += size
        return self._known.setdefault(key, value)


def _bytes_of(value: object) -> int:
    """Return the bytes of a text; other values count as 0."""
    if isinstance(value, tuple):
        return sum(map(_bytes_of, value))
    return len(value) if isinstance(value, bytes) else 0
