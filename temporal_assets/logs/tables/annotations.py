"""A list of annotated pages: CSV of URL and label, as people write it.

Here: reading such a file, and problems by line. URLs are made canonical by the rule that is used
for logs. Not here: looking pages up in a window (`windows.labels.annotated_pages`), choosing
thresholds (`core.labels.calibration`).

A header is optional; with one, the columns may have any order and there may be others.
Fields are separated by comma, semicolon or tab; blank lines and lines that begin with `#` are
comments.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from temporal_assets.logs.read.text_files import decoded, lines_of
from temporal_assets.logs.urls.canonical import canonical_url
from temporal_assets.logs.urls.url_rules import UrlRules

TEMPORAL: Final = frozenset({"temporal", "news", "1", "1.0", "true", "yes", "t", "y"})
"""Labels, in lower case, that say that a page is temporal."""
UNTEMPORAL: Final = frozenset(
    {"untemporal", "non-temporal", "not temporal", "not news", "0", "0.0", "false", "no", "f", "n"}
)
"""Labels of untemporal pages, in any case, as `TEMPORAL` of temporal ones. TW 4.2 calls pages
temporal and untemporal, NP 3 news and not. Tables with gaps write `1.0`."""

_URL_NAMES: Final = frozenset({"url", "page", "address", "link"})
_LABEL_NAMES: Final = frozenset({"label", "temporal", "is_temporal", "is_news", "class"})

_DELIMITERS: Final = (",", ";", "\t")

_SHOWN: Final = 200
"""Characters of a bad line that are kept to be shown."""


@dataclass(frozen=True, slots=True)
class AnnotatedPage:
    """An annotated page, from the first line that names it."""

    url: str
    """Canonical URL."""
    is_temporal: bool
    line: int


@dataclass(frozen=True, slots=True)
class BadRow:
    """A line that cannot be used, and why."""

    line: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A page that several lines name."""

    url: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Annotations:
    """The annotations of a file."""

    pages: tuple[AnnotatedPage, ...]
    bad: tuple[BadRow, ...]
    repeats: tuple[Repeat, ...]
    """Pages named several times with the same label; each counts once."""
    contradictions: tuple[Repeat, ...]
    """Pages named with both labels; they are left out."""
    encoding: str


@dataclass(frozen=True, slots=True)
class _Form:
    """Positions of the columns, and the separator."""

    delimiter: str
    url: int
    label: int
    has_header: bool

    def cells(self, row: Sequence[str]) -> tuple[str, str] | None:
        """Return URL and label of a row; None where it is too short."""
        if len(row) <= max(self.url, self.label):
            return None
        return row[self.url].strip(), row[self.label].strip()


def read_annotations(content: bytes, rules: UrlRules) -> Annotations:
    """Read a file without raising errors: the result lists unusable lines."""
    text, encoding = decoded(content)
    lines = list(_lines(text))
    form = _form(lines[0][1], rules) if lines else _Form(",", 0, 1, False)
    bad: list[BadRow] = []
    labels: dict[str, list[tuple[int, bool]]] = {}
    for number, line in lines[1:] if form.has_header else lines:
        row = _row(line, form, rules)
        if isinstance(row, str):
            bad.append(BadRow(number, row, line[:_SHOWN]))
        else:
            url, is_temporal = row
            labels.setdefault(url, []).append((number, is_temporal))
    agreed = {url: rows for url, rows in labels.items() if len({label for _, label in rows}) == 1}
    return Annotations(
        tuple(AnnotatedPage(url, rows[0][1], rows[0][0]) for url, rows in agreed.items()),
        tuple(bad),
        tuple(_repeat(url, rows) for url, rows in agreed.items() if len(rows) > 1),
        tuple(_repeat(url, rows) for url, rows in labels.items() if url not in agreed),
        encoding,
    )


def _repeat(url: str, rows: Sequence[tuple[int, bool]]) -> Repeat:
    return Repeat(url, tuple(number for number, _ in rows))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with content, with their numbers. A URL has no line break, so no row has."""
    for number, line in enumerate(lines_of(text), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _form(first: str, rules: UrlRules) -> _Form:
    """Return how the file is written, from its first line: a header, or a row that can be read."""
    for delimiter in _DELIMITERS:
        names = [cell.strip().lower() for cell in _fields(first, delimiter) or ()]
        url = next((n for n, name in enumerate(names) if name in _URL_NAMES), None)
        label = next((n for n, name in enumerate(names) if name in _LABEL_NAMES), None)
        if url is not None and label is not None:
            return _Form(delimiter, url, label, True)
    for delimiter in _DELIMITERS:
        form = _Form(delimiter, 0, 1, False)
        if not isinstance(_row(first, form, rules), str):
            return form
    return _Form(next((d for d in _DELIMITERS if d in first), ","), 0, 1, False)


def _row(line: str, form: _Form, rules: UrlRules) -> tuple[str, bool] | str:
    """Return page and label of a line, or what is wrong with it."""
    fields = _fields(line, form.delimiter)
    if fields is None:
        return "a quote is not closed, or stands in the middle of a field"
    cells = form.cells(fields)
    if cells is None:
        return f"it has {len(fields)} of the two fields URL and label"
    url, label = cells
    page = canonical_url(url, rules)
    if page is None:
        return "no URL of a page: it must be whole, like https://example.com/news/1"
    word = label.lower()
    if word not in TEMPORAL | UNTEMPORAL:
        return f"no label {label[:_SHOWN]!r}: write temporal or untemporal (or 1 and 0)"
    return page, word in TEMPORAL


def _fields(line: str, delimiter: str) -> list[str] | None:
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True, skipinitialspace=True))
    except csv.Error:
        return None
