"""Sums of all prefix trees, and the pages of sections that few clients know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from temporal_assets.contracts import passing
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.windows.lists.sections import (
    write_flow_sections,
    write_page_sections,
    write_section_paths,
)

SUMS_SQL: Final = ("section_sums", "tree_sums", "few_pages")
"""The statements, in the order they run."""

_PAGES: Final = (
    "pages BIGINT, temporal_pages BIGINT, news_pages BIGINT, curve_pages BIGINT,"
    " aged_pages BIGINT, flow_pages BIGINT, flow_thousandths BIGINT, old_pages BIGINT,"
    " old_temporal_pages BIGINT, views BIGINT, temporal_views BIGINT, recent_views BIGINT"
)
_SECTION_SUMS: Final = passing(
    "section_sums",
    "site VARCHAR, section VARCHAR, first_seen DATE",
    _PAGES,
    "view_squares BIGINT, clients BIGINT",
)
TREE_SUMS: Final = passing(
    "tree_sums",
    "site VARCHAR, prefix VARCHAR, parent VARCHAR, depth BIGINT, is_program BOOLEAN,"
    " first_seen DATE, own_pages BIGINT, own_flow_pages BIGINT, own_old_pages BIGINT",
    _PAGES,
    "view_squares DOUBLE, clients BIGINT",
)
FEW_PAGES: Final = passing("few_pages", "prefix VARCHAR, url VARCHAR")


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
