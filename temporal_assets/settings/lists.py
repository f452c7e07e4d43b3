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
    """Weight, out of 5, of the share of a site's pages that are temporal. The rest is beta, the
    weight of the share of the site's views that go to temporal pages (TW 4.3: 3 to 2). A larger
    alpha favours sites whose pages nobody else has, because views gather at hot events that every
    site reports (TW 5.2)."""

    rule: Literal["flow", "confident", "paper"] = "flow"
    """Rule of the ranking. `flow` ranks by new pages: by the temporal pages that a site is expected
    to publish, less the number that as many pages must contain to be worth a place in the list
    (docs/sites-and-prefixes.md). The other two rank by all reliable pages of the window, old and
    new, called the stock: `confident` by the lower bound of a site's score, for sites with five
    such pages or more; `paper` by the score itself."""

    top_k: int = Field(100, ge=1)
    """Length of the list (TW 4.3)."""


class Prefixes(Section):
    """Rules of news prefixes, NP 5.2 (docs/sites-and-prefixes.md)."""

    rule: Literal["flow", "confident", "paper"] = "flow"
    """Share of a prefix's pages that is compared with `threshold`. `flow` takes the expected share
    of temporal pages among new pages. The other two take the share of pages with `label` among all
    reliable pages of the window: `confident` the lower bound of this share, for prefixes with three
    pages or more; `paper` the share itself."""

    label: Literal["news", "temporal"] = "temporal"
    """Label that the rules `confident` and `paper` count: temporal pages, or news by concentration,
    as in the paper. The rule `flow` always counts temporal pages."""

    threshold: float | None = Field(None, ge=0, lt=1)
    """Share that a prefix must exceed to be in the list. Unset, it depends on the rule: for `flow`
    half of the largest F that any list could reach on the new pages of the window, because the list
    with the largest F takes exactly the prefixes above that share; for `confident` 0.4; for `paper`
    0.8 (NP 6.1)."""


class Hubs(Section):
    """Seeds of a crawl, and how often they are visited (docs/hubs.md)."""

    top_k: int = Field(1542, ge=1)
    """Largest number of seeds (NP 6.1: as many as the list in use had)."""

    visits_per_day: float | None = Field(None, gt=0)
    """Budget of visits a day to all seeds together. Seeds that the budget does not suffice to visit
    every `longest_hours` are left out. Unset: as many visits as are worth making; a visit must gain
    at least a two-hundredth of the interest in one new page that no better seed leads to
    (docs/hubs.md)."""

    longest_hours: float = Field(168.0, gt=0)
    """Longest time between two visits to a hub, a week by default. With longer times,
    nobody would notice that a hub has changed."""

    more_search_engines: tuple[str, ...] = ()
    """Hosts that are no hubs, besides the built-in ones: pages of search engines link to
    everything, and their robots.txt shuts crawlers out (docs/hubs.md)."""


class Patterns(Section):
    """Patterns of a site's URLs (docs/url-patterns.md)."""

    salience: Literal["support", "drop"] = "support"
    """Rule for values that get a pattern of their own. `support`: all values with enough URLs.
    `drop`: the values before the largest drop in frequency (WWW 2010), which hides small sections
    next to large ones (docs/url-patterns.md)."""

    site_memory_mib: ClassVar[int] = 4096
    """Memory in MiB that learning the patterns of one site may take. As many sites are learned at
    once as `engine.threads` says; a site that needs more memory is reported and left out."""
