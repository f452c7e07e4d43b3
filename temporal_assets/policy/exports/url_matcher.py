"""url-matcher, the rules of web-poet and scrapy-poet: includes, excludes, a priority.

A path is a prefix unless a `|` ends it, whatever its case; `*` is a wildcard and cannot be
escaped; a host is also meant with `www.` before it. So rules are a little coarser than the policy,
and patterns have no place in them.
"""

from __future__ import annotations

import json

from temporal_assets.policy.document import SKIP_TIER, Document


def files(document: Document) -> dict[str, str]:
    """Return the text of each file by its name."""
    prefixes = [(_include(entry["prefix"]), entry["tier"]) for entry in document["prefixes"]]
    sites = [(f"{entry['site']}/", entry["tier"]) for entry in document["sites"]]
    rules = [
        {"include": [include], "exclude": [], "priority": priority(tier), "meta": {"tier": tier}}
        for include, tier in (*prefixes, *sites)
    ]
    return {"rules.json": json.dumps(rules, indent=1) + "\n"}


def priority(tier: int) -> int:
    """Return the priority of a tier; larger wins.

    All are below 500, the default of rules, so that a project's own can stay above.
    """
    return 100 + 10 * (SKIP_TIER - tier)


def _include(prefix: str) -> str:
    """Return the rule of a prefix: a folder as it is, a program as an exact path with any query."""
    return f"{prefix.removesuffix('?')}|" if prefix.endswith("?") else prefix
