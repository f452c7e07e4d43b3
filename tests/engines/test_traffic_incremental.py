"""`page_traffic` from the window before, against all days anew: byte for byte, whatever moved.

Pages that are new, leave, come back or are only reloaded; clients who come again; hosts that begin
alike; audiences that shrink to a few. A cluster makes every window anew.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import shutil
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.engines.base import Engine
from temporal_assets.engines.duckdb import opened
from temporal_assets.logs.urls.canonical import site_of
from temporal_assets.ops.catalogue import fill
from temporal_assets.quality.inspect import Inspector
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.manifest import Input
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame import day_numbers
from temporal_assets.windows.frame.asset import Job, Sources
from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.windows.traffic import changed_transits, page_traffic, page_traffic_incremental
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC
from temporal_assets.windows.traffic.page_traffic_incremental import go_on
from tests.tables import write_table
from tests.transits import publish_transits

ONE = dt.timedelta(days=1)
FIRST = dt.date(2026, 3, 20)
LENGTH = 8
LEAST = 3
URLS = [
    "https://a.example/",
    "https://a.example/ü?q='%22",
    "https://a.example:8443/x",  # of the same site
    "https://a.example.org/",  # a host that goes on where another ends
    "http://b.example/x",
    "https://b.example/x",
    "https://b.example/x/y",
    "http://[2001:db8::1]:8080/x",
]
ELSEWHERE = "https://elsewhere.example/"
ALIKE = ["https://story.example/2026/01/06/page-16", "https://story.example/2026/01/08/page-18"]
"""Two that DuckDB's hash of 64 bits does not tell apart."""

Visit = tuple[str | None, str, int]
a_visit = st.tuples(
    st.sampled_from([None, *URLS, ELSEWHERE]), st.sampled_from(URLS), st.integers(1, 5)
)
a_day = st.lists(a_visit, max_size=12)
many_days = st.lists(a_day, min_size=LENGTH + 1, max_size=LENGTH + 5)


class Traffic:
    """A store of visits, and `page_traffic` made of them without Dagster."""

    def __init__(self, engine: Engine, root: Path, days: list[list[Visit]]) -> None:
        self.settings: Settings = load_settings(
            root, window={"days": LENGTH, "min_days": 1}, privacy={"min_clients": LEAST}
        )
        self.store = Store.open(self.settings)
        self.engine = engine
        self.days = days
        for n, visits in enumerate(days):
            # Of a day with a reload there is a view, but no transit.
            views = [
                {"day": self.day(n), "site": site_of(url), "url": url, "views": clients}
                for url, clients in sorted(_opened(visits).items(), key=lambda one: _page(one[0]))
            ]
            made_of = [Input("requests", str(visits))]
            self.publish("page_views", n, views, made_of)
            steps = [
                {"referrer": referrer, "target": target, "client": client}
                for referrer, target, client in visits
                if referrer != target
            ]
            publish_transits(self.store, self.day(n), steps, _opened(visits), made_of)

    def day(self, n: int) -> dt.date:
        return FIRST + n * ONE

    def publish(self, asset: str, n: int, rows: list[dict[str, Any]], inputs: list[Input]) -> None:
        schema = contracts.table(asset).arrow_schema
        known = [{column: row.get(column) for column in schema.names} for row in rows]
        with self.store.scratch() as scratch:
            path = scratch / f"{asset}.parquet"
            write_table(pa.Table.from_pylist(known, schema), path)
            self.store.publish(asset, self.day(n), [path], inputs=inputs, settings_digest="")

    def pages(self, last: int) -> list[dict[str, Any]]:
        """Rows of `page_totals`, and what `page_labels` may say of them."""
        views: dict[str, list[int]] = {}
        first = last - LENGTH + 1
        for n in range(max(0, first), last + 1):
            for target, clients in sorted(_opened(self.days[n]).items()):
                views.setdefault(target, []).extend([n] * clients)
        rows = [
            {
                "site": site_of(url),
                "url": url,
                "total": len(seen),
                "birth": self.day(seen[0]),
                "seen": sum(1 << n - first for n in set(seen)),
            }
            for url, seen in views.items()
        ]
        rows.sort(key=lambda row: _page(str(row["url"])))
        day = self.day(last)
        return [row | {"day": day, "number": number} for number, row in enumerate(rows)]

    def make(self, n: int) -> None:
        pages = self.pages(n)
        window = self.store.window("page_views", self.day(n), LENGTH, 1)
        views = [Input(f"page_views/day={one.day}", one.digest) for one in window.manifests]
        self.publish("page_totals", n, pages, views)
        # A third is unknown, and the label of a page may be another every day.
        coins = [hashlib.sha256(f"{row['url']} {n}".encode()).digest()[0] % 3 for row in pages]
        labels = [
            {**row, "is_temporal": coin == 1, "phi_n": 0.5 if coin else None}
            for row, coin in zip(pages, coins, strict=True)
        ]
        self.publish("page_labels", n, labels, [])
        day = self.day(n)
        tables = {name: self.store.require(name, day) for name in ("page_totals", "page_labels")}
        window = self.store.window("transits", day, LENGTH, 1)
        sources = Sources({"transits": window}, {}, tables, {}, ())
        with self.store.scratch() as scratch:
            job = Job(PAGE_TRAFFIC, self.store, self.engine, self.settings, day, sources, scratch)
            self.store.publish(
                "page_traffic",
                day,
                PAGE_TRAFFIC.make(job),
                inputs=sources.inputs,
                settings_digest=PAGE_TRAFFIC.settings_digest(self.settings),
                beside=job.urls_beside(),
            )

    def hubs_job(self, n: int, out: Path) -> Job:
        """Return a job with the inputs of the hubs of the window that ends with a day."""
        self.make(n)
        day = self.day(n)
        tables = {name: self.store.require(name, day) for name in ("page_totals", "page_traffic")}
        windows = {
            name: self.store.window(name, day, LENGTH, 1) for name in ("page_views", "transits")
        }
        sources = Sources(windows, {}, tables, {}, ())
        return Job(HUB_SEEDS, self.store, self.engine, self.settings, day, sources, out)

    def content(self, n: int) -> list[bytes]:
        files = self.store.files("page_traffic", self.day(n))
        return [Path(path).read_bytes() for path in files]

    def rows(self, n: int) -> dict[str, dict[str, Any]]:
        rows = self.store.read("page_traffic", self.day(n)).to_pylist()
        return {row["url"]: row for row in rows}


def _page(url: str) -> tuple[bytes, bytes]:
    """Return the key that pages are sorted by."""
    return site_of(url).encode(), url.encode()


def _opened(visits: list[Visit]) -> Counter[str]:
    """Distinct clients of each page of a day."""
    return Counter(target for target, _ in {(target, client) for _, target, client in visits})


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Days moved, or None, of every window that was made."""
    taken: list[int | None] = []

    def note(job: Job, earlier: Any, *rest: Any) -> list[Path] | None:
        made = go_on(job, earlier, *rest)
        taken.append(earlier.moved if made else None)
        return made

    monkeypatch.setattr(page_traffic, "go_on", note)
    return taken


@pytest.mark.slow
@settings(max_examples=40)
@given(
    days=many_days,
    steps=st.lists(st.integers(-4, 4), min_size=2, max_size=4, unique=True).map(sorted),
    at_once=st.sampled_from([2, 100]),
)
@example(days=[[(None, "https://a.example/", 1)], *[[]] * 8], steps=[0, 1], at_once=2)  # none left
def test_going_on_gives_the_bytes_of_all_days(
    duckdb: Engine, days: list[list[Visit]], steps: list[int], at_once: int
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_traffic, "PAGES_AT_ONCE", at_once)
        patch.setattr(day_numbers, "DAYS_AT_ONCE", at_once)
        later = Traffic(duckdb, Path(folder, "later"), days)
        lasts = [LENGTH - 1 + step for step in steps if LENGTH - 1 + step < len(days)]
        for last in lasts:
            later.make(last)
            anew = Traffic(duckdb, Path(folder, f"anew-{last}"), days)
            anew.make(last)
            assert later.rows(last) == anew.rows(last)
            assert later.content(last) == anew.content(last)


def test_the_next_day_goes_on(engine: Engine, tmp_path: Path, ways: list[int | None]) -> None:
    """Go on from the day before, also over a day that was left out. A cluster never goes on."""
    days: list[list[Visit]] = [[(None, URLS[0], n), (URLS[0], URLS[1], 1)] for n in range(12)]
    here = Traffic(engine, tmp_path, days)
    for last in (LENGTH - 1, LENGTH, LENGTH + 2):
        here.make(last)
    assert ways == ([1, 2] if engine.spread is None else [])


def test_numbers_are_believed_of_the_pages_they_were_made_with(
    duckdb: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Count all days where views are of other requests."""
    told: list[bool] = []

    def noted(*given: Any) -> Any:
        found = find_changes(*given)
        told.append(found is not None)
        return found

    find_changes = changed_transits.changed_transits
    monkeypatch.setattr(page_traffic_incremental, "changed_transits", noted)
    days: list[list[Visit]] = [[(None, URLS[0], n), (URLS[0], URLS[1], n)] for n in range(12)]
    here = Traffic(duckdb, tmp_path, days)
    for last in (LENGTH - 1, LENGTH):
        here.make(last)
    views = here.store.read("page_views", here.day(5)).to_pylist()
    here.publish("page_views", 5, views, [Input("requests", "of another day")])
    here.make(LENGTH + 1)
    here.publish("page_views", 5, views, [Input("requests", str(days[5]))])
    here.make(LENGTH + 2)
    assert told == [True, True]
    for last in (LENGTH + 1, LENGTH + 2):
        assert here.rows(last)[URLS[1]]["referrals"] == 0
        assert here.rows(last)[URLS[0]]["referrals"] == LENGTH


def test_an_audience_that_shrinks_is_named_again(duckdb: Engine, tmp_path: Path) -> None:
    """Let one of three clients leave: no row of the day before says who the others are."""
    front = URLS[0]
    days: list[list[Visit]] = [[(None, front, 1)], [(None, front, 2), (None, front, 3)]]
    days += [[(None, URLS[1], 1)]] * (LENGTH - 1)
    here = Traffic(duckdb, tmp_path, days)
    here.make(LENGTH - 1)
    assert here.rows(LENGTH - 1)[front].items() >= {"clients": 3, "few_clients": []}.items()
    here.make(LENGTH)
    assert here.rows(LENGTH)[front].items() >= {"clients": 2, "few_clients": [2, 3]}.items()


def test_links_from_a_page_that_was_none_are_counted_from_its_first_day(
    duckdb: Engine, tmp_path: Path
) -> None:
    """People came from it all the time; now somebody opened it."""
    moved, front = URLS[1], URLS[0]
    days: list[list[Visit]] = [[(moved, front, n)] for n in range(LENGTH)]
    days.append([(None, moved, 1)])
    here = Traffic(duckdb, tmp_path, days)
    here.make(LENGTH - 1)
    assert here.rows(LENGTH - 1)[front]["links"] == []
    here.make(LENGTH)
    rows = here.rows(LENGTH)
    assert rows[front]["links"] == [{"page": 1, "transits": LENGTH - 1}]
    assert rows[moved]["referrals"] == LENGTH - 1


def test_referrers_with_one_hash_are_two(duckdb: Engine, tmp_path: Path) -> None:
    """Let one client come to a page from both on the day that is new."""
    front = URLS[0]
    days: list[list[Visit]] = [[(None, front, 1)] for _ in range(LENGTH)]
    days.append([(one, front, 1) for one in ALIKE])
    here = Traffic(duckdb, tmp_path, days)
    for last in (LENGTH - 1, LENGTH):
        here.make(last)
    row = here.rows(LENGTH)[front]
    assert (row["visits"], row["referred"], row["clients"]) == (3, 2, 1)


def test_visits_of_a_shared_day_that_are_no_transits_may_change(
    duckdb: Engine, tmp_path: Path
) -> None:
    """A page that was only loaded again is gone, and another is there: transits are the same."""
    reload = [(url, url, 1) for url in (URLS[0], URLS[2])]
    days: list[list[Visit]] = [[(None, URLS[1], n)] for n in range(LENGTH + 1)]
    days[2] = [*days[2], reload[0]]
    here = Traffic(duckdb, tmp_path / "here", days)
    here.make(LENGTH - 1)
    days[2] = [*days[2][:-1], reload[1]]
    late = Traffic(duckdb, tmp_path / "late", days)
    for asset in ("page_views", "transits"):
        shutil.copytree(*(
            Path(one.store.root) / asset / f"day={here.day(2)}" for one in (late, here)
        ), dirs_exist_ok=True)  # fmt: skip
    here.make(LENGTH)
    late.make(LENGTH)
    assert set(late.rows(LENGTH)) == {URLS[1], URLS[2]}
    assert here.content(LENGTH) == late.content(LENGTH)


def test_damage_to_the_window_before_has_all_days_counted(
    duckdb: Engine, tmp_path: Path, ways: list[int | None]
) -> None:
    """It is not needed, and the next run makes it again."""
    days: list[list[Visit]] = [[(None, URLS[0], n)] for n in range(LENGTH + 1)]
    here = Traffic(duckdb, tmp_path, days)
    here.make(LENGTH - 1)
    (path,) = map(Path, here.store.files("page_traffic", here.day(LENGTH - 1)))
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    here.make(LENGTH)
    assert ways == []
    assert here.rows(LENGTH)[URLS[0]]["visits"] == LENGTH
    assert not path.exists()


def test_rows_share_the_file_of_their_pages_and_keep_it(duckdb: Engine, tmp_path: Path) -> None:
    """Read or asked for by SQL, rows show the URLs that they were counted for."""
    days: list[list[Visit]] = [[(None, URLS[0], n), (URLS[0], URLS[1], n)] for n in range(LENGTH)]
    here = Traffic(duckdb, tmp_path, days)
    last = here.day(LENGTH - 1)
    here.make(LENGTH - 1)
    (totals,) = here.store.files("page_totals", last)
    manifest = here.store.require("page_traffic", last)
    (beside,) = here.store.paths_beside(manifest)
    assert Path(beside).samefile(totals)
    folders = [Path(path).parent for path in (totals, beside)]
    kept = {path.stat().st_ino: path.stat().st_size for at in folders for path in at.iterdir()}
    sizes = [here.store.size(name, last) for name in ("page_totals", "page_traffic")]
    assert sum(sizes) == sum(kept.values())
    here.publish("page_totals", LENGTH - 1, here.pages(LENGTH - 1)[1:], [])
    assert sorted(here.rows(LENGTH - 1)) == sorted(URLS[:2])
    asked = "SELECT url, visits FROM page_traffic ORDER BY url"
    with opened(":memory:") as session:
        fill(
            session,
            here.store,
            {one.name: [] for one in contracts.TABLES} | {"page_traffic": [manifest]},
        )
        shown = session.sql(asked).fetchall()
    assert shown == sorted((url, row["visits"]) for url, row in here.rows(LENGTH - 1).items())


def test_rows_that_break_a_rule_are_shown_with_their_urls(duckdb: Engine, tmp_path: Path) -> None:
    here = Traffic(duckdb, tmp_path, [[(None, URLS[0], 1)]])
    here.make(0)
    manifest = here.store.require("page_traffic", here.day(0))
    rows = pq.read_table(here.store.paths(manifest), partitioning=None)
    clients = rows.column_names.index("clients")
    with here.store.scratch() as scratch:
        path = scratch / "page_traffic.parquet"
        pq.write_table(rows.set_column(clients, "clients", pa.array([-1])), path)
        totals = here.store.require("page_totals", here.day(0))
        here.store.publish(
            "page_traffic",
            here.day(0),
            [path],
            inputs=manifest.inputs,
            settings_digest=manifest.settings_digest,
            beside=here.store.linked(totals, scratch),
        )
    inspector = Inspector(here.store, duckdb, here.settings)
    findings = inspector.inspect(PAGE_TRAFFIC.table, [here.day(0)], ["counts_agree"])
    assert [row["url"] for row in findings[here.day(0)][0].samples] == [URLS[0]]


def test_tables_that_do_not_belong_together_are_made_anew(
    duckdb: Engine, tmp_path: Path, ways: list[int | None]
) -> None:
    """A page of shared days that the window before does not know: something was made otherwise."""
    days: list[list[Visit]] = [[(None, URLS[0], n), (None, URLS[1], n)] for n in range(LENGTH + 1)]
    here = Traffic(duckdb, tmp_path, days)
    here.make(LENGTH - 1)
    manifest = here.store.require("page_traffic", here.day(LENGTH - 1))
    (path,) = here.store.files("page_traffic", manifest.day)
    rows = pq.read_table(path, partitioning=None).slice(0, 1)
    with here.store.scratch() as scratch:
        path = scratch / "page_traffic.parquet"
        pq.write_table(rows, path)
        here.store.publish(
            "page_traffic",
            manifest.day,
            [path],
            inputs=manifest.inputs,
            settings_digest=manifest.settings_digest,
        )
    here.make(LENGTH)
    assert ways == [None]
    assert here.rows(LENGTH)[URLS[1]]["visits"] == LENGTH
