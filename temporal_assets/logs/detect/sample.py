"""First lines of a log, as detection looks at them, and their shape without content.

In: the bytes that a log begins with. Out: whole lines without empty ones and comments; keys of JSON
objects; the shape of a line for messages, which reveals no content.
"""

from __future__ import annotations

import re
from typing import Final

import orjson

SAMPLE_LINES: Final = 50
"""Lines that are read: enough that a few malformed ones at the beginning do not decide."""

INFERRED_LINES: Final = 200
"""Lines whose values are looked at for inference: internal referrers are rare among robots."""

SHAPE_LENGTH: Final = 160
"""Characters of a line's shape that a message shows."""


def shape(line: bytes) -> str:
    """Return how a line is punctuated: runs of letters become `a`, of digits `9`.

    Reveals no content.
    """
    text = line.decode("utf-8", "replace")
    text = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= SHAPE_LENGTH else text[:SHAPE_LENGTH] + "…"


def first_lines(head: bytes, most: int = SAMPLE_LINES) -> bytes:
    """Return the first lines that are not empty, whole unless there is only one."""
    lines = [line for line in head.split(b"\n") if line.strip()]
    if len(lines) > 1 and not head.endswith(b"\n"):
        lines.pop()
    return b"".join(line + b"\n" for line in lines[:most])


def without_comments(sample: bytes) -> bytes:
    """Return the lines that do not begin with `#`, unless all do."""
    lines = sample.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b"#")) or sample


def json_keys(sample: bytes) -> list[str]:
    """Return the keys of all objects in some lines, in the order they come in."""
    keys: dict[str, None] = {}
    for line in sample.splitlines():
        try:
            record = orjson.loads(line[line.find(b"{") :])
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            keys |= dict.fromkeys(record)
    return list(keys)


def ends_lines_in_returns(head: bytes) -> bool:
    """Return True if lines end in carriage returns alone: all would count as one line."""
    return b"\n" not in head and b"\r" in head.rstrip(b"\r")
