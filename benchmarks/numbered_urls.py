"""A prototype of URLs that are numbered once, beside the ways of now, over one state folder.

    python -m benchmarks.numbered_urls STATE [--threads 2]

STATE is one of `benchmarks.paper_scale` after its later day: transits of a window and of one day
more, and the `page_totals` and `page_labels` of both windows. Everything of the prototype is plain
SQL of DuckDB over integers; what it counts is compared with the published `page_traffic`, row by
row. Three dictionaries are tried: one a day, whose ids are places in the order of pages and are
merged for a window; one that grows, whose ids are given by first appearance; and ids that are
hashes of the URL, which need no merge. Nothing is published.
"""

# ruff: noqa: S608  (statements are put together from names of this file and its tables)

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.core.text.page_order import text_numbers
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import job_as_it_is
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

_SITE: Final = "regexp_extract(url, '^[a-z]+://([^/?#]*)', 1)"
_LEAST_CLIENTS: Final = 5
_COUNTED: Final = ("visits", "referred", "referrals", "clients")


def main() -> None:
    """Print sizes and seconds of every step."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("state", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    settings = load_settings(arguments.state)
    store = Store.open(settings)
    with tempfile.TemporaryDirectory(dir=arguments.state.parent) as folder:
        base = duckdb.connect(str(Path(folder) / "prototype.duckdb"))
        base.execute(f"SET threads = {arguments.threads}; SET memory_limit = '4GB'")
        prototype = _Prototype(base, store, Path(folder))
        prototype.dictionaries()
        prototype.merge()
        prototype.grow()
        prototype.window()
        prototype.later_day()
    _ways_of_now(store, settings)


@contextmanager
def _timed(what: str) -> Iterator[None]:
    started, used = time.perf_counter(), time.process_time()
    yield
    seconds, spent = time.perf_counter() - started, time.process_time() - used
    print(f"{what:66}{seconds:8.2f} s{spent:8.2f} s of processors", flush=True)


class _Prototype:
    """The tables of the prototype, in a database of its own."""

    def __init__(self, base: duckdb.DuckDBPyConnection, store: Store, folder: Path) -> None:
        self.base, self.store, self.folder = base, store, folder
        self.days = store.days("transits")[-61:]
        print(f"{len(self.days) - 1} days and one more, from {self.days[0]}")

    def _ask(self, statement: str) -> list[tuple[Any, ...]]:
        return self.base.execute(statement).fetchall()

    def _files(self, asset: str, day: dt.date) -> str:
        return str(self.store.paths(self.store.require(asset, day)))

    # Dictionaries ------------------------------------------------------------------------------

    def dictionaries(self) -> None:
        """Files of the days, in the order of pages; transits as three integers."""
        (self.folder / "urls").mkdir()
        (self.folder / "numbered").mkdir()
        with _timed("daily dictionaries, and transits by their numbers"):
            for at, day in enumerate(self.days):
                self._day(at, day)
        for name in ("urls", "numbered"):
            size = sum(path.stat().st_size for path in (self.folder / name).iterdir())
            print(f"  {name}: {size / 1e6:,.1f} MB")
        made = [self.store.require("transits", day) for day in self.days]
        rows, beside = (
            sum(file.bytes for one in made for file in files(one))
            for files in (lambda one: one.files, lambda one: one.beside)
        )
        print(f"  transits of now: {rows / 1e6:,.1f} MB, numbers beside {beside / 1e6:,.1f} MB")
        urls = f"read_parquet('{self.folder}/urls/*.parquet')"
        ((every, opened, distinct, pages),) = self._ask(
            f"SELECT count(*), count_if(is_opened), count(DISTINCT url),"
            f" count(DISTINCT CASE WHEN is_opened THEN url END) FROM {urls}"
        )
        print(
            f"  URLs of days {every:,}, opened {opened:,}; distinct {distinct:,}, pages {pages:,}"
        )

    def _day(self, at: int, day: dt.date) -> None:
        transits = f"read_parquet({self._files('transits', day)})"
        views = f"read_parquet({self._files('page_views', day)})"
        self._ask(f"""
            CREATE OR REPLACE TEMP TABLE day_urls AS
            SELECT row_number() OVER (ORDER BY site, url) - 1 AS id, site, url, is_opened
            FROM (
                SELECT {_SITE} AS site, url, bool_or(is_opened) AS is_opened
                FROM (
                    SELECT url, true AS is_opened FROM {views}
                    UNION ALL
                    SELECT DISTINCT referrer, false FROM {transits} WHERE referrer IS NOT NULL
                )
                GROUP BY url
            )
            ORDER BY site, url
        """)
        urls = self.base.execute("SELECT * FROM day_urls ORDER BY id").to_arrow_table()
        hashes = text_numbers(from_arrow(urls["url"]))
        urls = urls.append_column("hash", pa.array(hashes))
        options: dict[str, Any] = {"compression": "zstd", "use_dictionary": ["site", "is_opened"]}
        encoded = {"url": "DELTA_BYTE_ARRAY"}
        # The place of a row is its id; hashes can be made again.
        pq.write_table(
            urls.select(["site", "url", "is_opened"]),
            self.folder / "urls" / f"{at}.parquet",
            column_encoding=encoded,
            **options,
        )
        self.base.register("with_hashes", urls)
        verb = "INSERT INTO all_urls" if at else "CREATE TABLE all_urls AS"
        self._ask(
            f"{verb} SELECT CAST({at} AS UTINYINT) AS day, CAST(id AS INTEGER) AS id, site, url,"
            " is_opened, hash FROM with_hashes"
        )
        select = f"""
            SELECT
                CAST(targets.id AS INTEGER) AS target,
                CAST(sources.id AS INTEGER) AS referrer,
                client
            FROM {transits} AS transits
            INNER JOIN day_urls AS targets ON targets.url = transits.target
            LEFT JOIN day_urls AS sources ON sources.url = transits.referrer
            ORDER BY 1, 2, 3
        """
        self._ask(f"COPY ({select}) TO '{self.folder}/numbered/{at}.parquet' (COMPRESSION zstd)")
        verb = "INSERT INTO all_transits" if at else "CREATE TABLE all_transits AS"
        self._ask(
            f"{verb} SELECT CAST({at} AS UTINYINT) AS day, * FROM"
            f" read_parquet('{self.folder}/numbered/{at}.parquet')"
        )

    # Ids of the window -------------------------------------------------------------------------

    def merge(self) -> None:
        """The ids of a window from dictionaries of days: places among all its URLs."""
        with _timed("60 dictionaries merged: distinct, in the order of pages"):
            self._ask("""
                CREATE OR REPLACE TABLE window_urls AS
                SELECT
                    CAST(row_number() OVER (ORDER BY site, url) - 1 AS INTEGER) AS id,
                    site, url, is_opened, hash
                FROM (
                    SELECT site, url, bool_or(is_opened) AS is_opened, any_value(hash) AS hash
                    FROM all_urls WHERE day < 60 GROUP BY site, url
                )
            """)
        with _timed("the id of the window of every URL of every day, by its text"):
            self._ask("""
                CREATE OR REPLACE TABLE merged AS
                SELECT urls.day, urls.id, window_urls.id AS of_window
                FROM all_urls AS urls INNER JOIN window_urls USING (site, url) WHERE day < 60
            """)
        with _timed("the same, by a number of its text"):
            self._ask("""
                CREATE OR REPLACE TABLE merged_by_hash AS
                SELECT urls.day, urls.id, window_urls.id AS of_window
                FROM all_urls AS urls INNER JOIN window_urls USING (hash) WHERE day < 60
            """)
        ((urls, hashes),) = self._ask("SELECT count(*), count(DISTINCT hash) FROM window_urls")
        print(f"  {urls:,} URLs, {hashes:,} numbers of 62 bits")

    def grow(self) -> None:
        """Ids by first appearance: what a day adds, and what looking its URLs up costs."""
        self._ask("CREATE OR REPLACE TABLE grown (id INTEGER, site VARCHAR, url VARCHAR)")
        seconds = []
        with _timed("a dictionary that grows, 61 days"):
            for at in range(len(self.days)):
                started = time.perf_counter()
                self._ask(f"""
                    INSERT INTO grown
                    SELECT
                        CAST((SELECT count(*) FROM grown)
                            + row_number() OVER (ORDER BY site, url) - 1 AS INTEGER),
                        site, url
                    FROM all_urls AS urls
                    ANTI JOIN grown USING (url) WHERE day = {at}
                """)
                seconds.append(time.perf_counter() - started)
        print(f"  the last day {seconds[-1]:.2f} s, the median one {np.median(seconds):.2f} s")
        with _timed("the stable id of every URL of every day"):
            self._ask("""
                CREATE OR REPLACE TABLE stable AS
                SELECT urls.day, urls.id, grown.id AS of_all
                FROM all_urls AS urls INNER JOIN grown USING (url)
            """)
        with _timed("transits of all days by stable ids"):
            self._ask("""
                CREATE OR REPLACE TABLE stable_transits AS
                SELECT
                    transits.day, targets.of_all AS target, sources.of_all AS referrer, client
                FROM all_transits AS transits
                INNER JOIN stable AS targets
                    ON targets.day = transits.day AND targets.id = transits.target
                LEFT JOIN stable AS sources
                    ON sources.day = transits.day AND sources.id = transits.referrer
            """)

    # Traffic -----------------------------------------------------------------------------------

    def window(self) -> None:
        """Everything `page_traffic` counts, of all days."""
        with _timed("page_traffic of a window: distinct triples with their last day"):
            self._ask("""
                CREATE OR REPLACE TABLE triples AS
                SELECT target, coalesce(referrer, -1) AS referrer, client, max(day) AS last
                FROM stable_transits WHERE day < 60 GROUP BY ALL
            """)
        self._places(self.days[-2])
        with _timed("page_traffic of a window: counts, lists and links"):
            self._count("counts", "triples", "true")
        with _timed("page_traffic of a window: text and the order of pages"):
            self._rows("counts", "traffic")
        self._compare("traffic", self.days[-2])

    def later_day(self) -> None:
        """The same a day later: what expires goes, what is new comes, changed pages are counted."""
        with _timed("a later day: triples, and which pages changed"):
            self._ask("""
                CREATE OR REPLACE TABLE arrived AS
                SELECT DISTINCT target, coalesce(referrer, -1) AS referrer, client
                FROM stable_transits WHERE day = 60;
                CREATE OR REPLACE TABLE moved AS
                SELECT target, referrer FROM triples WHERE last = 0
                UNION SELECT target, referrer FROM arrived ANTI JOIN triples
                USING (target, referrer, client);
                CREATE OR REPLACE TABLE changed AS
                SELECT target AS page FROM moved UNION SELECT referrer FROM moved;
                CREATE OR REPLACE TABLE later AS
                SELECT triples.target, triples.referrer, triples.client,
                    CASE WHEN arrived.target IS NULL THEN last ELSE 60 END AS last
                FROM triples LEFT JOIN arrived USING (target, referrer, client)
                WHERE last > 0 OR arrived.target IS NOT NULL
                UNION ALL
                SELECT target, referrer, client, 60 FROM arrived
                ANTI JOIN triples USING (target, referrer, client)
            """)
        ((changed,),) = self._ask("SELECT count(*) FROM changed")
        self._places(self.days[-1])
        with _timed(f"a later day: {changed:,} changed URLs counted again, others kept"):
            self._ask("""
                CREATE OR REPLACE TABLE asked AS
                SELECT * FROM later
                WHERE target IN (SELECT page FROM changed) OR referrer IN (SELECT page FROM changed)
            """)
            self._count("changed_counts", "asked", "page IN (SELECT page FROM changed)")
            self._ask("""
                CREATE OR REPLACE TABLE later_counts AS
                SELECT * FROM changed_counts
                UNION ALL SELECT * FROM counts WHERE page NOT IN (SELECT page FROM changed)
            """)
        with _timed("a later day: text and the order of pages"):
            self._rows("later_counts", "later_traffic")
        self._compare("later_traffic", self.days[-1])
        with _timed("  or all of it counted again"):
            self._count("again", "later", "true")

    def _places(self, day: dt.date) -> None:
        """The pages of a window: stable ids, and places within their site."""
        with _timed(f"pages of {day} by stable id"):
            self._ask(f"""
                CREATE OR REPLACE TABLE pages AS
                SELECT grown.id AS page, totals.site, totals.url,
                    CAST(row_number() OVER (PARTITION BY totals.site ORDER BY totals.url) - 1
                        AS INTEGER) AS place
                FROM read_parquet({self._files("page_totals", day)}) AS totals
                INNER JOIN grown ON grown.url = totals.url
            """)

    def _count(self, name: str, triples: str, which: str) -> None:
        self._ask(f"""
            CREATE OR REPLACE TABLE edges AS
            SELECT target, referrer, CAST(count(*) AS INTEGER) AS transits
            FROM {triples} GROUP BY ALL;
            CREATE OR REPLACE TABLE openers AS SELECT DISTINCT target AS page, client
            FROM {triples};
            CREATE OR REPLACE TABLE {name} AS
            WITH arrivals AS (
                SELECT target AS page, sum(transits) AS visits,
                    sum(transits) FILTER (WHERE referrer >= 0) AS referred,
                    list(struct_pack(referrer := referrer, transits := transits))
                        FILTER (WHERE referrer >= 0) AS links
                FROM edges GROUP BY target
            ),
            departures AS (
                SELECT referrer AS page, sum(transits) AS referrals
                FROM edges WHERE referrer >= 0 GROUP BY referrer
            ),
            audience AS (SELECT page, count(*) AS clients FROM openers GROUP BY page),
            few AS (
                SELECT page, list_sort(list(client)) AS few_clients
                FROM openers SEMI JOIN (
                    SELECT page FROM audience WHERE clients < {_LEAST_CLIENTS}
                ) USING (page)
                GROUP BY page
            )
            SELECT page, visits, referred, referrals, clients, few_clients, links
            FROM arrivals FULL JOIN departures USING (page)
            LEFT JOIN audience USING (page) LEFT JOIN few USING (page)
            WHERE {which}
        """)

    def _rows(self, counts: str, name: str) -> None:
        """Links name pages by their place within the site, and rows are in the order of pages."""
        self._ask(f"""
            CREATE OR REPLACE TABLE placed_links AS
            SELECT flat.page, list_sort(list(struct_pack(
                page := sources.place, transits := flat.link.transits
            ))) AS links
            FROM (SELECT page, unnest(links) AS link FROM {counts}) AS flat
            INNER JOIN pages AS targets ON targets.page = flat.page
            INNER JOIN pages AS sources
                ON sources.page = flat.link.referrer AND sources.site = targets.site
            GROUP BY flat.page;
            COPY (
                SELECT pages.site, pages.url,
                    coalesce(visits, 0) AS visits, coalesce(referred, 0) AS referred,
                    coalesce(referrals, 0) AS referrals, coalesce(clients, 0) AS clients,
                    coalesce(few_clients, []) AS few_clients,
                    coalesce(placed_links.links, []) AS links
                FROM pages LEFT JOIN {counts} AS counts ON counts.page = pages.page
                LEFT JOIN placed_links ON placed_links.page = pages.page
                ORDER BY pages.site, pages.url
            ) TO '{self.folder}/{name}.parquet' (COMPRESSION zstd)
        """)

    def _compare(self, name: str, day: dt.date) -> None:
        columns = ("site", "url", *_COUNTED, "few_clients", "links")
        ours = pq.read_table(self.folder / f"{name}.parquet", columns=list(columns))
        theirs = pq.read_table(
            self.store.paths(self.store.require("page_traffic", day)),
            columns=list(columns),
            partitioning=None,
        )
        differ = [one for one in columns if ours[one].to_pylist() != theirs[one].to_pylist()]
        print(f"  {len(ours):,} rows; columns that differ from those published: {differ or 'none'}")


def _ways_of_now(store: Store, settings: Any) -> None:
    """`page_traffic` of both windows as it is made now, in this run."""
    engine = DuckDBEngine(settings)
    days: Sequence[dt.date] = store.days("page_traffic")[-2:]
    for day, what in zip(days, ("compiled, all days", "incremental"), strict=True):
        for run in ("first", "second"):
            with tempfile.TemporaryDirectory(dir=settings.state) as out:
                job = job_as_it_is(store, engine, settings, PAGE_TRAFFIC, day, Path(out))
                with _timed(f"now: page_traffic of {day}, {what} ({run} run)"):
                    PAGE_TRAFFIC.make(job)


if __name__ == "__main__":
    main()
