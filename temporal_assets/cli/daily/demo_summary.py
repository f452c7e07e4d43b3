"""Results of the demo in a few tables: what to watch, most viewed pages, rejects.

URLs that fewer clients opened than `privacy.min_clients` are left out, as in every report.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.console import place
from temporal_assets.cli.shared.options import invocation
from temporal_assets.cli.shared.watch import show_watch, watch_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from temporal_assets.settings import Settings

_TOP: Final = 5
"""Rows of each table: a glance, not a report."""

_QUERIES: Final = {
    "lists": """
        SELECT CASE WHEN method <> 'baseline' THEN method
                WHEN rule = 'list' THEN 'list in use' ELSE 'simple rule' END AS list,
            rule, pages, found AS temporal_pages, round(precision, 2) AS precision,
            round(recall, 2) AS recall, round(f, 2) AS f,
            concat(round(f_low, 2), ' to ', round(f_high, 2)) AS "95 % of f"
        FROM seed_evaluation
        WHERE day = (SELECT max(day) FROM seed_evaluation) AND trial = 'in_sample'
            AND label = 'temporal' AND is_used
            AND (SELECT bool_or(method = 'baseline') FROM seed_evaluation)
        ORDER BY list <> 'list in use', list <> 'simple rule', method, rule""",
    # `views` are distinct clients of a day, so the largest is at most the clients of the page.
    "pages": """
        SELECT url, arg_max(day, views) AS day, max(views) AS views FROM page_views
        GROUP BY url HAVING max(views) >= {least} ORDER BY views DESC, url LIMIT {top}""",
    "reasons": """
        SELECT kind, reason, sum(lines)::BIGINT AS lines FROM rejects
        GROUP BY kind, reason ORDER BY kind, lines DESC, reason""",
}
"""Queries of the tables; the numbers in them come from the settings, never from log lines."""

_TITLES: Final = {
    "lists": "The list in use beside those learned, in sample; `evaluate` judges them out of time",
    "pages": "Pages with the most views, and the day they had them",
    "reasons": "Log lines that are not requests",
}


def summarize(settings: Settings) -> dict[str, Any]:
    """Return the tables as lists of rows; those of the window are empty where there is none."""
    from temporal_assets.cli.shared.policies import latest_document
    from temporal_assets.notebook import Artifacts

    artifacts = Artifacts(settings.state)
    values = {"least": settings.privacy.min_clients, "top": _TOP}
    document = latest_document(settings)
    return {
        **(watch_list(document) if document else {}),
        **{n: artifacts.query(sql.format(**values)).to_pylist() for n, sql in _QUERIES.items()},
    }


def show_summary(settings: Settings, summary: Mapping[str, Any], truth: Mapping[str, Path]) -> None:
    """Print the tables and what to do next."""
    from temporal_assets.cli.shared.policies import latest_document

    if document := latest_document(settings):
        show_watch(document)
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
        f"  {invocation('report --open', settings.state)}  (what the lists are worth)\n"
        f"  {invocation('status', settings.state)}\n"
        f"  {invocation(f'show {busiest}', settings.state)}\n"
        f"  {invocation(top, settings.state)}\n"
        f"  in Python: temporal_assets.open({here!r}).read('page_views').to_pandas()"
    )
