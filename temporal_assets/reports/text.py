"""Text from logs, made safe to show. Logs are hostile: any character may stand in any field."""

from __future__ import annotations

import re
from typing import Final

MAX_SHOWN: Final = 300
"""Characters of one value that are shown: a line of a log, not a page of an attacker's."""

_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:@])")


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """One line of printable characters: controls, bidirectional marks and the like as escapes."""
    cut = text if len(text) <= limit else f"{text[:limit]}…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def markdown(text: str, limit: int = MAX_SHOWN) -> str:
    """The text as it is, in Markdown: no markup, no link, no HTML."""
    return _MARKDOWN.sub(r"\\\1", shown(text, limit)).replace("\\<", "&lt;").replace("\\>", "&gt;")
