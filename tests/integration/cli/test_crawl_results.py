"""Results of crawls and tables of links, from their files to what is shown."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.command_line import call

FEED = "https://a.example/feed"
GONE = "https://a.example/old-map.xml"
DAY = "2026-01-04"


def line(clock: str, url: str, **facts: Any) -> str:
    return json.dumps({"time": f"{DAY}T{clock}Z", "url": url, **facts}) + "\n"


def warc(file: Path, url: str) -> None:
    pytest.importorskip("warcio", reason="the scrapy extra is not installed")
    pytest.importorskip("fastwarc", reason="the warc extra is not installed")
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    with file.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        headers = StatusAndHeaders("200 OK", [], protocol="HTTP/1.1")
        at = {"WARC-Date": f"{DAY}T12:00:00Z"}
        record = writer.create_warc_record(
            url, "response", io.BytesIO(b"<p>"), http_headers=headers, warc_headers_dict=at
        )
        writer.write_record(record)


def write_results(folder: Path) -> None:
    for name in ("own", "scrapy", "others"):
        (folder / name).mkdir(parents=True)
    (folder / "own" / "index.jsonl").write_text(
        line("08:00:00", FEED, status=200, kind="feed", source=FEED, changed=True)
        + line("08:01:00", "https://a.example/news/1", status=200, kind="page", source=FEED)
        + line("09:00:00", FEED, status=304, kind="feed", source=FEED)
    )
    (folder / "scrapy" / "fetches.jsonl").write_text(
        line("10:00:00", "https://a.example/", status=200, kind="hub", source="https://a.example/")
        + line("10:01:00", "https://a.example/scrapy", status=200, source="https://a.example/")
    )
    (folder / "others" / "table.csv").write_text(
        f"url,time,status,kind\n{GONE},{DAY}T11:00:00Z,200,sitemap\n"
        f"{GONE},{DAY}T11:30:00Z,410,sitemap\n"
    )
    (folder / "others" / "archive.cdxj").write_text(
        'example,a)/cdx 20260104120000 {"url": "https://a.example/cdx", "status": "200"}\n'
    )
    warc(folder / "others" / "archive.warc.gz", "https://a.example/warc")


@pytest.mark.slow
def test_every_kind_of_result_becomes_fetches_and_is_shown(built_windows: Path) -> None:
    state = built_windows
    write_results(state / "results")
    with (state / "settings.toml").open("a") as settings:
        settings.write('[crawls]\nresults = ["results"]\n')
    assets = ("fetches", "sources", "crawl_policy", "evaluation_report")
    actual = call("materialize", *assets, "--state", state)
    assert actual.exit_code == 0, actual.output

    def rows(sql: str) -> list[dict[str, Any]]:
        message = call("query", sql, "--json", "--state", state)
        assert message.exit_code == 0, message.output
        document: list[dict[str, Any]] = json.loads(message.stdout)
        return document

    fetched = {row["url"] for row in rows("SELECT url FROM fetches")}
    for name in ("news/1", "scrapy", "cdx", "warc"):
        assert f"https://a.example/{name}" in fetched
    assert {FEED, GONE, "https://a.example/"} <= fetched

    listed = json.loads(call("show", "sources", "--json", "--state", state).stdout)
    by_url = {row["url"]: row for row in listed}
    assert (by_url[FEED]["visits"], by_url[FEED]["unchanged"], by_url[FEED]["pages"]) == (2, 1, 1)
    assert by_url["https://a.example/"]["pages"] == 1  # of Scrapy
    assert by_url[GONE]["is_gone"]
    shown = call("show", "sources", "a.example", "--top", "2", "--state", state).stdout
    assert "the first 2 of 3" in shown
    assert FEED.removeprefix("https://") in shown

    page = " ".join(call("show", "https://a.example/news/1", "--state", state).stdout.split())
    assert f"fetched 1 time, first 2026-01-04 08:01:00, first shown by {FEED}" in page
    source = " ".join(call("show", "https://a.example/", "--state", state).stdout.split())
    assert "visited as a hub 1 time" in source
    assert "1 page that it showed first" in source
    out = state / "report.html"
    report = call("report", "--out", out, "--no-earlier", "--state", state)
    assert report.exit_code == 0, report.output
    assert "What crawls found" in out.read_text("utf-8")


def test_tables_that_are_none_of_links_are_named(built: tuple[Path, Any], tmp_path: Path) -> None:
    state, _ = built
    pq.write_table(pa.table({"url": ["https://a.example/"]}), tmp_path / "links.parquet")
    result = call("evaluate", "mirror", tmp_path / "links.parquet", "--state", state)
    assert result.exit_code == 1
    assert "links.parquet: a table of links has a source and a target" in result.stderr
    (tmp_path / "links.csv.gz").write_bytes(b"no archive")
    result = call("evaluate", "mirror", tmp_path / "links.csv.gz", "--state", state)
    assert result.exit_code == 1
    assert "links.csv.gz: damaged after row 0" in result.stderr
    (tmp_path / "pages.parquet").write_bytes(b"no Parquet")
    result = call("evaluate", "mirror", tmp_path / "pages.parquet", "--state", state)
    assert result.exit_code == 1
    assert "pages.parquet: " in result.stderr
    # A name that says nothing, or is of nothing, is a wrong call.
    (tmp_path / "links.txt").write_text("source,target\n")
    for name, message in (("links.txt", "a mirror is made of"), ("gone.csv", "there is no ")):
        result = call("evaluate", "mirror", tmp_path / name, "--state", state)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stderr.count(name) == 1
    result = call("evaluate", "mirror", "--demo", "--state", state)
    assert result.exit_code == 2
    assert "`temporal-assets demo` writes it" in result.stderr
