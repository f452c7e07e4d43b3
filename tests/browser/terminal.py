"""Pictures of what commands print, as a terminal shows it: SVG with its text.

Commands run in a terminal of their own (a pseudo-terminal), so that colours, widths and wrapping
are those that people see.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMNS: Final = 110
_MOST_LINES: Final = 46
"""Lines of a picture; of more the rest is left out, and the picture says so."""
_SECONDS: Final = 240
_PLACE: Final = "/opt/temporal"
_FORMAT: Final = """\
<svg class="terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px ui-monospace, Consolas, monospace; }}
.{unique_id}-title {{ font: 700 18px system-ui, sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""
"""The layout of rich without its font, which would be fetched from elsewhere."""


def photograph(command: Sequence[str], file: Path, folder: Path, given: str = "") -> None:
    """Run a command in a folder, with `given` as its standard input, and draw what it prints."""
    shown = f"$ {f'echo {shlex.quote(given)} | ' if given else ''}{shlex.join(command)}"
    lines = printed(command, folder, given).replace("\r\n", "\n").rstrip("\n").split("\n")
    more = len(lines) - _MOST_LINES
    if more > 0:
        lines = [*lines[:_MOST_LINES], f"\x1b[2m… and {more} more lines\x1b[0m"]
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print(Text(shown, style="bold"))
    console.print(Text.from_ansi("\n".join(lines)))
    svg = console.export_svg(title="", theme=MONOKAI, code_format=_FORMAT, unique_id=file.stem)
    file.write_text(svg, "utf-8")


def printed(command: Sequence[str], folder: Path, given: str = "") -> str:
    """Return what a command writes to a terminal, messages and results in their order."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)},
    )
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(given.encode())
    process.stdin.close()
    parts: list[bytes] = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # the terminal is closed: the command has ended
        pass
    finally:
        os.close(ours)
    assert process.wait(_SECONDS) == 0, (command, b"".join(parts).decode()[-2000:])
    text = b"".join(parts).decode("utf-8", "replace")
    for place in (sys.prefix, str(Path(__file__).parents[2])):
        # Where Python and the checkout lie here is nobody's business; columns stay in line.
        text = re.sub(
            re.escape(place) + r"(\S*)",
            lambda rest, place=place: f"{_PLACE}{rest[1]}".ljust(len(place) + len(rest[1])),
            text,
        )
    return text
