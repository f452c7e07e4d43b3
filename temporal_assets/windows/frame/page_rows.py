"""Merge-ordered reading of tables that have their pages in the order of sites and URLs.

Here: sort keys of pages, the rows at which sites begin, several tables read side by side, and the
pages that have a label. Not here: what is counted of the pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.core.numerics.arrays import Flags
from temporal_assets.core.text.sorted_texts import Keys, Seeker
from temporal_assets.engines.arrow_texts import from_arrow, from_repeated
from temporal_assets.engines.parquet_rows import ParquetRows

SITES: Final = ("site",)
"""Columns that `ParquetRows` reads as dictionaries."""

PAGE: Final = ("site", "url")
"""Columns that pages are sorted by."""


def keys(rows: ParquetRows) -> Iterator[Keys]:
    """Yield the sort keys (site and URL) of the pages of all rows."""
    return rows.blocks(PAGE, keys_of)


def keys_of(block: pa.Table) -> Keys:
    """Return the sort keys of some pages."""
    sites, urls = (block.column(name).combine_chunks() for name in PAGE)
    return Keys(*from_repeated(sites), from_arrow(urls))


def first_rows(rows: ParquetRows) -> dict[str, int]:
    """Return the first row of each site."""
    first: dict[str, int] = {}
    number = 0
    for sites in rows.blocks(SITES, lambda block: block.column("site").combine_chunks()):
        for site, start, _ in site_runs(sites):
            first.setdefault(site, number + start)
        number += len(sites)
    return first


def site_runs(sites: pa.DictionaryArray) -> Iterator[tuple[str, int, int]]:
    """Yield each site with its first row and the row after its last."""
    runs = pc.run_end_encode(sites.indices)
    ends = runs.run_ends.to_pylist()
    names = sites.dictionary.take(runs.values).to_pylist()
    return zip(names, [0, *ends][:-1], ends, strict=True)


def ranges(count: int, at_once: int) -> list[tuple[int, int]]:
    """Return ranges of some rows each that cover all rows; at least one range."""
    return [(first, min(first + at_once, count)) for first in range(0, max(count, 1), at_once)]


class OutOfStep(ValueError):
    """Raised where tables that are read side by side do not have the same pages."""


def read_in_step(
    files: Mapping[str, Sequence[str]],
    columns: Mapping[str, Sequence[str]],
    at_once: int,
    repeated: Sequence[str] = (),
) -> Iterator[tuple[pa.Table, ...]]:
    """Yield rows of several tables that have the same pages in the same order, `at_once` at a time.

    `columns` are those of each table, and include `url`. Columns of `repeated` are read as
    dictionaries.
    """
    tables = [ParquetRows(files[name], repeated) for name in columns]
    if len({len(rows) for rows in tables}) > 1:
        raise _out_of_step(*columns)
    parts = ranges(len(tables[0]), at_once)
    read = (
        rows.in_ranges(parts, columns[name]) for name, rows in zip(columns, tables, strict=True)
    )
    for first, *others in zip(*read, strict=True):
        if not all(first["url"].equals(other["url"]) for other in others):
            raise _out_of_step(*columns)
        yield first, *others


def _out_of_step(*names: str) -> OutOfStep:
    listed = " and ".join(f"`{name}`" for name in names)
    return OutOfStep(f"{listed} are not of the same pages: materialise them again")


class KnownLabels:
    """Labels of the pages whose interest is known, found by a walk over all pages."""

    def __init__(self, page_labels: Sequence[str]) -> None:
        rows = ParquetRows(page_labels, SITES)
        self._is_temporal = rows.array(("is_temporal", "phi_n"), _labels, np.bool_)
        label_blocks = rows.blocks((*PAGE, "phi_n"), lambda block: keys_of(_labelled(block)))
        self.seeker = Seeker(label_blocks, len(self._is_temporal))
        """Seeker of the labelled pages among all pages, which must be shown to it in their
        order."""

    def column(self, first: int, stop: int) -> pa.Array:
        """Return labels of the pages from `first` to before `stop`; NULL where there is none."""
        at = self.seeker.places - first
        here = (at >= 0) & (at < stop - first)
        label, is_unknown = np.zeros(stop - first, np.bool_), np.ones(stop - first, np.bool_)
        label[at[here]], is_unknown[at[here]] = self._is_temporal[here], False
        return pa.array(label, mask=is_unknown)

    @property
    def are_found(self) -> bool:
        """Return True if every label belonged to one of the pages that were read."""
        return bool((self.seeker.places >= 0).all())


def _labels(block: pa.Table) -> Flags:
    return np.asarray(_labelled(block)["is_temporal"].to_numpy(), np.bool_)


def _labelled(block: pa.Table) -> pa.Table:
    return block.filter(block["phi_n"].is_valid())
