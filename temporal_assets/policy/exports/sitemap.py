"""A sitemap of the hubs, which every crawler reads: priority and frequency by tier and interval.

There is no index over several of them: it would have to say under which URLs they are served.
"""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape

from temporal_assets.policy.document import TIERS, Document, HubEntry
from temporal_assets.policy.exports.mark import MARK
from temporal_assets.policy.exports.rules import by_rank

MAX_URLS: Final = 50_000
"""Largest number of URLs in one file (sitemaps.org)."""

OPTIONAL_FILES: Final = ("sitemap.xml", "sitemap-*.xml")

_DAY: Final = 86_400

_FREQUENCIES: Final = (
    (3600, "hourly"),
    (_DAY, "daily"),
    (7 * _DAY, "weekly"),
    (30 * _DAY, "monthly"),
)
"""The protocol's words for intervals up to a number of seconds; without `always` (every visit) and
`never`."""


def files(document: Document) -> dict[str, str]:
    """Return the text of each file by its name; several only if one cannot hold all hubs."""
    hubs = by_rank(document)
    parts = [hubs[at : at + MAX_URLS] for at in range(0, max(1, len(hubs)), MAX_URLS)]
    if len(parts) == 1:
        return {"sitemap.xml": _sitemap(parts[0])}
    return {f"sitemap-{number}.xml": _sitemap(part) for number, part in enumerate(parts, 1)}


def priority(tier: int) -> float:
    """Return the sitemap priority of a tier in whole tenths, 1.0 for tier 1."""
    return round((TIERS + 1 - tier) / TIERS, 1)


def frequency(seconds: int) -> str:
    """Return the most frequent word that does not promise more visits than an interval allows."""
    return next((word for most, word in _FREQUENCIES if seconds <= most), "yearly")


def _sitemap(hubs: list[HubEntry]) -> str:
    """Return hubs as the XML of a sitemap."""
    urls = "".join(
        f" <url><loc>{escape(hub['url'])}</loc>"
        f"<changefreq>{frequency(hub['interval_seconds'])}</changefreq>"
        f"<priority>{priority(hub['tier']):.1f}</priority></url>\n"
        for hub in hubs
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<!-- {MARK} -->\n"
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{urls}</urlset>\n"
    )
