"""Lists that people or spreadsheets wrote: detecting the encoding, and splitting lines.

Not here: what the lines mean (`annotations`, `site_lists`), and logs (`streams`).
"""

from __future__ import annotations

import codecs
import re
from typing import Final

_LINE_ENDS: Final = re.compile(r"\r\n|\r|\n")
"""Ends of lines. `str.splitlines` also breaks at characters that editors count within a line."""

_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decoded(content: bytes) -> tuple[str, str]:
    """Return the text, and the encoding that it was in."""
    for byte_order_mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(byte_order_mark):
            return content.decode(encoding, "replace"), encoding.removesuffix("-sig")
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        # Spreadsheets write the code page of their machine. URLs and labels are ASCII in all.
        return content.decode("cp1252", "replace"), "cp1252"


def lines_of(text: str) -> list[str]:
    """Return the lines, as an editor counts them."""
    return _LINE_ENDS.split(text)
