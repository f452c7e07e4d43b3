"""`crawl_policy`: what crawlers load, as a table and as files.

Here: which columns of which assets a policy is made from, and its release to crawlers once the
table has passed its checks. Not here: how it is decided (`policy.assemble`) and published as files
(`policy.bundle`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.core.crawls.visit_rates import LONGEST, days_watched, stretch
from temporal_assets.core.numerics.hierarchy import hierarchy
from temporal_assets.core.patterns.pattern_forest import PortableTree
from temporal_assets.core.patterns.pattern_rules import portable_of
from temporal_assets.core.patterns.pattern_tree import has_many_parts
from temporal_assets.logs.urls.canonical import site_of
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.policy.assemble import (
    DAY,
    HUBS,
    PATTERNS,
    PREFIXES,
    SITES,
    SOURCES,
    WEEK,
    Choices,
    Provenance,
    Tables,
    assemble,
)
from temporal_assets.policy.bundle import is_whole, publish
from temporal_assets.policy.document import Document, tier_of_action
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.windows.lists.flow_shares import Flow, flow_of
from temporal_assets.windows.lists.news_prefixes import NEWS_PREFIXES
from temporal_assets.windows.lists.page_flow import flow_from
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.lists.site_scores import SITE_SCORES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.patterns.pattern_ranks import PATTERN_RANKS
from temporal_assets.windows.patterns.url_patterns import URL_PATTERNS
from temporal_assets.windows.policy.policy_notes import notes
from temporal_assets.windows.policy.provisional_lists import PROVISIONAL_LISTS
from temporal_assets.windows.results.sources import SOURCES as CRAWL_SOURCES

log = logging.getLogger(__name__)

FOLDER: Final = "policy"
"""Name of the folder in the state folder where the files are published."""

NEW_PER_VISIT: Final = 0.05
"""New pages that a visit must be expected to show where hardly anything is known of a hub: it is
provisional, or a front page to which no link leads. Nothing else bounds these visits."""

_ALL_ROWS: Final = 100_000_000
"""Limit of rows that is none: `Engine.rows` stops early unless told. The queries below end by
themselves, at `sites.top_k`, `hubs.top_k` and `MOST_RULES`."""

MOST_RULES: Final = 1_000_000
"""Most news prefixes (those with the most news first) and most nodes of pattern trees (of the most
visited sites first) in a policy: every crawler holds all of them in memory."""

_FILES: Final = b"policy"
"""Key in the metadata of the table's file that names the folder of the policy's files. Table and
files are the same then, whatever else was built meanwhile."""

_SITES: Final = (
    "SELECT site, rank, score, clients FROM site_scores WHERE is_selected ORDER BY rank, site"
)
_FLOWS: Final = "SELECT site, flow_temporal_pages AS pages FROM site_scores"
_HUBS: Final = (
    "SELECT hub_seeds.url, rank, tier, basis, hub_seeds.temporal_pages, hub_seeds.new_per_day,"
    " CAST(60 * hub_seeds.revisit_minutes AS BIGINT) AS interval_seconds, clients,"
    " seen.visits, seen.temporal_pages AS found, seen.new_per_day AS found_per_day"
    " FROM hub_seeds LEFT JOIN sources AS seen ON seen.url = hub_seeds.url"
    " WHERE rank IS NOT NULL AND NOT coalesce(seen.is_gone, FALSE) ORDER BY rank"
)
"""Statement for hubs with what crawls found on them; hubs that are gone are left out."""

_SOURCES: Final = (
    "SELECT url, kind, is_news, site, CAST(60 * revisit_minutes AS BIGINT) AS interval_seconds,"
    " new_per_day FROM sources WHERE kind <> 'hub' AND NOT is_gone"
    " AND (failures < visits OR is_listed AND failures = 0) ORDER BY url"
)
"""Statement for feeds and sitemaps that answer, and listed ones until they are known to fail."""

_PREFIXES: Final = (
    "SELECT prefix, score, CASE WHEN rule = 'flow' THEN flow_pages ELSE pages END AS pages, clients"
    " FROM (SELECT * FROM news_prefixes WHERE clients >= {least}"
    " ORDER BY flow_temporal_pages DESC, news_pages DESC, prefix LIMIT {most}) AS best"
    " ORDER BY prefix"
)
_EARLY: Final = (
    "SELECT kind, site, name, pattern, pages, share, new_per_day, views, clients, is_listed"
    " FROM provisional_lists WHERE kind = 'site' OR kind = 'pattern' OR is_listed"
    " ORDER BY site, kind, name, pattern"
)
_TREES: Final = (
    "SELECT site FROM (SELECT site, sum(nodes) OVER (ORDER BY visits DESC, site"
    " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS nodes FROM (SELECT site,"
    " count(*) AS nodes, max(visits) AS visits FROM url_patterns WHERE status = 'learned'"
    " GROUP BY site HAVING bool_or(is_public)) AS sizes) AS sites WHERE nodes <= {most}"
)
"""Statement for the trees of the most visited sites with public nodes, up to a number of nodes."""

_NODES: Final = (
    "SELECT site, pattern, parent, rule, is_pattern FROM url_patterns"  # noqa: S608 - ours
    f" WHERE status = 'learned' AND site IN ({_TREES}) ORDER BY site, pattern"
)
_PATTERNS: Final = (
    "SELECT site, pattern, template, expression, visits, is_public, fetch_score, hub,"  # noqa: S608 - ours
    " temporal_share, labelled_pages, flow_pages, flow_score FROM pattern_ranks"
    " INNER JOIN (SELECT site, pattern, expression FROM url_patterns"
    f" WHERE is_pattern AND status = 'learned' AND site IN ({_TREES})) AS leaves"
    " USING (site, pattern) ORDER BY site, pattern"
)


def _make(job: Job) -> Sequence[Path]:
    """Publish the policy's files, and write its entries as a table."""
    document = _document(job)
    published = publish(document, job.settings.state / FOLDER, job.out)
    file = job.out / "crawl_policy.parquet"
    schema = contracts.CRAWL_POLICY.arrow_schema
    table = pa.Table.from_pylist([{"day": job.day, **row} for row in _rows(document)], schema)
    named = table.replace_schema_metadata({_FILES: published.folder.name})
    pq.write_table(named, file, compression="zstd")
    return [file]


def files_of(store: Store, settings: Settings, manifest: Manifest) -> Path | None:
    """Return the folder of a partition's policy files, or None if the partition names none."""
    (path,) = store.paths(manifest)
    with store.fs.open(path, "rb") as file:
        metadata = pq.read_schema(file).metadata or {}
    return settings.state / FOLDER / metadata[_FILES].decode() if _FILES in metadata else None


def _is_whole(store: Store, settings: Settings, manifest: Manifest) -> bool:
    """Return whether the policy of a partition is as it was published."""
    folder = files_of(store, settings, manifest)
    return folder is None or is_whole(folder)


def _document(job: Job) -> Document:
    """Return the policy document of a window, from the tables of its lists."""
    settings = job.settings
    for name in ("news_prefixes", "url_patterns"):
        if job.sources.tables[name].rows > MOST_RULES:
            sentence = f"{name} has more than {MOST_RULES:,} rows: only the best are in the policy"
            log.warning(sentence)
            job.cut(sentence)
    flow = flow_of(job) if settings.prefixes.rule == "flow" else None
    early = _early(job)
    trees, places = _trees(_read(job, _NODES, "url_patterns"))
    patterns = [
        _pattern(row, places[row["site"]][row["pattern"]], settings, flow, early)
        for row in _read(job, _PATTERNS, "pattern_ranks", "url_patterns")
    ]
    tables = Tables(
        pa.Table.from_pylist(_sites(job, early), SITES),
        pa.Table.from_pylist(_hubs(job, _births(job, early), early), HUBS),
        pa.Table.from_pylist(_prefixes(job, early), PREFIXES),
        pa.Table.from_pylist(patterns, PATTERNS),
        sources=pa.Table.from_pylist(_read(job, _SOURCES, "sources"), SOURCES),
        trees=trees,
        provisional={site: row["share"] for site, row in early.sites.items()},
    )
    document = assemble(
        tables,
        _provenance(job),
        _choices(settings, flow),
        UrlRules.from_settings(settings.cleaning),
        includes_subdomains=settings.sites.by == "domain",
        skips_static=settings.cleaning.static_resources == "drop",
    )
    document["notes"] = notes(job, list(early.sites.values()), document)
    return document


@dataclass(frozen=True, slots=True)
class _Early:
    """Facts about sites whose pages have no labels yet."""

    sites: Mapping[str, Mapping[str, Any]]
    sections: Sequence[Mapping[str, Any]]
    patterns: Mapping[tuple[str, int], Mapping[str, Any]]


def _early(job: Job) -> _Early:
    rows = _read(job, _EARLY, "provisional_lists")
    return _Early(
        {row["site"]: row for row in rows if row["kind"] == "site"},
        [row for row in rows if row["kind"] == "section"],
        {(row["site"], row["pattern"]): row for row in rows if row["kind"] == "pattern"},
    )


def _sites(job: Job, early: _Early) -> list[dict[str, Any]]:
    """Return the sites of the policy; sites without labels follow, by their expected new pages."""
    listed = [row for row in _read(job, _SITES, "site_scores") if row["site"] not in early.sites]
    last = max((row["rank"] for row in listed), default=0)
    least = job.settings.privacy.min_clients
    worth = [row for row in early.sites.values() if row["is_listed"] and row["clients"] >= least]
    worth.sort(
        key=lambda row: (-(row["new_per_day"] or 0), -row["share"] * row["views"], row["site"])
    )
    behind = [
        {"site": row["site"], "rank": rank, "score": row["share"], "clients": row["clients"]}
        for rank, row in enumerate(worth, last + 1)
    ]
    return [*listed, *behind[: max(job.settings.sites.top_k - len(listed), 0)]]


def _births(job: Job, early: _Early) -> dict[str, float]:
    """Return the new temporal pages a day of each site, as expected where pages have no labels."""
    present = job.present("page_views")
    days = sum(day >= flow_from(present) for day in present)
    rows = _read(job, _FLOWS, "site_scores") if days else []
    births: dict[str, float] = {row["site"]: row["pages"] / days for row in rows}
    return births | {site: row["new_per_day"] or 0.0 for site, row in early.sites.items()}


def _hubs(job: Job, births: Mapping[str, float], early: _Early) -> list[dict[str, Any]]:
    """Return the hubs; intervals are longer where crawls found less than the logs promise.

    A front page to which no link says more is expected to show what is born on its site (`births`).
    """
    rows = _read(job, _HUBS, "hub_seeds", "sources")
    for row in rows:
        site, is_front_page = site_of(row["url"]), row["basis"] == "front_page"
        if is_front_page:
            row["new_per_day"] = max(row["new_per_day"], births.get(site, 0.0))
        if is_front_page or site in early.sites:
            row["interval_seconds"] = max(row["interval_seconds"], _enough(row["new_per_day"]))
        if row["visits"] and row["interval_seconds"] and row["new_per_day"] is not None:
            days = days_watched(row["found"], row["found_per_day"])
            longer = stretch(days * row["new_per_day"], row["found"])
            seconds = row["interval_seconds"]
            row["interval_seconds"] = max(seconds, round(min(seconds * longer, LONGEST)))
    return rows


def _enough(new_per_day: float) -> int:
    """Return the seconds in which enough new pages are expected for a visit, a week at most."""
    return round(min(DAY * NEW_PER_VISIT / new_per_day, WEEK)) if new_per_day > 0 else WEEK


def _prefixes(job: Job, early: _Early) -> list[dict[str, Any]]:
    """Return the news prefixes; early sites have their provisional sections."""
    listed = [
        row
        for row in _read(job, _PREFIXES, "news_prefixes")
        if site_of(f"//{row['prefix'].split('://', 1)[-1]}") not in early.sites
    ]
    return listed + [
        {
            "prefix": row["name"],
            "score": row["share"],
            "pages": row["pages"],
            "clients": row["clients"],
        }
        for row in early.sections
        if row["pages"]
    ]


def _read(job: Job, query: str, *tables: str) -> list[dict[str, Any]]:
    text = query.replace("{most}", str(MOST_RULES))
    text = text.replace("{least}", str(job.settings.privacy.min_clients))
    return job.engine.rows(text, {name: job.files(name) for name in tables}, _ALL_ROWS)


def _trees(
    nodes: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, PortableTree], dict[str, dict[int, int]]]:
    """Return the tree of every site, down to the parts of its patterns, and each pattern's node."""
    by_site: dict[str, list[Mapping[str, Any]]] = {}
    for node in nodes:
        by_site.setdefault(node["site"], []).append(node)
    trees, places = {}, {}
    for site, group in by_site.items():
        whole = hierarchy([node["parent"] for node in group])
        is_pattern = np.array([node["is_pattern"] for node in group], np.bool_)
        # Patterns of few parts are walked down to these.
        is_cut = is_pattern & has_many_parts(whole)
        kept = np.flatnonzero(whole.cut(is_cut))
        parents = np.searchsorted(kept, whole.parent[kept]) - (whole.parent[kept] < 0)
        rules = [group[node]["rule"] for node in kept.tolist()]
        trees[site] = portable_of(parents.tolist(), rules, is_cut[kept].tolist())
        nodes_of_cut = np.flatnonzero(whole.cut(is_pattern))
        place = np.searchsorted(kept, nodes_of_cut)
        places[site] = dict(zip(nodes_of_cut.tolist(), place.tolist(), strict=True))
    return trees, places


def _choices(settings: Settings, flow: Flow | None) -> Choices:
    """Return the choices of the settings; the flow decides where these choose nothing."""
    chosen = Choices(settings.privacy.min_clients)
    return chosen if flow is None else replace(chosen, urgent_share=flow.worth)


def _pattern(
    row: Mapping[str, Any], place: int, settings: Settings, flow: Flow | None, early: _Early
) -> dict[str, Any]:
    labelled = row["labelled_pages"]
    urgency = row["temporal_share"]
    if flow is not None:
        # Old pages count for as much as they say about new ones.
        labelled = round(row["flow_pages"] + flow.stock_weight * labelled)
        urgency = row["flow_score"]
    if row["site"] in early.sites:
        early_sums = early.patterns[row["site"], row["pattern"]]
        labelled, urgency = early_sums["pages"], early_sums["share"]
    return {
        "site": row["site"],
        "node": place,
        "template": row["template"],
        "expression": row["expression"],
        "visits": row["visits"],
        "fetch": row["fetch_score"],
        "discovery": row["hub"],
        "urgency": urgency,
        "labelled": labelled,
        # How many clients there were is known only as enough or not.
        "clients": settings.privacy.min_clients if row["is_public"] else 0,
    }


def _provenance(job: Job) -> Provenance:
    """Return what the policy was made from: days, inputs, thresholds."""
    settings = job.settings
    missing = {
        day for manifest in job.sources.tables.values() for day in manifest.extra["missing_days"]
    }
    thresholds = {
        name: getattr(settings, name).model_dump(mode="json")
        for name in ("labels", "sites", "prefixes", "hubs", "patterns")
    }
    return Provenance(
        day=job.day.isoformat(),
        first_day=job.first.isoformat(),
        window_days=settings.window.days,
        missing_days=tuple(sorted(missing)),
        inputs=tuple((item.name, item.digest) for item in job.sources.inputs),
        thresholds=thresholds,
    )


def _rows(document: Document) -> Iterator[dict[str, Any]]:
    """Yield the entries of all lists."""
    kinds: Sequence[tuple[str, Sequence[Any], str, str]] = (
        ("site", document["sites"], "site", "score"),
        ("hub", document["hubs"], "url", "temporal_pages"),
        ("source", document["sources"], "url", "new_per_day"),
        ("prefix", document["prefixes"], "prefix", "score"),
        ("pattern", document["patterns"], "template", "fetch"),
    )
    for kind, entries, name, score in kinds:
        for place, entry in enumerate(entries, 1):
            yield {
                "kind": kind,
                "place": place,
                "site": entry["site"],
                "name": entry[name],
                "decision": tier_of_action(entry["tier"]),
                "tier": entry["tier"],
                "score": entry[score],
                "interval_seconds": entry.get("interval_seconds"),
                "is_provisional": entry.get("provisional", False),
            }


def _settings(settings: Settings) -> Sequence[Any]:
    """Return the settings that change the policy."""
    return [
        settings.privacy.min_clients,
        settings.window.min_days,
        settings.window.min_views_per_day,
        MOST_RULES,
        settings.prefixes.rule,
        settings.sites.by,
        settings.cleaning.static_resources,
        settings.cleaning.scheme,
        settings.cleaning.drop_query_keys,
        settings.cleaning.keep_query_keys,
    ]


CRAWL_POLICY: Final = WindowAsset(
    "crawl_policy",
    _make,
    days=("page_views",),
    tables=(
        PAGE_TOTALS,
        PREFIX_TREES,
        SITE_SCORES,
        HUB_SEEDS,
        NEWS_PREFIXES,
        URL_PATTERNS,
        PATTERN_RANKS,
        PROVISIONAL_LISTS,
        CRAWL_SOURCES,
    ),
    settings=_settings,
    is_whole=_is_whole,
)
