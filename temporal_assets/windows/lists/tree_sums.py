"""Sums of all prefix trees, and the pages of sections that few clients know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.windows.lists.sections import (
    write_flow_sections,
    write_page_sections,
    write_section_paths,
)

SUMS_SQL: Final = ("section_sums", "tree_sums", "few_pages")
"""The statements, in the order they run."""

_PAGES: Final = (
    ColumnSpec("pages", Type.BIGINT, "Reliable pages."),
    ColumnSpec("temporal_pages", Type.BIGINT, "By the curve."),
    ColumnSpec("news_pages", Type.BIGINT, "By concentration."),
    ColumnSpec("curve_pages", Type.BIGINT, "Old enough for a curve."),
    ColumnSpec("aged_pages", Type.BIGINT, "Old enough for a concentration above p."),
    ColumnSpec("flow_pages", Type.BIGINT, "Pages of the flow."),
    ColumnSpec("flow_thousandths", Type.BIGINT, "How many of them to expect temporal, times 1000."),
    ColumnSpec("old_pages", Type.BIGINT, "Pages with a label that are not of the flow."),
    ColumnSpec("old_temporal_pages", Type.BIGINT, "Those of them that are temporal."),
    ColumnSpec("views", Type.BIGINT, "Views in the window."),
    ColumnSpec("temporal_views", Type.BIGINT, "Those of temporal pages."),
    ColumnSpec("recent_views", Type.BIGINT, "Views of the last days."),
)
_CLIENTS: Final = ColumnSpec("clients", Type.BIGINT, "The most clients of a page on a day.")
_FIRST_SEEN: Final = ColumnSpec("first_seen", Type.DATE, "First day of the window with views.")

_SECTION_SUMS: Final = passing(
    name="section_sums",
    description="What the pages of a section add up to.",
    grain="section",
    columns=(
        ColumnSpec("site", Type.VARCHAR, "Host of the section."),
        ColumnSpec("section", Type.VARCHAR, "The deepest section of these pages."),
        _FIRST_SEEN,
        *_PAGES,
        ColumnSpec("view_squares", Type.BIGINT, "Sum of the squared views of its pages."),
        _CLIENTS,
    ),
)

TREE_SUMS: Final = passing(
    name="tree_sums",
    description="What the pages beneath a section add up to.",
    grain="prefix",
    columns=(
        ColumnSpec("site", Type.VARCHAR, "Host of the section."),
        ColumnSpec("prefix", Type.VARCHAR, "The section."),
        ColumnSpec("parent", Type.VARCHAR, "The section above.", nullable=True),
        ColumnSpec("depth", Type.BIGINT, "Sections above."),
        ColumnSpec("is_program", Type.BOOLEAN, "A program; the others are folders."),
        _FIRST_SEEN,
        ColumnSpec("own_pages", Type.BIGINT, "Pages of no section beneath."),
        ColumnSpec("own_flow_pages", Type.BIGINT, "Pages of the flow of no section beneath."),
        ColumnSpec("own_old_pages", Type.BIGINT, "Older pages of no section beneath."),
        *_PAGES,
        ColumnSpec("view_squares", Type.DOUBLE, "Sum of the squared views of its pages."),
        _CLIENTS,
    ),
)

FEW_PAGES: Final = passing(
    name="few_pages",
    description="Pages of sections that may have few clients.",
    grain="prefix, url",
    columns=(
        ColumnSpec("prefix", Type.VARCHAR, "The section."),
        ColumnSpec("url", Type.VARCHAR, "A page beneath it."),
    ),
)


def write_tree_sums(
    engine: Engine, inputs: Inputs, parameters: Mapping[str, Any], out: Path
) -> tuple[list[str], list[str]]:
    """Return files of TREE_SUMS and FEW_PAGES from labels, histories, the flow and `counted_sites`.

    `parameters` are those of sql/lists/section_sums.sql, and `enough` of sql/lists/few_pages.sql.
    """
    of_window = dict(parameters)
    enough = {"enough": of_window.pop("enough")}
    pages = write_page_sections(engine, list(inputs["page_labels"]), out)
    few_views = write_flow_sections(engine, list(inputs["page_flow"]), out)
    of_pages = {
        "page_sections": pages,
        "page_histories": inputs["page_histories"],
        "page_flow": inputs["page_flow"],
        "flow_sections": few_views,
        "counted_sites": inputs["counted_sites"],
    }
    section_sums = engine.query("section_sums", of_pages, of_window, _SECTION_SUMS, out)
    sums = {"section_sums": [str(path) for path in section_sums]}
    sections = {"section_paths": write_section_paths(engine, sums, out)}
    trees = [*map(str, engine.query("tree_sums", sums | sections, {}, TREE_SUMS, out))]
    of_trees = sections | {
        "tree_sums": trees,
        "page_sections": pages,
        "flow_sections": few_views,
    }
    return trees, [*map(str, engine.query("few_pages", of_trees, enough, FEW_PAGES, out))]
