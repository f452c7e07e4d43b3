"""Reading standard input line by line, as bytes that need not be text.

In URLs, bytes that are not UTF-8 are replaced by a sign, as in logs; in SQL they are refused.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from temporal_assets.cli.shared.exits import USAGE, CommandError
from temporal_assets.cli.shared.options import check_given

if TYPE_CHECKING:
    from io import BufferedReader

STANDARD_INPUT: Final = "-"

_MOST_BYTES: Final = 1 << 20
"""Most bytes that are read at once; a pipe holds 64 KiB."""

_LONGEST_LINE: Final = 1 << 20
"""Most bytes of a line that are kept: no server takes a URL of a tenth of that."""


def lines() -> Iterator[str]:
    """Yield the lines of standard input that are not empty."""
    for together in arrivals():
        yield from together


def arrivals() -> Iterator[list[str]]:
    """Yield the same lines in the groups in which they arrive: a writer may wait for answers."""
    byte_order_mark = codecs.BOM_UTF8  # as some programs begin a text
    for text in _whole_lines():
        lines = (line.rstrip(b"\r") for line in text.removeprefix(byte_order_mark).split(b"\n"))
        yield [line.decode("utf-8", "replace") for line in lines if line]
        byte_order_mark = b""


def _whole_lines() -> Iterator[bytes]:
    """Yield chunks of whole lines as soon as they arrive.

    Of a line that is too long to be a URL only the beginning is passed on.
    """
    standard_input = cast("BufferedReader", sys.stdin.buffer)
    begun = b""
    while block := standard_input.read1(_MOST_BYTES):
        if len(begun) > _LONGEST_LINE:
            newline = block.find(b"\n")
            if newline < 0:
                continue
            block = block[newline:]
        end = block.rfind(b"\n") + 1
        if end:
            yield begun + block[:end]
            begun = b""
        begun = (begun + block[end:])[: _LONGEST_LINE + 1]
    yield begun


def written(argument: str) -> str:
    """Return an argument with bytes that are not UTF-8 replaced, so that it can be written."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def text_of(file: str) -> str:
    """Return the text of a file, or of standard input if it is `-`."""
    is_piped = file == STANDARD_INPUT
    if not is_piped:
        check_given(Path(file))
    content = sys.stdin.buffer.read() if is_piped else Path(file).read_bytes()
    try:
        return content.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        name = "standard input" if is_piped else file
        line = content.count(b"\n", 0, error.start) + 1
        raise CommandError(f"{name}: line {line} is no UTF-8; save it as UTF-8", USAGE) from None
