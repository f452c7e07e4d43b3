"""Text from logs, made safe to show. Logs are hostile: any character may stand in any field."""

from __future__ import annotations

from typing import Final

MAX_SHOWN: Final = 300
"""Characters of one value that are shown: a line of a log, not a page of an attacker's."""


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """Return one line of printable characters.

    Controls, bidirectional marks and the like as escapes.
    """
    cut = text if len(text) <= limit else f"{text[:limit]}…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
