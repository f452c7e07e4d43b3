"""The stages of the pipeline, in the order of the data flow: groups of the UI, with their pages.

Dagster sorts groups by name, so names begin with a number. Here: which asset belongs where, and
which page of the documentation explains it. Not here: what an asset is made from (`specs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import dagster as dg

from temporal_assets.settings import Settings

LOGS_GROUP: Final = "1_logs"
DAILY_GROUP: Final = "2_days"
_DOCS: Final = Path(__file__).parents[2] / "docs"
"""Folder of the documentation in a checkout; a wheel has none."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A group of assets in the UI."""

    group: str
    page: str
    """Page of `docs/` that explains its assets, unless `pages` has another."""
    assets: tuple[str, ...]


STAGES: Final = (
    Stage(LOGS_GROUP, "log-formats", ("log_files", "landed_days")),
    Stage(DAILY_GROUP, "canonical-urls", ("requests", "rejects", "page_views", "transits")),
    Stage(
        "3_pages",
        "labels",
        (
            *("page_totals", "page_histories", "interest_curves"),
            *("calibration", "page_labels", "early_labels", "page_flow"),
            "page_traffic",
        ),
    ),
    Stage(
        "4_sites",
        "sites-and-prefixes",
        ("prefix_trees", "site_scores", "section_scores", "news_prefixes", "site_changes"),
    ),
    Stage("5_hubs", "hubs", ("hub_seeds",)),
    Stage(
        "6_patterns",
        "url-patterns",
        ("url_patterns", "behaviour_graph", "pattern_ranks"),
    ),
    Stage(
        "7_policy",
        "policy",
        ("provisional_lists", "fetches", "sources", "crawl_policy", "released_policy"),
    ),
    Stage(
        "8_evaluation",
        "evaluation",
        (
            *("seed_evaluation", "hub_evaluation", "crawl_simulation", "timely_simulation"),
            "evaluation_report",
        ),
    ),
)
"""All stages; a test compares them with the contracts."""

_PAGES: Final[Mapping[str, str]] = {
    "fetches": "crawl-results",
    "sources": "crawl-results",
    "rejects": "troubleshooting",
    "landed_days": "running-daily",
    "page_flow": "sites-and-prefixes",
    "page_traffic": "url-patterns",
    "evaluation_report": "report",
}
"""Pages of single assets."""

_STAGE_OF: Final = {asset: stage for stage in STAGES for asset in stage.assets}


def group_of(asset: str) -> str:
    """Return the group of an asset."""
    return _STAGE_OF[asset].group


def page_of(asset: str) -> str:
    """Return the name of the file in `docs/` that explains an asset."""
    return f"{_PAGES.get(asset, _STAGE_OF[asset].page)}.md"


def documentation(asset: str, settings: Settings) -> dg.UrlMetadataValue | dg.PathMetadataValue:
    """Return the page of an asset, as a link if `orchestration.docs` says where pages are."""
    page = page_of(asset)
    base = settings.orchestration.docs
    if base:
        return dg.MetadataValue.url(f"{base.rstrip('/')}/{page}")
    return dg.MetadataValue.path(_DOCS / page if _DOCS.is_dir() else Path("docs") / page)
