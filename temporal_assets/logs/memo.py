"""A bounded memory of a pure function."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

_ENTRIES: Final = 500_000
"""Values remembered before a memory starts anew: about 100 MB of URLs."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memo(Generic[Key, Value]):
    """Remembers what a function gave.

    When full it starts anew, so its memory stays bounded however hostile the log is. Threads
    may share it: the worst that happens is that a value is computed twice.
    """

    def __init__(self, function: Callable[[Key], Value]) -> None:
        self._function = function
        self._known: dict[Key, Value] = {}

    def __call__(self, key: Key) -> Value:
        """The function of `key`."""
        try:
            return self._known[key]
        except KeyError:
            if len(self._known) >= _ENTRIES:
                self._known = {}
            return self._known.setdefault(key, self._function(key))
