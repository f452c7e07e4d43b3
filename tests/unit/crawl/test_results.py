"""Fetches from every kind of file, and what is counted of sources."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets import contracts
from temporal_assets.core.crawls.visit_rates import pages_an_hour, stretch
from temporal_assets.crawl.results import Fetch, identity, read_fetches, result_files
from temporal_assets.crawl.results.fetch import fetch_of, time_of
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.settings import Crawls, Orchestration, Settings
from temporal_assets.windows.policy import crawl_policy
from temporal_assets.windows.results.fetches import fetches_between
from temporal_assets.windows.results.sources import listed_sources, tallies

NINE = dt.datetime(2026, 11, 28, 9, tzinfo=dt.UTC)
ROW = {"url": "https://a.example/1", "time": "2026-11-28T10:00:00+01:00", "status": "200"}


def rows(file: Path) -> list[Fetch]:
    counts: Counter[str] = Counter()
    return list(read_fetches(file, counts))


def warc(file: Path, status: int = 200) -> None:
    warcio = pytest.importorskip("warcio", reason="the scrapy extra is not installed")
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    assert warcio
    with file.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        headers = StatusAndHeaders(f"{status} x", [], protocol="HTTP/1.1")
        at = {"WARC-Date": "2026-11-28T09:00:00Z"}
        for kind in ("request", "response"):
            record = writer.create_warc_record(
                ROW["url"], kind, io.BytesIO(b"<p>"), http_headers=headers, warc_headers_dict=at
            )
            writer.write_record(record)
        writer.write_record(
            writer.create_revisit_record(
                ROW["url"], "sha1:X", ROW["url"], at["WARC-Date"],
                http_headers=headers, warc_headers_dict=at,
            )
        )  # fmt: skip


def test_one_fetch_from_every_kind_of_file(tmp_path: Path) -> None:
    wanted = Fetch(NINE, "https://a.example/1", 200)
    header = "url,time,status,note\n"
    line = "https://a.example/1,2026-11-28T09:00:00,200,x\n"
    (tmp_path / "a.csv").write_text(header + line)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((header + line).encode()))
    (tmp_path / "c.jsonl").write_text(json.dumps(ROW) + "\nnonsense\n[1]\n")
    (tmp_path / "d.cdx").write_text(
        " CDX N b a m s k r M S V g\n"
        "example,a)/1 20261128090000 https://a.example/1 text/html 200 X - - 1 2 f.warc.gz\n"
    )
    (tmp_path / "e.cdxj").write_text(
        'example,a)/1 20261128090000 {"url": "https://a.example/1", "status": "200"}\n'
    )
    table = pa.table({"url": [ROW["url"]], "time": pa.array([NINE]), "status": [200]})
    pq.write_table(table, tmp_path / "f.parquet")
    for file in result_files([tmp_path]):
        assert rows(file) == [wanted], file
    assert len(result_files([tmp_path])) == 6


def test_archives_say_what_was_fetched_and_what_had_not_changed(tmp_path: Path) -> None:
    warc(tmp_path / "x.warc.gz")
    assert rows(tmp_path / "x.warc.gz") == [
        Fetch(NINE, "https://a.example/1", 200),
        Fetch(NINE, "https://a.example/1", 200, changed=False),
    ]


def test_beside_an_index_archives_say_nothing_more(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "index.jsonl").write_text(json.dumps(ROW) + "\n")
    warc(tmp_path / "archive" / "pages-00001.warc.gz")
    assert [file.name for file in result_files([tmp_path])] == ["index.jsonl"]
    before = identity([tmp_path])
    (tmp_path / "archive" / "index.jsonl").write_text(json.dumps(ROW) * 2)
    assert identity([tmp_path]) != before


def test_damaged_files_are_read_up_to_the_damage(tmp_path: Path) -> None:
    whole = gzip.compress("".join(f"{json.dumps(ROW)}\n" for _ in range(5000)).encode())
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "b.parquet").write_bytes(b"PAR1 nonsense PAR1")
    (tmp_path / "c.warc.gz").write_bytes(b"\x1f\x8b nonsense")
    counts: Counter[str] = Counter()
    for file in result_files([tmp_path]):
        list(read_fetches(file, counts))
    assert counts["broken"] >= 2
    with pytest.raises(ValueError, match=r"are \.cdx"):
        rows(tmp_path / "d.txt")


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"url": "https://a.example/"},
        {"url": 3, "time": 3},
        {"url": "https://a.example/", "time": "never"},
        {"url": "https://a.example/" + "x" * 9000, "time": 3},
        {"url": "https://a.example/", "time": 1e300},
    ],
)
def test_rows_that_name_no_url_or_time_are_none(row: dict[str, object]) -> None:
    assert fetch_of(row) is None


def test_values_of_rows() -> None:
    row = {**ROW, "kind": "feed", "changed": "false", "new_links": "7", "seconds": "x"}
    actual = fetch_of(row)
    assert actual is not None
    assert (actual.kind, actual.changed, actual.new_links, actual.seconds) == (
        "feed",
        False,
        7,
        None,
    )
    unchanged = fetch_of({**ROW, "status": 304, "kind": "other"})
    assert unchanged is not None
    assert (unchanged.kind, unchanged.changed) == ("page", False)
    assert time_of(0) == dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def test_pages_are_credited_to_the_source_that_showed_them_first() -> None:
    def at(minute: int, url: str, **values: object) -> Fetch:
        time = NINE + dt.timedelta(minutes=minute)
        return Fetch(time, f"https://a.example{url}", **{"status": 200, **values})  # type: ignore[arg-type]

    feed, hub = "https://a.example/rss", "https://a.example/"
    actual = tallies(
        [
            at(3, "/2?utm_source=x", source=hub),
            at(0, "/rss", kind="feed", source=feed),
            at(1, "/", kind="hub", source=hub),
            at(2, "/1", source=feed),
            at(4, "/2", source=feed),
            at(5, "/3", source=feed, status=404),
            at(6, "/rss", kind="feed", source=feed, status=304, changed=False),
            at(7, "/", kind="hub", source=hub, status=None, error="x"),
            at(8, "/", kind="hub", source=hub, status=410),
            at(9, "/4", source="https://nobody.example/"),
        ],
        {"https://b.example/sitemap.xml": "sitemap"},
        UrlRules(),
    )
    assert list(actual[feed].pages) == ["https://a.example/1"]
    assert list(actual[hub].pages) == ["https://a.example/2"]
    assert (actual[feed].visits, actual[feed].unchanged, actual[feed].is_gone) == (2, 1, False)
    assert (actual[hub].visits, actual[hub].failures, actual[hub].is_gone) == (3, 2, True)
    assert actual["https://b.example/sitemap.xml"].is_listed
    assert len(actual) == 3


def test_three_times_not_found_is_gone() -> None:
    def visits(*statuses: int) -> bool:
        fetches = [
            Fetch(NINE + dt.timedelta(minutes=n), "https://a.example/", status, "hub")
            for n, status in enumerate(statuses)
        ]
        return tallies(fetches, {}, UrlRules())["https://a.example/"].is_gone

    assert visits(404, 404, 404)
    assert not visits(404, 404, 200)
    assert not visits(404, 404)


def test_fetches_are_of_the_day_in_the_zone_of_the_installation(tmp_path: Path) -> None:
    lines = [{**ROW, "time": f"2026-11-28T{hour}:30:00Z"} for hour in ("21", "22", "23")]
    (tmp_path / "crawl").mkdir()
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "crawl" / "index.jsonl").write_text(text)
    settings = Settings(
        state=tmp_path,
        crawls=Crawls(results=(Path("crawl"), Path("missing.csv"))),
        orchestration=Orchestration(timezone="Europe/Berlin"),
    )
    day = dt.date(2026, 11, 28)
    assert len(list(fetches_between(settings, day, day))) == 2
    assert len(list(fetches_between(settings, day, day + dt.timedelta(days=1)))) == 3
    assert not list(fetches_between(Settings(state=tmp_path), day, day))


def test_sources_that_people_list(tmp_path: Path) -> None:
    (tmp_path / "sources.txt").write_text(
        "# ours\nhttps://a.example/feed\nhttps://a.example/sitemap.xml\n"
        "https://a.example/x\tsitemap\nnonsense\n"
    )
    settings = Settings(state=tmp_path, crawls=Crawls(sources=Path("sources.txt")))
    assert listed_sources(settings) == {
        "https://a.example/feed": "feed",
        "https://a.example/sitemap.xml": "sitemap",
        "https://a.example/x": "sitemap",
    }


def test_hubs_that_brought_less_than_logs_promise_have_longer_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hub(found: int | None, days: float, seconds: int = 900) -> dict[str, Any]:
        rate = None if found is None else 24 * pages_an_hour(found, 24 * days)
        return {
            "url": "https://a.example/",
            "basis": "links",
            "new_per_day": 10.0,
            "interval_seconds": seconds,
            "found": found,
            "visits": None if found is None else 96,
            "found_per_day": rate,
        }

    # As promised, nothing at all, never visited, and rare already.
    rows = [hub(20, 2), hub(0, 2), hub(None, 0), hub(0, 2, 604_800)]
    monkeypatch.setattr(crawl_policy, "_read", lambda *_: rows)
    labelled = crawl_policy._Early({}, [], {})
    hubs = crawl_policy._hubs(None, {}, labelled)  # type: ignore[arg-type]
    seconds = [row["interval_seconds"] for row in hubs]
    assert seconds == [900, round(900 * stretch(20.0, 0.0)), 900, 604_800]


@pytest.mark.parametrize(
    ("basis", "is_early", "births", "expected", "hours"),
    [
        ("front_page", True, 7.5, 7.5, 1),
        ("front_page", True, 0.5, 0.5, 2.4),
        ("front_page", False, 0.5, 0.5, 2.4),
        ("front_page", False, 0.0, 0.1, 12),
        ("front_page", True, None, 0.1, 12),
        ("links", True, 7.5, 0.1, 12),
        ("links", False, 7.5, 0.1, 1),
    ],
)
def test_a_visit_to_a_hub_of_which_little_is_known_must_be_expected_to_bring_something(
    monkeypatch: pytest.MonkeyPatch,
    basis: str,
    is_early: bool,
    births: float | None,
    expected: float,
    hours: float,
) -> None:
    """A front page without links shows what is born on its site; hourly visits to it need some."""
    row = {"url": "https://a.example/", "basis": basis, "new_per_day": 0.1, "visits": None}
    monkeypatch.setattr(crawl_policy, "_read", lambda *_: [row | {"interval_seconds": 3600}])
    early = crawl_policy._Early({"a.example": {}} if is_early else {}, [], {})
    by_site = {} if births is None else {"a.example": births}
    (hub,) = crawl_policy._hubs(None, by_site, early)  # type: ignore[arg-type]
    assert hub["new_per_day"] == expected
    assert hub["interval_seconds"] == round(hours * 3600)


def test_nothing_at_all_is_worth_a_visit_a_week() -> None:
    assert crawl_policy._enough(0.0) == crawl_policy._enough(1e-9) == 7 * 24 * 3600


def test_births_are_those_of_the_flow_or_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    days = [dt.date(2026, 1, 1) + dt.timedelta(n) for n in range(20)]
    job = SimpleNamespace(present=lambda _: days)
    flows = [{"site": "a.example", "pages": 26.0}, {"site": "b.example", "pages": 9.0}]
    monkeypatch.setattr(crawl_policy, "_read", lambda *_: flows)
    sites = {"b.example": {"new_per_day": 2.5}, "c.example": {"new_per_day": None}}
    births = crawl_policy._births(job, crawl_policy._Early(sites, [], {}))  # type: ignore[arg-type]
    assert births == {"a.example": 26 / 13, "b.example": 2.5, "c.example": 0.0}


def test_sources_enter_the_policy_unless_they_are_gone_or_fail(tmp_path: Path) -> None:
    def source(name: str, kind: str = "feed", **facts: Any) -> dict[str, Any]:
        row = dict.fromkeys(contracts.SOURCES.arrow_schema.names)
        counts = dict.fromkeys(("visits", "unchanged", "failures", "pages", "temporal_pages"), 0)
        flags = dict.fromkeys(("is_news", "is_listed", "is_gone"), False)
        url = f"https://a.example/{name}"
        known = {"url": url, "site": "a.example", "kind": kind, "revisit_minutes": 20}
        return row | counts | flags | known | facts

    rows = [
        source("good", visits=9, failures=2, new_per_day=4.0),
        source("gone", "sitemap", visits=9, is_gone=True),
        source("failing", visits=3, failures=3),
        source("hub", "hub", visits=9),
        source("listed", is_listed=True),
        source("listed-and-failing", is_listed=True, visits=1, failures=1),
    ]
    file = tmp_path / "sources.parquet"
    pq.write_table(pa.Table.from_pylist(rows, contracts.SOURCES.arrow_schema), file)
    engine = DuckDBEngine(Settings(state=tmp_path))
    actual = engine.rows(crawl_policy._SOURCES, {"sources": [str(file)]}, 100)
    assert [row["url"].rsplit("/")[-1] for row in actual] == ["good", "listed"]
    assert (actual[0]["interval_seconds"], actual[0]["new_per_day"]) == (1200, 4.0)
