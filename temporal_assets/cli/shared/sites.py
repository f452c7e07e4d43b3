"""Site names as people type or paste them, in the form of the tables."""

from __future__ import annotations

import re
from typing import Final

_SCHEME: Final = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*:)?//")


def named_site(text: str) -> str:
    """Return the site of a host or URL as people type it.

    `https://Bücher.example:8080/neu` means xn--bcher-kva.example. What cannot be a host stays as it
    is, and is then found nowhere.
    """
    from temporal_assets.logs.urls.canonical import canonical_url, site_of

    host = _SCHEME.sub("", text.strip(), count=1).split("/", 1)[0]
    page = canonical_url(f"https://{host}/")
    return site_of(page) if page else host.lower()
