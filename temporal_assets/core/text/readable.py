"""URLs and patterns as people read them: letters of all scripts in place of their codes."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category
from urllib.parse import quote

_ENCODED: Final = re.compile("(?:%[89A-F][0-9A-F])+")
"""Expression for percent-encoded bytes of characters beyond ASCII."""
_READABLE: Final = ("L", "M", "N")
"""Unicode categories of letters, marks and numbers."""


def readable(text: str) -> str:
    """Return the text with percent-encoded letters and digits of other scripts decoded.

    Everything else stays encoded: spaces, punctuation, and marks that turn the writing direction.
    """
    return _ENCODED.sub(_decoded, text) if "%" in text else text


def _decoded(run: re.Match[str]) -> str:
    """Return encoded bytes with letters and digits decoded; unchanged if they are not UTF-8."""
    try:
        letters = bytes.fromhex(run[0].replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return run[0]
    kept = (sign if category(sign)[0] in _READABLE else quote(sign) for sign in letters)
    return "".join(kept)
