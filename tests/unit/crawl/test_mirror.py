"""WARC, WAT and edge lists, whole and broken, and the mirror on disk that is made of them."""

from __future__ import annotations

import codecs
import gzip
import json
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from threading import Thread

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.crawl.mirror import mirror as mirrors
from temporal_assets.crawl.mirror.edge_list import BadLinks
from temporal_assets.crawl.mirror.html_links import absolute, html_links
from temporal_assets.crawl.mirror.http_body import UnknownEncoding, page_bytes
from temporal_assets.crawl.mirror.mirror import (
    FOLDER,
    MirrorBuilder,
    NoMirror,
    load,
    save,
    stored_folder,
)
from temporal_assets.crawl.mirror.sources import files_of, read_sources, reader_of
from temporal_assets.machine.durable import replace_text
from temporal_assets.machine.extras import MissingExtra


def record(url, body, kind="response", content="application/http; msgtype=response"):
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\n"
        f"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: {content}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"


def http(body=b"", status="200 OK", **headers):
    headers = {"Content-Type": "text/html", **{k.replace("_", "-"): v for k, v in headers.items()}}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


HOME = record(
    "http://a.example/",
    http(
        b'<a href="/x?utm_source=m#top">x</a><a href=y rel="nofollow ugc">y</a>'
        b'<a href="old">moved</a><a href="mailto:q@a.example">m</a><a href="http://[">bad</a>'
        b'<a href="https://b.example/">b</a><a href="/picture.png">p</a><a href=x>again</a>'
    ),
)
X = record("http://a.example/x", http(b'<base href="/deep/"><a href="../y">y</a>'))
Y = record("http://a.example/y", http(gzip.compress(b"<a href=/>up</a>"), Content_Encoding="gzip"))
OLD = record("http://a.example/old", http(status="301 Moved", Location="/x"))
GONE = record("http://a.example/gone", http(b"<a href=/x>", status="404 Not Found"))
PICTURE = record("http://a.example/picture.png", http(b"\x89PNG", Content_Type="image/png"))
ALL = (HOME, X, Y, OLD, GONE, PICTURE)

EXPECTED = {
    ("https://a.example/", "https://a.example/x", False),
    ("https://a.example/", "https://a.example/y", True),
    ("https://a.example/x", "https://a.example/y", False),
    ("https://a.example/y", "https://a.example/", False),
}


def mirror_of(*paths):
    builder = MirrorBuilder()
    read_sources(files_of(paths), builder)
    return builder.build()


def links_of(mirror):
    urls = mirror.urls.to_pylist()
    source = np.repeat(np.arange(len(mirror)), np.diff(mirror.links.first))
    return {
        (urls[u], urls[v], bool(flag))
        for u, v, flag in zip(source, mirror.links.target, mirror.is_nofollow, strict=True)
    }


@pytest.mark.parametrize("packed", [False, True])
def test_a_warc_becomes_pages_and_links(tmp_path, packed):
    path = tmp_path / ("w.warc.gz" if packed else "w.warc")
    path.write_bytes(b"".join(gzip.compress(one) if packed else one for one in ALL))
    mirror = mirror_of(path)
    assert mirror.urls.to_pylist() == [
        "https://a.example/",
        "https://a.example/x",
        "https://a.example/y",
    ]
    assert links_of(mirror) == EXPECTED
    counts = mirror.counts
    assert (counts["redirects"], counts["not_ok"], counts["not_html"]) == (1, 1, 1)
    assert "broken" not in counts


def test_broken_records_are_counted_and_the_rest_is_read(tmp_path):
    packed = [gzip.compress(one) for one in ALL]
    damaged = bytearray(packed[4])
    damaged[20:40] = b"\x00" * 20
    packed.insert(1, bytes(damaged))
    (tmp_path / "w.warc.gz").write_bytes(b"".join(packed) + packed[0][:30])
    mirror = mirror_of(tmp_path)
    assert links_of(mirror) == EXPECTED
    assert mirror.counts["broken"] >= 1

    (tmp_path / "w.warc.gz").unlink()
    (tmp_path / "w.warc").write_bytes(HOME + b"noise\r\n\r\nmore noise" + b"".join(ALL[1:]))
    again = mirror_of(tmp_path)
    assert (links_of(again), again.counts["broken"]) == (EXPECTED, 1)


def longer(one, by):
    """A record that says it has so many more bytes than it has."""
    head, length, rest = one.partition(b"Content-Length: ")
    message, line, body = rest.partition(b"\r\n")
    return head + length + str(int(message) + by).encode() + line + body


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("by", [5, 300, 1_000_000])
@pytest.mark.parametrize("place", [1, 5, 6])
def test_a_length_that_is_too_large_takes_no_other_page_with_it(tmp_path, packed, by, place):
    wrong = longer(record("http://a.example/wrong", http(b"<a href=/>up</a>")), by)
    records = [*ALL[:place], wrong, *ALL[place:]]
    path = tmp_path / ("w.warc.gz" if packed else "w.warc")
    path.write_bytes(
        b"".join(
            gzip.compress(packed_record) if packed else packed_record for packed_record in records
        )
    )
    mirror = mirror_of(path)
    assert {link for link in links_of(mirror) if "/wrong" not in link[0]} == EXPECTED
    assert place == len(ALL) or mirror.counts["broken"] >= 1


def test_addresses_in_brackets(tmp_path):
    bracketed = HOME.replace(b"http://a.example/\r\n", b"<http://a.example/>\r\n", 1)
    (tmp_path / "w.warc").write_bytes(bracketed + b"".join(ALL[1:]))
    assert links_of(mirror_of(tmp_path)) == EXPECTED


def test_a_packed_bomb_is_read_to_its_limit_only(tmp_path, monkeypatch):
    from temporal_assets.crawl.mirror import warc

    monkeypatch.setattr(warc, "MAX_HTML", 1000)
    page = b"<a href=/near>n</a>" + b" " * 50_000_000 + b"<a href=/far>f</a>"
    bomb = record("http://a.example/", http(gzip.compress(page), Content_Encoding="gzip"))
    near, far = (record(f"http://a.example/{name}", http(b"")) for name in ("near", "far"))
    (tmp_path / "b.warc").write_bytes(bomb + near + far)
    assert links_of(mirror_of(tmp_path)) == {
        ("https://a.example/", "https://a.example/near", False)
    }


def test_wat(tmp_path):
    def described(url, status, html):
        response = {"Response-Message": {"Status": status}, "Headers": {"location": "/x"}}
        if html is not None:
            response["HTML-Metadata"] = html
        envelope = {
            "WARC-Header-Metadata": {"WARC-Target-URI": url},
            "Payload-Metadata": {"HTTP-Response-Metadata": response},
        }
        text = json.dumps({"Envelope": envelope}).encode()
        return gzip.compress(record(url, text, "metadata", "application/json"))

    links = [
        {"path": "A@/href", "url": "old"},
        {"path": "IMG@/src", "url": "x"},
        {"path": "A@/href", "url": "y", "rel": "NoFollow"},
    ]
    base = {"Links": [{"path": "A@/href", "url": "../y"}], "Head": {"Base": "/deep/"}}
    up = {"Links": [{"path": "AREA@/href", "url": "/"}]}
    noise = gzip.compress(record("http://a.example/z", b"{", "metadata", "application/json"))
    (tmp_path / "a.warc.wat.gz").write_bytes(
        described("http://a.example/", "200", {"Links": links})
        + described("http://a.example/x", "200", base)
        + noise
        + described("http://a.example/y", "200", up)
        + described("http://a.example/old", "301", None)
    )
    mirror = mirror_of(tmp_path)
    assert links_of(mirror) == EXPECTED
    assert mirror.counts["broken"] == 1


def test_edge_lists(tmp_path):
    rows = "http://a.example/,http://a.example/x\n"
    plain = tmp_path / "plain.csv"
    plain.write_text(rows)
    named = tmp_path / "named.tsv.gz"
    text = "nofollow\ttarget\tsource\n1\thttp://a.example/y\thttp://a.example/\nx\n\t\t\n"
    named.write_bytes(gzip.compress(text.encode()))
    table = tmp_path / "edges.parquet"
    ends = {"source": ["https://a.example/x", None], "target": ["https://a.example/y", "no url"]}
    pq.write_table(pa.table(ends), table)
    mirror = mirror_of(plain, named, table)
    assert links_of(mirror) == EXPECTED - {("https://a.example/y", "https://a.example/", False)}
    assert mirror.counts["broken"] == 3


def test_blank_lines_before_the_header_of_links(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("\n\ntarget,source\nhttp://a.example/x,http://a.example/\n")
    assert links_of(mirror_of(path)) == {("https://a.example/", "https://a.example/x", False)}


LINK = {("https://a.example/", "https://a.example/x", False)}


@pytest.mark.parametrize("name", ["l.csv", "L.CSV", "l.tsv", "L.TSV", "L.TSV.GZ", "l.Csv.Gz"])
def test_links_are_read_whatever_the_case_of_their_name(tmp_path, name):
    row = "\t".join if ".tsv" in name.lower() else ",".join
    rows = [row(("source", "target")), row(("http://a.example/", "http://a.example/x"))]
    content = "\n".join(rows).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name[-1] in "zZ" else content)
    assert links_of(mirror_of(tmp_path / name)) == LINK


def test_a_parquet_table_of_links_may_be_named_in_capitals(tmp_path):
    ends = {"source": ["https://a.example/"], "target": ["https://a.example/x"]}
    pq.write_table(pa.table(ends), tmp_path / "L.PARQUET")
    assert links_of(mirror_of(tmp_path)) == LINK


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("\ufefftarget,source", "/x,/"),
        ("\ufeffhttp://a.example/,http://a.example/x", ""),
        ("page,from", "/x,/"),
        ("to,page", "/x,/"),
        ("page,to", "/,/x"),
        ("from,page", "/,/x"),
        ("one,other", "/,/x"),
        ("nofollow,to,page", "0,/x,/"),
        ("nofollow,one,other", "0,/,/x"),
        ("Links of a site", "/,/x"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_the_unknown_end_of_a_link_is_another_column(tmp_path, head, row, packed):
    content = f"{head}\n{row.replace('/', 'http://a.example/')}\n".encode()
    path = tmp_path / ("links.csv.gz" if packed else "links.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert links_of(mirror_of(path)) == LINK


@pytest.mark.parametrize("head", ["from,nofollow", "nofollow,to", "nofollow,page"])
def test_a_table_with_one_end_of_links_is_refused(tmp_path, head):
    path = tmp_path / "links.csv"
    path.write_text(f"{head}\nhttp://a.example/,http://a.example/x\n")
    with pytest.raises(BadLinks, match=rf"this one has 2 columns \({head.replace(',', ', ')}\)"):
        mirror_of(path)


def _archives():
    rows = "".join(f"http://a.example/{n * n},http://a.example/{n}\n" for n in range(20_000))
    packed = gzip.compress(rows.encode())
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 0xFF
    # A block of a kind that there is not, behind whole ones.
    return {
        "truncated": packed[: len(packed) // 2],
        "flipped": bytes(flipped),
        "no_block": packed[:10] + b"\xff" * 40,
        "no_archive": b"hello",
    }


@pytest.mark.parametrize("name", sorted(_archives()))
def test_damaged_archives_of_links_are_read_up_to_the_damage(tmp_path, name):
    path = tmp_path / "links.csv.gz"
    path.write_bytes(_archives()[name])
    builder = MirrorBuilder()
    read_sources([path], builder)
    (trouble,) = builder.cut
    assert trouble.startswith(f"{path}: damaged after row ")


def test_pages_whose_columns_are_no_text_are_broken_rows(tmp_path):
    pq.write_table(pa.table({"url": [1, 2], "html": ["a", "b"]}), tmp_path / "pages.parquet")
    builder = MirrorBuilder()
    read_sources([tmp_path / "pages.parquet"], builder)
    assert builder.counts["broken"] == 2


def test_links_as_a_browser_sees_them():
    page = "<meta charset=latin-1><meta name=ROBOTS content='index, NOFOLLOW'><a href='?é'>".encode(
        "latin-1"
    )
    assert list(html_links("http://a.example/p?q", page)) == [("http://a.example/p?%C3%A9", True)]
    assert (
        list(html_links("http://a.example/", b"<a>no</a><a href=javascript:x()>", "nonsense")) == []
    )
    assert list(html_links("http://a.example/", b"\x00\xff<a href='\n/x\t'>")) == [
        ("http://a.example/x", False)
    ]


@pytest.mark.parametrize(
    ("content", "flag"),
    [("none", True), ("noindex,nofollow", True), ("index, follow", False), ("nonesuch", False)],
)
def test_what_a_page_says_of_all_its_links(content, flag):
    page = f"<meta name=robots content='{content}'><a href=/x>".encode()
    assert list(html_links("http://a.example/", page)) == [("http://a.example/x", flag)]


PAGE = "<a href='/镕?é'>x</a>"
GOAL = "http://a.example/%E9%95%95?%C3%A9"


@pytest.mark.parametrize(
    ("body", "server"),
    [
        (PAGE.encode(), None),
        (PAGE.encode(), "no-such-thing"),
        # Its first bytes count before what the server says.
        (PAGE.encode("utf-8-sig"), "gbk"),
        (PAGE.encode("utf-16"), "utf-8"),
        (b"\xfe\xff" + PAGE.encode("utf-16-be"), None),
        # Whoever can read the word reads no UTF-16.
        (b"<meta charset=utf-16>" + PAGE.encode(), None),
        (b"<meta charset=UTF-16LE>" + PAGE.encode(), None),
        # Pages that say GB2312 are written in what came after it.
        (b"<meta charset=gb2312>" + PAGE.encode("gb18030"), None),
        (PAGE.encode("gb18030"), "GB2312"),
        # What Python knows and browsers do not.
        (PAGE.encode(), "punycode"),
        (PAGE.encode(), "unicode_escape"),
        (b"<meta charset=hex>" + PAGE.encode(), "utf-7"),
    ],
)
def test_encodings_as_browsers_take_them(body, server):
    assert [url for url, _ in html_links("http://a.example/", body, server)] == [GOAL]


def test_slashes_before_a_host():
    for href in ("//b.example/x", "///b.example/x", "\\\\\\b.example\\x", "////b.example/x"):
        assert absolute(href, "http://a.example/y/z") == "http://b.example/x"
    assert absolute("/y//x", "http://a.example/") == "http://a.example/y//x"
    for own, other in (("http", "https"), ("https", "http")):
        base = f"{own}://a.example/y/z"
        for slashes in ("///", "////", "\\\\\\", "/\\/", "\\//"):
            for scheme in (own, own.upper(), other):
                target = f"{scheme.lower()}://b.example/x//y"
                assert absolute(f"{scheme}:{slashes}b.example/x//y", base) == target
        # With fewer, one's own scheme says nothing: a path, as without it.
        assert absolute(f"{own}:/b.example/x", base) == f"{own}://a.example/b.example/x"
        assert absolute(f"{own}:x?https:///c.example/", base) == (
            f"{own}://a.example/y/x?https:///c.example/"
        )


def test_a_mirror_on_disk_is_the_same_and_replaces_the_one_before(tmp_path):
    builder = MirrorBuilder()
    builder.link("http://b.example/2", "http://a.example/1", nofollow=True)
    builder.link("http://b.example/2", "http://b.example/1")
    first = builder.build()
    save(first, tmp_path)
    read = load(tmp_path / FOLDER)
    assert links_of(read) == links_of(first)
    assert (read.sites, read.first.tolist()) == (("a.example", "b.example"), [0, 1, 3])
    assert read.number(pa.array(["https://b.example/1", "https://c.example/"])).tolist() == [1, -1]
    builder.link("http://b.example/2", "http://c.example/")
    save(builder.build(), tmp_path)
    assert len(load(tmp_path / FOLDER)) == 4
    assert len([path for path in (tmp_path / "mirror").iterdir() if path.is_dir()]) == 1


def linked(*pages):
    builder = MirrorBuilder()
    for page in pages:
        builder.link("http://a.example/", f"http://a.example/{page}")
    return builder.build()


def test_two_mirrors_saved_at_once_leave_one_whole(tmp_path, monkeypatch):
    other = Thread(target=save, args=(linked("x", "y"), tmp_path))

    def point(*args):
        if not other.ident:  # the first has its folder, and the pointer does not name it yet
            other.start()
            other.join(0.3)
        replace_text(*args)

    monkeypatch.setattr(mirrors, "replace_text", point)
    save(linked("x"), tmp_path)
    other.join()
    assert links_of(load(tmp_path / FOLDER)) == links_of(linked("x", "y"))
    assert len([path for path in (tmp_path / FOLDER).iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize("opened", [mirrors._SITES, mirrors._URLS, "target.npy"])
def test_a_mirror_that_is_replaced_while_it_is_read_is_read_again(tmp_path, monkeypatch, opened):
    save(linked("x"), tmp_path)
    others = [linked("x", "y", "z"), linked("x", "y")]

    def late(read):
        def reading(path, *args, **options):
            if others and path.name == opened:
                save(others.pop(), tmp_path)
            return read(path, *args, **options)

        return reading

    monkeypatch.setattr(mirrors.pq, "read_table", late(pq.read_table))
    monkeypatch.setattr(mirrors.np, "load", late(np.load))
    monkeypatch.setattr(mirrors.Path, "is_file", late(mirrors.Path.is_file))
    assert links_of(load(tmp_path / FOLDER)) == links_of(linked("x", "y", "z"))
    assert not others


def test_a_mirror_is_on_the_disk_before_the_one_before_it_goes(tmp_path, monkeypatch):
    """A crash of the machine leaves what was synchronised before it."""
    home = tmp_path / FOLDER
    first = save(linked("x"), tmp_path)
    synced = []

    def note(path):
        names = json.loads((home / "current.json").read_text())["folder"]
        synced.append((path, len(list(path.iterdir())) if path.is_dir() else 0, names))
        assert first.is_dir()

    monkeypatch.setattr(mirrors, "sync", note)
    second = save(linked("y"), tmp_path)
    files = len(list(second.iterdir()))
    assert [held for path, held, _ in synced if path != home] == [0] * files + [files]
    # The folder under its name, then the pointer to it: each before what follows.
    assert [(held, names) for path, held, names in synced if path == home] == [
        (3, first.name),
        (3, second.name),
    ]
    assert not first.exists()


def test_a_mirror_of_which_half_was_removed_is_no_mirror_to_return_to(tmp_path, monkeypatch):
    first = save(linked("x"), tmp_path)

    def killed(folder, **_):
        for path in folder.rglob("first.npy"):
            path.unlink()
            raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        save(linked("y"), tmp_path)
    monkeypatch.undo()
    assert save(linked("x"), tmp_path) == first
    assert links_of(load(tmp_path / FOLDER)) == links_of(linked("x"))


@pytest.mark.parametrize("keep", [0, 1, 100, None])
@pytest.mark.parametrize(
    "name", ["target.npy", "first.npy", "nofollow.npy", mirrors._URLS, mirrors._SITES]
)
def test_a_damaged_mirror_is_to_be_made_again(tmp_path, name, keep):
    path = save(linked("x", "y"), tmp_path) / name
    content = path.read_bytes()
    path.unlink()
    if keep is not None:
        path.write_bytes(content[:keep])
    with pytest.raises(NoMirror, match="make it again"):
        load(tmp_path / FOLDER)
    assert save(linked("x", "y"), tmp_path) == path.parent
    assert links_of(load(tmp_path / FOLDER)) == links_of(linked("x", "y"))
    assert path.read_bytes() == content
    assert len([path for path in (tmp_path / FOLDER).iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize("pointer", ["", "{", "[]", '{"folder": "x"}', "\udcff"])
def test_a_damaged_pointer_is_to_be_made_again(tmp_path, pointer):
    save(linked("x"), tmp_path)
    (tmp_path / FOLDER / "current.json").write_text(pointer, "utf-8", "surrogateescape")
    for read in (load, mirrors.identity):
        with pytest.raises(NoMirror, match="make it again"):
            read(tmp_path / FOLDER)
    save(linked("x"), tmp_path)
    assert links_of(load(tmp_path / FOLDER)) == links_of(linked("x"))


def test_nothing_is_no_mirror(tmp_path):
    with pytest.raises(NoMirror):
        MirrorBuilder().build()
    with pytest.raises(NoMirror):
        load(tmp_path / FOLDER)
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(ValueError, match=r"\.warc"):
        read_sources([tmp_path / "x.txt"], MirrorBuilder())


def test_bodies_as_archives_keep_them():
    page = b"<html>" + b"x" * 100
    chunked = b"6;a=b\r\n<html>\r\n64\r\n" + b"x" * 100 + b"\r\n0\r\n\r\n"
    assert page_bytes(chunked, "chunked", "", 1000) == page
    assert page_bytes(page, "chunked", "gzip", 1000) == page  # undone by the archive
    assert page_bytes(gzip.compress(page), "", "gzip", 10) == page[:10]
    assert page_bytes(gzip.compress(page)[:-9], "", "gzip", 1000)[:6] == b"<html>"
    bare = zlib.compressobj(wbits=-15)
    assert page_bytes(bare.compress(page) + bare.flush(), "", "deflate", 1000) == page
    assert page_bytes(zlib.compress(page), "", "deflate", 1000) == page
    marked = codecs.BOM_UTF8 + page
    assert [page_bytes(marked, "", name, 1000) for name in ("deflate", "br")] == [marked, marked]
    with pytest.raises(UnknownEncoding):
        page_bytes(b"\x0b\x02\x80", "", "br", 1000)


def test_real_files_whole_and_broken(shared_data):
    builder = MirrorBuilder()
    read_sources([shared_data / "warc_iana" / "warcs" / "iana.warc.gz"], builder)
    read_sources([shared_data / "warc_iana" / "warcs" / "example.warc"], builder)
    mirror = builder.build()
    # One record of the second file has a wrong length; the response behind it is read.
    assert (mirror.counts["broken"], mirror.counts["redirects"]) == (1, 4)
    assert {"https://www.iana.org/", "https://www.iana.org/domains"} <= set(mirror.urls.to_pylist())
    assert ("https://www.iana.org/", "https://www.iana.org/domains", False) in links_of(mirror)


def test_html_is_kept_within_its_bound(tmp_path):
    from temporal_assets.crawl.mirror import page_html

    keeper = page_html.HtmlKeeper(tmp_path / "kept.parquet", most_bytes=1)
    builder = MirrorBuilder(keeper=keeper)
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(ALL))
    read_sources([path], builder)
    long = "\ud800" + "x" * page_html.MOST_OF_PAGE
    for i in range(page_html._ROWS):
        builder.page(f"https://b.example/{i}", (), lambda: long)
    keeper.close()
    assert builder.counts["html_kept"] == page_html._ROWS
    assert builder.counts["html_left_out"] == 3  # three pages of the archive were first
    save(builder.build(), tmp_path, keeper.path)
    urls = ["https://a.example/x", "https://b.example/0", "https://none.example/"]
    folder = stored_folder(tmp_path / FOLDER)
    rows = page_html.html_of(folder, pa.array(urls), most=10).to_pylist()
    actual = {row["url"]: row["html"] for row in rows}
    assert actual["https://a.example/x"] == '<base href="/deep/"><a href="../y">y</a>'
    assert len(actual["https://b.example/0"]) == page_html.MOST_OF_PAGE
    assert actual.keys() == set(urls[:2])
    everything = pa.array(builder.build().urls.to_pylist())
    assert 90 < len(page_html.html_of(folder, everything, most=100)) <= 100
    save(builder.build(), tmp_path)
    assert len(page_html.html_of(stored_folder(tmp_path / FOLDER), pa.array(urls), most=10)) == 0


def test_a_packed_table_of_links_is_bounded_as_logs_are(tmp_path: Path) -> None:
    """The table holds a line of 300 MB in 300 KB, or a quote that is never closed."""
    for name, text in (
        ("long.csv.gz", b"source,target\n" + b"x" * 300_000_000),
        ("open.csv.gz", b'source,target\n"' + b"\n" * 3_000_000),
    ):
        with gzip.open(tmp_path / name, "wb", compresslevel=1) as file:
            file.write(text)
        code = (
            "import sys; from pathlib import Path\n"
            "from temporal_assets.crawl.mirror.edge_list import read_edges\n"
            "from temporal_assets.crawl.mirror.mirror import MirrorBuilder\n"
            "read_edges(Path(sys.argv[1]), MirrorBuilder())\n"
            "status = Path('/proc/self/status').read_text()\n"
            "print(int(status.split('VmHWM:')[1].split()[0]) >> 10)\n"
        )
        command = [sys.executable, "-c", code, str(tmp_path / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert int(done.stdout) < 450


def test_one_file_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    """Tables of links are read by the engine, other files are not."""
    pq.write_table(
        pa.table({"zzzz": ["https://a.example/"], "target": [""]}), tmp_path / "b.parquet"
    )
    bad = (tmp_path / "b.parquet").read_bytes().replace(b"zzzz", b"z\xff\xfez")
    (tmp_path / "b.parquet").write_bytes(bad)
    good = {"source": ["https://a.example/"], "target": ["https://a.example/1"]}
    pq.write_table(pa.table(good), tmp_path / "a.parquet")
    (tmp_path / "c.csv").write_text("https://a.example/1,https://a.example/2\n")
    state = tmp_path / "state"
    state.mkdir()
    for names, pages in (("a.parquet", 2), ("a.parquet c.csv", 3)):
        files = [str(tmp_path / name) for name in [*names.split(), "b.parquet"]]
        done = CliRunner().invoke(
            app, ["evaluate", "mirror", *files, "--state", str(state), "--json"]
        )
        assert done.exit_code == 1, done.output
        assert "b.parquet" in done.stderr
        assert json.loads(done.stdout)["pages"] == pages


@pytest.mark.parametrize(
    "noise",
    [
        b"\x1f\x8b\x08",
        b"WARC/1.0\r\n",
        b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999\r\n\r\n",
    ],
)
def test_a_file_of_beginnings_keeps_nobody_busy(tmp_path, monkeypatch, noise):
    """A file of 21 MB took 74 seconds: each beginning was tried, and the rest read for each."""
    from temporal_assets.crawl.mirror import warc

    tried, begins, breaks_off = [], warc._begins, warc._breaks_off
    monkeypatch.setattr(warc, "_begins", lambda *given: tried.append(1) or begins(*given))
    monkeypatch.setattr(warc, "_breaks_off", lambda *given: tried.append(1) or breaks_off(*given))
    path = tmp_path / "a.warc"
    path.write_bytes(HOME + noise * (300_000 // len(noise)))
    builder = MirrorBuilder()
    read_sources([path], builder)
    assert builder.counts["broken"]
    assert len(tried) <= warc._MOST_STARTS + 3 * warc._MOST_BREAKS


@pytest.mark.parametrize("name", ["pages.warc.gz", "pages.warc.wat.gz"])
def test_an_extra_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for module in ("fastwarc", "fastwarc.warc"):
        monkeypatch.setitem(sys.modules, module, None)
    for module in ("warc", "wat"):
        monkeypatch.delitem(sys.modules, f"temporal_assets.crawl.mirror.{module}", raising=False)
    reader = reader_of(tmp_path / name)
    assert reader is not None
    with pytest.raises(MissingExtra, match=r"needs fastwarc.*: pip install .*'\.\[warc\]'"):
        reader(tmp_path / name, None)  # type: ignore[arg-type]
