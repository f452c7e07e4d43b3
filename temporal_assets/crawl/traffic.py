"""What users did with pages: F_in, F_out and F_trans of a period, and clicks from a file.

Here: where traffic comes from. Not here: what is learned from it (`evaluation`).
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.core.link_graph import distinct_links
from temporal_assets.crawl.mirror import Mirror, MirrorBuilder, NoMirror, site_ranges
from temporal_assets.engines.base import Engine
from temporal_assets.logs.urls import SITE, UrlRules, canonical_url, site_of

_SITE: Final = ColumnSpec("site", Type.VARCHAR, "Site of the page that was opened.")
CRAWL_TRAFFIC: Final = passing(
    name="crawl_traffic",
    description="Traffic of pages in a period.",
    grain="url",
    columns=(
        _SITE,
        ColumnSpec("url", Type.VARCHAR, "Canonical URL of the page."),
        ColumnSpec("visits", Type.BIGINT, "F_in."),
        ColumnSpec("referrals", Type.BIGINT, "F_out."),
    ),
)
CRAWL_TRANSITS: Final = passing(
    name="crawl_transits",
    description="Transits between pages in a period.",
    grain="referrer, target",
    columns=(
        _SITE,
        ColumnSpec("referrer", Type.VARCHAR, "Canonical URL they came from, on any site."),
        ColumnSpec("target", Type.VARCHAR, "Canonical URL they went to."),
        ColumnSpec("clients", Type.BIGINT, "F_trans."),
    ),
)
_ROWS: Final = 100_000
_MOST_HOSTS: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Traffic:
    """Tables with the columns of the two contracts."""

    pages: pa.Table
    transits: pa.Table


def traffic_of(
    engine: Engine, transits: Sequence[str], out: Path, sites: Collection[str] | None = None
) -> Traffic:
    """Traffic of some sites, or of all, in the days whose transits lie in some files.

    Works in the folder `out`, which is nobody else's. Raises `NoMirror` where there are no files.
    """
    if not transits:
        raise NoMirror("there are no days to take traffic from")
    out.mkdir(parents=True, exist_ok=True)
    chosen = out / "sites.parquet"
    names = sites_opened(engine, transits) if sites is None else sorted(sites)
    pq.write_table(pa.table({"site": pa.array(names, pa.string())}), chosen)
    inputs = {"transits": transits, "crawled_sites": [str(chosen)]}
    pages = engine.query("crawl_traffic", inputs, {"site": SITE}, CRAWL_TRAFFIC, out)
    between = engine.query("crawl_transits", inputs, {"site": SITE}, CRAWL_TRANSITS, out)
    return Traffic(pq.read_table(pages, memory_map=False), pq.read_table(between, memory_map=False))


def sites_opened(engine: Engine, transits: Sequence[str]) -> list[str]:
    """All sites of which anybody opened a page."""
    rows = engine.rows(
        "SELECT DISTINCT split_part(target, '/', 3) AS host FROM transits ORDER BY host",
        {"transits": transits},
        limit=_MOST_HOSTS,
    )
    return sorted({site_of(f"https://{row['host']}/") for row in rows})


def add_transits(traffic: Traffic, builder: MirrorBuilder) -> None:
    """Make a mirror of what users did: every page they opened, every step they took a link."""
    for batch in traffic.transits.to_batches(_ROWS):
        pairs = zip(batch["referrer"].to_pylist(), batch["target"].to_pylist(), strict=True)
        for referrer, target in pairs:
            builder.link(referrer, target)
    for batch in traffic.pages.to_batches(_ROWS):
        for url in batch["url"].to_pylist():
            builder.page(url, ())


def mirror_of(traffic: Traffic) -> Mirror:
    """The same at once, of the pages of the sites that the traffic is of.

    Pages are ordered by site and URL in `crawl_traffic`, so that their rows are their numbers.
    Raises `NoMirror` without any.
    """
    if not len(traffic.pages):
        raise NoMirror("nobody opened a page")
    urls = traffic.pages.column("url").cast(pa.large_string()).combine_chunks()
    source, target = (
        np.asarray(pc.fill_null(pc.index_in(column.cast(pa.large_string()), value_set=urls), -1))
        for column in (traffic.transits.column(name) for name in ("referrer", "target"))
    )
    inside = (source >= 0) & (target >= 0)
    source, target = source[inside].astype(np.int32), target[inside].astype(np.int32)
    links, nofollow = distinct_links(len(urls), source, target, np.zeros(len(source), np.bool_))
    sites, first = site_ranges(traffic.pages.column("site"))
    counts = {"pages": len(urls), "links": links.links}
    return Mirror(urls, sites, first, links, nofollow, counts)


def _csv_rows(file: Iterable[str]) -> Iterator[list[str]]:
    rows = csv.reader(file)
    try:
        yield from rows
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num}: {error}") from None


def clicks_of(path: Path, rules: UrlRules) -> tuple[pa.Table, int]:
    """Clicks of search results, a CSV of URL and number: (site, url, visits), and rows left out.

    Raises `ValueError` for what is no CSV.
    """
    clicks: Counter[str] = Counter()
    bad = 0
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        for line, row in enumerate(_csv_rows(file)):
            url = canonical_url(row[0], rules) if row else None
            try:
                count = int(row[1]) if url is not None else -1
            except (IndexError, ValueError):
                count = -1
            if url is not None and count >= 0:
                clicks[url] += count
            elif line > 0:  # the first may be a header
                bad += 1
    columns = {
        "site": pa.array([site_of(url) for url in clicks], pa.string()),
        "url": pa.array(clicks.keys(), pa.string()),
        "visits": pa.array(clicks.values(), pa.int64()),
    }
    return pa.table(columns), bad
