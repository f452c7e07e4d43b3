"""Scrapy, without the add-on: lists for link extractors, start URLs, junk query keys.

The add-on (`temporal_assets.crawl.scrapy`) reads the policy itself and does more. These files
are for spiders that cannot have it. `deny` wins over `allow`; expressions are searched in the
absolute URL.
"""

from __future__ import annotations

import json
from typing import Final

from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.policy.document import SKIP_TIER, Document
from temporal_assets.policy.exports.rules import allowed, by_rank, denied, rules

_MIXED: Final = "ASP.NET_SessionId"
"""A usual session key in mixed case."""

_NUMBER: Final = "1"
"""A value for which `sid` is kept: on some sites it is the number of a story."""


def files(document: Document) -> dict[str, str]:
    """Return the text of each file by its name."""
    links = {
        "allow": allowed(document),
        "deny": denied(document),
        "priorities": [[rule.expression, priority(rule.tier)] for rule in rules(document)],
    }
    start = [
        {
            "url": hub["url"],
            "priority": priority(hub["tier"]),
            "interval_seconds": hub["interval_seconds"],
        }
        for hub in by_rank(document)
    ] + [
        {
            "url": row["url"],
            "kind": row["kind"],
            "priority": priority(row["tier"]),
            "interval_seconds": row["interval_seconds"],
        }
        for row in document["sources"]
    ]
    return {
        "links.json": json.dumps(links, indent=1) + "\n",
        "start-requests.json": json.dumps(start, indent=1) + "\n",
        "duplicate-url-discarder.json": json.dumps(_junk_keys(document), indent=1) + "\n",
    }


def priority(tier: int) -> int:
    """Return `Request.priority` of a tier: 15 for tier 1 down to 0 for skipped URLs."""
    return SKIP_TIER - tier


def _junk_keys(document: Document) -> list[dict[str, object]]:
    """Return query keys that never make another page, whatever their values.

    Scrapy compares keys exactly, so names with a wildcard are left out.
    """
    urls = document["urls"]
    rules = UrlRules(urls["scheme"], frozenset(urls["dropped_keys"]), frozenset(urls["kept_keys"]))
    named = [key for key in urls["dropped_keys"] if not key.endswith("*")]
    spelled = {_MIXED, *(form for key in named for form in (key, key.lower(), key.upper()))}
    return [
        {
            "order": 100,
            "processor": "queryRemoval",
            "urlPattern": {"include": []},
            "args": sorted(key for key in spelled if rules.drops(key, _NUMBER)),
        }
    ]
