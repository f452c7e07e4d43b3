"""Counts without clients, from the export to the daily tables, and what docs/counts.md says."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import re
import shlex
import zipfile
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from temporal_assets.days.asset_names import COUNTED
from temporal_assets.ops.catalogue import _published, fill, named
from tests import logs
from tests.command_line import call
from tests.integration.test_daily import DAY, NOON, SITE, A, B, Installation

HEADER = "date,page,views"


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def counts(here: Installation, asset: str = "requests") -> list[dict[str, object]]:
    manifest = here.store.require(asset, DAY)
    files = here.store.paths_of_counts(manifest)
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def test_counts_are_added_to_the_views_of_requests(here: Installation) -> None:
    here.write("access.log", [logs.line(NOON, "/a", A), logs.line(NOON, "/a", B)])
    here.write("views.csv", [HEADER, f"{DAY},/a,40", f"{DAY},/b,7", f"{DAY},/a?utm_source=x,2"])
    result = here.build()
    assert here.views() == {f"{SITE}/a": 44, f"{SITE}/b": 7}
    assert len(here.rows("requests")) == 2, "no client is made up"
    assert len(here.rows("transits")) == 2
    assert [
        (row["url"], row["views"], row["clients"], row["transits"]) for row in counts(here)
    ] == [(f"{SITE}/a", 42, None, None), (f"{SITE}/b", 7, None, None)]
    assert result.requests.manifest.extra[COUNTED] == ["example.com"]
    with duckdb.connect() as connection:
        fill(connection, here.store, _published(here.store))
        rows = connection.execute("SELECT url, views FROM counts ORDER BY url").fetchall()
    assert rows == [(f"{SITE}/a", 42), (f"{SITE}/b", 7)]
    assert named("select * from counts") == ["requests"]


def test_without_counts_nothing_lies_beside_the_requests(here: Installation) -> None:
    here.write("access.log", [logs.line(NOON, "/a", A)])
    manifest = here.build().requests.manifest
    assert not manifest.counts
    assert COUNTED not in manifest.extra
    assert "counts" not in manifest.to_json()


def test_an_export_that_is_made_again_replaces_the_one_before(here: Installation) -> None:
    here.write("1.csv", [HEADER, f"{DAY},/a,40", f"{DAY},/b,7"])
    here.build()
    here.write("2.csv", [HEADER, f"{DAY},/a,55", f"{DAY},/c,1", f"{DAY},/c,2"])
    here.build()
    assert here.views() == {f"{SITE}/a": 55, f"{SITE}/b": 7, f"{SITE}/c": 3}
    (lost,) = [row for row in here.rows("rejects") if row["reason"] == "counted_in_later_file"]
    assert lost["lines"] == 1


def test_hours_of_a_day_are_added(here: Installation) -> None:
    """Equal files of other hours are no copies: the hour is in the name alone."""
    for hour in ("010000", "020000", "030000"):
        here.write(f"pageviews-{DAY:%Y%m%d}-{hour}", ["en Cat 5 0", "en.m Cat 2 0"])
    here.build()
    assert here.views() == {"https://en.wikipedia.org/wiki/Cat": 21}


def test_transits_are_counted_by_number(here: Installation) -> None:
    lines = ["day,url,referrer,views", f"{DAY},/a,{SITE}/hub,30", f"{DAY},/a,,4"]
    here.write("views.csv", [*lines, f"{DAY},/a,{SITE}/a,2"])
    here.build()
    (beside,) = here.store.paths_beside(here.store.require("transits", DAY))
    urls = pq.ParquetFile(beside).read().to_pylist()
    number = {row["url"]: row["number"] for row in urls}
    assert {url: row["is_opened"] for row in urls for url in [row["url"]]} == {
        f"{SITE}/a": True,
        f"{SITE}/hub": False,
    }
    assert [(row["url"], row["referrer"], row["transits"]) for row in counts(here, "transits")] == [
        (number[f"{SITE}/a"], None, 4),
        (number[f"{SITE}/a"], number[f"{SITE}/a"], 2),
        (number[f"{SITE}/a"], number[f"{SITE}/hub"], 30),
    ]
    assert here.rows("transits") == []


def test_visitors_need_no_floor(here: Installation) -> None:
    """The k rule holds for visitors, unless two rows of a page may have the same ones."""
    here.write("a.csv", ["date,page,visitors,pageviews", f"{DAY},/a,6,90", f"{DAY},/b,2,2"])
    manifest = here.build().requests.manifest
    assert here.views() == {f"{SITE}/a": 6, f"{SITE}/b": 2}
    assert manifest.extra[COUNTED] == []
    here.write("b.csv", ["date,page,visitors", f"{DAY},/c,3", f"{DAY},/c?utm_source=mail,3"])
    assert here.build().requests.manifest.extra[COUNTED] == ["example.com"]
    assert here.views()[f"{SITE}/c"] == 6


def test_an_archive_of_plausible_is_read_as_it_is(here: Installation) -> None:
    with zipfile.ZipFile(here.logs / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("imported_visitors_20260301_20260331.csv", f"date,visitors\n{DAY},9\n")
        table = f"date,hostname,page,visits,visitors,pageviews\n{DAY},example.com,/a,5,4,9\n"
        archive.writestr("imported_pages_20260301_20260331.csv", table)
    here.build()
    assert here.views() == {f"{SITE}/a": 4}


def test_what_the_dashboard_of_plausible_exports_of_a_day(here: Installation) -> None:
    name = f"Plausible export example.com {DAY} to {DAY}.zip"
    with zipfile.ZipFile(here.logs / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sources.csv", "name,visitors\nGoogle,9\n")
        archive.writestr("pages.csv", "name,visitors,pageviews,bounce_rate\n/a,4,9,20\n")
    here.build()
    assert here.views() == {f"{SITE}/a": 4}


def test_a_late_file_makes_its_day_anew(here: Installation) -> None:
    here.write("1.csv", [HEADER, f"{DAY},/a,40"])
    before = here.build().requests.manifest.digest
    here.write("2.csv", [HEADER, f"{DAY},/b,1"])
    assert here.build().requests.manifest.digest != before
    assert here.views() == {f"{SITE}/a": 40, f"{SITE}/b": 1}


def test_rows_that_say_nothing_are_counted_as_lost(here: Installation) -> None:
    here.write("1.csv", [HEADER, f"{DAY},/a,40", f"{DAY},/b,0", f"{DAY},/c.png,9"])
    here.build()
    lost = {row["reason"]: row["lines"] for row in here.rows("rejects")}
    assert lost == {"no_views": 1, "static": 1}
    tomorrow = DAY + dt.timedelta(days=1)
    assert tomorrow not in here.store.days("page_views")


@pytest.mark.slow
def test_the_page_can_be_followed(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every `ingest` of docs/counts.md, with files of the names and columns that it gives."""
    monkeypatch.chdir(tmp_path)
    text = (repository / "docs" / "counts.md").read_text("utf-8").replace("\\\n", "")
    commands = re.findall(r"^temporal-assets (ingest .+)$", text, re.MULTILINE)
    assert len(commands) == 4
    for hour in ("010000", "020000"):
        path = tmp_path / f"pageviews-20240501-{hour}.gz"
        path.write_bytes(gzip.compress(b"en Cat 5 0\nen Dog 2 0\n"))
    (tmp_path / "clickstream-enwiki-2024-05.tsv.gz").write_bytes(
        gzip.compress(b"Cat\tDog\tlink\t31\nother-search\tCat\texternal\t90\n")
    )
    with zipfile.ZipFile(tmp_path / "plausible-export.zip", "w") as archive:
        rows = f"date,hostname,page,visits,visitors,pageviews\n{DAY},example.com,/a,5,4,9\n"
        archive.writestr("imported_pages_20260301_20260331.csv", rows)
    (tmp_path / "pages-2024-05-01.csv").write_text("Page path,Views,Active users\n/a,9,4\n")
    (tmp_path / "edge.csv").write_text("bucket,path,edge_hits\n2024-05-01 13:00,/a,9\n")
    for command in commands:
        done = call(*shlex.split(command.replace("--dry-run", "")), "--state", tmp_path / "state")
        assert done.exit_code == 0, command
    status = json.loads(call("status", "--state", tmp_path / "state", "--json").stdout)
    assert status["log_files"]["read"] == 6
