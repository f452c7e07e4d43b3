"""Settings of reading and cleaning logs, and of the privacy of those in them."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from pydantic import Field

from temporal_assets.settings.section import Section

ROBOT_PAGES_PER_MINUTE: Final = 60
"""A client that opens more pages than this within one minute of the clock does not read them."""

ROBOT_PAGES_WITHOUT_REFERRER: Final = 100
"""A client with this many pages in a day and not one referrer follows no links: a script. Applies
only to formats that log referrers."""

DEFAULT_SCHEME: Final = "https"
"""Scheme of pages and referrers whose lines do not say it."""

SHOWN_STATUSES: Final = (200, 206, 304)
"""Statuses of pages that were really shown; 304 means shown from the browser's cache."""

REJECT_SAMPLES: Final = 3
"""Rejected lines kept per day, file and reason, redacted: enough to see what is wrong with them,
and few, because a line in an unknown format may hold anything."""

VIEWS_PER_CLIENT: Final = 10
"""Views of a page on a day that vouch for one client, where a source counts views and no visitors:
such a page is named from `privacy.min_clients` times as many on (docs/counts.md)."""


class Reading(Section):
    """Bounds on what one line and one file may cost."""

    max_line_bytes: ClassVar[int] = 65_536
    """Longer lines are rejected. Servers cap request lines at 8 KiB (Apache) to 32 KiB; a line
    holds a request, a referrer and an agent, so 64 KiB loses no genuine line."""

    max_reject_share: float = Field(0.2, ge=0, le=1)
    """A day whose rejected lines exceed this share of its lines fails: more is a wrong format."""


class Cleaning(Section):
    """Records of the log that are kept, and the URLs that they become (docs/canonical-urls.md)."""

    static_resources: Literal["drop", "keep"] = "drop"
    """Images, scripts, style sheets, downloads, feeds; robots.txt, sitemaps and their like."""

    bots: Literal["drop", "keep"] = "drop"
    """Programs, by their agent and by their behaviour: more than 60 pages in a minute of
    the clock, or 100 pages in a day without a referrer, where the format logs referrers."""

    scheme: Literal["https", "http", "keep"] = "https"
    """Scheme under which all URLs are stored: a page reached over both is one page. `keep`: that of
    the line, and https where lines do not say it."""

    drop_query_keys: tuple[str, ...] = ()
    """Query keys dropped besides the built-in ones of sessions and tracking
    (docs/canonical-urls.md)."""

    keep_query_keys: tuple[str, ...] = ()
    """Exceptions to the built-in list."""


class Privacy(Section):
    """Pseudonyms of visitors, who are told apart without being known (docs/privacy.md)."""

    client: Literal["address", "address+agent"] = "address"
    """Identity of a visitor. The papers count users by address; adding the agent tells apart people
    behind one address, and splits people with two browsers."""

    mask_ipv4_bits: int = Field(0, ge=0, le=24)
    """Bits of an address removed before the pseudonym is made; 0 keeps visitors apart best.
    GoAccess's levels are 8, 16 and 24; with them go its levels of IPv6: 64, 80 and 96."""

    rotation_days: int = Field(150, ge=0)
    """A new key every so many days; 0 keeps one key. A client counts anew after a rotation. Where
    there was one key, it stays until the present period ends."""

    min_clients: int = Field(5, ge=1)
    """URLs that fewer clients opened are never published in policies, reports and the UI."""
