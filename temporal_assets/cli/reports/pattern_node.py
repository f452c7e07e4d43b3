"""A pattern tree and its nodes in detail, for `temporal-assets show patterns SITE`."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import USAGE, CommandError

if TYPE_CHECKING:
    from temporal_assets.core.patterns.site_patterns import Cut
    from temporal_assets.engines.base import Engine
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.patterns.stored_patterns import Row, StoredPatterns

TREES: Final[tuple[tuple[str, Cut], ...]] = (
    ("syntax", "syntax"),
    ("visits", "visit"),
    ("links", "transit"),
)
"""Trees of patterns, as shown and as stored."""

_MOST_PAGES: Final = 10_000_000


def show_node(
    patterns: StoredPatterns,
    node: int,
    store: Store,
    engine: Engine,
    day: dt.date,
    limit: int,
    as_json: bool,
) -> None:
    """Show a node, why it is one pattern or several, its pages and its links."""
    if node >= len(patterns.nodes):
        last = len(patterns.nodes) - 1
        raise CommandError(f"the tree of {patterns.site} has the nodes 0 to {last}", USAGE)
    row = patterns.nodes[node]
    pages = _pages(patterns, node, store, engine, day)
    links = {
        "came_from": patterns.partners(node, inward=True),
        "went_to": patterns.partners(node, inward=False),
    }
    if as_json:
        facts = {
            name: [{"pattern": pattern, "transits": count} for pattern, count in partners]
            for name, partners in links.items()
        }
        console.write_json({**row, **facts, "pages": pages})
        return
    console.write("\n".join(console.plain(line) for line in _words(patterns, row)))
    console.show_table(
        "Pages with the most visits",
        ("url", "visits", "referrals", "clients"),
        [
            (page["url"], page["visits"], page["referrals"], page["clients"])
            for page in pages[:limit]
        ],
    )
    for title, name in (("People came from", "came_from"), ("People went to", "went_to")):
        if links[name]:
            _show_links(patterns, title, links[name][:limit])


def show_tree(patterns: StoredPatterns) -> None:
    """Print all nodes of the tree, indented, and of which of the three trees each is a leaf."""
    leaves = [(name, patterns.leaves(cut)) for name, cut in TREES]
    console.show_table(
        f"{patterns.site}: the pattern tree",
        ("#", "node", "pages", "visits", "leaf of", "decided by"),
        [
            (
                row["pattern"],
                "  " * row["depth"] + row["template"],
                row["volume"],
                row["visits"],
                ", ".join(name for name, flags in leaves if flags[row["pattern"]]),
                _decided(patterns, row),
            )
            for row in patterns.nodes
        ],
    )


def _decided(patterns: StoredPatterns, row: Row) -> str:
    """Return the decisions of the cuts about a node, which may be part of a larger merge."""
    if row["merged_by"] == "visit":
        return f"merged: saves {row['saved_bits']:,.1f} bits"
    if row["similarity"] is None:
        return ""
    is_merged = row["merged_by"] == "transit" or _is_below(patterns, row, "is_transit_leaf")
    outcome = "merged" if is_merged else "kept apart"
    return f"{outcome}: similarity {row['similarity']:.2f}"


def _is_below(patterns: StoredPatterns, row: Row, flag: str) -> bool:
    """Return True if a node above this one has the flag."""
    above = row["parent"]
    while above >= 0 and not patterns.nodes[above][flag]:
        above = patterns.nodes[above]["parent"]
    return bool(above >= 0)


def _pages(
    patterns: StoredPatterns, node: int, store: Store, engine: Engine, day: dt.date
) -> list[Row]:
    """Return the node's pages, most visited first; each page is matched to its leaf."""
    from temporal_assets.engines.sql import literal

    query = (
        "SELECT pages.url, visits, referrals, clients, views FROM page_traffic AS traffic"  # noqa: S608 - the site is a literal
        " INNER JOIN page_totals AS pages ON pages.number = traffic.url"
        f" WHERE pages.site = {literal(patterns.site)} ORDER BY visits DESC, pages.url"
    )
    inputs = {name: store.files(name, day) for name in ("page_traffic", "page_totals")}
    rows = engine.rows(query, inputs, _MOST_PAGES)
    below = set(patterns.under(node).tolist())
    nodes = patterns.nodes_of([row["url"] for row in rows])
    return [row for row, at in zip(rows, nodes, strict=True) if at in below]


def _words(patterns: StoredPatterns, row: Row) -> list[str]:
    """Return what is known of a pattern, in lines of text."""
    counts = (
        f"{console.counted(row['volume'], 'page')}, {console.counted(row['visits'], 'visit')},"
        f" {console.counted(row['referrals'], 'referral')}"
    )
    lines = [f"#{row['pattern']}  {row['template']}", counts, _standing(patterns, row)]
    if row["expression"] is not None:
        lines.append(f"expression: {row['expression']}")
        lines.append(f"key-values: {row['key_values']}")
    if not row["is_public"]:
        lines.append("too few clients opened its pages for it to be exported")
    return lines


def _standing(patterns: StoredPatterns, row: Row) -> str:
    """Return whether the node is a pattern, and the decisions of the cuts, in words."""
    node = row["pattern"]
    if row["is_pattern"] and row["merged_by"] is None:
        return "a pattern, and a leaf of the whole tree"
    if row["is_pattern"] and row["merged_by"] == "visit":
        return f"a pattern: keeping its parts apart would cost {row['saved_bits']:,.1f} bits more"
    if row["is_pattern"]:
        return (
            "a pattern: the links of its parts are alike (similarity of the least similar"
            f" {row['similarity']:.2f})"
        )
    pattern = patterns.pattern_of(node)
    if pattern is not None:
        return f"part of pattern #{pattern}"
    inside = sum(patterns.nodes[below]["is_pattern"] for below in patterns.under(node).tolist())
    similarity = row["similarity"]
    why = (
        ""
        if similarity is None
        else f"; two of its parts have a similarity of only {similarity:.2f}"
    )
    return f"divided into {inside} patterns{why}"


def _show_links(patterns: StoredPatterns, title: str, links: list[tuple[int, int]]) -> None:
    rows: list[tuple[Any, ...]] = [
        (pattern, patterns.nodes[pattern]["template"], count) for pattern, count in links
    ]
    console.show_table(title, ("#", "pattern", "transits"), rows)
