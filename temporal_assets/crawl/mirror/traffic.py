"""Traffic of pages: F_in, F_out and F_trans of a period, and clicks from a file.

Here: where traffic comes from. Not here: what is learned from it (`evaluation`).
"""

from __future__ import annotations

import csv
import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import passing
from temporal_assets.core.graph.link_graph import distinct_links
from temporal_assets.crawl.mirror.mirror import Mirror, MirrorBuilder, NoMirror, site_ranges
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.url_rules import UrlRules

CRAWL_TRIPLES: Final = passing(
    "crawl_triples",
    "referrer VARCHAR, target VARCHAR, client BIGINT, referrer_site VARCHAR,"
    " target_site VARCHAR, in_first BOOLEAN, in_second BOOLEAN, in_third BOOLEAN",
)
CRAWL_TRAFFIC: Final = passing(
    "crawl_traffic", "site VARCHAR, url VARCHAR, visits BIGINT, referrals BIGINT"
)
CRAWL_TRANSITS: Final = passing(
    "crawl_transits", "site VARCHAR, referrer VARCHAR, target VARCHAR, clients BIGINT"
)
CRAWL_SQL: Final = ("crawl_triples", "crawl_traffic", "crawl_transits")
"""Names of the statements that count traffic."""

_ROWS: Final = 100_000
_MOST_HOSTS: Final = 10_000_000
_MOST_CLICKS: Final = 10**12
"""Most clicks of a line: a larger number is an error."""

_FEW_CLIENTS: Final = """
    SELECT site FROM (
        SELECT urls.site AS site, client FROM transits
        INNER JOIN urls ON urls.day = transits.day AND urls.number = transits.target
        UNION ALL
        SELECT urls.site AS site, client FROM transits
        INNER JOIN urls ON urls.day = transits.day AND urls.number = transits.referrer
    ) GROUP BY site HAVING count(DISTINCT client) < {least} ORDER BY site
"""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Tables of visits and transits, with the columns of their contracts."""

    pages: pa.Table
    transits: pa.Table


@dataclass(frozen=True, slots=True)
class Learning:
    """Traffic of a learning period, and of its two parts, from which weights are learned."""

    whole: Traffic
    earlier: Traffic | None = None
    """Traffic of the first part; None where the period has one part only."""
    later: Traffic | None = None


class TrafficByPeriod:
    """Traffic of some sites in three periods, and in any of them together.

    Files are read once, and most rows are of other sites. Something that a client did in two
    periods counts once in each, and once in both together. `transits` are the tables `transits` and
    `urls`. Works in the folder `out`, which is nobody else's. Raises `NoMirror` where there are no
    files.
    """

    def __init__(
        self,
        engine: Engine,
        transits: Inputs,
        out: Path,
        sites: Collection[str] | None = None,
        second_from: dt.date = dt.date.max,
        third_from: dt.date = dt.date.max,
    ) -> None:
        self._engine, self._out = engine, out
        self._triples = _triples(engine, transits, out, sites, second_from, third_from)
        self._made: dict[tuple[int, ...], Traffic] = {}

    def of(self, *periods: int) -> Traffic:
        """Return the traffic of one period (1, 2 or 3), or of several together."""
        if periods not in self._made:
            flags = {name: n in periods for n, name in enumerate(("first", "second", "third"), 1)}
            self._made[periods] = _traffic(self._engine, self._triples, self._out, flags)
        return self._made[periods]


def traffic_of(
    engine: Engine, transits: Inputs, out: Path, sites: Collection[str] | None = None
) -> Traffic:
    """Return the traffic of some sites, or of all, in all days of `transits`."""
    return TrafficByPeriod(engine, transits, out, sites).of(1, 2, 3)


def learning_of(
    engine: Engine, days: Mapping[dt.date, Inputs], out: Path, sites: Collection[str]
) -> Learning:
    """Return the traffic of days to learn from, and of the first and the second half of them."""
    ordered = sorted(days)
    half = ordered[len(ordered) // 2]
    traffic = TrafficByPeriod(
        engine, joined(days[day] for day in ordered), out, sites, second_from=half
    )
    if len(ordered) < 2:
        return Learning(traffic.of(1, 2))
    return Learning(traffic.of(1, 2), traffic.of(1), traffic.of(2))


def _triples(
    engine: Engine,
    transits: Inputs,
    out: Path,
    sites: Collection[str] | None,
    second_from: dt.date,
    third_from: dt.date,
) -> list[str]:
    """Write the transits of some sites, or all that were opened, by period."""
    if not transits.get("transits"):
        raise NoMirror("there are no days to take traffic from")
    out.mkdir(parents=True, exist_ok=True)
    chosen = out / "sites.parquet"
    names = sites_opened(engine, transits) if sites is None else sorted(sites)
    pq.write_table(pa.table({"site": pa.array(names, pa.string())}), chosen)
    inputs = {**transits, "crawled_sites": [str(chosen)]}
    parameters = {"second_from": second_from, "third_from": third_from}
    written = engine.query("crawl_triples", inputs, parameters, CRAWL_TRIPLES, out)
    return [str(path) for path in written]


def _traffic(
    engine: Engine, triples: Sequence[str], out: Path, periods: Mapping[str, bool]
) -> Traffic:
    """Read the traffic of some periods and remove its files, whose names are reused."""
    inputs = {"crawl_triples": triples}
    tables = []
    for table in (CRAWL_TRAFFIC, CRAWL_TRANSITS):
        written = engine.query(table.name, inputs, periods, table, out)
        tables.append(whole_table(written))
        for path in written:
            path.unlink()
    return Traffic(*tables)


def joined(days: Iterable[Inputs]) -> dict[str, list[str]]:
    """Return the input files of several days as those of one table."""
    tables: dict[str, list[str]] = {}
    for day in days:
        for name, files in day.items():
            tables.setdefault(name, []).extend(files)
    return tables


def sites_opened(engine: Engine, transits: Inputs) -> list[str]:
    """Return all sites with a page that anybody opened."""
    query = "SELECT DISTINCT site FROM urls WHERE is_opened ORDER BY site"
    rows = engine.rows(query, {"urls": transits["urls"]}, limit=_MOST_HOSTS)
    return [row["site"] for row in rows]


def rare_sites(engine: Engine, transits: Inputs, least: int) -> set[str]:
    """Return the sites that fewer than `least` clients opened or came from.

    Their names are shown to nobody. Sites that the logs do not know are not among them.
    """
    rows = engine.rows(_FEW_CLIENTS.format(least=int(least)), transits, limit=_MOST_HOSTS)
    return {row["site"] for row in rows}


def add_transits(traffic: Traffic, builder: MirrorBuilder) -> None:
    """Add the pages that users opened and the links that they followed to a mirror.

    Referrers that nobody opened, a search engine perhaps, do not become pages.
    """
    for batch in traffic.transits.to_batches(_ROWS):
        pairs = zip(batch["referrer"].to_pylist(), batch["target"].to_pylist(), strict=True)
        for referrer, target in pairs:
            builder.step(referrer, target)
    for batch in traffic.pages.to_batches(_ROWS):
        for url in batch["url"].to_pylist():
            builder.page(url, ())


def mirror_of(traffic: Traffic) -> Mirror:
    """Return a mirror of the pages that users opened and the links they followed.

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
    """Return a table of clicks on search results (site, url, visits), and rows left out.

    The file is a CSV of URL and number. Raises `ValueError` for other files.
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
            if url is not None and 0 <= count <= _MOST_CLICKS:
                clicks[url] += count
            elif line > 0:  # the first may be a header
                bad += 1
    columns = {
        "site": pa.array([site_of(url) for url in clicks], pa.string()),
        "url": pa.array(clicks.keys(), pa.string()),
        "visits": pa.array(clicks.values(), pa.int64()),
    }
    return pa.table(columns), bad
