"""Text from logs, made safe to show. Logs are hostile: any character may stand in any field."""

from __future__ import annotations

from typing import Final

MAX_SHOWN: Final = 300
"""Largest number of characters of one value that are shown: a line of a log."""


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """Return any text as one line of printable characters.

    Control and bidirectional characters and the like become escapes.
    """
    cut = text if len(text) <= limit else f"{text[:limit]}…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
