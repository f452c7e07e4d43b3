"""The instant crawler on the demo mirror over time, beside the same spider with the list in use.

Pages of the mirror appear as they were born: half a day of the window's last ten days passes in a
second. Both crawls have been running before, so pages older than a day are not linked any more;
both may visit hubs equally often. The baseline is the list as people keep it: every site of it
watched as a whole from its front page.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("scrapy", reason="the scrapy extra is not installed")
pytest.importorskip("warcio", reason="the scrapy extra is not installed")

from temporal_assets.demo import DemoOptions, generate
from temporal_assets.policy.assemble import (
    HUBS,
    PATTERNS,
    PREFIXES,
    SITES,
    Provenance,
    Tables,
    assemble,
)
from temporal_assets.policy.document import Document, as_text
from tests.crawl_server import served
from tests.integration.test_scrapy_addon import COMMON, answer, run
from tests.policies import document

DAYS = 60
NEW_DAYS = 10.0
"""Days at the end of the window in which the crawl runs."""
SPEED = 0.5
"""Days that pass in a second."""
SECONDS = NEW_DAYS / SPEED + 3
"""Of the crawl; the last of them are for what came last."""

ROBOTS = b"User-agent: *\nDisallow: /private/\n"


@dataclass(frozen=True)
class World:
    """The demo's pages, links and lists."""

    pages: dict[str, dict[str, Any]]
    links: dict[str, list[str]]
    hubs: list[dict[str, Any]]
    sections: list[dict[str, Any]]
    baseline: list[str]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    options = DemoOptions(requests=8000, clients=2000, daily_truth=False)
    made = generate(options, tmp_path_factory.mktemp("demo"))
    pages = {row["url"]: row for row in pq.read_table(made.truth["pages"]).to_pylist()}
    links: dict[str, list[str]] = defaultdict(list)
    for row in pq.read_table(made.folder / "mirror" / "links.parquet").to_pylist():
        links[row["source"]].append(row["target"])
    lines = made.truth["baseline"].read_text("utf-8").splitlines()
    names = [line.partition("#")[0].strip().lower() for line in lines]
    hosts = [urlsplit(name).hostname or name for name in names if name]
    return World(
        pages,
        links,
        pq.read_table(made.truth["hubs"]).to_pylist(),
        pq.read_table(made.truth["sections"]).to_pylist(),
        sorted({host for host in hosts if f"https://{host}/" in pages}),
    )


VISITS = 24
"""A day, to all hubs together: both crawls have the same budget for looking."""


def policy_of(hubs: list[str], prefixes: list[str]) -> Document:
    """Hubs that share the visits, and prefixes under which everything is wanted."""
    seconds = 86_400 * len(hubs) // VISITS
    listed = [
        {"url": url, "rank": rank, "tier": 1, "temporal_pages": 9, "interval_seconds": seconds,
         "clients": 9}
        for rank, url in enumerate(hubs, 1)
    ]  # fmt: skip
    wanted = [{"prefix": p, "score": 0.9, "pages": 9, "clients": 9} for p in sorted(prefixes)]
    tables = Tables(
        SITES.empty_table(),
        pa.Table.from_pylist(listed, HUBS),
        pa.Table.from_pylist(wanted, PREFIXES),
        PATTERNS.empty_table(),
    )
    return assemble(tables, Provenance("2025-04-21", "2025-02-21", DAYS, (), (), {}))


def learned(world: World) -> Document:
    """What the assets find on the demo: news sections, and the pages that list what is new there.

    Taken from the truth, so that the test is about crawling; that logs lead there is tested
    elsewhere. Only pages born before the crawl count.
    """
    news = [row for row in world.sections if row["is_news"]]
    sites = {row["site"] for row in news}
    hubs = [row["url"] for row in world.hubs if row["site"] in sites and row["role"] != "front"]
    of_news = {row["hub"] for row in news}
    hubs = [url for url in hubs if url in of_news or url not in {s["hub"] for s in world.sections}]
    return policy_of(hubs, [f"{row['site']}{row['prefix']}" for row in news])


@dataclass(frozen=True)
class Outcome:
    """What a crawl found of what appeared while it ran."""

    downloads: int
    temporal: int
    """Temporal pages born during the crawl that were fetched."""
    born: int
    late_days: float
    """Mean days between birth and fetching, of those fetched."""


def crawl(
    world: World, told: Document, repository: Path, folder: Path
) -> tuple[Outcome, dict[str, Any]]:
    folder.mkdir()
    (folder / "policy.json").write_text(as_text(told), "utf-8")
    begun: list[float] = []
    fetched: dict[str, float] = {}

    def today() -> float:
        return DAYS - NEW_DAYS + (time.monotonic() - begun[0]) * SPEED

    def is_shown(url: str, now: float) -> bool:
        row = world.pages[url]
        is_new = DAYS - NEW_DAYS - 1 < row["birth"] <= now
        return is_new or row["kind"] == "hub"

    def answer(url: str) -> bytes | None:
        if not begun:
            begun.append(time.monotonic())
        if url.endswith("/robots.txt"):
            return ROBOTS
        page = url.replace("http://", "https://", 1)
        now = today()
        if page not in world.pages or world.pages[page]["birth"] > now:
            return None
        fetched.setdefault(page, now)
        shown = [u for u in world.links[page] if is_shown(u, now)]
        items = (f'<a href="{u.replace("https:", "http:").replace("&", "&amp;")}">x</a>'
                 for u in shown)  # fmt: skip
        return ("<html>" + "".join(items) + '<a href="/private/x">x</a></html>').encode()

    settings = {
        **{name: value for name, value in COMMON.items() if name != "ADDONS"},
        "TEMPORAL_POLICY": str(folder / "policy.json"),
        "TEMPORAL_INTERVAL_FACTOR": 1 / 86_400 / SPEED,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
        "TEMPORAL_RELOAD_SECONDS": 0,
        "SECONDS": SECONDS,
        "FOLDER": str(folder / "archive"),
    }
    with served(answer) as sites:
        stats = run(repository, sites, settings, "instant")
    assert not [url for url in sites.asked if "/private/" in url]  # robots.txt
    new = {
        url: row["birth"]
        for url, row in world.pages.items()
        if row["is_temporal"] and DAYS - NEW_DAYS < row["birth"] <= DAYS
    }
    late = [fetched[url] - birth for url, birth in new.items() if url in fetched]
    downloads = sum(not url.endswith("robots.txt") for url in sites.asked)
    return Outcome(downloads, len(late), len(new), sum(late) / max(1, len(late))), stats


Outcomes = dict[str, tuple[Outcome, dict[str, Any]]]


@pytest.fixture(scope="module")
def outcomes(world: World, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("crawls")
    fronts = [f"https://{host}/" for host in world.baseline]
    listed = policy_of(fronts, [f"{host}/" for host in world.baseline])
    return {
        name: crawl(world, told, repository, folder / name)
        for name, told in (("policy", learned(world)), ("baseline", listed))
    }


@pytest.mark.slow
def test_more_temporal_pages_for_the_same_effort(outcomes: Outcomes) -> None:
    ours, theirs = outcomes["policy"][0], outcomes["baseline"][0]
    print(json.dumps({"policy": ours.__dict__, "baseline": theirs.__dict__}))
    assert ours.born == theirs.born > 50
    assert ours.temporal > theirs.temporal
    assert ours.temporal / ours.downloads > theirs.temporal / theirs.downloads


def archived(folder: Path) -> list[dict[str, Any]]:
    """The index, after a look at every record that it names."""
    index = [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]
    for line in index:
        with (folder / line["file"]).open("rb") as file:
            file.seek(line["offset"])
            record = gzip.decompress(file.read(line["length"]))
        assert record.startswith(b"WARC/1.0")
        assert f"WARC-Target-URI: {line['url']}\r\n".encode() in record
    return index


def test_an_archive_grows_over_runs(repository: Path, tmp_path: Path) -> None:
    from warcio.archiveiterator import ArchiveIterator

    (tmp_path / "policy.json").write_text(as_text(document()), "utf-8")
    folder = tmp_path / "archive"
    settings = {
        **{name: value for name, value in COMMON.items() if name != "ADDONS"},
        "TEMPORAL_POLICY": str(tmp_path / "policy.json"),
        "TEMPORAL_REVISIT": False,
        "FOLDER": str(folder),
    }

    def site(url: str) -> bytes | None:
        if url.endswith("/robots.txt"):
            return b"User-agent: *\nDisallow: /offers\n"
        return answer(url)

    with served(site) as sites:
        first = run(repository, sites, {**settings, "PAGES": 4}, "instant")
        before = archived(folder)
        run(repository, sites, settings, "instant")
    assert first["finish_reason"] == "closespider_pagecount"
    assert 1 <= len(before) < 6
    index = archived(folder)
    urls = [line["url"] for line in index]
    assert len(urls) == len(set(urls))  # nothing twice
    assert sorted(urls) == [
        "http://board.example/list?forum=2&sort=new",
        "http://news.example/",
        "http://news.example/politics/",
        "http://news.example/politics/2025/06/01/a-b.html",
        "http://news.example/politics/2025/06/02/c-d.html",
        "http://news.example/politics/2025/06/03/e-f.html",
    ]
    assert not [url for url in sites.asked if "/offers" in url]  # robots.txt
    assert {line["file"] for line in index} == {"pages-00001.warc.gz", "pages-00002.warc.gz"}
    with (folder / "pages-00002.warc.gz").open("rb") as file:
        responses = [r for r in ArchiveIterator(file) if r.rec_type == "response"]
        bodies = [r.content_stream().read() for r in responses]
    digests = [line["digest"] for line in index if line["file"] == "pages-00002.warc.gz"]
    assert [f"sha256:{hashlib.sha256(body).hexdigest()}" for body in bodies] == digests
