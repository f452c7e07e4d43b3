"""Counted work, which does not change with a machine's mood.

Rows and files read are DuckDB's own counts. A change that makes a stage read its input once more,
or Python look at every URL again, fails here, and no clock is asked. Times are `benchmarks/`.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import synthetic
from temporal_assets import contracts
from temporal_assets.core.curves.curves import Options, fit
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.engines import parquet_rows
from temporal_assets.engines.base import Inputs
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.logs.clean import cleaning, page_urls
from temporal_assets.logs.formats import structured
from temporal_assets.logs.formats.known_formats import FORMATS
from temporal_assets.logs.formats.parsing import parse
from temporal_assets.logs.read.records import Block
from temporal_assets.settings import LogSource, Reading, Settings, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import Job, Sources, build
from temporal_assets.windows.frame.day_numbers import DayFiles
from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.registry import WINDOW_ASSETS
from temporal_assets.windows.traffic import page_traffic_compiled
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC, write_traffic
from temporal_assets.windows.traffic.page_traffic_changes import COUNTED
from tests.logs import line, write
from tests.tables import write_table

FIRST = dt.date(2026, 3, 2)
ONE = dt.timedelta(days=1)
DAYS = 6
WINDOW = 4
PAGES = 20
"""Pages viewed a day; on every day one of them is new and one is no longer viewed."""
CLIENTS = 3
REQUESTS = PAGES * CLIENTS


@dataclass
class Work:
    """Rows and bytes that a query read and wrote."""

    rows: int
    """Rows that scans produced."""
    files: int
    """Opened, once for every scan."""
    written: int
    """Bytes."""


class CountingEngine(DuckDBEngine):
    """DuckDB, with its own account of every query."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        super().__init__(settings)
        self.account = folder / "account.json"
        self.sessions = itertools.count()
        self.queries: list[Work] = []

    @contextmanager
    def _session(self, inputs: Inputs) -> Iterator[duckdb.DuckDBPyConnection]:
        # Parts of a table are written side by side, each in a session of its own.
        account = self.account.with_stem(f"account-{next(self.sessions)}")
        with super()._session(inputs) as session:
            session.execute("SET enable_profiling = 'json'")
            session.execute(f"SET profiling_output = '{account}'")
            yield session
        self.queries.append(_work(json.loads(account.read_text("utf-8"))))

    def during(self, action: Callable[[], object]) -> Work:
        """The sum of all queries of an action."""
        self.queries = []
        action()
        found = self.queries
        return Work(
            sum(one.rows for one in found),
            sum(one.files for one in found),
            sum(one.written for one in found),
        )


def _work(account: dict[str, Any]) -> Work:
    scans = [operator for operator in _operators(account) if operator["type"] == "TABLE_SCAN"]
    return Work(
        account["query"]["total_rows_scanned"],
        sum(int(one["extra_info"].get("Total Files Read", 0)) for one in scans),
        account["io"]["total_bytes_written"],
    )


def _operators(account: dict[str, Any]) -> Iterator[dict[str, Any]]:
    todo = list(account["operator"])
    while todo:
        one = todo.pop()
        yield one
        todo += one.get("children", [])


@dataclass
class Corpus:
    """Logs that were read, with what Python was asked meanwhile."""

    settings: Settings
    store: Store
    engine: CountingEngine
    inventory: Inventory
    asked: dict[str, list[bytes]] = field(default_factory=dict)
    daily: dict[str, Work] = field(default_factory=dict)
    """Work for the first day, by asset."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Days of page requests, as many for images, and all daily assets."""
    folder = tmp_path_factory.mktemp("work")
    for n in range(DAYS):
        write(folder / "logs" / f"access-{n}.log", _lines(n))
    settings = load_settings(
        folder / "state",
        sources=[{"path": str(folder / "logs"), "host": "a.example"}],
        window={"days": WINDOW, "min_days": 1},
    )
    asked: dict[str, list[bytes]] = {}
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((cleaning, "is_static"), (page_urls, "canonical_url")):
            patch.setattr(module, name, _noted(getattr(module, name), asked, name))
        refresh(settings)
    inventory = Inventory.load(settings)
    engine = CountingEngine(settings, folder)
    made = Corpus(settings, Store.open(settings), engine, inventory, asked)
    for n in range(DAYS):
        for asset in ("requests", "page_views", "transits"):
            work = engine.during(lambda day=FIRST + n * ONE, asset=asset: _make(made, asset, day))
            made.daily.setdefault(asset, work)
    return made


def _lines(n: int) -> list[str]:
    noon = dt.datetime.combine(FIRST + n * ONE, dt.time(12))
    lines = []
    for page in range(n, n + PAGES):
        path = f"/news/{page}.html" if page % 2 else f"/show?id={page}&view=1"
        for client in range(CLIENTS):
            when = noon + dt.timedelta(minutes=page, seconds=client)
            address = f"192.0.2.{client + 1}"
            lines.append(line(when, path, address, "https://a.example/"))
            lines.append(line(when, "/logo.png", address, f"https://a.example{path}"))
    return lines


def _noted(
    function: Callable[..., Any], asked: dict[str, list[bytes]], name: str
) -> Callable[..., Any]:
    def noting(value: bytes, *rest: Any) -> Any:
        asked.setdefault(name, []).append(value)
        return function(value, *rest)

    return noting


def _make(corpus: Corpus, asset: str, day: dt.date) -> None:
    if asset == "requests":
        settings, inventory = corpus.settings, corpus.inventory
        build_requests(corpus.store, corpus.engine, settings, day, inventory)
    else:
        build_derived(corpus.store, corpus.engine, asset, day)


def test_python_looks_at_few_of_the_urls(corpus: Corpus) -> None:
    """The image, once for all lines, and the origin; no page, with or without a query."""
    assert corpus.asked == {"is_static": [b"/logo.png"], "canonical_url": [b"https://a.example/"]}


def test_a_log_of_a_day_is_one_segment(corpus: Corpus) -> None:
    for n in range(DAYS):
        (log,) = corpus.inventory.of_day(FIRST + n * ONE)
        assert len(corpus.inventory.segments(log, FIRST + n * ONE)) == 1


def test_requests_scan_their_records_twice(corpus: Corpus) -> None:
    """They are scanned for robots' behaviour over the day, and for the file."""
    work = corpus.daily["requests"]
    assert (work.rows, work.files) == (2 * REQUESTS, 3)  # the third file names robots


def test_views_are_made_of_one_scan(corpus: Corpus) -> None:
    assert (corpus.daily["page_views"].rows, corpus.daily["page_views"].files) == (REQUESTS, 1)


def test_transits_are_made_of_numbers(corpus: Corpus) -> None:
    """Requests are read for URLs, for those people came from, and once with the numbers of both."""
    (urls,) = corpus.store.paths_beside(corpus.store.require("transits", FIRST))
    numbered = pq.read_metadata(urls).num_rows
    assert 2 * REQUESTS < corpus.daily["transits"].rows <= 3 * REQUESTS + 2 * numbered


def test_the_next_window_reads_what_has_changed(corpus: Corpus) -> None:
    """Totals: the day that enters and the one that leaves; those of before are walked along."""
    last = FIRST + (WINDOW - 1) * ONE
    anew = corpus.engine.during(lambda: _window(corpus, last))
    assert anew.rows == WINDOW * PAGES
    later = corpus.engine.during(lambda: _window(corpus, last + ONE))
    assert (later.rows, later.files) == (2 * PAGES, 2)
    assert later.written < 2 * anew.written


def _window(corpus: Corpus, day: dt.date) -> None:
    build(corpus.store, corpus.engine, corpus.settings, PAGE_TOTALS, day)


def test_histories_look_at_no_name_in_any_day(corpus: Corpus) -> None:
    """They are walked along: no statement reads a file."""
    day = FIRST + WINDOW * ONE
    _window(corpus, day)
    work = corpus.engine.during(
        lambda: build(corpus.store, corpus.engine, corpus.settings, PAGE_HISTORIES, day)
    )
    assert corpus.store.require("page_histories", day).rows > PAGES
    assert (work.rows, work.files) == (0, 0)


def test_traffic_reads_every_day_once_and_no_url_of_its_pages(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No statement reads a file, however many parts there are."""
    read = _columns_read(monkeypatch)
    monkeypatch.setattr(page_traffic_compiled, "_PART_VIEWS", 8)
    last = FIRST + (WINDOW - 1) * ONE
    _window(corpus, last)
    labels = tmp_path / "page_labels.parquet"
    write_table(contracts.PAGE_LABELS.arrow_schema.empty_table(), labels)
    window = corpus.store.window("transits", last, WINDOW, 1)
    days = [DayFiles.of(corpus.store, manifest) for manifest in window.manifests]
    tables = {"page_totals": corpus.store.files("page_totals", last), "page_labels": [str(labels)]}
    parameters = {"day": last, "new_from": last, "observed_days": WINDOW, "chance": 0.1}
    parameters |= {"least_clients": 5}
    read.clear()
    work = corpus.engine.during(
        lambda: write_traffic(
            corpus.engine, days, days[0].day, tables, parameters, tmp_path, at_once=8
        )
    )
    assert (work.rows, work.files) == (0, 0)
    of_days = Counter(column for path, column in read if "/transits/" in path)
    # Targets once more, to find which rows are of which part.
    assert of_days == {
        "target": 2 * WINDOW,
        "referrer": WINDOW,
        "client": WINDOW,
        "is_opened": WINDOW,
        "url": WINDOW,
    }
    # URLs of pages when they are looked at, and none when rows are put together of each part.
    times = Counter(column for path, column in read if "/page_totals/" in path)
    assert times == {"site": 3, "url": 1, "total": 2, "birth": 1, "seen": 1}


def test_the_next_traffic_reads_numbers_of_shared_days_once(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To find what comes again; URLs are read of the two days that moved, and of pages."""
    read = _columns_read(monkeypatch)
    days = [FIRST + n * ONE for n in (WINDOW - 1, WINDOW)]
    for day in days:
        _window(corpus, day)
        _publish_no_labels(corpus, day)
        tables = {name: corpus.store.require(name, day) for name in ("page_totals", "page_labels")}
        sources = Sources(
            {"transits": corpus.store.window("transits", day, WINDOW, 1)}, {}, tables, {}, ()
        )
        with corpus.store.scratch() as scratch:
            job = Job(
                PAGE_TRAFFIC, corpus.store, corpus.engine, corpus.settings, day, sources, scratch
            )
            corpus.engine.queries = []
            read.clear()
            files = PAGE_TRAFFIC.make(job)
            corpus.store.publish(
                "page_traffic",
                day,
                files,
                inputs=sources.inputs,
                settings_digest=PAGE_TRAFFIC.settings_digest(corpus.settings),
                beside=job.urls_beside(),
            )
    # Rows are written.
    assert [query.rows for query in corpus.engine.queries] == [0]
    # Of every day once; URLs of those that moved, and what was not opened on the others.
    of_days = Counter(column for path, column in read if "/transits/" in path)
    every = WINDOW + 1
    once = dict.fromkeys(("client", "target", "referrer", "is_opened"), every)
    assert of_days == once | {"url": every + 2, "site": 2}
    # Of the window before, numbers: which of its pages is which no URL is asked.
    before = f"page_traffic/day={days[0]}/"
    assert {column for path, column in read if before in path} == {"site", "links", *COUNTED}


def test_hubs_are_found_by_numbers_of_days_read_once(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without labels statements fill the list up, by front pages and by clicks of any day."""
    day = FIRST + (WINDOW - 1) * ONE
    for asset in WINDOW_ASSETS[: WINDOW_ASSETS.index(HUB_SEEDS)]:
        build(corpus.store, corpus.engine, corpus.settings, asset, day)
    read = _columns_read(monkeypatch)
    work = corpus.engine.during(
        lambda: build(corpus.store, corpus.engine, corpus.settings, HUB_SEEDS, day)
    )
    clicks = [days.rows for days in corpus.store.window("transits", day, WINDOW, 1).manifests]
    pages = corpus.store.require("page_totals", day).rows
    # Clicks of the last day twice, for front pages and for the list; of all days once, because the
    # last has none. Pages once for the sites, and once for each of three lists (front pages and two
    # of clicks) and with their traffic for its clients.
    assert work.rows <= sum(clicks) + 2 * clicks[-1] + (1 + 3 * 3) * pages
    of_days = Counter(column for path, column in read if "/transits/" in path)
    assert of_days == dict.fromkeys(("target", "referrer", "is_opened", "url"), WINDOW)
    assert not [path for path, _ in read if "/page_views/" in path]


def _columns_read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Files and columns whose rows are read by their numbers from now on."""
    read: list[tuple[str, str]] = []
    of_file = parquet_rows._File.read

    def noting(file: Any, groups: Sequence[int], columns: Sequence[str] | None) -> pa.Table:
        table = of_file(file, groups, columns)
        if len(table):
            read.extend((file.path, column) for column in table.column_names)
        return table

    monkeypatch.setattr(parquet_rows._File, "read", noting)
    return read


def _publish_no_labels(corpus: Corpus, day: dt.date) -> None:
    with corpus.store.scratch() as scratch:
        path = scratch / "page_labels.parquet"
        write_table(contracts.PAGE_LABELS.arrow_schema.empty_table(), path)
        corpus.store.publish("page_labels", day, [path], inputs=[], settings_digest="")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_json_lines_are_decoded_only_where_they_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand lines take a call for all escaped texts, and two for one that is no JSON."""
    good = b'{"time":"2026-03-02T10:00:00Z","address":"192.0.2.1","url":"/a","agent":"x"}\n'
    lines = good * 900 + good.replace(b'"x"', b'"x\\"y"') * 99 + good.replace(b'"x"', b'"\\x"')
    asked: list[bytes] = []
    loads = orjson.loads

    def noting(text: bytes) -> Any:
        asked.append(text)
        return loads(text)

    monkeypatch.setattr(structured.orjson, "loads", noting)
    block = Block(np.frombuffer(lines, np.uint8), 1, last=True)
    records = parse(block, FORMATS["jsonl"], LogSource(path="x"), Reading())
    assert np.count_nonzero(records.reason) == 1
    assert len(asked) == 3


def test_curves_are_found_in_few_evaluations() -> None:
    """A twentieth above the mean of 30.9 and 15.1: processors round differently, a little."""
    views = synthetic.draw(500, 60, seed=3).views
    for method, most in (("least_squares", 32.5), ("likelihood", 15.9)):
        asked = fit(views, Options(method=method)).evaluations
        assert float(np.mean(asked[asked > 0])) < most
