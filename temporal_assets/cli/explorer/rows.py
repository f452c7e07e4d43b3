"""Rows of the explorer, read by DuckDB from the tables of the latest window.

Names are read only if enough clients know them (`privacy.min_clients`); a page that somebody asks
for by its URL is looked up by that URL. Not here: how the rows are shown (`views`).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

from temporal_assets.cli.shared.exits import CommandError
from temporal_assets.engines.base import Engine
from temporal_assets.engines.engine_choice import engine_of
from temporal_assets.engines.sql import literal
from temporal_assets.logs.urls.domains import registrable_domain
from temporal_assets.policy import Policy, PolicyError
from temporal_assets.policy.matcher import Decision
from temporal_assets.reports.prefix_tree import Section, trees_of
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.patterns.stored_patterns import StoredPatterns, read_patterns

Row = dict[str, Any]

ROWS: Final = 50
"""Rows on one page."""

CANDIDATES: Final = 2_000
"""The most visited pages of a site among which examples of a pattern are looked for."""

SORTS: Final = {
    "rank": "rank IS NULL, rank, pages DESC, site",
    "pages": "pages DESC, site",
    "temporal": "temporal_pages DESC, site",
    "site": "site",
}
"""Orders of sites by name."""


@dataclass(frozen=True, slots=True)
class Paged:
    """Rows of one page, and whether more follow."""

    rows: list[Row]
    page: int
    has_more: bool


class Window:
    """A window of a state folder: the latest, or that of `day`."""

    def __init__(self, settings: Settings, day: dt.date | None = None) -> None:
        self.settings, self.store = settings, Store.open(settings)
        days = self.store.days("page_labels")
        if not days:
            raise CommandError("no window has been made yet: temporal-assets materialize")
        self.day = day or days[-1]
        self.least = settings.privacy.min_clients

    @cached_property
    def engine(self) -> Engine:
        """The engine that answers."""
        return engine_of(self.settings)

    def rows(self, query: str, *tables: str, limit: int = 1000) -> list[Row]:
        """Return rows of a query over tables of the day; `{least}` in it are the clients needed."""
        inputs = {name: self.store.files(name, self.day) for name in tables}
        return self.engine.rows(query.replace("{least}", str(int(self.least))), inputs, limit)

    def _paged(self, query: str, page: int, *tables: str) -> Paged:
        rows = self.rows(f"{query} LIMIT {ROWS + 1} OFFSET {ROWS * page}", *tables, limit=ROWS + 1)
        return Paged(rows[:ROWS], page, len(rows) > ROWS)

    # Sites ---------------------------------------------------------------------------------------

    def sites(self, wanted: str, sort: str, page: int) -> Paged:
        """Return one page of the sites whose name contains a text."""
        order = SORTS.get(sort, SORTS["rank"])
        return self._paged(
            "SELECT site, rank, score, bound, pages, temporal_pages, clients, is_selected"  # noqa: S608 - a literal
            " FROM site_scores WHERE clients >= {least}"
            f" AND contains(site, {literal(wanted.lower())}) ORDER BY {order}",
            page,
            "site_scores",
        )

    def listed(self, host: str) -> str:
        """Return the listed site of a host: the host itself, or its domain (`sites.by`)."""
        return registrable_domain(host) if self.settings.sites.by == "domain" else host

    def site(self, name: str) -> Row | None:
        """Return the scores of a site, or of the one a host belongs to.

        None where not enough clients know it.
        """
        site = self.listed(name)
        rows = self.rows(
            f"SELECT * FROM site_scores WHERE site = {literal(site)} AND clients >= {{least}}",  # noqa: S608 - a literal
            "site_scores",
        )
        is_known = bool(rows) and (site == name or bool(self.pages(name, "", "", 0).rows))
        return rows[0] if is_known else None

    def hosts(self, site: str) -> list[Row]:
        """Return the hosts of a domain that have labelled pages; empty where sites are hosts."""
        if self.settings.sites.by == "host" or self.listed(site) != site:
            return []
        return self.rows(
            "SELECT site, pages, temporal_pages FROM prefix_trees"  # noqa: S608 - literals
            f" WHERE prefix = site || '/' AND clients >= {{least}} AND {self._within(site)}"
            " ORDER BY pages DESC, site LIMIT 100",
            "prefix_trees",
        )

    def _within(self, site: str, column: str = "site") -> str:
        """Return the SQL condition for rows of a host, or of all hosts of a domain."""
        is_host = f"{column} = {literal(site)}"
        if self.settings.sites.by == "host" or self.listed(site) != site:
            return is_host
        return f"({is_host} OR ends_with({column}, {literal(f'.{site}')}))"

    def tree(self, site: str) -> Section | None:
        """Return the tree of a site's folders that enough clients know."""
        rows = self.rows(
            "SELECT trees.*, prefixes.prefix IS NOT NULL AS is_prefix FROM prefix_trees AS trees"  # noqa: S608 - a literal
            " LEFT JOIN news_prefixes AS prefixes ON prefixes.prefix = trees.prefix"
            f" WHERE trees.site = {literal(site)} ORDER BY trees.prefix",
            "prefix_trees",
            "news_prefixes",
            limit=100_000,
        )
        if not rows or rows[0]["clients"] < self.least:
            return None
        return next(iter(trees_of(rows, self.least)), None)

    def hubs(self, site: str) -> list[Row]:
        """Return the first hubs of a site."""
        return self.rows(
            "SELECT rank, url, temporal_pages, new_per_day, new_per_day_low, new_per_day_high,"  # noqa: S608 - a literal
            f" revisit_minutes FROM hub_seeds WHERE site = {literal(site)} AND rank IS NOT NULL"
            " AND clients >= {least} ORDER BY rank LIMIT 20",
            "hub_seeds",
        )

    # Pages ---------------------------------------------------------------------------------------

    def pages(self, site: str, prefix: str, wanted: str, page: int) -> Paged:
        """Return pages of a site below a prefix whose URL holds a text, the most visited first."""
        where = [self._within(site, "traffic.site"), "traffic.clients >= {least}"]
        if prefix:
            rest = "substr(pages.url, strpos(pages.url, '//') + 2)"
            where.append(f"starts_with({rest}, {literal(prefix)})")
        if wanted:
            where.append(f"contains(pages.url, {literal(wanted)})")
        return self._paged(
            "SELECT pages.url, traffic.visits, traffic.clients, traffic.birth,"  # noqa: S608 - literals
            " labels.is_temporal, labels.label_basis FROM page_traffic AS traffic"
            " INNER JOIN (SELECT number, url FROM page_totals"
            f" WHERE {self._within(site)}) AS pages ON pages.number = traffic.url"
            " LEFT JOIN (SELECT url, is_temporal, label_basis FROM page_labels"
            f" WHERE {self._within(site)}) AS labels ON labels.url = pages.url"
            f" WHERE {' AND '.join(where)} ORDER BY traffic.visits DESC, pages.url",
            page,
            "page_traffic",
            "page_totals",
            "page_labels",
        )

    # Patterns ------------------------------------------------------------------------------------

    @lru_cache(maxsize=64)  # noqa: B019 - the window lives as long as the server
    def patterns(self, site: str) -> StoredPatterns | None:
        """Return the patterns of a site that enough clients know."""
        stored = read_patterns(self.store, self.engine, self.day, site)
        return (
            stored if stored is not None and any(row["is_public"] for row in stored.nodes) else None
        )

    def examples(self, stored: StoredPatterns, pattern: int) -> list[Row]:
        """Return some of the most visited pages that a pattern holds."""
        rows = self.rows(
            "SELECT pages.url, visits, traffic.birth FROM page_traffic AS traffic"  # noqa: S608 - a literal
            " INNER JOIN page_totals AS pages ON pages.number = traffic.url"
            " WHERE clients >= {least}"
            f" AND traffic.site = {literal(stored.site)} AND pages.site = traffic.site"
            f" ORDER BY visits DESC, pages.url LIMIT {CANDIDATES}",
            "page_traffic",
            "page_totals",
            limit=CANDIDATES,
        )
        nodes = stored.nodes_of([row["url"] for row in rows])
        held = [
            row
            for row, node in zip(rows, nodes, strict=True)
            if node is not None and stored.pattern_holding(node) == pattern
        ]
        return held[:20]

    def pattern_of(self, site: str, url: str) -> int | None:
        """Return the pattern that holds a URL."""
        stored = self.patterns(site)
        node = stored.nodes_of([url])[0] if stored is not None else None
        return stored.pattern_holding(node) if stored is not None and node is not None else None

    # Decisions -----------------------------------------------------------------------------------

    @cached_property
    def policy(self) -> Policy | None:
        """The released policy; None where there is none yet."""
        try:
            return Policy.load(self.settings.state / "policy" / "latest")
        except PolicyError:
            return None

    def notes(self) -> list[str]:
        """The policy's notes on why lists are empty or provisional."""
        return [] if self.policy is None else self.policy.document["notes"]

    def decision(self, url: str) -> Decision | None:
        """Return what crawlers do with a URL."""
        return None if self.policy is None else self.policy.match(url)
