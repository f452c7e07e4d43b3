"""Browsertrix Crawler: hubs as seeds, scope by regular expressions of JavaScript.

The queue knows no priorities, so hubs are written in their order and the crawl is bounded by depth:
a hub and what it links. The seed file holds URLs only; any other line would become a seed.
"""

from __future__ import annotations

import json

from temporal_assets.policy.document import Document
from temporal_assets.policy.exports.rules import allowed, by_rank, denied


def files(document: Document) -> dict[str, str]:
    """Return the text of each file by its name."""
    hubs = by_rank(document)
    configuration = {
        "seeds": [{"url": hub["url"], "depth": 1} for hub in hubs],
        "scopeType": "custom",
        "include": allowed(document),
        "exclude": denied(document),
    }
    return {
        "seeds.txt": "".join(f"{hub['url']}\n" for hub in hubs),
        # Every JSON document is YAML, and JSON leaves no doubt about quotes.
        "crawl-config.yaml": json.dumps(configuration, indent=1) + "\n",
    }
