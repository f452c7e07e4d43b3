"""The view of a URL pattern: template, ranks, examples, and where people go from it.

In: a window of published tables, a site and the number of a pattern. Out: HTML. Not here: the
queries (`rows`), the list of a site's patterns (`views`).
"""

from __future__ import annotations

from temporal_assets.cli.explorer.html_parts import (
    NotKnown,
    address,
    escaped,
    html_table,
    link_to,
    number_text,
    page,
    percent_text,
)
from temporal_assets.cli.explorer.rows import CANDIDATES, Window
from temporal_assets.cli.explorer.views import path_to
from temporal_assets.core.text.readable import readable
from temporal_assets.reports.report_page import block
from temporal_assets.reports.sections.patterns import GRAPH_KEY
from temporal_assets.windows.patterns.stored_patterns import StoredPatterns, graph_of


def pattern(window: Window, name: str, number: int) -> str:
    """Return the view of a pattern: template, ranks, examples, and where people go from it."""
    stored, place = window.patterns(name), number - 1
    row = None if stored is None else stored.ranks.get(place)
    if stored is None or row is None or not row["is_public"]:
        raise NotKnown("there is no such pattern that enough clients know")
    node = stored.nodes[place]
    says = (
        f"{row['volume']:,} pages, {row['visits']:,} visits; temporal:"
        f" {percent_text(row['temporal_share'])}; {row['new_pages_per_day']:.1f} new pages a day."
    )
    examples = window.examples(stored, place)
    columns = {"page": False, "visits": True, "born": False}
    cells = (
        (
            link_to(readable(page_row["url"]), address("page", url=page_row["url"])),
            number_text(page_row["visits"]),
            escaped(page_row["birth"]),
        )
        for page_row in examples
    )
    parts = [
        f"<p>{escaped(says)}</p><details><summary>As a regular expression</summary>"
        f"<code>{escaped(node['expression'])}</code></details>",
        html_table("Examples that enough clients opened", columns, cells)
        if examples
        else f"<p class='note'>No example among the {CANDIDATES:,} most visited pages.</p>",
        _neighbours(stored, name, place),
    ]
    graph = graph_of(stored)
    if graph.edges:
        parts += [
            f"<p class='note'>{escaped(GRAPH_KEY)}</p>",
            f'<div class="figures">{block(graph, "g")}</div>',
        ]
    return page(row["template"], parts, path_to(window, name))


def _neighbours(stored: StoredPatterns, name: str, place: int) -> str:
    """Return the patterns that people come from and go to, as an HTML table."""
    rows = []
    for inward, says in ((True, "from"), (False, "to")):
        for other, transits in stored.partners(place, inward=inward)[:10]:
            row = stored.ranks.get(other)
            if row is not None and row["is_public"]:
                link = address("pattern", site=name, pattern=other + 1)
                rows.append((says, link_to(row["template"], link), number_text(transits)))
    columns = {"direction": False, "pattern": False, "people": True}
    return html_table("Where people come from and go to", columns, rows) if rows else ""
