"""Counts of views as exports have them: what they are taken for, and of which day they are."""

from __future__ import annotations

import numpy as np
import pytest

from temporal_assets.logs.counts.wikipedia import host_of
from temporal_assets.logs.detect.dated_files import UnknownFormatError
from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats import parsing
from temporal_assets.logs.read.records import Block, Column, Reject
from temporal_assets.settings import LogSource, Reading

Read = tuple[str, str, str | None, str | None, tuple[int, int, int]]


def read(head: bytes, name: str = "", **source: object) -> tuple[str, list[Read]]:
    """The format, and of each row that can be read its time, page, host, referrer and numbers."""
    given = LogSource(path="x", **source)  # type: ignore[arg-type]
    fmt = resolve(given, head, name)
    block = Block(np.frombuffer(head, np.uint8), 1, last=True)
    records = parsing.parse(block, fmt, given, Reading())
    counts = records.counts
    assert counts is not None

    def text(column: Column | None, row: int) -> str | None:
        value = column.value(row) if column is not None else None
        return None if value is None else value.decode()

    return fmt.name, [
        (
            str(np.datetime64(int(records.time[row]), "us").astype("datetime64[m]")),
            text(records.target, row) or "",
            text(records.host, row),
            text(records.referrer, row),
            (int(counts.views[row]), int(counts.visitors[row]), int(counts.transits[row])),
        )
        for row in np.flatnonzero(records.reason == Reject.NONE).tolist()
    ]


def test_an_hour_of_wikipedia_ends_at_the_time_in_its_name() -> None:
    head = b"en Main_Page 42 0\nen.m Why? 3 0\nen - 7 0\nxx.unknown Cat 1 0\nde.m.b 100% 2 0\n"
    assert read(head, "pageviews-20240501-000000.gz") == (
        "wikipedia_pageviews",
        [
            ("2024-04-30T23:00", "/wiki/Main_Page", "en.wikipedia.org", None, (42, -1, -1)),
            ("2024-04-30T23:00", "/wiki/Why%3F", "en.wikipedia.org", None, (3, -1, -1)),
            ("2024-04-30T23:00", "/wiki/100%25", "de.wikibooks.org", None, (2, -1, -1)),
        ],
    )


def test_a_whole_day_of_wikipedia() -> None:
    head = b"en.wikipedia Cat 6678 desktop 42 A20B22\nfr.wiktionary chat null mobile-web 3 A3\n"
    assert read(head, "pageviews-20240501-user.bz2") == (
        "wikipedia_days",
        [
            ("2024-05-01T12:00", "/wiki/Cat", "en.wikipedia.org", None, (42, -1, -1)),
            ("2024-05-01T12:00", "/wiki/chat", "fr.wiktionary.org", None, (3, -1, -1)),
        ],
    )


def test_the_clickstream_is_of_the_last_day_of_its_month() -> None:
    head = b"other-search\tMain_Page\texternal\t42\nCat\tDog\tlink\t17\n"
    name, rows = read(head, "clickstream-enwiki-2024-02.tsv.gz")
    assert name == "wikipedia_clickstream"
    day, host = "2024-02-29T12:00", "en.wikipedia.org"
    assert rows == [
        (day, "/wiki/Main_Page", host, None, (-1, -1, 42)),
        (day, "/wiki/Dog", host, "https://en.wikipedia.org/wiki/Cat", (-1, -1, 17)),
    ]


def test_pages_that_begin_with_their_host() -> None:
    """Akamai's report of URLs, whose name says the day."""
    head = b"hostname.url,allEdgeHits,allOriginHits\nwww.example.com/a.html,340,9\n/b,7,1\n"
    assert read(head, "urlhits-by-url-2024-05-01.csv")[1] == [
        ("2024-05-01T12:00", "https://www.example.com/a.html", None, None, (340, -1, -1)),
        ("2024-05-01T12:00", "/b", None, None, (7, -1, -1)),
    ]


@pytest.mark.parametrize("day", ["May 1, 2024", "Wednesday, May 1, 2024"])
def test_the_name_of_an_export_of_matomo_says_the_day(day: str) -> None:
    head = b"label,nb_visits,nb_hits,url\n/a,5,6,https://www.example.com/a\n"
    (row,) = read(head, f"Export _ Actions _ Page URLs _ {day}.csv")[1]
    assert row[:2] == ("2024-05-01T12:00", "https://www.example.com/a")


@pytest.mark.parametrize(
    ("code", "host"),
    [
        (b"en", b"en.wikipedia.org"),
        (b"zh-min-nan.m", b"zh-min-nan.wikipedia.org"),
        (b"commons.m", b"commons.wikimedia.org"),
        (b"commons.m.m", b"commons.wikimedia.org"),
        (b"de.voy", b"de.wikivoyage.org"),
        (b"www.wd", b"www.wikidata.org"),
        (b"m.wd", b"www.wikidata.org"),
        (b"www.w", b"www.mediawiki.org"),
        (b"en.nothing", b""),
    ],
)
def test_domain_codes(code: bytes, host: bytes) -> None:
    assert host_of(code) == host


def test_plausible() -> None:
    head = (
        b"date,hostname,page,visits,visitors,pageviews,total_scroll_depth\n"
        b'"2024-05-01","example.com","/a",5,4,9,0\n'
    )
    assert read(head, "imported_pages_20240101_20240601.csv")[1] == [
        ("2024-05-01T12:00", "/a", "example.com", None, (9, 4, -1))
    ]


def test_matomo() -> None:
    """Rows of folders have no URL and are rejected."""
    head = (
        b"label,nb_visits,nb_uniq_visitors,nb_hits,metadata_url\n"
        b'/a,"1,204",903,"1,311",https://example.com/a\nOthers,3,3,4,\n'
    )
    assert read(head, "Export _ Page URLs _ 2024-05-01.csv")[1] == [
        ("2024-05-01T12:00", "https://example.com/a", None, None, (1204, 903, -1))
    ]


GA4 = (
    b"# ----------------------------------------\n# Pages and screens: Page path and screen class\n"
    b"# Account: a, b\n# Property: c\n# ----------------------------------------\n#\n"
    b"# Start date: %b\n# End date: 20240501\n"
)


def test_google_analytics_says_the_day_before_its_table() -> None:
    table = b"Page path and screen class,Views,Active users\n/a,17,3\n"
    assert read(GA4 % b"20240501" + table)[1] == [
        ("2024-05-01T12:00", "/a", None, None, (17, 3, -1))
    ]
    with pytest.raises(UnknownFormatError, match="do not say of which day"):
        read(GA4 % b"20240401" + table)


def test_google_analytics_with_a_date_in_each_row() -> None:
    head = b"Date,Page path,Views,Total users\n20240430,/a,17,3\n20240501,/b,2,1\n"
    assert [row[:2] for row in read(GA4 % b"20240401" + head)[1]] == [
        ("2024-04-30T12:00", "/a"),
        ("2024-05-01T12:00", "/b"),
    ]


def test_columns_of_ones_own() -> None:
    columns = {"time": "bucket", "url": "path", "views": "edge_hits"}
    head = b"bucket\tpath\tedge_hits\tcache\n2024-05-01 13:00\t/a\t17\tHIT\n"
    assert read(head, columns=columns, timezone="Europe/Berlin")[1] == [
        ("2024-05-01T11:00", "/a", None, None, (17, -1, -1))
    ]
    numbered = {"time": "1", "url": "2", "views": "3"}
    assert read(b"2024-05-01T13:00Z,/a,17\n", columns=numbered)[1][0][0] == "2024-05-01T13:00"


def test_views_by_referrer_are_transits_too() -> None:
    head = b"day,url,referrer,views\n2024-05-01,/a,https://e.org/,17\n2024-05-01,/b,,2\n"
    assert [row[3:] for row in read(head)[1]] == [
        ("https://e.org/", (17, -1, 17)),
        (None, (2, -1, 2)),
    ]


def test_json_lines() -> None:
    head = b'{"day": "2026-01-30", "url": "https://a.example/", "views": 9}\n'
    assert read(head) == (
        "jsonl",
        [("2026-01-30T12:00", "https://a.example/", None, None, (9, -1, -1))],
    )


def test_a_visitor_makes_it_a_log() -> None:
    for head in (
        b"time,visitor,url,clicks\n1714979289,u1,/a,3\n",
        b'{"time": 1714979289, "url": "https://e.org/", "address": "192.0.2.1", "views": 3}\n',
    ):
        source = LogSource(path="x")
        fmt = resolve(source, head)
        block = Block(np.frombuffer(head, np.uint8), 1, last=True)
        assert parsing.parse(block, fmt, source, Reading()).counts is None


def test_numbers_that_are_none_are_rejected() -> None:
    head = b"day,url,views\n2024-05-01,/a,many\n2024-13-01,/b,2\n2024-05-01,/c,3\n"
    assert [row[1] for row in read(head)[1]] == ["/c"]
