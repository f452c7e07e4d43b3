"""Pages given as a Parquet table of URL and HTML, such as the demo's mirror.

Here: that table. Not here: links (`html_links`); tables of links are read by `edge_list`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from temporal_assets.crawl.mirror.html_links import decoded, html_links
from temporal_assets.crawl.mirror.http_body import MAX_HTML
from temporal_assets.crawl.mirror.mirror import MirrorBuilder
from temporal_assets.logs.tables.parquet_batches import batches

_COLUMNS: Final = ("url", "html")


def is_page_table(path: Path) -> bool:
    """Return whether a Parquet file has the two columns."""
    return set(_COLUMNS) <= set(pq.read_schema(path).names)


def read_pages(path: Path, builder: MirrorBuilder) -> None:
    """Add the pages of a file; those without URL or HTML are counted and skipped."""
    for batch in batches(path, _COLUMNS, MAX_HTML):
        for row in batch.to_pylist():
            url, html = row["url"], row["html"]
            if url and isinstance(url, str) and isinstance(html, str | bytes):
                body = html if isinstance(html, bytes) else html.encode("utf-8", "replace")
                builder.page(url, html_links(url, body, "utf-8"), partial(decoded, body, "utf-8"))
            else:
                builder.counts["broken"] += 1
