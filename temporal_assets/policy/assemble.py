"""Assembly of a policy document from tables: decisions, tiers, visit intervals, privacy.

Here: which rows of small tables enter the document, and in which tier (1 is fetched first). Not
here: where the tables come from (`windows.policy.crawl_policy`), how the document is published
(`bundle`). Every rule is a function of the tables and of `Choices`; the same tables give the same
bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from temporal_assets import __version__
from temporal_assets.core.lists.provisional import URGENT_SHARE
from temporal_assets.core.numerics.proportions import upper_bound
from temporal_assets.core.patterns.pattern_forest import PortableTree
from temporal_assets.logs.urls.canonical import site_of
from temporal_assets.logs.urls.static_files import SOURCE_EXTENSIONS, STATIC_EXTENSIONS
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.policy.document import (
    FORMAT,
    LATER_TIERS,
    NOW_TIERS,
    SKIP_TIER,
    VERSION,
    Action,
    Document,
    HubEntry,
    PatternEntry,
    PrefixEntry,
    SiteEntry,
    SiteTree,
    SourceEntry,
    UrlRulesEntry,
)

SITES: Final = pa.schema(
    {
        "site": pa.string(),
        "rank": pa.int64(),
        "score": pa.float64(),
        "clients": pa.int64(),
    }
)
"""Columns of the list of temporal sites. rank: 1 is the best. clients: distinct ones over the
window, here and below."""

HUBS: Final = pa.schema(
    {
        "url": pa.string(),
        "rank": pa.int64(),
        "tier": pa.int64(),
        "temporal_pages": pa.int64(),
        "new_per_day": pa.float64(),
        "interval_seconds": pa.int64(),
        "clients": pa.int64(),
    }
)
"""Columns of hubs. tier: 1 for those that together lead to half of all new pages expected.
temporal_pages: number of temporal pages they link. new_per_day: expected new ones per day."""

SOURCES: Final = pa.schema(
    {
        "url": pa.string(),
        "kind": pa.string(),
        "is_news": pa.bool_(),
        "site": pa.string(),
        "interval_seconds": pa.int64(),
        "new_per_day": pa.float64(),
    }
)
"""Columns of feeds and sitemaps of the policy's sites. Clients do not open them: a crawler found
them in public places, or a user lists them. new_per_day: NULL where unknown."""

PREFIXES: Final = pa.schema(
    {
        "prefix": pa.string(),
        "score": pa.float64(),
        "pages": pa.int64(),
        "clients": pa.int64(),
    }
)
"""Columns of news prefixes, with or without their scheme."""

PATTERNS: Final = pa.schema(
    {
        "site": pa.string(),
        "node": pa.int64(),
        "template": pa.string(),
        "expression": pa.string(),
        "visits": pa.int64(),
        "fetch": pa.float64(),
        "discovery": pa.float64(),
        "urgency": pa.float64(),
        "labelled": pa.int64(),
        "clients": pa.int64(),
    }
)
"""Columns of leaves of the sites' pattern trees. node: number of the leaf in its tree. fetch,
discovery: NULL for sites without referrers. urgency: expected share of temporal pages, NULL where
unknown; labelled: number of pages that this share is estimated from."""

_HOUR: Final = 3600
DAY: Final = 24 * _HOUR
WEEK: Final = 7 * DAY

LADDER: Final = (
    *(300, 600, 900, 1200, 1800),
    *(hours * _HOUR for hours in (1, 2, 3, 4, 6, 8, 12)),
    *(DAY, 2 * DAY, WEEK),
)
"""Allowed seconds between visits to a hub, from 5 minutes to a week. Crawlers schedule by classes
rather than by numbers (StormCrawler has one setting per class), and estimates are not that exact.
Intervals of less than a day divide it, so that cron can express them."""

Row = Mapping[str, Any]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Choices:
    """Options of the policy (settings `policy.*`)."""

    min_clients: int = 5
    """Least number of clients of any URL, pattern or site that enters a policy."""
    urgent_share: float = 0.5
    """Patterns with a larger share of temporal pages are fetched now."""
    confidence: float = 0.95
    """Confidence with which a pattern's share must be below `urgent_share` to overrule a news
    prefix."""
    skip_share: float = 0.01
    """Share of a site's visits that its least visited patterns, which are skipped, may have
    together."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables that a policy is made from, with the columns above."""

    sites: pa.Table
    hubs: pa.Table
    prefixes: pa.Table
    patterns: pa.Table
    sources: pa.Table = field(default_factory=SOURCES.empty_table)
    trees: Mapping[str, PortableTree] = field(default_factory=dict)
    """The pattern tree of each site in `patterns`."""
    provisional: Mapping[str, float] = field(default_factory=dict)
    """Share of pages in which interest fades, for sites whose pages have no labels yet; their rows
    rest on `provisional_lists`."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of the tables."""

    day: str
    first_day: str
    window_days: int
    missing_days: tuple[str, ...]
    inputs: tuple[tuple[str, str], ...]
    """(name, digest)"""
    thresholds: Mapping[str, Any]
    """Thresholds of the labels, scores and cuts that the tables were computed with."""


def assemble(
    tables: Tables,
    provenance: Provenance,
    choices: Choices | None = None,
    rules: UrlRules | None = None,
    *,
    includes_subdomains: bool = False,
    skips_static: bool = True,
) -> Document:
    """Return the policy document made from the tables."""
    choices = choices or Choices()
    rules = rules or UrlRules()
    ranked = _public(tables.sites, SITES, choices)
    ranked.sort(key=lambda row: (row["rank"], row["site"]))
    early = tables.provisional
    prefixes = _prefixes(
        _public(tables.prefixes, PREFIXES, choices), ranked, early, includes_subdomains
    )
    steady = {site for site, share in early.items() if share <= URGENT_SHARE}
    steady -= {entry["site"] for entry in prefixes}
    hubs = _hubs(_public(tables.hubs, HUBS, choices), early, steady)
    patterns, trees = _patterns(_public(tables.patterns, PATTERNS, choices), tables, choices)
    used = {entry["site"] for part in (hubs, prefixes, trees) for entry in part}
    policy_sites = used | {row["site"] for row in ranked}
    sources = _sources(tables.sources, policy_sites)
    sites = _sites(ranked, used, early, includes_subdomains)
    return Document(
        format=FORMAT,
        version=VERSION,
        generator=f"temporal-assets {__version__}",
        day=provenance.day,
        window={
            "first": provenance.first_day,
            "days": provenance.window_days,
            "missing_days": list(provenance.missing_days),
        },
        settings={"policy": asdict(choices), **provenance.thresholds},
        inputs=[{"name": name, "digest": digest} for name, digest in provenance.inputs],
        includes_subdomains=includes_subdomains,
        provisional=any(entry["provisional"] for entry in sites),
        notes=[],
        urls=_url_rules(rules, skips_static=skips_static),
        sites=sites,
        hubs=hubs,
        sources=sources,
        prefixes=prefixes,
        patterns=patterns,
        trees=trees,
    )


def tiers_of(values: ArrayLike, first: int, last: int) -> list[int]:
    """Return a tier per value, from `first` for the largest to `last`, in groups of equal size.

    Equal values have equal tiers, that of the best of them.
    """
    numbers = np.asarray(values, np.float64)
    if not len(numbers):
        return []
    descending = np.sort(-numbers)
    better = np.searchsorted(descending, -numbers, side="left")
    tiers: NDArray[np.int64] = first + better * (last - first + 1) // len(numbers)
    return list(map(int, tiers))


def on_ladder(seconds: int) -> int:
    """Return the shortest interval of LADDER that is at least `seconds`, or whole weeks.

    Shorter ones would exceed `hubs.visits_per_day` and the shortest interval.
    """
    whole_weeks = -(-seconds // WEEK) * WEEK
    return min((step for step in LADDER if step >= seconds), default=whole_weeks)


def _public(table: pa.Table, schema: pa.Schema, choices: Choices) -> list[dict[str, Any]]:
    """Return the rows with at least `min_clients` clients.

    Every table of what clients opened passes through here: it is their only way into a policy.
    """
    missing = [name for name in schema.names if name not in table.schema.names]
    if missing:
        raise ValueError(f"a table of the policy lacks {', '.join(missing)}")
    rows: list[dict[str, Any]] = table.select(schema.names).to_pylist()
    return [row for row in rows if (row["clients"] or 0) >= choices.min_clients]


def _hubs(
    rows: list[dict[str, Any]], early: Mapping[str, float], steady: set[str]
) -> list[HubEntry]:
    """Return the policy's hubs by rank, with intervals that crawlers can keep.

    `steady` are the sites without labels whose pages last.
    """
    rows.sort(key=lambda row: (row["rank"], row["url"]))
    for row in rows:
        seconds = row["interval_seconds"] or LADDER[-1]
        if site_of(row["url"]) in steady:
            seconds = max(seconds, DAY)
        row["interval_seconds"] = on_ladder(seconds)
    return [
        HubEntry(
            url=row["url"],
            site=site_of(row["url"]),
            rank=row["rank"],
            tier=min(max(row["tier"], NOW_TIERS[0]), _LAST_OF_HUBS),
            interval_seconds=row["interval_seconds"],
            new_per_day=row["new_per_day"],
            temporal_pages=row["temporal_pages"],
            provisional=site_of(row["url"]) in early,
        )
        for row in rows
    ]


def _sources(table: pa.Table, sites: set[str]) -> list[SourceEntry]:
    """Return feeds and sitemaps of the policy's sites, those with most new pages first."""
    rows = [row for row in table.select(SOURCES.names).to_pylist() if row["site"] in sites]
    rows.sort(key=lambda row: (-(row["new_per_day"] or 0.0), row["url"]))
    return [
        SourceEntry(
            url=row["url"],
            kind=row["kind"],
            is_news=row["is_news"],
            site=row["site"],
            tier=_LAST_OF_HUBS,
            interval_seconds=on_ladder(row["interval_seconds"]),
            new_per_day=row["new_per_day"],
        )
        for row in rows
    ]


_LAST_OF_HUBS: Final = 4
"""Last tier of hubs and sources, before all pages: links on a hub may be gone in an hour, but a
page stays."""


def _prefixes(
    rows: list[dict[str, Any]],
    ranked: Sequence[Row],
    early: Mapping[str, float],
    includes_subdomains: bool,
) -> list[PrefixEntry]:
    """Return the policy's prefixes, with tiers by the rank of their site and their score."""
    ranks = {row["site"]: row["rank"] for row in ranked}
    for row in rows:
        row["prefix"] = row["prefix"].split("://", 1)[-1]
        row["site"] = site_of(f"//{row['prefix']}")
        row["rank"] = _listed(row["site"], ranks, includes_subdomains, len(ranks) + 1)
    rows.sort(key=lambda row: row["prefix"])
    # Sites before prefixes: a page's interest depends on its readers, hence on its site.
    order = _places(rows, lambda row: (row["rank"], -row["score"]))
    tiers = tiers_of([-place for place in order], _LAST_OF_HUBS + 1, NOW_TIERS[1])
    return [
        PrefixEntry(
            prefix=row["prefix"],
            site=row["site"],
            tier=tier,
            score=row["score"],
            pages=row["pages"],
            provisional=row["site"] in early,
        )
        for row, tier in zip(rows, tiers, strict=True)
    ]


def _places(rows: Sequence[Value], key: Callable[[Value], Any]) -> list[int]:
    """Return the rank of each row when sorted by `key`; equal rows share a rank."""
    keys = [key(row) for row in rows]
    first: dict[Any, int] = {}
    for place, value in enumerate(sorted(keys)):
        first.setdefault(value, place)
    return [first[value] for value in keys]


def _patterns(
    rows: list[dict[str, Any]], tables: Tables, choices: Choices
) -> tuple[list[PatternEntry], list[SiteTree]]:
    """Return the entries of all patterns and, per site, the tree that refers to them."""
    trees, early = tables.trees, tables.provisional
    of_early = replace(choices, urgent_share=URGENT_SHARE)
    rows.sort(key=lambda row: (row["site"], row["node"]))
    by_site: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_site.setdefault(row["site"], []).append(row)
    planted: list[SiteTree] = []
    place = 0
    for site, group in by_site.items():
        _rate(group, of_early if site in early else choices)
        pattern = [-1] * len(trees[site]["parent"])
        for row in group:
            pattern[row["node"]] = place
            place += 1
        planted.append(SiteTree(site=site, pattern=pattern, **trees[site]))
    _give_tiers(rows)
    return [
        PatternEntry(
            site=row["site"],
            template=row["template"],
            expression=row["expression"],
            decision=row["decision"],
            tier=row["tier"],
            fetch=row["fetch"],
            discovery=row["discovery"],
            urgency=row["urgency"],
            overrules=row["overrules"],
            visits=row["visits"],
            provisional=row["site"] in early,
        )
        for row in rows
    ], planted


def _rate(group: list[dict[str, Any]], choices: Choices) -> None:
    """Set scores and decisions of one site's patterns.

    Fetch and discovery scores are divided by the best of the site. Patterns with the fewest visits
    are skipped, as many as have `skip_share` of the visits together, unless they are urgent.
    """
    for name in ("fetch", "discovery"):
        # Where nothing is known of links, visits say what is wanted.
        values = [row["visits"] if row[name] is None else row[name] for row in group]
        best = max(values, default=0) or 1
        for row, value in zip(group, values, strict=True):
            row[name] = value / best
    for row, overrules in zip(group, _overrules(group, choices).tolist(), strict=True):
        row["overrules"] = overrules
    total = sum(row["visits"] for row in group)
    tail = 0
    for row in sorted(group, key=lambda row: (row["visits"], row["fetch"], row["node"])):
        tail += row["visits"]
        row["decision"] = _action(row["urgency"], tail, total, choices)


def _action(urgency: float | None, tail: int, total: int, choices: Choices) -> Action:
    """Return the decision on a pattern; `tail` are the visits of it and of less visited ones."""
    if urgency is not None and urgency > choices.urgent_share:
        return "now"
    return "skip" if tail <= choices.skip_share * total else "later"


def _overrules(group: Sequence[Row], choices: Choices) -> NDArray[np.bool_]:
    """Return flags of patterns that are surely not urgent, even where a news prefix holds them."""
    urgency = np.array([row["urgency"] for row in group], np.float64)  # NaN where unknown
    bound = upper_bound(urgency, [row["labelled"] for row in group], choices.confidence)
    return (bound <= choices.urgent_share) & ~np.isnan(urgency)


def _give_tiers(rows: list[dict[str, Any]]) -> None:
    """Set the tiers of patterns of all sites.

    Urgent ones are ordered by urgency times fetch rank, others by fetch rank alone.
    """
    now = [row for row in rows if row["decision"] == "now"]
    later = [row for row in rows if row["decision"] == "later"]
    for row in rows:
        row["tier"] = SKIP_TIER
    worth = [row["urgency"] * row["fetch"] for row in now]
    for row, tier in zip(now, tiers_of(worth, _LAST_OF_HUBS + 1, NOW_TIERS[1]), strict=True):
        row["tier"] = tier
    ranks = [row["fetch"] for row in later]
    for row, tier in zip(later, tiers_of(ranks, LATER_TIERS[0], _LAST_OF_PATTERNS), strict=True):
        row["tier"] = tier


_LAST_OF_PATTERNS: Final = 12
"""Last tier of patterns that are fetched later; sites follow."""


def _sites(
    ranked: Sequence[Row], used: set[str], early: Mapping[str, float], includes_subdomains: bool
) -> list[SiteEntry]:
    """Return the entries of listed sites and of all sites that a hub, prefix or pattern lies on."""
    tiers = tiers_of([-row["rank"] for row in ranked], _LAST_OF_PATTERNS + 1, LATER_TIERS[1])
    entries = [
        SiteEntry(
            site=row["site"],
            rank=row["rank"],
            score=row["score"],
            tier=tier,
            provisional=row["site"] in early,
        )
        for row, tier in zip(ranked, tiers, strict=True)
    ]
    tier = {entry["site"]: entry["tier"] for entry in entries}
    return entries + [
        SiteEntry(
            site=site,
            rank=None,
            score=None,
            tier=_listed(site, tier, includes_subdomains, LATER_TIERS[1]),
            provisional=site in early,
        )
        for site in sorted(used - tier.keys())
    ]


def _listed(host: str, listed: Mapping[str, int], includes_subdomains: bool, missing: int) -> int:
    """Return the listed entry of a host or, if sites include subdomains, of its domain."""
    parts = host.split(".") if includes_subdomains else [host]
    names = (".".join(parts[n:]) for n in range(len(parts)))
    return next((listed[name] for name in names if name in listed), missing)


def _url_rules(rules: UrlRules, *, skips_static: bool) -> UrlRulesEntry:
    extensions = sorted(name.decode("ascii") for name in STATIC_EXTENSIONS - SOURCE_EXTENSIONS)
    return UrlRulesEntry(
        scheme=rules.scheme,
        dropped_keys=sorted(rules.dropped_keys),
        kept_keys=sorted(rules.kept_keys),
        static_extensions=extensions if skips_static else [],
    )
