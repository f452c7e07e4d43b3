"""Lists that people keep: what they write, and what cannot be meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.logs.tables.site_lists import read_site_list
from temporal_assets.logs.urls.canonical import canonical_url

FILE = b"""\xef\xbb\xbf# Sites of the crawler.

news.example
NEWS.example   # twice
http://www.cars.example/
https://b.example/news/index.html?b=2&a=1#top
//c.example/x
d.example:8080/path
not a host
ftp://e.example/
localhost
http://
a.example # comment
http://f.example/#/route
"""


def test_a_list_by_hand() -> None:
    site_list = read_site_list(FILE)
    assert site_list.urls == (
        "https://news.example/",
        "https://www.cars.example/",
        "https://b.example/news/index.html?a=1&b=2",
        "https://c.example/x",
        "https://d.example:8080/path",
        "https://a.example/",
        "https://f.example/",
    )
    assert site_list.bad == (
        (9, "not a host"),
        (10, "ftp://e.example/"),
        (11, "localhost"),
        (12, "http://"),
    )


def test_of_a_csv_file_the_last_field_counts() -> None:
    site_list = read_site_list(
        b'service,refresh,url\nx,1800,http://a.example/feed\ny,60,"b.example"\nz,1,\n'
    )
    assert site_list.urls == ("https://a.example/feed", "https://b.example/")
    assert site_list.bad == ()


def test_seeds_of_a_crawler_have_their_metadata_behind_tabs() -> None:
    """Browsers drop tabs in URLs: all of the line would be one."""
    site_list = read_site_list(
        b"https://a.example/\tnutch.score=2.0\tnutch.fetchInterval=3600\n"
        b"b.example\t1\n"
        b"3\tc.example\n"
        b"4\t5\n"
    )
    assert site_list.urls == ("https://a.example/", "https://b.example/", "https://c.example/")
    assert site_list.bad == ((4, "4\t5"),)


def test_a_url_may_have_commas() -> None:
    site_list = read_site_list(
        b"https://a.example/politik/0,1518,druck-12,00.html\n"
        b'"https://a.example/x,y.php"\n'
        b"https://feed.example/,b.example\n"
        b"https://c.example/x,2\n"
    )
    assert site_list.urls == (
        "https://a.example/politik/0,1518,druck-12,00.html",
        "https://a.example/x,y.php",
        "https://b.example/",
    )
    assert site_list.bad == ((4, "https://c.example/x,2"),)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# nothing\n", b"\xef\xbb\xbf"])
def test_nothing_is_in_an_empty_list(content: bytes) -> None:
    site_list = read_site_list(content)
    assert (site_list.urls, site_list.bad) == ((), ())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_lists_as_editors_and_spreadsheets_save_them(encoding: str) -> None:
    text = "# für\u00a0alle\r\na.example\tnachts\r\n\r\nhttps://b.example/x\r\n"
    site_list = read_site_list(text.encode(encoding))
    assert site_list.urls == ("https://a.example/", "https://b.example/x")
    assert site_list.bad == ()


@given(content=st.binary(max_size=200))
def test_every_entry_is_canonical_whatever_the_file_holds(content: bytes) -> None:
    site_list = read_site_list(content)
    assert all(canonical_url(url) == url for url in site_list.urls)
    assert len(set(site_list.urls)) == len(site_list.urls)


def test_a_real_list(shared_data: object) -> None:
    from pathlib import Path

    content = (Path(str(shared_data)) / "newsgrabber" / "newsgrabber_seeds.csv").read_bytes()
    site_list = read_site_list(content)
    assert len(site_list.urls) > 4_500
    assert len(site_list.urls) + len(site_list.bad) <= 4_933
