"""What came out, in a few tables: what to watch, the most viewed pages, lines by reason.

URLs that fewer clients opened than `privacy.min_clients` are left out, as in every report.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.console import place
from temporal_assets.cli.shared.options import invocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from temporal_assets.settings import Settings

_TOP: Final = 5
"""Rows of each table: a glance, not a report."""

_QUERIES: Final = {
    "sites": """
        SELECT rank, site, pages, temporal_pages, round(score, 2) AS score FROM site_scores
        WHERE day = (SELECT max(day) FROM site_scores) AND clients >= {least} AND rank <= {top}
        ORDER BY rank""",
    "hubs": """
        SELECT rank, url AS hub, round(new_per_day, 1) AS new_per_day,
            round(new_per_day_low, 1) AS at_least, round(new_per_day_high, 1) AS at_most,
            revisit_minutes
        FROM hub_seeds
        WHERE day = (SELECT max(day) FROM hub_seeds) AND clients >= {least} AND rank <= {top}
        ORDER BY rank""",
    "prefixes": """
        SELECT prefix, pages, news_pages, round(score, 2) AS score FROM news_prefixes
        WHERE day = (SELECT max(day) FROM news_prefixes) AND clients >= {least}
        ORDER BY news_pages DESC, prefix LIMIT {top}""",
    "lists": """
        SELECT CASE WHEN method <> 'baseline' THEN method
                WHEN rule = 'list' THEN 'list in use' ELSE 'simple rule' END AS list,
            rule, pages, found AS temporal_pages, round(precision, 2) AS precision,
            round(recall, 2) AS recall, round(f, 2) AS f
        FROM seed_evaluation
        WHERE day = (SELECT max(day) FROM seed_evaluation) AND trial = 'in_sample'
            AND label = 'temporal' AND is_used
            AND (SELECT bool_or(method = 'baseline') FROM seed_evaluation)
        ORDER BY list <> 'list in use', list <> 'simple rule', method, rule""",
    "patterns": """
        SELECT site, template AS pattern, visits, round(temporal_share, 2) AS temporal_share,
            round(new_pages_per_day, 1) AS new_pages_per_day
        FROM pattern_ranks
        WHERE day = (SELECT max(day) FROM pattern_ranks) AND is_public AND volume > 1
        ORDER BY temporal_share * visits DESC NULLS LAST, site, pattern LIMIT {top}""",
    "pages": """
        SELECT url, arg_max(day, views) AS day, max(views) AS views FROM page_views
        GROUP BY url HAVING max(views) >= {least} ORDER BY views DESC, url LIMIT {top}""",
    "reasons": """
        SELECT kind, reason, sum(lines)::BIGINT AS lines FROM rejects
        GROUP BY kind, reason ORDER BY kind, lines DESC, reason""",
}
"""The numbers come from the settings, never from log lines."""

_TITLES: Final = {
    "sites": "Sites to watch: the largest share of temporal pages",
    "hubs": "Hubs to visit: most new temporal pages are expected there",
    "prefixes": "Prefixes under which pages are news",
    "lists": "The list in use beside those learned, in sample; `evaluate` judges them out of time",
    "patterns": "Patterns of URLs by visits to their temporal pages",
    "pages": "Pages with the most views, and the day they had them",
    "reasons": "Log lines that are not requests",
}


def summarize(settings: Settings) -> dict[str, Any]:
    """The tables as lists of rows; those of the window are empty where there is none."""
    from temporal_assets.notebook import Artifacts

    artifacts = Artifacts(settings.state)
    values = {"least": settings.privacy.min_clients, "top": _TOP}
    return {
        name: artifacts.query(sql.format(**values)).to_pylist() for name, sql in _QUERIES.items()
    }


def show_summary(settings: Settings, summary: Mapping[str, Any], truth: Mapping[str, Path]) -> None:
    """The tables, and where to go from here."""
    for name, title in _TITLES.items():
        if rows := summary[name]:
            console.show_table(title, tuple(rows[0]), [tuple(row.values()) for row in rows])
    if truth:
        console.say(
            f"What really happened is in {place(min(path.parent for path in truth.values()))}"
        )
    here = place(settings.state)
    busiest = "'" + summary["pages"][0]["url"] + "'" if summary["pages"] else "URL"
    top = 'query "SELECT * FROM page_views ORDER BY views DESC LIMIT 10"'
    console.say(
        "Where to look:\n"
        f"  {invocation('ui', settings.state)}  (days and checks on http://127.0.0.1:3000)\n"
        f"  {invocation('report --open', settings.state)}  (the papers' tables and figures here)\n"
        f"  {invocation('status', settings.state)}\n"
        f"  {invocation(f'explain {busiest}', settings.state)}\n"
        f"  {invocation(top, settings.state)}\n"
        f"  in Python: temporal_assets.open({here!r}).read('page_views').to_pandas()"
    )
