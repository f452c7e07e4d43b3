"""Crawlee and crawl4ai: start requests, expressions for links, scores, and globs.

Both run in Python or JavaScript and take regular expressions; globs are for settings that take
nothing else, and hold whole sites and prefixes. Scores are between 0 and 1, larger is sooner.
"""

from __future__ import annotations

import json

from temporal_assets.policy.document import SKIP_TIER, TIERS, Document
from temporal_assets.policy.exports.rules import allowed, by_rank, denied, rules


def files(document: Document) -> dict[str, str]:
    """Name -> content."""
    content = {
        "start": [
            {
                "url": hub["url"],
                "label": f"hub-{hub['tier']}",
                "user_data": {"tier": hub["tier"], "interval_seconds": hub["interval_seconds"]},
            }
            for hub in by_rank(document)
        ],
        "include": allowed(document),
        "exclude": denied(document),
        "scores": [[rule.expression, score(rule.tier)] for rule in rules(document)],
        "globs": globs(document),
    }
    return {"policy-links.json": json.dumps(content, indent=1) + "\n"}


def score(tier: int) -> float:
    """Of a tier: 1 for the first, 0 for what is skipped."""
    return (SKIP_TIER - tier) / (TIERS - 1)


def globs(document: Document) -> list[str]:
    """Prefixes under which everything new is wanted, for both schemes."""
    return [
        f"{scheme}://{_plain(entry['prefix'])}**"
        for entry in document["prefixes"]
        for scheme in ("http", "https")
    ]


def _plain(text: str) -> str:
    """Characters that mean something in a glob stand for themselves as a class."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)
