"""Contracts of all tables: columns, types, meaning, and the rules that data must keep.

One module per table. Everything that needs to know a table's shape derives it from here: the
Parquet and SQL types, Dagster's column schema, the Great Expectations suite, the documentation.
Not here: how a table is computed (`sql/`), stored (`storage`) or judged (`quality`).
"""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.crawls.crawl_simulation import CRAWL_SIMULATION
from temporal_assets.contracts.crawls.fetches import FETCHES
from temporal_assets.contracts.crawls.sources import SOURCES
from temporal_assets.contracts.crawls.timely_simulation import TIMELY_SIMULATION
from temporal_assets.contracts.daily.counts import COUNTS, NUMBERED_COUNTS
from temporal_assets.contracts.daily.page_views import PAGE_VIEWS
from temporal_assets.contracts.daily.rejects import REJECTS
from temporal_assets.contracts.daily.requests import REQUESTS
from temporal_assets.contracts.daily.transits import TRANSITS
from temporal_assets.contracts.daily.urls import URLS
from temporal_assets.contracts.evaluation.hub_evaluation import HUB_EVALUATION
from temporal_assets.contracts.evaluation.seed_evaluation import SEED_EVALUATION
from temporal_assets.contracts.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.contracts.labels.calibration import CALIBRATION
from temporal_assets.contracts.labels.early_labels import EARLY_LABELS
from temporal_assets.contracts.labels.interest_curves import INTEREST_CURVES
from temporal_assets.contracts.labels.page_labels import PAGE_LABELS
from temporal_assets.contracts.lists.news_prefixes import NEWS_PREFIXES
from temporal_assets.contracts.lists.page_flow import PAGE_FLOW
from temporal_assets.contracts.lists.prefix_trees import PREFIX_TREES
from temporal_assets.contracts.lists.section_scores import SECTION_SCORES
from temporal_assets.contracts.lists.site_changes import SITE_CHANGES
from temporal_assets.contracts.lists.site_scores import SITE_SCORES
from temporal_assets.contracts.pages.page_histories import PAGE_HISTORIES
from temporal_assets.contracts.pages.page_totals import PAGE_TOTALS
from temporal_assets.contracts.patterns.behaviour_graph import BEHAVIOUR_GRAPH
from temporal_assets.contracts.patterns.pattern_ranks import PATTERN_RANKS
from temporal_assets.contracts.patterns.url_patterns import URL_PATTERNS
from temporal_assets.contracts.policy.crawl_policy import CRAWL_POLICY
from temporal_assets.contracts.policy.provisional_lists import PROVISIONAL_LISTS
from temporal_assets.contracts.report.evaluation_report import EVALUATION_REPORT
from temporal_assets.contracts.rules import Drift, Rule, Severity
from temporal_assets.contracts.table import ColumnSpec, Table, Type, passing
from temporal_assets.contracts.traffic.page_traffic import PAGE_TRAFFIC

TABLES: Final[tuple[Table, ...]] = (
    REQUESTS,
    REJECTS,
    PAGE_VIEWS,
    TRANSITS,
    PAGE_TOTALS,
    PAGE_HISTORIES,
    INTEREST_CURVES,
    CALIBRATION,
    PAGE_LABELS,
    EARLY_LABELS,
    PAGE_FLOW,
    PAGE_TRAFFIC,
    URL_PATTERNS,
    BEHAVIOUR_GRAPH,
    PATTERN_RANKS,
    HUB_SEEDS,
    PREFIX_TREES,
    SITE_SCORES,
    SECTION_SCORES,
    NEWS_PREFIXES,
    SITE_CHANGES,
    PROVISIONAL_LISTS,
    FETCHES,
    SOURCES,
    CRAWL_POLICY,
    SEED_EVALUATION,
    HUB_EVALUATION,
    CRAWL_SIMULATION,
    TIMELY_SIMULATION,
    EVALUATION_REPORT,
)
"""All tables, in the order in which they are computed."""

_BY_NAME: Final = {table.name: table for table in TABLES}


def table(name: str) -> Table:
    """Return the contract of a table, by the name of its asset."""
    try:
        return _BY_NAME[name]
    except KeyError:
        names = ", ".join(_BY_NAME)
        raise KeyError(f"no contract for a table named {name!r}; there are: {names}") from None


__all__ = [
    "BEHAVIOUR_GRAPH",
    "CALIBRATION",
    "COUNTS",
    "CRAWL_POLICY",
    "CRAWL_SIMULATION",
    "EARLY_LABELS",
    "EVALUATION_REPORT",
    "FETCHES",
    "HUB_EVALUATION",
    "HUB_SEEDS",
    "INTEREST_CURVES",
    "NEWS_PREFIXES",
    "NUMBERED_COUNTS",
    "PAGE_FLOW",
    "PAGE_HISTORIES",
    "PAGE_LABELS",
    "PAGE_TOTALS",
    "PAGE_TRAFFIC",
    "PAGE_VIEWS",
    "PATTERN_RANKS",
    "PREFIX_TREES",
    "PROVISIONAL_LISTS",
    "REJECTS",
    "REQUESTS",
    "SECTION_SCORES",
    "SEED_EVALUATION",
    "SITE_CHANGES",
    "SITE_SCORES",
    "SOURCES",
    "TABLES",
    "TIMELY_SIMULATION",
    "TRANSITS",
    "URLS",
    "URL_PATTERNS",
    "ColumnSpec",
    "Drift",
    "Rule",
    "Severity",
    "Table",
    "Type",
    "passing",
    "table",
]
