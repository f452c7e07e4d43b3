"""Sums over the pages of each folder and program of a site, and of all that lie below it.

Here: the kernel that builds the section trees of whole sites and adds up their pages. Not here: the
definition of a section (`core.text.url_sections`), which pages count (`sql/lists/tree_pages.sql`),
and what follows from the sums (`prefix_trees`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import passing
from temporal_assets.core.labels.concentration import first_and_all
from temporal_assets.core.numerics.arrays import Flags, Floats, Int64s
from temporal_assets.core.text.texts import take
from temporal_assets.core.text.url_sections import SectionTrees, section_trees
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow
from temporal_assets.engines.base import Engine, Inputs

TREE_PAGES: Final = passing(
    "tree_pages",
    "site VARCHAR, url VARCHAR, birth DATE, is_reliable BOOLEAN, is_temporal BOOLEAN,"
    " is_news BOOLEAN, has_curve BOOLEAN, m BIGINT, p DOUBLE, flow_thousandths BIGINT,"
    " views BIGINT, recent_views BIGINT, clients BIGINT",
)

SUMS: Final = (
    "site VARCHAR, prefix VARCHAR, parent VARCHAR, depth BIGINT, is_program BOOLEAN,"
    " first_seen DATE, own_pages BIGINT, own_flow_pages BIGINT, own_old_pages BIGINT,"
    " pages BIGINT, temporal_pages BIGINT, news_pages BIGINT, curve_pages BIGINT,"
    " aged_pages BIGINT, flow_pages BIGINT, flow_thousandths BIGINT, old_pages BIGINT,"
    " old_temporal_pages BIGINT, views BIGINT, temporal_views BIGINT, recent_views BIGINT,"
    " view_squares DOUBLE, clients BIGINT"
)
"""Columns of a section with the sums over all pages below it; `own_` are those of its own pages."""

TREE_SUMS: Final = passing("tree_sums", SUMS, "few_pages VARCHAR[]")
"""`few_pages` are the URLs below a section of which no single day and page shows enough clients."""

_MOST_VIEWS: Final = 3_037_000_499
"""Largest number whose square has 63 bits."""

_HALF: Final = 32
"""Bits of a square of views that are summed apart from those above them: neither sum overflows."""


@dataclass(frozen=True, slots=True)
class TreeRule:
    """Facts about the window that the sums depend on."""

    first: np.datetime64
    """First day of the window."""
    days_before: Int64s
    """Published days before each day of the window, and in all (`concentration.days_before`)."""
    enough: int
    """Clients from which a section needs no count of its own."""


def write_tree_sums(
    engine: Engine, inputs: Inputs, parameters: Mapping[str, Any], rule: TreeRule, out: Path
) -> list[str]:
    """Return files of TREE_SUMS, given the inputs and parameters of sql/lists/tree_pages.sql."""
    pages = engine.query(TREE_PAGES.name, inputs, parameters, TREE_PAGES, out)
    of_sites = {TREE_PAGES.name: [str(path) for path in pages]}
    kernel = partial(tree_sums, rule=rule)
    written = engine.apply_groups(kernel, of_sites, "site", TREE_SUMS, out, None)
    return [str(path) for path in written]


def tree_sums(pages: pa.Table, rule: TreeRule) -> pa.RecordBatch:
    """Return rows of TREE_SUMS for rows of TREE_PAGES; sites must be complete."""
    pages = pages.combine_chunks()
    urls = from_arrow(pages["url"])
    trees = section_trees(urls)
    prefix = to_arrow(take(urls.data, trees.start, trees.stop))
    sites = pages["site"].combine_chunks().dictionary_encode()
    born = pages["birth"].to_numpy() - rule.first
    clients = trees.most(_numbers(pages, "clients"))
    columns = {
        "site": sites.dictionary.take(pa.array(trees.most(sites.indices.to_numpy()))),
        "prefix": prefix,
        "parent": prefix.take(pa.array(trees.parent, mask=trees.parent < 0)),
        "depth": trees.depth.astype(np.int64),
        "is_program": trees.is_program,
        "first_seen": rule.first - trees.most(-born.astype(np.int64)),
        **_sums(pages, trees, _is_aged(pages, born.astype(np.int64), rule)),
        "clients": clients,
        "few_pages": _few_pages(pages["url"], trees, clients < rule.enough),
    }
    schema = TREE_SUMS.arrow_schema
    (batch,) = pa.table([columns[name] for name in schema.names], schema).to_batches()
    return batch


def _sums(pages: pa.Table, trees: SectionTrees, is_aged: Flags) -> dict[str, Int64s | Floats]:
    """Return the sums over the pages below each section, and the counts of its own pages."""
    is_reliable, is_temporal, has_curve, is_news = (
        _flags(pages[name]) for name in ("is_reliable", "is_temporal", "has_curve", "is_news")
    )
    is_flow = _flags(pages["flow_thousandths"].is_valid())
    is_old = is_reliable & has_curve & ~is_flow
    views = _numbers(pages, "views")
    values = {
        "pages": is_reliable,
        "temporal_pages": is_temporal,
        "news_pages": is_news,
        "curve_pages": has_curve,
        "aged_pages": is_aged,
        "flow_pages": is_flow,
        "flow_thousandths": _numbers(pages, "flow_thousandths"),
        "old_pages": is_old,
        "old_temporal_pages": is_old & is_temporal,
        "views": views,
        "temporal_views": np.where(is_temporal, views, 0),
        "recent_views": _numbers(pages, "recent_views"),
    }
    if views.max(initial=0) > _MOST_VIEWS:
        raise OverflowError("a page has more views than can be squared in 64 bits")
    squares = views * views
    high, low = squares >> _HALF, squares & ((1 << _HALF) - 1)
    own = {"own_pages": is_reliable, "own_flow_pages": is_flow, "own_old_pages": is_old}
    return {
        **{name: trees.total(value) for name, value in values.items()},
        # Whole numbers: the order of pages must not show in the last digit.
        "view_squares": np.ldexp(trees.total(high).astype(float), _HALF) + trees.total(low),
        **{
            name: np.bincount(trees.innermost[flags], minlength=len(trees))
            for name, flags in own.items()
        },
    }


def _is_aged(pages: pa.Table, born: Int64s, rule: TreeRule) -> Flags:
    """Return flags of pages old enough for a concentration above `p`, and of those that have it.

    A younger page has no concentration above `p`, whatever its views are.
    """
    first_days, days = first_and_all(born, _numbers(pages, "m"), rule.days_before)
    is_aged = days > first_days * pages["p"].to_numpy()
    return np.asarray((is_aged | _flags(pages["is_news"])) & _flags(pages["is_reliable"]))


def _few_pages(urls: pa.ChunkedArray, trees: SectionTrees, is_few: Flags) -> pa.Array:
    """Return a list of URLs for each section: all pages below it if it is flagged, else none."""
    pages, sections = [], []
    page = np.flatnonzero(is_few[trees.innermost])
    section = trees.innermost[page]
    while len(page):
        pages.append(page)
        sections.append(section)
        # A section above has no fewer clients: where it has enough, so have all above it.
        above = trees.parent[section]
        goes_on = (above >= 0) & is_few[above]
        page, section = page[goes_on], above[goes_on]
    page, section = (np.concatenate([np.empty(0, np.int64), *parts]) for parts in (pages, sections))
    order = np.argsort(section, kind="stable")
    bounds = np.searchsorted(section[order], np.arange(len(trees) + 1))
    taken = urls.combine_chunks().take(pa.array(page[order]))
    return pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), taken)


def _numbers(pages: pa.Table, name: str) -> Int64s:
    return np.asarray(pc.fill_null(pages[name], 0).to_numpy(), np.int64)


def _flags(column: pa.ChunkedArray) -> Flags:
    return np.asarray(pc.fill_null(column, False).to_numpy(), np.bool_)
