"""Feeds and sitemaps, friendly and hostile."""

from __future__ import annotations

import gzip
import time

import pytest

pytest.importorskip("feedparser", reason="the scrapy extra is not installed")
pytest.importorskip("lxml", reason="the scrapy extra is not installed")

from temporal_assets.crawl.sources import feeds, sitemaps
from temporal_assets.crawl.sources.entries import Entry, seconds_of
from temporal_assets.crawl.sources.finding import feeds_of_page, guesses
from temporal_assets.crawl.sources.reading import kind_of, read_source

BASE = "https://a.example/feed"
NINE = 1795856400.0
"""2026-11-28 09:00 UTC."""

RSS = b"""<?xml version="1.0"?><!-- a comment --><rss version="2.0"><channel><title>x</title>
<link>https://a.example/</link>
<item><link>/n/1?a=1&amp;b=2</link><pubDate>Sat, 28 Nov 2026 09:00:00 GMT</pubDate></item>
<item><guid>https://a.example/guid</guid></item><item><title>no link</title></item>
</channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title>
<link rel="hub" href="https://hub.example/"/><entry><link rel="self" href="/self"/>
<link href="https://a.example/1"/><updated>2026-11-28T10:00:00+01:00</updated></entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns="http://purl.org/rss/1.0/"><item rdf:about="https://a.example/r">
<link>https://a.example/r</link></item></rdf:RDF>"""
JSON = b"""{"version": "https://jsonfeed.org/version/1.1", "items": [
{"url": "https://a.example/j", "date_published": "2026-11-28T09:00:00Z"}, 3, {"id": 7}]}"""
NEWS = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"><url><loc>https://a.example/n</loc>
<lastmod>2020-01-01</lastmod><news:news><news:publication><news:name>x</news:name>
</news:publication><news:publication_date>2026-11-28T09:00:00Z</news:publication_date></news:news>
</url></urlset>"""
INDEX = b"""<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap>
<loc>https://a.example/feed</loc><lastmod>2026-11-28T09:00:00Z</lastmod></sitemap></sitemapindex>"""


@pytest.mark.parametrize(
    ("body", "entries"),
    [
        (
            RSS,
            [Entry("https://a.example/n/1?a=1&b=2", NINE, True), Entry("https://a.example/guid")],
        ),
        (ATOM, [Entry("https://a.example/1", NINE)]),
        (RDF, [Entry("https://a.example/r")]),
        (JSON, [Entry("https://a.example/j", NINE, True)]),
        (NEWS, [Entry("https://a.example/n", NINE, True)]),
        (gzip.compress(NEWS), [Entry("https://a.example/n", NINE, True)]),
        (gzip.compress(RSS[:0]) + gzip.compress(NEWS), [Entry("https://a.example/n", NINE, True)]),
        (b"<html><a href=/x>x</a>", [Entry("https://a.example/x")]),
    ],
)
def test_sources_by_hand(body: bytes, entries: list[Entry]) -> None:
    shown = read_source(BASE, body)
    assert shown.entries == entries
    assert not shown.faults


def test_what_a_document_is_by_its_content() -> None:
    documents = (RSS, ATOM, RDF, JSON, NEWS, gzip.compress(INDEX), b"<!doctype html><p>", b"x", b"")
    assert [kind_of(body) for body in documents] == [
        *("feed", "feed", "feed", "json", "sitemap", "sitemap", "hub", None, None)
    ]


def test_a_feed_names_its_hub_and_a_sitemap_that_it_is_of_news() -> None:
    assert read_source(BASE, ATOM).hub == "https://hub.example/"
    assert read_source(BASE, NEWS).is_news


def test_an_index_names_sitemaps_itself_among_them() -> None:
    shown = read_source(BASE, INDEX)
    assert shown.children == [Entry(BASE, NINE)]
    assert shown.entries == []


def test_a_sitemap_may_be_a_list() -> None:
    body = b"https://a.example/1\nnonsense\nhttps://a.example/2\n"
    assert [entry.url for entry in read_source(BASE, body, kind="sitemap").entries] == [
        "https://a.example/1",
        "https://a.example/2",
    ]
    assert read_source(BASE, body, kind="feed").faults


def bomb(root: bytes, row: bytes) -> bytes:
    levels = b"".join(
        b'<!ENTITY e%d "%s">' % (n, (b"&e%d;" % (n - 1)) * 10 if n else b"lol") for n in range(10)
    )
    return b"<!DOCTYPE x [%s]><%s>%s<link>&e9;</link>" % (levels, root, row)


MILLION = 200_000
"""Number of rows that is read no differently from a million: most of them are not looked at."""

HOSTILE = {
    "entities of a feed": bomb(b"rss", b"<channel><item>"),
    "entities of a sitemap": bomb(b"urlset", b"<url>"),
    "many entries": b"<rss><channel>" + b"<item><link>/1</link></item>" * MILLION,
    "many pages": gzip.compress(
        b"<urlset>" + b"<url><loc>https://a.example/1</loc></url>" * MILLION, 1
    ),
    "a packed bomb": gzip.compress(b"<urlset>" + b" " * (60 << 20), 1),
    "deep": b"<rss>" + b"<a>" * MILLION,
    "brackets": b"<rss>" + b"<" * MILLION,
    "many tags": b"<rss><channel><item>" + b"<category>x</category>" * MILLION,
    "a long date": b"<rss><channel><item><link>/1</link><pubDate>" + b"1 2:" * MILLION,
    "sections": b"<rss>" + b"<![CDATA[" * MILLION,
    "a file of the machine": b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url>'
    b"<loc>https://a.example/&x;</loc></url></urlset>",
    "half an archive": gzip.compress(NEWS * 50)[:-30],
    "no JSON": b'{"version": "https://jsonfeed.org/version/1", "items": [' + b"[" * MILLION,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_are_bounded(name: str) -> None:
    begun = time.process_time()
    shown = read_source(BASE, HOSTILE[name], kind="sitemap")
    assert time.process_time() - begun < 10
    assert len(shown.entries) <= 50_000
    assert not [entry for entry in shown.entries if "root:" in entry.url or "lol" in entry.url]


def test_bounds_are_told() -> None:
    assert len(read_source(BASE, HOSTILE["many entries"]).entries) == feeds.MOST
    assert "only the first" in read_source(BASE, HOSTILE["many entries"]).faults[0]
    assert str(sitemaps.MOST_BYTES) in read_source(BASE, HOSTILE["a packed bomb"]).faults[0]


def test_feeds_of_a_page() -> None:
    page = (
        b"<head><link rel='alternate' type='application/rss+xml; charset=x' href='/f.rss'>"
        b"<LINK REL=ALTERNATE TYPE=application/atom+xml HREF=//b.example/a>"
        b"<link rel=alternate type=text/html href=/en><link rel=stylesheet href=/s>"
        b"<link rel=alternate type=application/rss+xml href=/post/comments/feed></head>"
    )
    assert feeds_of_page("https://a.example/x/", page) == [
        "https://a.example/f.rss",
        "https://b.example/a",
    ]


def test_guesses_are_of_what_is_not_known() -> None:
    assert not guesses("https://a.example", has_feed=True, has_sitemap=True)
    actual = guesses("https://a.example", has_feed=True, has_sitemap=False)
    assert actual == [("https://a.example/sitemap.xml", "sitemap")]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-28T09:00:00Z", NINE),
        ("2026-11-28T10:00+01:00", NINE),
        ("2026-11-28", NINE + 15 * 3600),  # its end: it may have appeared in this minute
        ("yesterday", None),
        ("9999-99-99", None),
        ("", None),
    ],
)
def test_dates(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds
