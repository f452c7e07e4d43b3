"""Feeds and sitemaps as pages, for spiders that follow links of HTML.

Here: a downloader middleware of the add-on. A visit to a feed or sitemap of the policy comes to the
spider as a page with a link for each entry of the last days, so that a spider follows it as it
follows a hub, and needs to know nothing of feeds. Not here: reading them (`crawl.sources`).
"""

from __future__ import annotations

import html
import time
from collections.abc import Iterable
from typing import Final

from scrapy import Request
from scrapy.http import HtmlResponse, Response

from temporal_assets.crawl.sources import HUB, Entry, kind_of, read_source

SOURCE: Final = "temporal_source"
"""Key in `Request.meta` of visits to feeds and sitemaps, for their kind."""

RECENT_SECONDS: Final = 2 * 86_400.0
_OK: Final = 200


class SourcesAsPages:
    """Downloader middleware that turns a feed or sitemap into a page of links."""

    def process_response(self, request: Request, response: Response) -> Response:
        """Called by Scrapy."""
        kind = request.meta.get(SOURCE)
        if kind is None or response.status != _OK or kind_of(response.body) in (HUB, None):
            return response
        shown = read_source(response.url, response.body, None, kind)
        return HtmlResponse(
            response.url,
            status=response.status,
            headers={name: response.headers[name] for name in _KEPT if name in response.headers},
            body=_page([*shown.entries, *shown.children]),
            encoding="utf-8",
            request=request,
            flags=[*response.flags, SOURCE],
        )


_KEPT: Final = ("ETag", "Last-Modified", "Date")


def _page(entries: Iterable[Entry]) -> bytes:
    oldest = time.time() - RECENT_SECONDS
    links = (
        f'<a href="{html.escape(link.url)}">x</a>\n'
        for link in entries
        if link.time is None or link.time >= oldest
    )
    return f"<html><body>\n{''.join(links)}</body></html>\n".encode()
