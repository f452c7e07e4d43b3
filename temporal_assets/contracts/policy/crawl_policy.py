"""Contract of `crawl_policy`: decision and tier of every entry of the policy."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Drift, Rule, no_rows
from temporal_assets.contracts.table import Table, columns

CRAWL_POLICY: Final = Table(
    name="crawl_policy",
    version=2,
    description=(
        "What crawlers load, one row an entry: sites, hubs, prefixes and patterns with their"
        " decision and tier. The same as files is in `policy/latest` of the state folder"
        " (docs/policy.md)."
    ),
    grain="one entry of the policy",
    columns=columns("""
        day DATE: Last day of the window.
        kind VARCHAR: `site`, `hub`, `source`, `prefix` or `pattern`.
        place BIGINT: Place in the list of its kind, from 1.
        site VARCHAR from site_scores.site, hub_seeds.site, url_patterns.site: Host, or registrable
            domain where `sites.by` says so.
        name VARCHAR from site_scores.site, hub_seeds.url, news_prefixes.prefix: The site, the URL
            of the hub or source, the prefix, or the pattern's template.
        decision VARCHAR from pattern_ranks.temporal_share, pattern_ranks.visits: What becomes of
            its URLs: `now`, `later` or `skip`.
        tier BIGINT: 1 is fetched first; 1 to 8 now, 9 to 15 later, 16 never.
        score DOUBLE NULL from site_scores.score, hub_seeds.temporal_pages, news_prefixes.score,
            pattern_ranks.fetch_score: Of a site or prefix its score, of a hub the temporal pages it
            linked, of a pattern its fetch rank; NULL for sites below the list.
        interval_seconds BIGINT NULL from hub_seeds.revisit_minutes, sources.revisit_minutes: Of a
            hub or source: after how long another visit is worth it.
        is_provisional BOOLEAN from provisional_lists.site: The pages of its site have no labels
            yet: it rests on `provisional_lists`.
        """),
    key=("day", "kind", "place"),
    own_rules=(
        no_rows(
            "tiers_are_of_their_decision",
            "crawl_policy",
            "NOT (decision = 'now' AND tier BETWEEN 1 AND 8"
            " OR decision = 'later' AND tier BETWEEN 9 AND 15"
            " OR decision = 'skip' AND tier = 16)",
            protects="The order of tiers never contradicts a decision.",
        ),
        no_rows(
            "hubs_and_sources_have_intervals",
            "crawl_policy",
            "(kind IN ('hub', 'source')) <> (coalesce(interval_seconds, 0) > 0)",
            protects="A crawler visits every hub and source again, and nothing else.",
        ),
        Rule(
            name="hubs_are_known_to_enough_clients",
            measure=(
                "(SELECT count(*) FROM crawl_policy LEFT JOIN hub_seeds"
                " ON hub_seeds.url = crawl_policy.name AND hub_seeds.clients >= $min_clients"
                " WHERE crawl_policy.kind = 'hub' AND hub_seeds.url IS NULL)"
            ),
            maximum=0,
            reads=("hub_seeds",),
            protects="A URL that few clients opened may be somebody's secret.",
            remedy="`hub_seeds` was made again since: materialise the day again.",
        ),
        Rule(
            name="prefixes_are_known_to_enough_clients",
            measure=(
                "(SELECT count(*) FROM crawl_policy LEFT JOIN"
                " (SELECT prefix FROM news_prefixes WHERE clients >= $min_clients"
                " UNION SELECT name AS prefix FROM provisional_lists"
                " WHERE kind = 'section' AND clients >= $min_clients) AS known"
                " ON known.prefix = crawl_policy.name"
                " WHERE crawl_policy.kind = 'prefix' AND known.prefix IS NULL)"
            ),
            maximum=0,
            reads=("news_prefixes", "provisional_lists"),
            protects="A folder or program that few clients know may be somebody's secret.",
            remedy="`news_prefixes` was made again since: materialise the day again.",
        ),
        Rule(
            name="sites_are_scored",
            measure=(
                "(SELECT count(*) FROM crawl_policy LEFT JOIN"
                " (SELECT site FROM site_scores WHERE clients >= $min_clients"
                " UNION SELECT site FROM provisional_lists"
                " WHERE kind = 'site' AND clients >= $min_clients) AS known"
                " ON known.site = crawl_policy.name"
                " WHERE crawl_policy.kind = 'site' AND crawl_policy.score IS NOT NULL"
                " AND known.site IS NULL)"
            ),
            maximum=0,
            reads=("site_scores", "provisional_lists"),
            protects="Crawlers are sent to no site that the report does not know.",
            remedy="`site_scores` was made again since: materialise the day again.",
        ),
        Rule(
            name="sites_of_patterns_are_ranked",
            measure=(
                "(SELECT count(*) FROM crawl_policy LEFT JOIN"
                " (SELECT DISTINCT site FROM pattern_ranks) AS ranked"
                " ON ranked.site = crawl_policy.site"
                " WHERE crawl_policy.kind = 'pattern' AND ranked.site IS NULL)"
            ),
            maximum=0,
            reads=("pattern_ranks",),
            protects="Patterns come only from sites that were ranked for this day.",
            remedy="`pattern_ranks` was made again since: materialise the day again.",
        ),
    ),
    drifts=(
        Drift(
            name="share_fetched_now_is_usual",
            measure="avg(CASE WHEN decision = 'now' THEN 1.0 ELSE 0.0 END)",
            whole="count(*)",
            largest_difference=0.2,  # of entries, of which most change little from day to day
            protects="A policy that changes at a stroke sends crawlers somewhere else.",
            remedy="`temporal-assets policy --against` the day before shows what changed.",
        ),
    ),
)
