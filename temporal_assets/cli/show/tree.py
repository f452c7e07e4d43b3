"""`temporal-assets show tree`: the folders and programs of a site, and where its news is.

Here: finding the sections of a site. Not here: drawing them (`reports.prefix_tree`).
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import CommandError, command
from temporal_assets.cli.shared.options import Json, State, check_results, existing_settings
from temporal_assets.cli.shared.sites import named_site
from temporal_assets.cli.shared.windows import Day, window_day

if TYPE_CHECKING:
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store

_MOST: Final = 100_000
"""Most sections that are read: more than anybody opens in a browser."""

_SECTIONS: Final = (
    "SELECT trees.*, prefixes.prefix IS NOT NULL AS is_prefix FROM prefix_trees AS trees"
    " LEFT JOIN news_prefixes AS prefixes ON prefixes.prefix = trees.prefix"
    " WHERE trees.site = {site} OR ends_with(trees.site, {suffix}) ORDER BY trees.prefix"
)

_NEAR: Final = (
    "SELECT site FROM prefix_trees WHERE depth = 0 AND clients >= {least}"
    " AND levenshtein(site, {site}) <= {farthest} ORDER BY levenshtein(site, {site}), site"
)

_MISTYPED: Final = 3
"""Letters of a name of which one may be wrong for a similar name to be suggested: in `exmaple.com`,
which has 11, up to three."""


@command
def run(
    site: Annotated[
        str,
        typer.Argument(
            metavar="SITE", help="A host, or a domain for all its hosts.", show_default=False
        ),
    ],
    state: State = None,
    day: Day = None,
    depth: Annotated[
        int, typer.Option(min=0, help="Folders below the root that are shown as text.")
    ] = 3,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write the whole tree as a page that opens."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the prefix tree of a site: pages, news and temporal pages of every folder and program.

    News prefixes are marked. Sections that fewer clients know than `privacy.min_clients` are
    only counted.
    """
    from temporal_assets.reports.html_page import page
    from temporal_assets.reports.prefix_tree import STYLE, as_html, as_lines, trees_of
    from temporal_assets.storage.store import Store

    check_results(html)
    settings = existing_settings(state)
    store = Store.open(settings)
    chosen = window_day(store, settings, "news_prefixes", day)
    host = named_site(site)
    rows = _sections(store, settings, host, chosen)
    least = settings.privacy.min_clients
    trees = trees_of(rows, least)
    if not trees:
        raise CommandError(f"fewer than {least} clients know {site}: its folders are not shown")
    if html is not None:
        title = f"Prefix tree of {host}, window up to {chosen}"
        html.write_text(page(title, [f"<style>{STYLE}</style>", as_html(trees)]), "utf-8")
    if as_json:
        console.write_json([row for row in rows if row["clients"] >= least])
        return
    console.write("\n".join(as_lines(trees, depth, console.width())))


def _sections(store: Store, settings: Settings, site: str, day: dt.date) -> list[dict[str, Any]]:
    """Return the sections of a site or domain with their counts."""
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.engines.sql import literal

    engine = engine_of(settings)
    inputs = {name: store.files(name, day) for name in ("prefix_trees", "news_prefixes")}
    query = _SECTIONS.format(site=literal(site), suffix=literal(f".{site}"))
    rows = engine.rows(query, inputs, limit=_MOST)
    if rows:
        return rows
    least = literal(settings.privacy.min_clients)
    farthest = literal(max(len(site) // _MISTYPED, 1))
    names = _NEAR.format(site=literal(site), least=least, farthest=farthest)
    near = engine.rows(names, inputs, limit=5)
    hint = ", ".join(row["site"] for row in near)
    raise CommandError(
        f"{site} has no reliable page in the window up to {day}"
        + (f"; sites with a name like it: {hint}" if hint else "")
    )
