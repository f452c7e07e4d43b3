"""The memory that pages of a Parquet file need, computed before any of them is unpacked.

A page of some bytes may unpack to gigabytes, and one value of a dictionary occur in a billion rows.
Headers of pages, which are not compressed, state the sizes, and readers allocate these. Not here:
reading values (`parquet`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import pyarrow.parquet as pq

MOST_PAGE_BYTES: Final = 128 << 20
"""Most bytes of a page once unpacked: writers begin another after 1 MiB, DuckDB after 100."""

_HEADER_BYTES: Final = 1 << 20
"""Bytes that are read for a header: it may quote the least and the greatest value."""

_DICTIONARY_PAGE: Final = 2
"""Number of the page type in the header of a page."""
_INDEXED: Final = frozenset((2, 8))
"""Encodings whose values are indices into a dictionary."""
_FRONT_CODED: Final = 7
"""`DELTA_BYTE_ARRAY`: a value may repeat as much of the one before as there is in the page."""
_DELTAS: Final = frozenset((6, _FRONT_CODED))

_INDEX_BYTES: Final = 4


class PageError(ValueError):
    """Error: pages may not be unpacked; the message says why."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """The pages of one column, of all row groups."""

    unpacked: int
    """Unpacked bytes of all pages."""
    bytes_per_value: int
    """Most bytes of a value if dictionaries are kept, as far as headers tell."""
    dictionary: int
    """Bytes of the largest dictionary; 0 without one."""
    has_deltas: bool
    """True if there are encodings beside which readers do not keep dictionaries."""


@dataclass(frozen=True, slots=True)
class _Page:
    kind: int
    unpacked: int
    packed: int
    values: int
    encoding: int


def leaf_of(path: Path, file: pq.ParquetFile, leaf: int) -> Leaf:
    """Read the headers of all pages of a column. Raises `PageError`."""
    unpacked = density = dictionary = 0
    has_deltas = False
    with path.open("rb") as raw:
        for group in range(file.num_row_groups):
            chunk = file.metadata.row_group(group).column(leaf)
            for page in _pages(raw, chunk):
                unpacked += page.unpacked
                if page.kind == _DICTIONARY_PAGE:
                    dictionary = max(dictionary, page.unpacked)
                elif page.encoding == _FRONT_CODED:
                    density = max(density, page.unpacked)
                elif page.encoding not in _INDEXED:
                    density = max(density, page.unpacked // max(1, page.values))
                has_deltas |= page.kind != _DICTIONARY_PAGE and page.encoding in _DELTAS
    return Leaf(unpacked, max(density, _INDEX_BYTES), dictionary, has_deltas)


def leaves_of(file: pq.ParquetFile, names: Collection[str]) -> dict[str, int]:
    """Return the numbers of columns by their dotted paths; raises `PageError` for lists."""
    columns = [file.schema.column(number) for number in range(len(file.schema))]
    leaves = {
        column.path: number
        for number, column in enumerate(columns)
        if column.path in names and not column.max_repetition_level
    }
    if others := sorted(set(names) - leaves.keys()):
        raise PageError(f"column {others[0]} holds lists or structures, and one value is wanted")
    return leaves


def _pages(raw: IO[bytes], chunk: Any) -> Iterator[_Page]:
    """Yield the pages of a column chunk, from their headers alone."""
    at = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < at:
        at = chunk.dictionary_page_offset
    end, left = at + chunk.total_compressed_size, chunk.num_values
    while left > 0 and at < end:
        raw.seek(at)
        window = raw.read(_HEADER_BYTES)
        try:
            page, length = _header(window)
        except IndexError:
            raise PageError("the header of a page is damaged") from None
        if min(page.packed, page.unpacked, page.values) < 0:
            raise PageError("the header of a page is damaged")
        if page.unpacked > MOST_PAGE_BYTES:
            raise PageError(
                f"a page unpacks to {page.unpacked >> 20:,} MiB, and {MOST_PAGE_BYTES >> 20} are"
                " allowed: write the file with smaller pages"
            )
        yield page
        left -= 0 if page.kind == _DICTIONARY_PAGE else page.values
        at += length + page.packed


# Thrift's compact protocol, as far as headers of pages need it ------------------------------------

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS: Final = frozenset((4, 5, 6))


def _header(data: bytes) -> tuple[_Page, int]:
    """Return a page, and the bytes of its header. Raises `IndexError` where they end early."""
    fields, at = _struct(data, 0, depth=0)
    inner: Any = next((fields[number] for number in (5, 7, 8) if number in fields), {})
    if not isinstance(inner, dict):
        raise IndexError
    encoding = inner.get(4 if 8 in fields else 2, 0)
    numbers = (fields.get(1, -1), fields.get(2, -1), fields.get(3, -1), inner.get(1, 0), encoding)
    if not all(isinstance(number, int) for number in numbers):
        raise IndexError
    return _Page(*numbers), at


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a Thrift structure by number, and where it ends."""
    fields: dict[int, Any] = {}
    number = 0
    while (head := data[at]) != _STOP:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(data, at)
        fields[number], at = _value(data, at, head & 15, depth)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """Return a Thrift value of a kind, and where it ends."""
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _BYTE:
        return data[at], at + 1
    if kind in _INTEGERS:
        return _integer(data, at)
    if kind == _DOUBLE:
        return None, at + 8
    if kind == _BINARY:
        size, at = _unsigned(data, at)
        return None, at + size
    if kind == _STRUCT and depth < 4:
        return _struct(data, at, depth + 1)
    raise IndexError  # nothing of the kind is in a header of a page


def _integer(data: bytes, at: int) -> tuple[int, int]:
    zigzag, at = _unsigned(data, at)
    return (zigzag >> 1) ^ -(zigzag & 1), at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length (LEB128), and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise IndexError
