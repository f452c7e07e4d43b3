"""Pages of WAT files: the metadata that Common Crawl publishes beside its WARC files.

Here: the JSON of a record. Not here: the records (`warc`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
from fastwarc.warc import WarcRecordType

from temporal_assets.crawl.mirror.html_links import Link, absolute, is_nofollow
from temporal_assets.crawl.mirror.mirror import MirrorBuilder
from temporal_assets.crawl.mirror.warc import bare, records

MAX_JSON: Final = 64 << 20
"""Most bytes of a record that are read; the largest seen in the wild have a tenth of this."""
_FOLLOWED: Final = frozenset(("A@/href", "AREA@/href"))


def read_wat(path: Path, builder: MirrorBuilder) -> None:
    """Add the pages of a file. Broken records are counted and skipped."""
    for record in records(path, builder, WarcRecordType.metadata):
        try:
            described = orjson.loads(record.reader.read(MAX_JSON))
            envelope = described["Envelope"]
            response = envelope["Payload-Metadata"].get("HTTP-Response-Metadata")
            if response is None:
                continue  # of a request, or of the file itself
            _page(bare(envelope["WARC-Header-Metadata"]["WARC-Target-URI"]), response, builder)
        except (ValueError, KeyError, TypeError, AttributeError, OSError):
            builder.counts["broken"] += 1


def _page(url: str, response: dict[str, Any], builder: MirrorBuilder) -> None:
    """Add a page with its links, or its redirect, to the mirror; count what is neither."""
    status = str(response["Response-Message"]["Status"])
    headers = {name.lower(): value for name, value in response.get("Headers", {}).items()}
    if status.startswith("3"):
        goal = absolute(str(headers.get("location", "")), url)
        if goal is not None:
            builder.moved(url, goal)
        return
    if status != "200":
        builder.counts["not_ok"] += 1
    elif "HTML-Metadata" not in response:
        builder.counts["not_html"] += 1
    else:
        builder.page(url, list(_links(url, response["HTML-Metadata"])))


def _links(url: str, html: dict[str, Any]) -> Iterator[Link]:
    """Yield (target, is nofollow) for the links of a page."""
    head = html.get("Head", {})
    base = absolute(str(head.get("Base", "")), url) or url
    metas = head.get("Metas", [])
    page_says = any(
        str(meta.get("name", "")).lower() == "robots" and is_nofollow(str(meta.get("content", "")))
        for meta in metas
    )
    for link in html.get("Links", []):
        target = absolute(str(link.get("url", "")), base) if link.get("path") in _FOLLOWED else None
        if target is not None:
            yield target, page_says or "nofollow" in str(link.get("rel", "")).lower().split()
