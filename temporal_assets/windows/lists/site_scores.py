"""`site_scores`: how temporal each site is, and the ranked list (TW 4.3)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from temporal_assets.contracts import passing
from temporal_assets.core.curves.curves import MIN_LIFE
from temporal_assets.logs.urls.domains import registrable_domain
from temporal_assets.settings import VIEWS_PER_CLIENT
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.counted_sites import counted_sites
from temporal_assets.windows.frame.days import observed_days, window_parameters
from temporal_assets.windows.labels.early_labels import EARLY_LABELS
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.lists import sections
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.lists.scored import merit_of, scoring_of, with_scores, write_scores
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES

_BATCH_HOSTS: Final = 65_536

_ACTIVITY: Final = (
    "host VARCHAR, first_seen DATE, last_seen DATE, observed_days BIGINT, all_views BIGINT,"
    " recent_views BIGINT, clients BIGINT"
)
HOST_ACTIVITY: Final = passing("site_activity", _ACTIVITY)
_SITE_ACTIVITY: Final = passing("site_activity_of_sites", "site VARCHAR", _ACTIVITY)
_YOUNG: Final = "young_pages BIGINT, young_temporal_pages DOUBLE, young_temporal_views DOUBLE"

_UNKNOWN: Final = (
    "SELECT count(*) AS pages FROM early_labels WHERE probability IS NULL AND age < {young_days}"
)
"""Statement that counts the young pages without a learned probability."""

_YOUNG_SUMS: Final = passing("young_sums", "host VARCHAR", _YOUNG)
_SITE_SUMS: Final = passing(
    "site_sums",
    "site VARCHAR, hosts BIGINT, pages BIGINT, temporal_pages BIGINT, views BIGINT,"
    " temporal_views BIGINT, view_squares DOUBLE, flow_pages BIGINT,"
    " flow_temporal_pages DOUBLE, old_pages BIGINT, old_temporal_pages BIGINT,"
    " flow_score DOUBLE, flow_bound DOUBLE, flow_basis VARCHAR",
    _YOUNG,
    "clients BIGINT, first_seen DATE, last_seen DATE, is_quiet BOOLEAN",
)

_SCORED: Final = with_scores("scored_sites", _SITE_SUMS.columns)


def name_sites(batch: pa.RecordBatch, by: str) -> pa.RecordBatch:
    """Return rows of hosts with the site (host or domain) that each belongs to."""
    site = batch.column("host")
    if by == "domain":
        site = pa.array([registrable_domain(host) for host in site.to_pylist()], pa.string())
    schema = _SITE_ACTIVITY.arrow_schema
    columns = [site if name == "site" else batch.column(name) for name in schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def write_activity(job: Job) -> list[str]:
    """Return files of HOST_ACTIVITY, over all pages, reliable or not."""
    recent = min(sections.QUIET_DAYS, job.settings.window.days)
    written = job.engine.query(
        "site_activity",
        {"page_views": job.window("page_views").files, **counted_sites(job)},
        {
            "recent_from": job.day - dt.timedelta(days=recent - 1),
            "views_per_client": VIEWS_PER_CLIENT,
            **window_parameters(job),
        },
        HOST_ACTIVITY,
        job.out,
    )
    return [str(path) for path in written]


def quietness(job: Job) -> dict[str, float]:
    """Return the parameters by which statements decide that a host has gone quiet."""
    return {
        # The day itself is there, or there would be no window.
        "recent_days": int(observed_days(job)[-sections.QUIET_DAYS :].sum()),
        "quiet_days": sections.QUIET_DAYS,
        "quiet_share": sections.QUIET_SHARE,
    }


def _make(job: Job) -> Sequence[Path]:
    """Write `site_scores`: name sites, sum up pages and views per site, score and rank."""
    sites = job.settings.sites
    named = job.engine.apply(
        partial(name_sites, by=sites.by),
        {"site_activity": write_activity(job)},
        _SITE_ACTIVITY,
        job.out,
        _BATCH_HOSTS,
    )
    sums = job.engine.query(
        "site_sums",
        {
            "site_activity": [str(path) for path in named],
            "prefix_trees": job.files("prefix_trees"),
            "young_sums": _young_sums(job),
        },
        {"day": job.day, **quietness(job)},
        _SITE_SUMS,
        job.out,
    )
    merit = merit_of(job)
    scored = write_scores(job, [str(path) for path in sums], _SCORED, merit)
    parameters = {
        "day": job.day,
        "by_flow": merit is not None,
        "min_pages": scoring_of(job.settings).min_pages,
        "min_clients": job.settings.privacy.min_clients,
        "top_k": sites.top_k,
    }
    table = job.asset.table
    return job.engine.query("site_scores", {"scored_sites": scored}, parameters, table, job.out)


def _young_sums(job: Job) -> list[str]:
    """Write the sums of young pages of each site, known and unknown."""
    names = ("page_labels", "page_histories", "early_labels")
    # The paper counts what has a label. Nobody is younger than one day.
    young_days = 1 if job.settings.sites.rule == "paper" else MIN_LIFE
    inputs = {name: job.files(name) for name in names}
    early = {"early_labels": inputs["early_labels"]}
    (unknown,) = job.engine.rows(_UNKNOWN.format(young_days=young_days), early)
    parameters = {"young_days": young_days, "knows_all": unknown["pages"] == 0}
    written = job.engine.query("young_sums", inputs, parameters, _YOUNG_SUMS, job.out)
    return [str(path) for path in written]


SITE_SCORES: Final = WindowAsset(
    "site_scores",
    _make,
    windows=("page_views",),
    tables=(PAGE_HISTORIES, PAGE_LABELS, EARLY_LABELS, PREFIX_TREES),
    sql=("site_activity", "young_sums", "site_sums", "site_scores"),
    settings=lambda settings: [
        settings.window.days,
        settings.privacy.min_clients,
        VIEWS_PER_CLIENT,
        settings.sites.model_dump(mode="json"),
        sections.QUIET_DAYS,
        sections.QUIET_SHARE,
    ],
)
