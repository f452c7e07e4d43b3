"""Settings of lists: sites, prefixes, hubs and URL patterns."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from temporal_assets.settings.section import Section


class Sites(Section):
    """Scores and ranks of sites and sections, TW 4.3 (docs/sites-and-prefixes.md)."""

    by: Literal["host", "domain"] = "host"
    """Unit of a site in `site_scores`: a host, or all hosts of a registrable domain (by the public
    suffix list, as installed). Sections and prefixes always belong to a host."""

    alpha: float = Field(3.0, ge=0, le=5)
    """Weight of the share of pages that are temporal, out of 5; the rest is beta, that of the share
    of views that temporal pages have (TW 4.3: 3 to 2). Hot events are reported by everybody, so
    that views speak against pages that nobody else has: TW 5.2's additional weight of the share of
    pages is more of it."""

    rule: Literal["flow", "confident", "paper"] = "flow"
    """`flow` ranks by the new temporal pages to expect, less those that a list pays for with others
    (docs/sites-and-prefixes.md). The other two rank by the stock of all pages: `confident` by a
    lower bound of the score, of five reliable pages at least; `paper` by the score."""

    top_k: int = Field(100, ge=1)
    """Length of the list (TW 4.3)."""


class Prefixes(Section):
    """Rules of news prefixes, NP 5.2 (docs/sites-and-prefixes.md)."""

    rule: Literal["flow", "confident", "paper"] = "flow"
    """`flow` compares the expected share of temporal pages among new ones. The other two compare
    the share of `label` in the stock of all pages: `confident` a lower bound of it, of three pages
    at least; `paper` the share itself."""

    label: Literal["news", "temporal"] = "temporal"
    """Pages of the stock that count for `confident` and `paper`: temporal ones, or news by
    concentration, as in the paper. The flow is judged by temporal pages."""

    threshold: float | None = Field(None, ge=0, lt=1)
    """Share that must be exceeded. Unset: for `flow` half of the best F that the flow of the window
    allows, because F is largest when all above that is taken; 0.4 for `confident`; 0.8 for `paper`
    (NP 6.1)."""


class Hubs(Section):
    """Seeds of a crawl, and how often they are visited (docs/hubs.md)."""

    top_k: int = Field(1542, ge=1)
    """Seeds at most (NP 6.1: as many as the list in use had)."""

    visits_per_day: float | None = Field(None, gt=0)
    """Budget: visits a day to all seeds together. Seeds that it could not visit even every
    `longest_hours` are left out. Unset: as many as are worth it, each a two-hundredth of the
    interest in a new page that no better seed leads to (docs/hubs.md)."""

    longest_hours: float = Field(168.0, gt=0)
    """No hub is visited less often than every week: an interval learned once must be able to
    change."""

    more_search_engines: tuple[str, ...] = ()
    """Hosts that are no hubs, besides the built-in ones: pages of search engines link to
    everything, and their robots.txt shuts crawlers out (docs/hubs.md)."""


class Patterns(Section):
    """Patterns of a site's URLs (docs/url-patterns.md)."""

    salience: Literal["support", "drop"] = "support"
    """Values that get a pattern of their own: all that have the support, or those before the
    largest drop in frequency (WWW 2010), which hides small sections beside large ones
    (docs/url-patterns.md)."""

    site_memory_mib: ClassVar[int] = 4096
    """Memory a process may take for one site, of which as many are learned at once as
    `engine.threads` says; one that needs more is reported and left out."""
