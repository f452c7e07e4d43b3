"""What commands are given: bytes, of which not all are text.

URLs are taken as logs are read, with a sign in place of what is no UTF-8; statements are refused.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from temporal_assets.cli.exits import USAGE, CommandError

STANDARD_INPUT: Final = "-"


def lines() -> Iterator[str]:
    """The lines of standard input that are not empty."""
    for number, line in enumerate(sys.stdin.buffer):
        if number == 0:
            line = line.removeprefix(codecs.BOM_UTF8)  # as some programs begin a text
        if text := line.rstrip(b"\r\n"):
            yield text.decode("utf-8", "replace")


def written(argument: str) -> str:
    """An argument as text that can be written; Python smuggles in what is no UTF-8."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def text_of(file: str) -> str:
    """All of a file, or of standard input where it is `-`."""
    is_piped = file == STANDARD_INPUT
    content = sys.stdin.buffer.read() if is_piped else Path(file).read_bytes()
    try:
        return content.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        name = "standard input" if is_piped else file
        line = content.count(b"\n", 0, error.start) + 1
        raise CommandError(f"{name}: line {line} is no UTF-8; save it as UTF-8", USAGE) from None
