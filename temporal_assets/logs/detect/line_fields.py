"""Division of sample lines into fields, and the shape that most lines share.

In: a few lines of a log. Out: the fields of each line with their delimiters (a word,
brackets, quotes), the delimiters that most lines begin with, and the values of each column. Not
here: what a column means (`column_roles`), reading whole logs (`tokenize`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

_MOST_FIELDS: Final = 80
"""Most fields of a line that are read; access logs have up to forty."""

_ALIKE: Final = 0.6
"""Share of lines that must be divided in the same way."""

NEARLY_ALL: Final = 0.9
"""Share of the values of a column that must pass a test for the column to have a meaning."""

_EMPTY: Final = (b"", b"-")
"""Values that servers write where there is nothing to log."""


class Delimiter(Enum):
    """What delimits a field of a sample line."""

    WORD = "{}"
    BRACKETS = "[{}]"
    QUOTES = '"{}"'


Token = tuple[Delimiter, bytes]
"""A field of a line: its delimiter and its bytes."""
Shape = tuple[Delimiter, ...]
"""Delimiters of the fields of a line, from left to right."""


@dataclass(frozen=True, slots=True)
class SampleColumn:
    """Values of one field over all sample lines that are divided in the same way."""

    index: int
    kind: Delimiter
    values: tuple[bytes, ...]

    @property
    def filled(self) -> list[bytes]:
        """Values that are neither empty nor `-`."""
        return [value for value in self.values if value not in _EMPTY]

    def share(self, test: Callable[[bytes], bool], of_all: bool = False) -> float:
        """Return the share of non-empty values (or of all) that pass a test."""
        filled = self.filled
        size = len(self.values) if of_all else len(filled)
        return sum(map(test, filled)) / size if size else 0.0

    def is_mostly(self, test: Callable[[bytes], bool], least: float = NEARLY_ALL) -> bool:
        """Return True if at least a share of the non-empty values pass a test."""
        return bool(self.filled) and self.share(test) >= least


def count_fields(line: bytes) -> int:
    """Return the number of fields of a line, separated by blanks."""
    return sum(1 for _ in tokens(line.strip(), b" "))


def are_parted_by_tabs(lines: Sequence[bytes]) -> bool:
    """Return True if lines have tabs, mostly the same number."""
    counts = Counter(line.count(b"\t") for line in lines)
    usual, often = counts.most_common(1)[0] if counts else (0, 0)
    return usual >= 3 and often >= _ALIKE * len(lines)


def outside_quotes(line: bytes) -> bytes:
    """Return a line with all quoted values emptied."""
    return re.sub(rb'"(?:\\.|[^"\\])*"', b'""', line)


def tokens(line: bytes, separator: bytes) -> Iterator[Token]:
    """Yield the fields of a line, divided as `tokenize` does; none where that is impossible."""
    at, count = 0, 0
    while at < len(line) and count < _MOST_FIELDS:
        if line[at : at + 1] == separator:
            at += 1  # runs of blanks separate once
            continue
        kind, start, stop, after = _token(line, at, separator)
        yield kind, line[start:stop]
        count += 1
        at = after + 1


def _token(line: bytes, at: int, separator: bytes) -> tuple[Delimiter, int, int, int]:
    """Return kind, start and stop of the field at a position, and where its separator is."""
    first = line[at : at + 1]
    if first == b"[":
        end = line.find(b"]", at)
        if end >= 0 and line[end + 1 : end + 2] in (separator, b""):
            return Delimiter.BRACKETS, at + 1, end, end + 1
    if first == b'"':
        end = _closing_quote(line, at + 1, separator)
        if end >= 0:
            return Delimiter.QUOTES, at + 1, end, end + 1
    end = line.find(separator, at)
    end = len(line) if end < 0 else end
    return Delimiter.WORD, at, end, end


def _closing_quote(line: bytes, at: int, separator: bytes) -> int:
    """Return the position of the quote that closes a field, -1 if none does."""
    while at < len(line):
        if line[at : at + 1] == b"\\":
            at += 2
        elif line[at : at + 1] == b'"' and line[at + 1 : at + 2] in (separator, b""):
            return at
        else:
            at += 1
    return -1


def common_shape(rows: Sequence[Sequence[Token]], lines: int) -> Shape | None:
    """Return the longest sequence of delimiters that most lines begin with, or None."""
    shapes = [tuple(kind for kind, _ in row) for row in rows]
    for length in range(max(map(len, shapes), default=0), 3, -1):
        by_length = Counter(shape[:length] for shape in shapes if len(shape) >= length)
        for shape, _ in by_length.most_common(3):
            if sum(has_shape(row, shape) for row in rows) >= _ALIKE * lines:
                return shape
    return None


def has_shape(row: Sequence[Token], shape: Shape) -> bool:
    """Return True if a line begins with these delimiters; `-` may be without quotes."""
    return len(row) >= len(shape) and all(
        kind is wanted or (wanted is Delimiter.QUOTES and value == b"-")
        for (kind, value), wanted in zip(row, shape, strict=False)
    )
