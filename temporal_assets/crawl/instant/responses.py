"""Facts of Scrapy's responses that a crawl stores or sends back: charset, versions, headers.

In goes a response, or its headers; out come plain texts. Not here: what a document links
(`crawl.sources`), how a response is archived (`archive`).
"""

from __future__ import annotations

from typing import Any, Final

from scrapy.http import Response

_LONGEST_HEADER: Final = 1024
"""Most characters of a page's version (ETag): it is sent back to the server, and stored."""


def versions(response: Response) -> tuple[str, str]:
    """Return the values of `ETag` and `Last-Modified`; those that are missing or long are empty."""
    etag, modified = (
        (response.headers.get(name) or b"").decode("latin-1") for name in ("ETag", "Last-Modified")
    )
    return (
        etag if len(etag) <= _LONGEST_HEADER else "",
        modified if len(modified) <= _LONGEST_HEADER else "",
    )


def charset(response: Response) -> str | None:
    """Return the character set that the header names, or None."""
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    return content_type.partition("charset=")[2].split(";")[0].strip(" \"'") or None


def header_lines(headers: Any) -> list[tuple[str, str]]:
    """Return Scrapy's headers as (name, value), one for each value."""
    return [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        for value in values or []
    ]
