"""Crawlee and crawl4ai: start requests, expressions for links, scores, and globs.

Both take regular expressions; globs are for settings that take nothing else, and hold news
prefixes. Scores are between 0 and 1, larger is sooner. The two differ in their globs: in Crawlee
`*` ends at a slash and `**` does not; crawl4ai compares the whole URL, and reads `**` as a dot.
"""

from __future__ import annotations

import json

from temporal_assets.policy.document import SKIP_TIER, TIERS, Document
from temporal_assets.policy.exports.rules import allowed, by_rank, denied, rules


def files(document: Document) -> dict[str, str]:
    """Return the text of each file for Crawlee by its name."""
    return _files(document, "**")


def files_of_crawl4ai(document: Document) -> dict[str, str]:
    """Return the text of each file for crawl4ai by its name."""
    return _files(document, "*")


def _files(document: Document, anything: str) -> dict[str, str]:
    """Return the one JSON file with start requests, expressions, scores and globs."""
    content = {
        "start": [
            {
                "url": hub["url"],
                "label": f"hub-{hub['tier']}",
                "user_data": {"tier": hub["tier"], "interval_seconds": hub["interval_seconds"]},
            }
            for hub in by_rank(document)
        ]
        + [
            {
                "url": row["url"],
                "label": row["kind"],
                "user_data": {"tier": row["tier"], "interval_seconds": row["interval_seconds"]},
            }
            for row in document["sources"]
        ],
        "include": allowed(document),
        "exclude": denied(document),
        "scores": [[rule.expression, score(rule.tier)] for rule in rules(document)],
        "globs": globs(document, anything),
    }
    return {"policy-links.json": json.dumps(content, indent=1) + "\n"}


def score(tier: int) -> float:
    """Return the score of a tier: 1 for the first, 0 for what is skipped."""
    return (SKIP_TIER - tier) / (TIERS - 1)


def globs(document: Document, anything: str) -> list[str]:
    """News prefixes, for both schemes; what patterns say of URLs under them is lost."""
    return [
        f"{scheme}://{_plain(entry['prefix'])}{anything}"
        for entry in document["prefixes"]
        for scheme in ("http", "https")
    ]


def _plain(text: str) -> str:
    """Characters that mean something in a glob stand for themselves as a class."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)
