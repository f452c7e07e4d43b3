"""The terminal: results on standard output, everything else on standard error.

Names, URLs and samples come from log lines, which strangers write: `plain` makes them harmless
on a terminal, and they are never read as markup.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    # rich is imported where something is shown: a fifth of the time of `--help`, which shows none.
    from rich.console import Console
    from rich.progress import Progress, TaskID

_WIDE: Final = 200
"""Assumed width where there is no terminal, so that nothing is cut off in a pipe or file."""

_LONGEST_PIECE: Final = 32
"""Columns of a terminal above which a word is broken to fit: nobody reads longer ones."""

_PIECE: Final = re.compile(
    r"(?:-?\d+(?:[.,:\-]\d+)*|[^\s/_?&=.\-])+[/_?&=.\-]*\s*|[/_?&=.\-]+\s*|\s+"
)
"""Expression for a word or a part of a URL; numbers and days are one piece."""

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories that move the cursor, turn the direction of text or cannot be shown."""


def plain(value: Any) -> str:
    """Return a value as text in which control and invisible characters are escaped."""
    text = "" if value is None else str(value)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(c) if unicodedata.category(c) in _HIDDEN else c for c in text)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `1,200 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def place(path: Path) -> str:
    """Return a path, relative to the working folder if it is within."""
    working = Path.cwd()
    return str(path.relative_to(working) if path.is_relative_to(working) else path)


def is_interactive() -> bool:
    """Return True if standard input and error are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def say(message: str) -> None:
    """Print a line for the user on standard error."""
    _print("", "", message)


def warn(message: str) -> None:
    """Print a warning on standard error; the command goes on."""
    _print("warning: ", "yellow", message)


def fail(message: str) -> None:
    """Print on standard error why the command cannot do what was asked."""
    _print("error: ", "bold red", message)


def write(text: str) -> None:
    """Write machine-readable text to standard output, unchanged."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def write_sentences(text: str) -> None:
    """Write sentences of a result to standard output, wrapped between words on a terminal."""
    console = _results()
    sys.stdout.write(_filled(console, plain_lines(text)) + "\n")


def width() -> int:
    """Return the columns of the terminal that results go to, or a usual width in a pipe."""
    return _results().width


def write_json(value: Any) -> None:
    """Write a JSON document to standard output; days and times in ISO 8601."""
    write(_json(value))


def write_json_rows(parts: Iterable[Sequence[Any]]) -> None:
    """Write a JSON list whose rows come in parts and are never in memory at once."""
    is_begun = False
    for part in filter(None, parts):
        sys.stdout.write(",\n" if is_begun else "[\n")
        sys.stdout.write(_json(part).removeprefix("[\n").removesuffix("\n]"))
        is_begun = True
    write("\n]" if is_begun else "[]")


def _json(value: Any) -> str:
    import orjson

    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()
    except TypeError:  # a name that is no UTF-8: its bytes as JSON's own escapes
        text = json.dumps(value, indent=2, default=str, ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace").decode()


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; numbers are right-aligned, with separators of thousands.

    On a narrow terminal texts are wrapped between words and parts of URLs, and then the last
    columns are left out, with a line that names them.
    """
    from rich.table import Table
    from rich.text import Text

    body = [list(row) for row in rows]
    names = [plain(name) for name in columns]
    cells = [[_cell(value) for value in row] for row in body]
    console = _results()
    widths = table_widths(names, cells, console.width)
    table = Table()
    for index, width in enumerate(widths):
        numeric = any(_is_number(row[index]) for row in body)
        justify: Literal["left", "right"] = "right" if numeric else "left"
        name = Text(wrapped(names[index], width))
        table.add_column(name, justify=justify, width=width, overflow="fold")
    for texts in cells:
        shown = (wrapped(text, width) for text, width in zip(texts, widths, strict=False))
        table.add_row(*map(Text, shown))
    if title:
        # Above rather than as the table's own title, which is folded to the table's width.
        console.print(Text(plain(title), style="bold"), soft_wrap=True)
    console.print(table)
    if left_out := names[len(widths) :]:
        say(f"no room here for {', '.join(left_out)}: a wider terminal, or a pipe, has all columns")


def table_widths(
    names: Sequence[str], cells: Sequence[Sequence[str]], total_width: int
) -> list[int]:
    """Return the widths of the first columns that fit without breaking a word."""
    from rich.cells import cell_len

    def longest(parts: Callable[[str], Sequence[str]], k: int) -> int:
        texts = (names[k], *(row[k] for row in cells))
        return max(cell_len(part) for text in texts for part in parts(text))

    whole = [longest(lambda text: [text], k) for k in range(len(names))]
    least = [min(longest(_pieces, k), _LONGEST_PIECE) for k in range(len(names))]
    while len(least) > 1 and sum(least) + _borders(len(least)) > total_width:
        least.pop()
    widths, spare = least, total_width - _borders(len(least)) - sum(least)
    # Those that want little more get it whole; the others share what is left.
    order = sorted(range(len(widths)), key=lambda k: whole[k] - widths[k])
    for rank, k in enumerate(order):
        more = min(whole[k] - widths[k], spare // (len(order) - rank)) if spare > 0 else 0
        widths[k] += more
        spare -= more
    return [max(width, 1) for width in widths]


def wrapped(text: str, width: int) -> str:
    """Return the text wrapped to a width, between words and parts of URLs."""
    from rich.cells import cell_len

    if cell_len(text) <= width:
        return text
    lines = [""]
    for piece in _pieces(text):
        if lines[-1] and cell_len(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _pieces(text: str) -> list[str]:
    """Return the parts of a text between which a line may end, each with what follows it."""
    return _PIECE.findall(text) or [""]


def _borders(columns: int) -> int:
    return 3 * columns + 1


class Bar:
    """A progress bar with one task. Safe to call from several threads."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def at(self, completed: float, total: float | None = None, what: str | None = None) -> None:
        """Show the progress; total and description may change."""
        description = None if what is None else plain(what)
        self._progress.update(self._task, completed=completed, total=total, description=description)


@contextmanager
def progress_bar(what: str, total: float | None, *, in_bytes: bool = False) -> Iterator[Bar]:
    """Yield a progress bar on standard error; it is invisible where that is no terminal."""
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    console = _messages()
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn() if in_bytes else MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with progress:
        yield Bar(progress, progress.add_task(what, total=total))


def _print(kind: str, style: str, message: str) -> None:
    """Print a message to standard error, broken at words on a terminal."""
    from rich.text import Text

    console = _messages()
    text = _filled(console, plain_lines(kind + message))
    styled = Text(text[: len(kind)], style=style) + Text(text[len(kind) :])
    console.print(styled, soft_wrap=True)


def _filled(console: Console, text: str) -> str:
    """Return a text wrapped to a terminal, which would break a line within a word."""
    if not console.is_terminal:
        return text
    return "\n".join(
        textwrap.fill(line, console.width, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )


def _results() -> Console:
    return _console(sys.stdout)


def _messages() -> Console:
    return _console(sys.stderr)


def _console(stream: IO[str]) -> Console:
    from rich.console import Console

    # Made anew each time: the streams are replaced in tests, and a terminal may be resized.
    return Console(
        file=stream, highlight=False, emoji=False, width=None if stream.isatty() else _WIDE
    )


def plain_lines(text: str) -> str:
    """Return `plain` of each line of a text; its newlines stay."""
    return "\n".join(plain(line) for line in text.split("\n"))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return plain(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
