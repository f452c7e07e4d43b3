"""`url_patterns`: the pattern trees of all sites, learned side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from temporal_assets.engines.base import GroupLimits
from temporal_assets.settings import Settings
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.patterns.pattern_nodes import (
    CUT,
    TRANSIT_THRESHOLD,
    TREE,
    PatternOptions,
    lost_site,
    site_nodes,
)
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

SITE_SECONDS: Final = 120.0
"""A site that takes longer is reported and left out. The largest of BB Table 2 (1.7 million URLs)
takes less than ten: more is a fault, and must not keep all other sites waiting."""


def pattern_options(settings: Settings) -> PatternOptions:
    """Return the settings that patterns depend on."""
    patterns = settings.patterns
    return PatternOptions(
        patterns.salience,
        settings.privacy.min_clients,
    )


def site_limits(settings: Settings) -> GroupLimits:
    """Return the limits of time and memory for learning one site."""
    memory = settings.patterns.site_memory_mib
    return GroupLimits(settings.engine.used_threads, SITE_SECONDS, memory, lost_site)


def _make(job: Job) -> Sequence[Path]:
    return job.engine.apply_groups(
        partial(site_nodes, options=pattern_options(job.settings)),
        {"page_traffic": job.files("page_traffic"), "page_totals": job.urls("page_traffic")},
        "site",
        job.asset.table,
        job.out,
        site_limits(job.settings),
    )


def _depends_on(settings: Settings) -> list[object]:
    options, limits = pattern_options(settings), site_limits(settings)
    return [
        TREE.min_urls,
        options.salience,
        TREE.most_urls,
        CUT,
        TRANSIT_THRESHOLD,
        options.least_clients,
        # Another limit may let a site through that was left out.
        limits.seconds,
        limits.memory_mib,
    ]


URL_PATTERNS: Final = WindowAsset(
    "url_patterns", _make, tables=(PAGE_TRAFFIC,), settings=_depends_on
)
