"""The explorer over ten thousand sites and three million pages: how long each view takes.

    temporal-assets demo --state demo
    python -m benchmarks.explorer_views demo             10,005 sites, 3.0 million pages
    python -m benchmarks.explorer_views demo --copies 10

Tables of a demo's window are published again with every site several times under other names, and
its most visited site with a hundred times its pages. They are written as the storage layer has
them, in the order and the row groups of the real ones; nothing is read from logs. The policy and
the report are the demo's. Printed are the first answer, which finds nothing in memory, and the
median of five more.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

import duckdb
import pyarrow.parquet as pq

from temporal_assets.cli.explorer.html_parts import address
from temporal_assets.cli.explorer.rows import Window
from temporal_assets.cli.explorer.server import answer
from temporal_assets.cli.explorer.static import one_file
from temporal_assets.engines.duckdb import ROW_GROUP_ROWS
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store

_TABLES: Final = {
    "page_totals": "number",
    "page_traffic": "url",
    "page_histories": "site, url",
    "interest_curves": "site, url",
    "page_labels": "site, url",
    "early_labels": "site, url",
    "prefix_trees": "prefix",
    "news_prefixes": "prefix",
    "url_patterns": "site, pattern",
    "pattern_ranks": "site, pattern",
    "behaviour_graph": "site, source, target",
    "site_scores": "rank IS NULL, rank, site",
    "hub_seeds": "rank IS NULL, rank, url",
}
"""Tables that name sites, and the order of their rows."""
_AS_THEY_ARE: Final = ("evaluation_report", "crawl_policy")
_LARGE: Final = 100
"""Times that the most visited site has its pages."""
_NUMBERS: Final = {"page_totals": "number", "page_traffic": "url"}
"""Columns that hold the place of the row."""
_PAGES: Final = ("page_traffic", "page_totals", "page_histories", "interest_curves", "page_labels")


def main() -> None:
    """Print a line for every view."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("demo", type=Path, help="State folder of a demo.")
    parser.add_argument("--copies", type=int, default=667, help="Times that every site is there.")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        window = _multiplied(given.demo.absolute(), Path(folder) / "state", given.copies)
        sizes = {name: window.store.require(name, window.day).rows for name in _TABLES}
        print(f"{sizes['site_scores']:,} sites, {sizes['page_traffic']:,} pages")
        window.decision("https://example.com/")  # compiled before anybody waits
        for name, target in _views(window).items():
            first, again = _milliseconds(window, target)
            print(f"{name:<42}{first:>8.0f} ms{again:>8.0f} ms")
        start = time.perf_counter()
        size = len(one_file(window).encode())
        print(f"static file: {time.perf_counter() - start:.1f} s, {size / 1e6:.1f} MB")


def _multiplied(demo: Path, state: Path, copies: int) -> Window:
    """A state folder with the demo's window, larger."""
    given = Window(load_settings(demo))
    state.mkdir()
    shutil.copy(demo / "settings.toml", state)
    shutil.copytree(demo / "policy", state / "policy", symlinks=True)
    store = Store.open(load_settings(state))
    large = given.rows(
        "SELECT site FROM page_traffic GROUP BY site ORDER BY sum(visits) DESC LIMIT 1",
        "page_traffic",
    )[0]["site"]
    for name in (*_TABLES, *_AS_THEY_ARE):
        query = _query(name, given, copies, large) if name in _TABLES else "SELECT * FROM {files}"
        with store.scratch() as folder:
            file, rows = folder / f"{name}.parquet", folder / f"given-{name}.parquet"
            pq.write_table(given.store.read(name, given.day), rows)
            files = f"read_parquet('{rows}', hive_partitioning=false)"
            duckdb.sql(
                f"COPY ({query.replace('{files}', files)}) TO '{file}' (FORMAT parquet,"
                f" COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP_ROWS})"
            )
            old = given.store.require(name, given.day)
            is_numbered = name == "page_traffic"
            totals = store.require("page_totals", given.day) if is_numbered else None
            store.publish(
                name,
                given.day,
                [file],
                inputs=(),
                settings_digest="",
                extra=dict(old.extra),
                beside=store.linked(totals, folder) if totals else (),
            )
    return Window(load_settings(state))


def _query(name: str, given: Window, copies: int, large: str) -> str:
    """Return the rows of a table for every copy of its sites."""
    columns = set(given.rows(f"SELECT * FROM {name}", name, limit=1)[0])  # noqa: S608 - ours
    tagged_columns = {
        "site": "tag || '.' || site",
        "url": "regexp_replace(url, '//', '//' || tag || '.')",
        "prefix": "tag || '.' || prefix",
        "parent": "parent" if name == "url_patterns" else "tag || '.' || parent",
        "rank": f"(rank - 1) * {copies} + copy + 1",
    }
    replaced = ", ".join(
        f"{sql} AS {column}" for column, sql in tagged_columns.items() if column in columns
    )
    replace = f"SELECT * REPLACE ({replaced}) FROM {{files}}, copies"  # noqa: S608 - ours
    parts = [replace]
    if name in _PAGES:
        more = "regexp_replace(url, '(//[^/]*/)', '\\1more-' || part || '/')"
        parts.append(
            "SELECT * EXCLUDE (part), 0, 'c00000' FROM (SELECT * REPLACE ('c00000.' || site"  # noqa: S608 - ours
            f" AS site, regexp_replace({more}, '//', '//c00000.') AS url) FROM {{files}},"
            f" range(1, {_LARGE}) AS parts(part) WHERE site = '{large}')"
        )
    tag = "'c' || lpad(CAST(copy AS VARCHAR), 5, '0') AS tag"
    place = "row_number() OVER (ORDER BY site, url) - 1"
    own = f"REPLACE ({place} AS {_NUMBERS[name]})" if name in _NUMBERS else ""
    return (
        f"WITH copies AS (SELECT copy, {tag} FROM range({copies}) AS numbers(copy))"  # noqa: S608 - ours
        f" SELECT * EXCLUDE (copy, tag) {own} FROM ({' UNION ALL '.join(parts)})"
        f" ORDER BY {_TABLES[name]}"
    )


def _views(window: Window) -> dict[str, str]:
    usual = window.sites("news", "rank", 0).rows[-1]["site"]
    by_pages = window.rows(
        "SELECT site FROM page_traffic GROUP BY site ORDER BY count(*) DESC LIMIT 1",
        "page_traffic",
    )
    large = by_pages[0]["site"]
    page = window.pages(usual, "", "", 0).rows[0]["url"]
    tree, known = window.tree(usual), window.patterns(usual)
    if tree is None or known is None:
        raise SystemExit(f"{usual} has no tree or no patterns")
    folder = tree.beneath[0].prefix
    number = next(row["pattern"] + 1 for row in known.ranks.values() if row["is_public"])
    window.patterns.cache_clear()
    return {
        "at a glance": "/",
        "sites": "/sites",
        "sites, searched": address("sites", q="granite"),
        "sites by pages, page 100": address("sites", sort="pages", page=100),
        "a site": address("site", site=usual),
        "a folder": address("site", site=usual, prefix=folder),
        "the largest site": address("site", site=large),
        "pages of a site": address("pages", site=usual),
        "pages of a folder": address("pages", site=usual, prefix=folder),
        "pages of the largest site": address("pages", site=large),
        "pages of the largest site, page 200": address("pages", site=large, page=200),
        "pages of the largest site, searched": address("pages", site=large, q="travel"),
        "a pattern": address("pattern", site=usual, pattern=number),
        "a page": address("page", url=page),
        "a page nobody has seen": address("find", url=f"https://{usual}/never/seen"),
    }


def _milliseconds(window: Window, target: str) -> tuple[float, float]:
    """The first answer, and the median of five more."""
    times = []
    for _ in range(6):
        start = time.perf_counter()
        status, _page = answer(window, target)
        times.append(1e3 * (time.perf_counter() - start))
        if status != 200:
            raise SystemExit(f"{target} answers {status}")
    return times[0], median(times[1:])


if __name__ == "__main__":
    main()
