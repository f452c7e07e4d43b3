"""Conditional requests, which ask a server whether a page has changed.

Here: the headers of a conditional request (RFC 9110, 13.1) from those of the response before. Not
here: requests. Hubs are looked at again and again, and mostly have not changed; a server that knows
its versions then answers with a line instead of the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NOT_MODIFIED: Final = 304
_OK: Final = 200

_ASKED_WITH: Final[Mapping[str, str]] = {
    "ETag": "If-None-Match",
    "Last-Modified": "If-Modified-Since",
}

VERSION: Final = tuple(_ASKED_WITH)
"""Headers of responses that name a version."""

CONDITIONS: Final = tuple(_ASKED_WITH.values())
"""Headers of requests that ask whether a page has changed."""

_LONGEST: Final = 1024
"""Most characters of a version: it is sent back to the server, and stored with the crawl."""

Kept = dict[str, dict[str, str]]


class Validators:
    """Versions of the pages seen last, by URL; `kept` may be stored with the crawl."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def headers(self, url: str) -> dict[str, str]:
        """Return the headers of the next request; none if the page's version is unknown."""
        return dict(self._kept.get(url, {}))

    def saw(self, url: str, status: int, headers: Mapping[str, str]) -> None:
        """Note the version of a response; one without a page says nothing of versions."""
        if status != _OK:
            return
        validators = {
            asked: headers[header]
            for header, asked in _ASKED_WITH.items()
            if 0 < len(headers.get(header, "")) <= _LONGEST
        }
        if validators:
            self._kept[url] = validators
        else:
            self._kept.pop(url, None)

    def forget(self) -> None:
        """Forget all versions, so that every page is requested in full."""
        self._kept.clear()
