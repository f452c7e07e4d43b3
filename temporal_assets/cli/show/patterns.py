"""`temporal-assets show patterns`: the URL patterns of a site, and the pattern of a URL.

Here: what is asked, and the answer in words. Not here: reading
(`windows.patterns.stored_patterns`), drawing (`reports.pattern_graph`), one node in detail
(`cli.reports.pattern_node`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.reports.pattern_node import TREES, show_node, show_tree
from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import USAGE, CommandError, command
from temporal_assets.cli.shared.options import Json, State, existing_settings, invocation
from temporal_assets.cli.shared.sites import named_site
from temporal_assets.cli.shared.standard_input import STANDARD_INPUT, lines, written
from temporal_assets.cli.shared.windows import Day

if TYPE_CHECKING:
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.patterns.stored_patterns import Row, StoredPatterns

_COLUMNS: Final = (
    *("#", "pattern", "pages", "visits", "referrals", "fetch", "discovery", "temporal"),
    "new a day",
)

_MISSING: Final = {
    "no_referrers": "no referrers are logged for this site: the behaviour graph is empty, and ranks"
    " that need it are missing",
    "no_transits": "nobody went from a page of this site to another: the behaviour graph is empty,"
    " and ranks that need it are missing",
}


@command
def run(
    site: Annotated[
        str | None,
        typer.Argument(
            metavar="SITE", help="The host; all sites when none is named.", show_default=False
        ),
    ] = None,
    state: State = None,
    day: Day = None,
    node: Annotated[
        int | None,
        typer.Option("--node", min=0, help="Show one node: its URLs, visits and links."),
    ] = None,
    match: Annotated[
        list[str] | None,
        typer.Option(
            "--match", metavar="URL", help="Show the pattern of a URL; - reads standard input."
        ),
    ] = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="Show every node of the tree, and what was merged.")
    ] = False,
    graph: Annotated[
        Path | None,
        typer.Option("--graph", metavar="FILE", help="Draw the behaviour graph (.png or .svg)."),
    ] = None,
    quality: Annotated[
        bool,
        typer.Option("--quality", help="Learn on the first days, judge on later ones."),
    ] = False,
    mirror: Annotated[
        Path | None,
        typer.Option(
            "--mirror", metavar="FILE", help="Judge on a crawl too: Parquet with url and html."
        ),
    ] = None,
    periods: Annotated[
        int, typer.Option(min=2, help="With --quality: equal parts, the first to learn from.")
    ] = 4,
    limit: Annotated[int, typer.Option(min=1, help="Rows of each table.")] = 20,
    as_json: Json = False,
) -> None:
    """Show how the URLs of a site fall into patterns, and what each is worth.

    Patterns are numbered; --node looks into one. With --match, URLs are put under the patterns,
    seen before or not. --quality says how well they hold.
    """
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.storage.store import Store

    if node is not None and match:
        raise CommandError("--node and --match exclude each other", USAGE)
    if mirror is not None and not quality:
        raise CommandError("--mirror says something only with --quality", USAGE)
    if site is None and (node is not None or match or graph or tree):
        raise CommandError("name the site whose patterns are meant", USAGE)
    site = site and named_site(site)
    settings = existing_settings(state)
    store, engine = Store.open(settings), engine_of(settings)
    if quality:
        from temporal_assets.cli.reports.pattern_quality import show_quality

        show_quality(store, engine, settings, site, mirror, periods, as_json)
        return
    chosen = day or _latest(store, settings)
    if site is None:
        _show_sites(store, engine, chosen, limit, as_json)
        return
    stored = _find(store, engine, chosen, site)
    if graph is not None:
        _draw(stored, chosen, graph)
    if match:
        _show_matches(stored, _urls(match), settings, as_json)
    elif node is not None:
        show_node(stored, node, store, engine, chosen, limit, as_json)
    elif tree and not as_json:
        show_tree(stored)
    elif as_json:
        console.write_json(_report(stored, chosen))
    else:
        _show_site(stored, chosen, limit)


def _latest(store: Store, settings: Settings) -> dt.date:
    days = store.days("pattern_ranks")
    if not days:
        build = invocation("materialize", settings.state)
        raise CommandError(f"no patterns have been learned yet: {build}")
    return days[-1]


def _find(store: Store, engine: Any, day: dt.date, site: str) -> StoredPatterns:
    """Return the patterns of a site. Raises `CommandError` if it has none."""
    from temporal_assets.windows.patterns.stored_patterns import read_patterns, sites_of

    stored = read_patterns(store, engine, day, site)
    if stored is None:
        most = ", ".join(row["site"] for row in sites_of(store, engine, day, 5))
        raise CommandError(
            f"there is no site {site!r} in the window up to {day}; the most visited are {most}"
        )
    return stored


def _show_sites(store: Store, engine: Any, day: dt.date, limit: int, as_json: bool) -> None:
    """Show the sites of a window with the sizes of their trees."""
    from temporal_assets.windows.patterns.stored_patterns import sites_of

    rows = sites_of(store, engine, day)
    if as_json:
        console.write_json(rows)
        return
    columns = ("site", "pages", "visits", *(name for name, _ in TREES), "status")
    console.show_table(
        f"Sites of the window up to {day}: leaves and height of their trees",
        columns,
        [
            (row["site"], row["pages"], row["visits"], *_sizes(row), _status(row))
            for row in rows[:limit]
        ],
    )
    if len(rows) > limit:
        console.say(f"{len(rows) - limit:,} sites with fewer visits are not shown (--limit)")


def _sizes(row: Row) -> list[str]:
    return [f"{row[f'{cut}_leaves']:,} / {row[f'{cut}_height']}" for _, cut in TREES]


def _status(row: Row) -> str:
    status = str(row["status"])
    if status != "learned":
        return f"{status}: {row['reason']}"
    learned = str(row["reason"] or status)
    return learned if row["has_referrers"] else f"{learned}, no referrers"


def _show_site(stored: StoredPatterns, day: dt.date, limit: int) -> None:
    """Show the trees and the best patterns of a site."""
    root = stored.nodes[0]
    title = (
        f"{stored.site}, window up to {day}: {console.counted(root['volume'], 'page')},"
        f" {console.counted(root['visits'], 'visit')}"
    )
    console.show_table(title, ("tree", "leaves", "height"), _trees(stored))
    rows = _best_first(stored)
    console.show_table(
        "Patterns",
        _COLUMNS,
        [_cells(row) for row in rows[:limit]],
    )
    for line in _remarks(stored):
        console.say(line)
    if len(rows) > limit:
        console.say(f"{len(rows) - limit:,} patterns of lower rank are not shown (--limit)")


def _trees(stored: StoredPatterns) -> list[tuple[str, int, int]]:
    """Return the rows of BB Table 3 for one site."""
    depth = [row["depth"] for row in stored.nodes]
    flags = [(name, stored.leaves(cut)) for name, cut in TREES]
    return [
        (name, int(leaves.sum()), max(d for d, leaf in zip(depth, leaves, strict=True) if leaf))
        for name, leaves in flags
    ]


def _best_first(stored: StoredPatterns) -> list[Row]:
    return sorted(
        stored.ranks.values(),
        key=lambda row: row["rank_fetch"] or row["rank_visits"],
    )


def _cells(row: Row) -> tuple[Any, ...]:
    """Return the row of a pattern in the table of patterns."""
    share, rate = row["temporal_share"], row["new_pages_per_day"]
    return (
        row["pattern"],
        row["template"],
        row["volume"],
        row["visits"],
        row["referrals"],
        row["rank_fetch"],
        row["rank_discovery"],
        None if share is None else f"{share:.0%}",
        None if rate is None else f"{rate:.1f}",
    )


def _remarks(stored: StoredPatterns) -> Iterable[str]:
    """Yield warnings about the ranks."""
    if stored.status != "learned":
        yield f"this site was not learned ({stored.status}): {stored.nodes[0]['reason']}"
        return
    if stored.nodes[0]["reason"] is not None:
        yield f"this site was {stored.nodes[0]['reason']}"
    row = next(iter(stored.ranks.values()))
    if row["missing_ranks"] is not None:
        yield _MISSING[row["missing_ranks"]]
    if not row["is_converged"]:
        yield (
            f"authority and hub have not settled after {row['rounds']:,} rounds: use the ranks by"
            " visits and referrals"
        )
    if row["components"] > 1:
        yield (
            f"the behaviour graph falls into {row['components']} parts: ranks of different parts"
            " hardly compare"
        )


def _report(stored: StoredPatterns, day: dt.date) -> dict[str, Any]:
    """Return the patterns of a site as JSON values."""
    root = stored.nodes[0]
    return {
        "site": stored.site,
        "day": day,
        "status": stored.status,
        "reason": root["reason"],
        "pages": root["volume"],
        "visits": root["visits"],
        "trees": [
            {"tree": name, "leaves": leaves, "height": height}
            for name, leaves, height in _trees(stored)
        ],
        "nodes": stored.nodes,
        "patterns": _best_first(stored),
        "edges": stored.edges,
    }


def _urls(texts: list[str]) -> list[str]:
    if texts == [STANDARD_INPUT]:
        return [text for line in lines() if (text := line.strip())]
    return list(map(written, texts))


def _show_matches(
    stored: StoredPatterns, urls: list[str], settings: Settings, as_json: bool
) -> None:
    """Print the pattern of each URL, or why there is none."""
    from temporal_assets.logs.urls.canonical import canonical_url
    from temporal_assets.logs.urls.url_rules import UrlRules

    rules = UrlRules.from_settings(settings.cleaning)
    canonical = [canonical_url(url, rules) for url in urls]
    nodes = iter(stored.nodes_of([url for url in canonical if url is not None]))
    rows = []
    for text, url in zip(urls, canonical, strict=True):
        node = None if url is None else next(nodes)
        pattern = None if node is None else stored.pattern_holding(node)
        rows.append(
            {
                "url": text,
                "canonical": url,
                "pattern": pattern,
                "template": None if pattern is None else stored.nodes[pattern]["template"],
                "rank_fetch": None if pattern is None else stored.ranks[pattern]["rank_fetch"],
                "reason": _why_not(url, node, pattern),
            }
        )
    if as_json:
        console.write_json(rows)
        return
    console.show_table(
        "",
        ("url", "#", "pattern", "fetch"),
        [
            (row["url"], row["pattern"], row["template"] or row["reason"], row["rank_fetch"])
            for row in rows
        ],
    )


def _why_not(url: str | None, node: int | None, pattern: int | None) -> str | None:
    if url is None:
        return "no URL of a page"
    if node is None:
        return "no URL of this site, or of a form it never had"
    return None if pattern is not None else "no pattern holds it, only nodes above patterns"


def _draw(stored: StoredPatterns, day: dt.date, file: Path) -> None:
    """Write the graph of a site's patterns into a file."""
    from temporal_assets.reports.charts.picture import as_png, as_svg
    from temporal_assets.windows.patterns.stored_patterns import graph_of

    kind = file.suffix.lower().removeprefix(".")
    if kind not in ("png", "svg"):
        raise CommandError(f"{file.name}: the graph can be drawn as .png or .svg", USAGE)
    graph, title = [graph_of(stored)], f"Window up to {day}"
    if kind == "png":
        file.write_bytes(as_png(graph, title))
    else:
        file.write_text(as_svg(graph, title), "utf-8")
    console.say(f"The behaviour graph is in {console.place(file)}")
