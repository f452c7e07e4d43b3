"""`prefix_trees`: every folder and program with the counts of what is beneath it (NP 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from temporal_assets.contracts import ColumnSpec, Table, Type, passing
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.days import window_days
from temporal_assets.windows.page_histories import PAGE_HISTORIES
from temporal_assets.windows.page_labels import PAGE_LABELS
from temporal_assets.windows.page_traffic import PAGE_TRAFFIC
from temporal_assets.windows.sections import write_page_sections, write_section_paths

_SECTION_SUMS: Final = passing(
    name="section_sums",
    description="What the pages of a section add up to.",
    grain="section",
    columns=(
        ColumnSpec("site", Type.VARCHAR, "Host of the section."),
        ColumnSpec("section", Type.VARCHAR, "The deepest section of these pages."),
        ColumnSpec("first_seen", Type.DATE, "First day of the window with views of them."),
        ColumnSpec("pages", Type.BIGINT, "Reliable pages."),
        ColumnSpec("temporal_pages", Type.BIGINT, "By the curve."),
        ColumnSpec("news_pages", Type.BIGINT, "By concentration."),
        ColumnSpec("curve_pages", Type.BIGINT, "Old enough for a curve."),
        ColumnSpec("aged_pages", Type.BIGINT, "Old enough for a concentration above p."),
        ColumnSpec("views", Type.BIGINT, "Views in the window."),
        ColumnSpec("temporal_views", Type.BIGINT, "Those of temporal pages."),
        ColumnSpec("recent_views", Type.BIGINT, "Views of the last days."),
        ColumnSpec("view_squares", Type.BIGINT, "Sum of the squared views of its pages."),
        ColumnSpec("clients", Type.BIGINT, "The most clients of a page on a day."),
    ),
)

_SECTION_CLIENTS: Final = passing(
    name="section_clients",
    description="Clients of sections that may have few.",
    grain="prefix",
    columns=(
        ColumnSpec("prefix", Type.VARCHAR, "The section."),
        ColumnSpec("clients", Type.BIGINT, "So many at least over the window."),
    ),
)


def _make(job: Job) -> Sequence[Path]:
    days = job.settings.window.days
    pages = write_page_sections(job.engine, job.files("page_labels"), job.out)
    sums = _query(
        job,
        _SECTION_SUMS,
        {"page_sections": pages, "page_histories": job.files("page_histories")},
        {"recent": min(job.settings.sites.quiet_days, days), **window_days(job)},
    )
    paths = write_section_paths(job.engine, {"section_sums": sums}, job.out)
    sections = {"section_sums": sums, "section_paths": paths}
    clients = _query(
        job,
        _SECTION_CLIENTS,
        sections | {"page_sections": pages, "page_traffic": job.files("page_traffic")},
        {"enough": job.settings.privacy.min_clients},
    )
    inputs = sections | {"section_clients": clients}
    return job.engine.query("prefix_trees", inputs, {"day": job.day}, job.asset.table, job.out)


def _query(
    job: Job, table: Table, inputs: Mapping[str, list[str]], parameters: Mapping[str, Any]
) -> list[str]:
    made = job.engine.query(table.name, inputs, parameters, table, job.out)
    return [str(path) for path in made]


PREFIX_TREES: Final = WindowAsset(
    "prefix_trees",
    _make,
    days=("page_views",),
    tables=(PAGE_HISTORIES, PAGE_LABELS, PAGE_TRAFFIC),
    sql=("section_sums", "section_clients", "prefix_trees"),
    settings=lambda settings: [
        settings.window.days,
        settings.privacy.min_clients,
        settings.sites.quiet_days,
    ],
)
