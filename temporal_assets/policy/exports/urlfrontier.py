"""URLFrontier: hubs as known URLs in JSON lines, for its client's `PutURLs -f`.

There is no field for priorities. Within a queue URLs are taken by `refetchableFromDate`, and any
date that is past will do: the tier is that date, so that tier 1 comes first. Zero would mean never.
"""

from __future__ import annotations

import json
from typing import Final

from temporal_assets.policy.document import Document
from temporal_assets.policy.exports.rules import by_rank, metadata

CRAWL: Final = "DEFAULT"
"""Name of the crawl that the client uses by default."""


def files(document: Document) -> dict[str, str]:
    """Return the text of each file by its name."""
    lines = []
    for hub in by_rank(document):
        fields = metadata(hub, "tier", "interval_seconds")
        info = {
            "url": hub["url"],
            "key": hub["site"],
            "crawlID": CRAWL,
            "metadata": {name: {"values": [value]} for name, value in fields.items()},
        }
        # Protocol buffers write 64-bit integers as strings.
        item = {"known": {"info": info, "refetchableFromDate": str(hub["tier"])}}
        lines.append(json.dumps(item, separators=(",", ":")))
    for row in document["sources"]:
        info = {
            "url": row["url"],
            "key": row["site"],
            "crawlID": CRAWL,
            "metadata": {
                "tier": {"values": [str(row["tier"])]},
                "interval_seconds": {"values": [str(row["interval_seconds"])]},
                "kind": {"values": [row["kind"]]},
            },
        }
        item = {"known": {"info": info, "refetchableFromDate": str(row["tier"])}}
        lines.append(json.dumps(item, separators=(",", ":")))
    return {"hubs.jsonl": "".join(f"{line}\n" for line in lines)}
