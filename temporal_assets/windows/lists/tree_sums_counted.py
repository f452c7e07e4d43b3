"""What `prefix_trees` is made of, counted in this process.

Labels and histories have pages in the order of sites and URLs. They are read in step, and the trees
of some whole sites are built at a time: their pages are never joined by their URLs, nor written
with their sections. The rows are those of the statements that a cluster runs (`tree_sums`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from temporal_assets.core.labels.concentration import first_and_all
from temporal_assets.core.numerics.arrays import Flags, Int64s
from temporal_assets.core.text.sorted_texts import Keys, Seeker
from temporal_assets.core.text.url_sections import SectionTrees, section_trees
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow
from temporal_assets.engines.base import Inputs
from temporal_assets.engines.batches import handed_on, in_order
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.frame.days import seen_before
from temporal_assets.windows.frame.page_rows import PAGE, SITES, first_rows, keys, keys_of
from temporal_assets.windows.lists.tree_sums import FEW_PAGES, TREE_SUMS

MOST_PAGES: Final = 2_000_000
"""Pages of a window that are counted here: of one site they take 1.3 GB. A cluster, and statements
of one machine, which spill, count more."""

PAGES_AT_ONCE: Final = 65_536
"""Pages whose trees are built at a time, or those of one site: some 500 bytes each."""

_THREADS: Final = 2
_MOST: Final = 2.0**63
"""No sum of 64 bits reaches it."""
_LABELS: Final = (*PAGE, "is_temporal", "is_news", "phi_n", "m", "p")
_HISTORIES: Final = (*PAGE, "birth", "total", "views")


def counted(
    inputs: Inputs, parameters: Mapping[str, Any], out: Path, at_once: int = PAGES_AT_ONCE
) -> tuple[pa.Table, list[str]]:
    """Rows of TREE_SUMS and files of FEW_PAGES: see `tree_sums.by_statements`."""
    labels = ParquetRows(inputs["page_labels"], SITES)
    lives, places = _lives(labels, ParquetRows(inputs["page_histories"], SITES), parameters)
    flow = _flow(labels, ParquetRows(inputs["page_flow"], SITES))
    parts = _parts(labels, lives, places, flow, at_once)
    made = list(in_order(partial(_made, parameters=parameters, out=out), parts, _THREADS))
    return pa.concat_tables(sums for sums, _ in made), [path for _, few in made for path in few]


# Lives ---------------------------------------------------------------------------------------


class _Lives(NamedTuple):
    """What histories say of pages."""

    born: Int64s
    """Days of the window before the first with views."""
    total: Int64s
    recent: Int64s
    """Views of the last days."""
    most: Int64s
    """Views of the day that has most: on one day a page has as many clients as views."""

    def of(self, rows: Int64s) -> _Lives:
        return _Lives(*(column[rows] for column in self))


def _lives(
    labels: ParquetRows, histories: ParquetRows, parameters: Mapping[str, Any]
) -> tuple[_Lives, Int64s]:
    """Of all pages with a history, and which of them each page with a label is; -1 if none."""
    seeker = Seeker(keys(labels), len(labels))
    found: list[_Lives] = []
    first = 0
    for page, lives in histories.blocks(_HISTORIES, partial(_lived, parameters=parameters)):
        seeker.look(page, first)
        found.append(lives)
        first += len(page)
    nothing = _Lives(*[np.empty(0, np.int64)] * len(_Lives._fields))
    return _Lives(*map(np.concatenate, zip(nothing, *found, strict=True))), seeker.places


def _lived(block: pa.Table, parameters: Mapping[str, Any]) -> tuple[Keys, _Lives]:
    views = block["views"].combine_chunks().flatten().to_numpy()
    by_day = views.reshape(len(block), parameters["days"])
    born = block["birth"].to_numpy() - np.datetime64(parameters["first"])
    return keys_of(block), _Lives(
        born.astype(np.int64),
        block["total"].to_numpy(),
        by_day[:, parameters["days"] - parameters["recent"] :].sum(axis=1, dtype=np.int64),
        by_day.max(axis=1, initial=0).astype(np.int64),
    )


# Flow ----------------------------------------------------------------------------------------


def _flow(labels: ParquetRows, flow: ParquetRows) -> Int64s:
    """Return for each page with a label how temporal it is, in thousandths; -1 outside the flow."""
    seeker = Seeker(keys(labels), len(labels))
    found = [np.empty(0, np.int64)]
    first = 0
    for page, thousandths in flow.blocks((*PAGE, "temporal"), _flow_block):
        seeker.look(page, first)
        found.append(thousandths)
        first += len(page)
    return np.append(np.concatenate(found), np.int64(-1))[seeker.places]


def _flow_block(block: pa.Table) -> tuple[Keys, Int64s]:
    return keys_of(block), np.rint(1000 * block["temporal"].to_numpy()).astype(np.int64)


# Trees ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """All pages with labels of some sites."""

    first: int
    labels: pa.Table
    lives: _Lives
    flow: Int64s
    """How temporal each page is, in thousandths; -1 outside the flow."""


def _parts(
    labels: ParquetRows, lives: _Lives, places: Int64s, flow: Int64s, at_once: int
) -> Iterator[_Part]:
    ranges = _of_whole_sites(labels, at_once)
    for (first, stop), rows in zip(ranges, labels.in_ranges(ranges, _LABELS), strict=True):
        here = places[first:stop]
        # As the join of the sums has it; whoever has a label has a history.
        known = rows if (here >= 0).all() else rows.filter(pa.array(here >= 0))
        yield _Part(first, known, lives.of(here[here >= 0]), flow[first:stop][here >= 0])


def _of_whole_sites(rows: ParquetRows, at_once: int) -> Sequence[tuple[int, int]]:
    """Ranges of about as many rows, or of those of one site; one at least."""
    starts = np.array([*first_rows(rows).values()], np.int64)
    _, first = np.unique(starts // at_once, return_index=True)
    return [*pairwise([*starts[first].tolist(), len(rows)])] or [(0, 0)]


def _made(part: _Part, parameters: Mapping[str, Any], out: Path) -> tuple[pa.Table, list[str]]:
    trees = section_trees(from_arrow(part.labels["url"]))
    names = to_arrow(trees.written())
    sums = _sums(part, trees, names, parameters)
    is_few = trees.most(part.lives.most) < parameters["enough"]
    if not is_few.any():
        return sums, []
    few = _few_pages(part, trees, names, is_few)
    return sums, handed_on(few, out / f"{FEW_PAGES.name}-{part.first}.parquet")


def _sums(
    part: _Part, trees: SectionTrees, names: pa.Array, parameters: Mapping[str, Any]
) -> pa.Table:
    labels, lives = part.labels, part.lives
    is_temporal, is_news = (labels[name].to_numpy() for name in ("is_temporal", "is_news"))
    in_flow = part.flow >= 0
    is_known = labels["phi_n"].is_valid().to_numpy()
    is_old = is_known & ~in_flow
    site = labels["site"].combine_chunks()
    first_seen = np.datetime64(parameters["first"], "D") + -trees.most(-lives.born)
    columns = {
        "site": site.dictionary.take(pa.array(trees.most(site.indices.to_numpy()))),
        "prefix": names,
        "parent": names.take(pa.array(trees.parent, mask=trees.parent < 0)),
        "depth": trees.depth.astype(np.int64),
        "is_program": trees.is_program,
        "first_seen": first_seen,
        "own_pages": np.bincount(trees.innermost, minlength=len(trees)),
        "own_flow_pages": np.bincount(trees.innermost[in_flow], minlength=len(trees)),
        "own_old_pages": np.bincount(trees.innermost[is_old], minlength=len(trees)),
        "pages": trees.total(np.ones(len(labels), np.int64)),
        "temporal_pages": trees.total(is_temporal),
        "news_pages": trees.total(is_news),
        "curve_pages": trees.total(is_known),
        "aged_pages": trees.total(is_news | _is_aged(part, parameters)),
        "flow_pages": trees.total(in_flow.astype(np.int64)),
        "flow_thousandths": trees.total(np.maximum(part.flow, 0)),
        "old_pages": trees.total(is_old.astype(np.int64)),
        "old_temporal_pages": trees.total((is_old & is_temporal).astype(np.int64)),
        "views": trees.total(lives.total),
        "temporal_views": trees.total(np.where(is_temporal, lives.total, 0)),
        "recent_views": trees.total(lives.recent),
        "view_squares": trees.total(_squares(lives.total)).astype(np.float64),
        "clients": trees.most(lives.most),
    }
    schema = TREE_SUMS.arrow_schema
    # A host may have pages of two schemes or ports, whose sections were numbered as they came.
    rows = pa.table([columns[name] for name in schema.names], schema)
    return rows.sort_by([("site", "ascending"), ("prefix", "ascending")])


def _squares(views: Int64s) -> Int64s:
    """Whole numbers: the order of pages must not show in the last digit of a sum."""
    if np.square(views, dtype=np.float64).sum() >= _MOST:
        raise OverflowError("`page_histories` has more views than can be squared and added up")
    return views * views


def _is_aged(part: _Part, parameters: Mapping[str, Any]) -> Flags:
    """Pages whose concentration may be above p, by the days that are there since their birth."""
    labels = part.labels
    first_days, days = first_and_all(
        part.lives.born, labels["m"].to_numpy(), seen_before(parameters)
    )
    aged: Flags = days > first_days * labels["p"].to_numpy()
    return aged


def _few_pages(part: _Part, trees: SectionTrees, names: pa.Array, few: Flags) -> pa.Table:
    """Pages of the flagged sections; all that is beneath one of these is flagged as well."""
    page = np.flatnonzero(few[trees.innermost])
    section = trees.innermost[page]
    pages, sections = [page], [section]
    while len(page):
        above = trees.parent[section]
        goes_on = (above >= 0) & few[above]
        page, section = page[goes_on], above[goes_on]
        pages.append(page)
        sections.append(section)
    urls = part.labels["url"].combine_chunks().take(pa.array(np.concatenate(pages)))
    prefixes = names.take(pa.array(np.concatenate(sections)))
    return pa.table([prefixes, urls], FEW_PAGES.arrow_schema)
