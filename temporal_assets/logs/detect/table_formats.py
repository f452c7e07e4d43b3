"""Recognition of CSV and TSV by the column names in the first line, and of their separator.

In: the first lines of a file. Out: the format `csv` or `tsv` with its separator, or None. Not here:
which names columns may have (`columns`), reading tables (`tables`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from temporal_assets.logs.formats import tables
from temporal_assets.logs.formats.columns import ColumnsError, mapped, slots_of
from temporal_assets.logs.formats.format import Format
from temporal_assets.logs.formats.known_formats import FORMATS
from temporal_assets.settings import LogSource

_SEPARATORS: Final = (b",", b";", b"|")
"""Separators of CSV's columns."""


def table_format(source: LogSource, sample: bytes, *, is_dated: bool) -> Format | None:
    """Return CSV or TSV if the first line names the columns that are wanted."""
    for fmt in table_formats(sample):
        names = tables.columns_of(sample, fmt.separator, source.columns)
        try:
            slots_of(mapped(source.columns, names), names, is_dated=is_dated)
        except ColumnsError:
            continue
        return fmt
    return None


def table_formats(sample: bytes) -> tuple[Format, Format]:
    """Return the table formats, TSV before CSV: URLs may have commas, and no tabs."""
    return FORMATS["tsv"], with_separator(FORMATS["csv"], sample)


def with_separator(csv: Format, sample: bytes) -> Format:
    """Return CSV with the separator that occurs first: with decimal commas it is a semicolon."""
    first = sample.lstrip().partition(b"\n")[0]
    present = [separator for separator in _SEPARATORS if separator in first]
    return replace(csv, separator=min(present, key=first.index, default=csv.separator))
