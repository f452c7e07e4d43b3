"""What came out, in a few tables: the busiest day's sites, pages and hubs; lines by reason.

URLs that fewer clients opened than `privacy.min_clients` are left out, as in every report.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli import console
from temporal_assets.cli.console import place
from temporal_assets.cli.options import invocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from temporal_assets.notebook import Artifacts
    from temporal_assets.settings import Settings

_TOP: Final = 5
"""Rows of each table: a glance, not a report."""

_BUSIEST: Final = """
    SELECT day, sum(views)::BIGINT AS views FROM page_views
    GROUP BY day ORDER BY views DESC, day LIMIT 1"""

_QUERIES: Final = {
    "sites": """
        SELECT site, count(*) AS pages, sum(views)::BIGINT AS views FROM page_views
        WHERE day = '{day}' GROUP BY site HAVING sum(views) >= {least}
        ORDER BY views DESC, site LIMIT {top}""",
    "pages": """
        SELECT url, views FROM page_views
        WHERE day = '{day}' AND views >= {least} ORDER BY views DESC, url LIMIT {top}""",
    "hubs": """
        SELECT referrer AS hub, count(DISTINCT target) AS pages_linked,
            count(DISTINCT client) AS clients
        FROM transits
        WHERE day = '{day}' AND referrer IN (SELECT url FROM page_views WHERE day = '{day}')
        GROUP BY referrer HAVING count(DISTINCT client) >= {least}
        ORDER BY pages_linked DESC, clients DESC, hub LIMIT {top}""",
    "reasons": """
        SELECT kind, reason, sum(lines)::BIGINT AS lines FROM rejects
        GROUP BY kind, reason ORDER BY kind, lines DESC, reason""",
}
"""`day` and the numbers come from the catalogue and the settings, never from log lines."""


def summarize(settings: Settings) -> dict[str, Any]:
    """The tables as lists of rows; empty when no day has views."""
    from temporal_assets.notebook import Artifacts

    artifacts = Artifacts(settings.state)
    busiest = _rows(artifacts, _BUSIEST)
    if not busiest:
        return {}
    values = {"day": busiest[0]["day"], "least": settings.privacy.min_clients, "top": _TOP}
    tables = {name: _rows(artifacts, sql.format(**values)) for name, sql in _QUERIES.items()}
    return {"day": busiest[0]["day"], **tables}


def show_summary(settings: Settings, summary: Mapping[str, Any], truth: Mapping[str, Path]) -> None:
    """The tables, and where to go from here."""
    for name, title in (
        ("sites", f"Sites with the most views on {summary.get('day')}"),
        ("pages", f"Pages with the most views on {summary.get('day')}"),
        ("hubs", f"Hubs, the pages that led to the most pages, on {summary.get('day')}"),
        ("reasons", "Log lines that are not requests, all days"),
    ):
        rows = summary.get(name)
        if rows:
            console.show_table(title, tuple(rows[0]), [tuple(row.values()) for row in rows])
    if truth:
        console.say(
            f"What really happened is in {place(min(path.parent for path in truth.values()))}"
        )
    here = place(settings.state)
    top = 'query "SELECT * FROM page_views ORDER BY views DESC LIMIT 10"'
    console.say(
        "Where to look:\n"
        f"  {invocation('ui', settings.state)}  (days and checks on http://127.0.0.1:3000)\n"
        f"  {invocation('status', settings.state)}\n"
        f"  {invocation(top, settings.state)}\n"
        f"  in Python: temporal_assets.open({here!r}).read('page_views').to_pandas()"
    )


def _rows(artifacts: Artifacts, sql: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = artifacts.query(sql).to_pylist()
    return rows
