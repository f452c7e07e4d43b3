"""Apache StormCrawler: seeds with metadata, intervals by metadata, URL filters.

Its status backends know no priorities, only when a URL is due. So tiers travel as metadata, and the
configuration gives each class of hubs its interval; a class is a whole number of minutes, because
the scheduler compares metadata as text.
"""

from __future__ import annotations

import json
from typing import Any, Final

from temporal_assets.policy.document import Document, SourceEntry
from temporal_assets.policy.exports.rules import by_rank, escape, of_site, rules

_PERSISTED: Final = (
    *("_redirTo", "error.cause", "error.source", "isSitemap", "isSitemapNews", "isFeed"),
    *("policyTier", "hubInterval"),
)
"""Names of metadata that are kept: a list replaces StormCrawler's, so its own are included."""


def files(document: Document) -> dict[str, str]:
    """Return the text of each file by its name."""
    return {
        "seeds.txt": _seeds(document),
        "policy-conf.yaml": _configuration(document),
        "fast.urlfilter.json": _fast_filter(document),
        "policy-regex-filters.txt": _regex_filter(document),
    }


def minutes(seconds: int) -> int:
    """Convert seconds to whole minutes, at least 1, as the scheduler counts."""
    return max(1, seconds // 60)


def metadata(source: SourceEntry) -> str:
    """Return the metadata keys that tell parsers the kind of a source.

    StormCrawler's own parser of sitemaps knows `isSitemap`; that of news-crawl `isSitemapNews`.
    """
    if source["kind"] == "feed":
        return "isFeed=true"
    return "isSitemap=true\tisSitemapNews=true" if source["is_news"] else "isSitemap=true"


def _seeds(document: Document) -> str:
    """Return the seed list: hubs by rank, then feeds and sitemaps."""
    hubs = (
        f"{hub['url']}\tpolicyTier={hub['tier']}\thubInterval={minutes(hub['interval_seconds'])}\n"
        for hub in by_rank(document)
    )
    sources = (
        f"{row['url']}\tpolicyTier={row['tier']}"
        f"\thubInterval={minutes(row['interval_seconds'])}\t{metadata(row)}\n"
        for row in document["sources"]
    )
    return "".join((*hubs, *sources))


def _configuration(document: Document) -> str:
    """Return the configuration with an interval for each class of hubs."""
    visited = (*document["hubs"], *document["sources"])
    classes = sorted({minutes(row["interval_seconds"]) for row in visited})
    lines = [
        "# To be merged into the crawler's configuration.",
        "config:",
        f"  metadata.persist: {json.dumps(_PERSISTED)}",
        *(f"  fetchInterval.hubInterval={each}: {each}" for each in classes),
        # A hub that fails is tried again at its own pace, not at that of other pages.
        *(f"  fetchInterval.FETCH_ERROR.hubInterval={each}: {each}" for each in classes),
    ]
    return "\n".join(lines) + "\n"


def _fast_filter(document: Document) -> str:
    """Return the filter by host that denies what is skipped on known hosts.

    Each host has a scope of its own, since an ALLOW ends its own scope only.
    """
    every = rules(document)
    static = [f"DenyPathQuery {rule.path}" for rule in every if rule.kind == "static"]
    scopes: list[dict[str, Any]] = []
    for site, group in of_site(every).items():
        patterns = [
            f"{'Allow' if rule.is_accepted else 'Deny'}PathQuery {path}"
            for rule in group
            if rule.kind != "site" and (path := rule.path_of_any_origin) is not None
        ]
        # Patterns, hubs and prefixes are of one host, and not of those below it.
        if document["includes_subdomains"]:
            scopes.append({"scope": f"domain:{site}", "patterns": static})
            scopes += [{"scope": f"host:{site}", "patterns": patterns}] if patterns else []
        else:
            scopes.append({"scope": f"host:{site}", "patterns": static + patterns})
    return json.dumps(scopes, indent=1) + "\n"


def _regex_filter(document: Document) -> str:
    """Return the filter with all rules; without comments, which would end its reading."""
    own = [f"+^{escape(row['url'])}$" for row in document["sources"]]
    lines = [*own, *(f"{'+' if r.is_accepted else '-'}{r.expression}" for r in rules(document))]
    return "".join(f"{line}\n" for line in [*lines, "-."])
