"""Text from logs, made safe to show. Logs are hostile: any character may stand in any field."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

MAX_SHOWN: Final = 300
"""Characters of one value that are shown: a line of a log, not a page of an attacker's."""


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """Return one line of printable characters.

    Controls, bidirectional marks and the like as escapes.
    """
    cut = text if len(text) <= limit else f"{text[:limit]}…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


_ENCODED: Final = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
"""Bytes of a URL that are no ASCII."""


def readable(url: str) -> str:
    """Return a URL with its letters in place of their codes, as browsers show it.

    Codes of ASCII stay, since they decide what a URL means, and so do bytes that are no UTF-8 and
    characters that could not be seen. Hosts stay as they are: other letters look alike.
    """
    return _ENCODED.sub(_letters, url)


def _letters(codes: re.Match[str]) -> str:
    text = unquote(codes[0], errors="replace")
    return codes[0] if "\ufffd" in text or not text.isprintable() else text
