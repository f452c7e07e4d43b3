"""Rows of the report's front page: traffic, births, the policy, hubs, checks.

Here: the queries. Not here: the text made of them (`reports.sections.front`). Rows with a name are
read only if enough clients know the name.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final

from temporal_assets.quality import verdicts
from temporal_assets.reports.sections.front_facts import Front
from temporal_assets.reports.sections.wording import every
from temporal_assets.windows.frame.asset import Job, learned_days
from temporal_assets.windows.lists.site_changes import compared_day
from temporal_assets.windows.report.report_rows import ReportRows, Row

_UNOBSERVED: Final = 7
"""Days at the beginning of a window in which every old page seems to be born (`page_flow`)."""

_TRAFFIC: Final = (
    "SELECT day, CAST(sum(views) AS BIGINT) AS views, count(*) AS pages FROM page_views"
    " GROUP BY day ORDER BY day"
)
_BIRTHS: Final = (
    "SELECT totals.birth AS day, count(*) AS pages,"
    " CAST(coalesce(sum(CASE WHEN labels.is_temporal THEN 1 ELSE 0 END), 0) AS BIGINT) AS temporal"
    " FROM page_totals AS totals LEFT JOIN page_labels AS labels ON labels.url = totals.url"
    " GROUP BY totals.birth ORDER BY totals.birth"
)
_ENTRIES: Final = (
    "SELECT kind, decision, count(*) AS entries FROM crawl_policy GROUP BY ALL ORDER BY ALL"
)
_SIZES: Final = (
    "SELECT (SELECT count(*) FROM page_totals) AS opened,"
    " (SELECT count(*) FROM page_labels) AS labelled"
)
_VISITS: Final = (
    "SELECT tier, count(*) AS hubs, sum(86400.0 / interval_seconds) AS fetches FROM crawl_policy"
    " WHERE kind = 'hub' GROUP BY tier ORDER BY tier"
)
_GROUPS: Final = {1: "best hubs", 2: "good hubs", 3: "other hubs"}
"""Tiers of hubs in words: the first has half of what all hubs are expected to bring."""
_ARRIVALS: Final = (
    "SELECT policy.decision, sum(ranks.new_pages_per_day) AS fetches FROM crawl_policy AS policy"
    " INNER JOIN pattern_ranks AS ranks"
    " ON ranks.site = policy.site AND ranks.template = policy.name"
    " WHERE policy.kind = 'pattern' AND policy.decision <> 'skip' GROUP BY policy.decision"
    " ORDER BY policy.decision DESC"
)
_HUBS: Final = (
    "SELECT url AS name, new_per_day, new_per_day_low, new_per_day_high"
    " FROM hub_seeds WHERE rank IS NOT NULL AND clients >= {least} ORDER BY rank LIMIT 5"
)
_INTERVALS: Final = (
    "SELECT hubs.url AS name, policy.interval_seconds FROM crawl_policy AS policy"
    " INNER JOIN hub_seeds AS hubs ON hubs.url = policy.name"
    " WHERE policy.kind = 'hub' AND hubs.rank IS NOT NULL AND hubs.clients >= {least}"
    " ORDER BY hubs.rank LIMIT 3"
)
_PREFIXES: Final = (
    "SELECT prefix AS name, pages, news_pages FROM news_prefixes WHERE clients >= {least}"
    " ORDER BY news_pages DESC, prefix LIMIT 2"
)
_SITES: Final = (
    "SELECT site AS name, pages, temporal_pages FROM site_scores"
    " WHERE is_selected AND clients >= {least} ORDER BY rank LIMIT 2"
)
_CRAWLED: Final = (
    "SELECT kind, count(*) AS sources, CAST(sum(visits) AS BIGINT) AS visits,"
    " CAST(sum(unchanged) AS BIGINT) AS unchanged, CAST(sum(failures) AS BIGINT) AS failures,"
    " CAST(sum(CASE WHEN is_gone THEN 1 ELSE 0 END) AS BIGINT) AS gone,"
    " CAST(sum(pages) AS BIGINT) AS pages, CAST(sum(temporal_pages) AS BIGINT) AS temporal_pages"
    " FROM sources WHERE visits > 0 GROUP BY kind"
    " ORDER BY temporal_pages DESC, pages DESC, kind"
)
_BEST_SOURCE: Final = (
    "SELECT url, pages, temporal_pages FROM sources WHERE pages > 0 AND (kind <> 'hub'"
    " OR url IN (SELECT url FROM hub_seeds WHERE clients >= {least}))"
    " ORDER BY temporal_pages DESC, pages DESC, url LIMIT 1"
)
_CHANGES: Final = (
    "SELECT site, CASE WHEN site_changes.change = 'entered' "
    " THEN 'new in the list, place ' || CAST(rank AS VARCHAR)"
    " WHEN site_changes.change = 'left' THEN 'left the list, was ' || CAST(earlier_rank AS VARCHAR)"
    " WHEN site_changes.change IN ('rising', 'falling') AND rank < earlier_rank"
    " THEN 'up from ' || CAST(earlier_rank AS VARCHAR)"
    " || ' to ' || CAST(rank AS VARCHAR)"
    " WHEN site_changes.change IN ('rising', 'falling') AND rank > earlier_rank"
    " THEN 'down from ' || CAST(earlier_rank AS VARCHAR)"
    " || ' to ' || CAST(rank AS VARCHAR)"
    " WHEN is_gone_quiet THEN 'gone quiet' ELSE 'seen for the first time' END AS change"
    " FROM site_changes WHERE site_changes.change NOT IN ('steady', 'rising', 'falling')"
    " OR site_changes.change IN ('rising', 'falling') AND rank <> earlier_rank"
    " OR is_gone_quiet OR is_first_seen"
    " ORDER BY CASE site_changes.change WHEN 'entered' THEN 0 WHEN 'left' THEN 1 ELSE 2 END,"
    " rank, site"
)


def front_of(job: Job, reader: ReportRows) -> Front:
    """Read the facts of the front page."""
    expected = job.settings.window.days
    judgements = _judgements(job)
    compared = compared_day(job.sources.tables["site_changes"])
    wrong = [judgement for judgement in judgements if not judgement.passed]
    return Front(
        day=job.day,
        traffic=reader.daily(_TRAFFIC, "page_views"),
        births=_births(job, reader),
        entries=reader.rows(_ENTRIES, "crawl_policy"),
        budget=list(_budget(reader)),
        watched=list(_watched(reader)),
        hubs=reader.rows(_HUBS, "hub_seeds"),
        changes=reader.rows(_CHANGES, "site_changes") if compared else [],
        crawled=reader.rows(_CRAWLED, "sources"),
        best_source=reader.rows(_BEST_SOURCE, "sources", "hub_seeds"),
        compared=compared,
        days=expected,
        missing=expected - len(job.present("page_views")),
        **_sizes(reader),
        days_to_judge=_days_to_judge(job),
        rejected=_rejected(job),
        failed=[
            f"{judgement.asset}: {judgement.check}" for judgement in wrong if judgement.blocking
        ],
        warned=[
            f"{judgement.asset}: {judgement.check}" for judgement in wrong if not judgement.blocking
        ],
        is_judged=bool(judgements),
        lists=reader.table("seed_evaluation"),
        reach=reader.table("hub_evaluation"),
        timely=reader.table("timely_simulation"),
    )


def _births(job: Job, reader: ReportRows) -> list[Row]:
    """Return births of the observed days but the first `_UNOBSERVED`, when old pages seem new."""
    births_of_day = {row["day"]: row for row in reader.rows(_BIRTHS, "page_totals", "page_labels")}
    present = job.present("page_views")
    if not present:
        return []
    first = min(present) + dt.timedelta(days=_UNOBSERVED)
    none = {"pages": 0, "temporal": 0}
    return [
        {"day": day, **(births_of_day.get(day) or none)} for day in sorted(present) if day >= first
    ]


def _budget(reader: ReportRows) -> Iterator[Row]:
    for row in reader.rows(_VISITS, "crawl_policy"):
        yield {"what": f"{_GROUPS[row['tier']]} ({row['hubs']:,})", "fetches": row["fetches"]}
    for row in reader.rows(_ARRIVALS, "crawl_policy", "pattern_ranks"):
        what = "new pages, at once" if row["decision"] == "now" else "new pages, later"
        yield {"what": what, "fetches": row["fetches"] or 0.0}


def _watched(reader: ReportRows) -> Iterator[Row]:
    """Yield the first hubs, prefixes and sites with the reason to watch each."""
    for row in reader.rows(_INTERVALS, "crawl_policy", "hub_seeds"):
        name, interval = row["name"].partition("//")[2], every(row["interval_seconds"])
        yield {"kind": "hub", "name": name, "why": f"every {interval}"}
    for row in reader.rows(_PREFIXES, "news_prefixes"):
        why = _share(row["news_pages"], row["pages"], "news")
        yield {"kind": "prefix", "name": row["name"], "why": why}
    for row in reader.rows(_SITES, "site_scores"):
        why = _share(row["temporal_pages"], row["pages"], "temporal")
        yield {"kind": "site", "name": row["name"], "why": why}


def _share(pages: int, labelled: int, what: str) -> str:
    """Return the evidence for an entry of the policy, in words."""
    return f"{pages:,} of {labelled:,} {what}" if labelled else "by others like it"


def _sizes(reader: ReportRows) -> dict[str, int]:
    """Return the numbers of opened and of labelled pages, named as the fields of `Front`."""
    (row,) = reader.rows(_SIZES, "page_totals", "page_labels")
    return {name: int(row[name]) for name in ("opened", "labelled")}


def _days_to_judge(job: Job) -> int:
    """Return how many more days of logs the shortest horizon needs for its first evaluation."""
    window = job.settings.window
    needed = min(window.min_days, window.days)
    learned = learned_days(job.settings, job.day).values()
    before = sum(day <= max(learned) for day in job.present("page_views")) if learned else needed
    return max(needed - before, 0)


def _rejected(job: Job) -> float | None:
    manifest = job.store.manifest("requests", job.day)
    lines = manifest.extra.get("lines") if manifest else None
    if manifest is None or not lines:
        return None
    lost = sum(count for kind, _, count in manifest.extra["losses"] if kind == "rejected")
    return float(lost) / float(lines)


def _judgements(job: Job) -> list[verdicts.Judgement]:
    """Return the results of the checks of the day's tables."""
    daily = (job.store.manifest(name, job.day) for name in ("requests", "page_views", "transits"))
    manifests = [daily_manifest for daily_manifest in daily if daily_manifest is not None] + list(
        job.sources.tables.values()
    )
    return [
        daily_manifest
        for manifest in manifests
        for daily_manifest in verdicts.read(job.settings.state, manifest)
    ]
