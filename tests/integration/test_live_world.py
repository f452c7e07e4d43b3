"""The instant crawler in a small web where things happen: what it finds, how it behaves.

`tests.web_world` says what is on which host. Each test is one or two crawls of a few seconds.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("scrapy", reason="the scrapy extra is not installed")
pytest.importorskip("feedparser", reason="the scrapy extra is not installed")

from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.policy.assemble import (
    HUBS,
    PATTERNS,
    PREFIXES,
    SITES,
    SOURCES,
    Provenance,
    Tables,
    assemble,
)
from temporal_assets.policy.document import Document, as_text
from tests.web_world import (
    SECTIONS,
    UNKNOWN_HOST,
    UNKNOWN_SECTION,
    Article,
    Reply,
    Web,
    World,
    articles,
    web_of,
)
from tests.web_world import SITES as HOSTS

pytestmark = pytest.mark.slow

DAY = 86_400
SETTINGS: dict[str, Any] = {
    "TEMPORAL_TICK_SECONDS": 0.1,
    "TEMPORAL_RELOAD_SECONDS": 0,
    "TEMPORAL_SCHEME": "http",
    "TEMPORAL_FIRST_WAIT_SECONDS": 0.5,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_TIMEOUT": 5,
    "LOG_LEVEL": "ERROR",
}


def policy(*hubs: str, prefixes: tuple[str, ...] = (), sources: tuple[dict[str, Any], ...] = (),
           rules: UrlRules | None = None) -> Document:  # fmt: skip
    """A policy with hubs, each with the front page of its host as a news prefix unless given."""
    hosts = list(dict.fromkeys(hub.split("/")[2] for hub in hubs))
    wanted = prefixes or tuple(f"{host}/" for host in hosts)
    tables = Tables(
        pa.Table.from_pylist(
            [{"site": h, "rank": n, "score": 0.9, "clients": 9} for n, h in enumerate(hosts, 1)],
            SITES,
        ),
        pa.Table.from_pylist(
            [
                {"url": url, "rank": n, "tier": 1, "temporal_pages": 9, "interval_seconds": 900}
                | {"clients": 9}
                for n, url in enumerate(hubs, 1)
            ],
            HUBS,
        ),
        pa.Table.from_pylist(
            [{"prefix": p, "score": 0.9, "pages": 9, "clients": 9} for p in wanted], PREFIXES
        ),
        PATTERNS.empty_table(),
        pa.Table.from_pylist(list(sources), SOURCES),
    )
    return assemble(tables, Provenance("2026-11-27", "2026-09-29", 60, (), (), {}), rules=rules)


PORTAL = policy(
    "https://news.example/",
    *(f"https://news.example/{section}/" for section in SECTIONS),
    *(f"https://{host}/" for host in HOSTS[1:]),
    prefixes=(
        *(f"news.example/{section}/" for section in SECTIONS),
        *(f"{host}/" for host in HOSTS[1:]),
    ),
)


def started(
    repository: Path, web: Web, folder: Path, document: Document, **settings: Any
) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    (folder / "policy.json").write_text(as_text(document), "utf-8")
    own = {
        **SETTINGS,
        "TEMPORAL_POLICY": str(folder / "policy.json"),
        "FOLDER": str(folder / "archive"),
        **settings,
    }
    return subprocess.Popen(
        [sys.executable, "-m", "tests.integration.crawling", json.dumps(own), "instant"],
        cwd=repository,
        # Locks of hosts, which hold for all crawls of a user, are its own.
        env={**os.environ, "http_proxy": web.address, "no_proxy": "", "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def crawled(
    repository: Path, web: Web, folder: Path, document: Document, **settings: Any
) -> dict[str, Any]:
    process = started(repository, web, folder, document, **settings)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    stats: dict[str, Any] = json.loads(output.splitlines()[-1])
    assert "temporal/errors" not in stats, errors
    return stats


def lines(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "archive" / "index.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_what_is_in_feeds_and_sitemaps_only_is_found(repository: Path, tmp_path: Path) -> None:
    length = 8.0
    world = World(articles(1, length, of_portal=30, of_others=8))
    with web_of(world) as web:
        stats = crawled(
            repository, web, tmp_path, PORTAL,
            SECONDS=length + 3, TEMPORAL_INTERVAL_FACTOR=1 / 900, TEMPORAL_EXPLORE=0.25,
            TEMPORAL_SEED=1, TEMPORAL_THROTTLE=False,
        )  # fmt: skip
    asked = set(web.asked())
    counter = Counter(
        article.url.split("/")[2] for article in world.articles if article.url in asked
    )
    born = Counter(article.url.split("/")[2] for article in world.articles)
    for host in HOSTS[1:]:
        assert counter[host] >= 0.8 * born[host], host
    # A section that nobody knew: pages link it, and the feed of the portal announces its articles.
    ai = [article for article in world.articles if article.section == UNKNOWN_SECTION]
    assert sum(one.url in asked for one in ai) >= 0.8 * len(ai)
    assert stats["temporal/announced"] >= 0.8 * len(ai)
    assert [u for u in asked if UNKNOWN_HOST in u]  # a host that nobody knew
    assert not [u for u in asked if "/private/" in u]
    counts = Counter(web.asked())
    assert [u for u, times in counts.items() if "story" in u and times > 1] == []
    assert stats["temporal/discovered/link"] >= 3
    assert stats["temporal/discovered/robots"] >= 1
    credited = {line["source"] for line in lines(tmp_path) if line["kind"] == "page"}
    assert "http://feed.example/all" in credited
    assert "http://map.example/news.xml.gz" in credited
    visits = Counter(line["kind"] for line in lines(tmp_path))
    explored = visits["explore"] / sum(visits.values())
    assert explored <= 0.3


def test_a_killed_crawl_fetches_again_what_was_in_flight_and_no_more(
    repository: Path, tmp_path: Path
) -> None:
    from warcio.archiveiterator import ArchiveIterator

    many = [Article(f"http://news.example/politics/2026/11/s-{n}.html", 0.0, "politics")
            for n in range(120)]  # fmt: skip
    world = World(many)
    listed = "".join(f'<a href="{one.url}">x</a>' for one in many)
    world.replies["http://news.example/politics/"] = lambda: Reply(body=listed.encode())
    document = policy("https://news.example/politics/")
    settings = {"TEMPORAL_REVISIT": False, "TEMPORAL_DISCOVER": False, "DOWNLOAD_DELAY": 0.01}
    with web_of(world) as web:
        for _ in range(2):
            before = len(web.visits)
            process = started(repository, web, tmp_path, document, **settings)
            deadline = time.monotonic() + 60
            while len(web.visits) < before + 25 and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        crawled(repository, web, tmp_path, document, **settings)
    counts = Counter(web.asked())
    again = {url: times for url, times in counts.items() if times > 1}
    assert sum(times - 1 for times in again.values()) <= 2  # one host: one in flight at each kill
    archived = Counter(line["url"] for line in lines(tmp_path) if "file" in line)
    assert {one.url for one in many} < set(archived)
    assert set(archived.values()) == {1}
    records: Counter[str] = Counter()
    for file in sorted((tmp_path / "archive").glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type == "response":
                    records[record.rec_headers.get_header("WARC-Target-URI")] += 1
    assert records == archived


@pytest.mark.parametrize("room", [0, 12_000, 60_000])
def test_a_disk_that_takes_no_more_ends_the_crawl_in_a_sentence(
    room: int, repository: Path, tmp_path: Path
) -> None:
    """A limit on the size of files stands for a full disk: `tests.faults.crawls` has a real one."""
    many = [Article(f"http://news.example/politics/2026/11/s-{n}.html", 0.0, "politics")
            for n in range(60)]  # fmt: skip
    world = World(many)
    listed = "".join(f'<a href="{one.url}">x</a>' for one in many)
    world.replies["http://news.example/politics/"] = lambda: Reply(body=listed.encode())
    document = policy("http://news.example/politics/", rules=UrlRules(scheme="http"))
    (tmp_path / "policy.json").write_text(as_text(document), "utf-8")

    def crawl(
        seconds: int, limit: int = resource.RLIM_INFINITY
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "temporal_assets", "crawl", "--policy", "policy.json",
             "--to", "archive", "--contact", "crawler@example.org", "--delay", "0",
             "--seconds", str(seconds)],
            cwd=tmp_path, capture_output=True, text=True, timeout=60,
            env={**os.environ, "http_proxy": web.address, "no_proxy": "", "TMPDIR": str(tmp_path),
                 "PYTHONPATH": str(repository), "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )  # fmt: skip

    with web_of(world) as web:
        ended = crawl(30, limit=room)
        assert ended.returncode == 1
        sentence = " ".join(ended.stderr.split("Error:")[-1].split())
        assert "archive cannot be written" in sentence
        assert "the same command goes on from here" in sentence
        assert "Traceback" not in ended.stderr
        assert crawl(8).returncode == 0
    archived = Counter(line["url"] for line in lines(tmp_path) if line["kind"] == "page")
    assert set(archived.values()) == {1}
    assert {one.url for one in many} < set(archived)


def test_hosts_are_treated_as_they_ask(repository: Path, tmp_path: Path) -> None:
    world = World(
        [
            *(Article(f"http://slow.example/s-{n}", 0.0, "s") for n in range(3)),
            Article("http://news.example/politics/gone", 0.0, "politics", gone=0.0),
            Article(
                "http://news.example/politics/old", 0.0, "politics",
                moved="http://news.example/politics/new",
            ),
            Article("http://news.example/politics/new", 0.0, "politics"),
        ]
    )  # fmt: skip
    names = ("busy", "down", "slow", "closed", "broken", "mute", "news")
    document = policy(
        *(f"https://{name}.example/" for name in names),
        "https://broken.example/circle",
        "https://news.example/politics/gone",
        "https://news.example/politics/old",
        sources=(
            {"url": "https://broken.example/bomb.xml", "kind": "sitemap", "is_news": False,
             "site": "broken.example", "interval_seconds": 900, "new_per_day": None},
            {"url": "https://broken.example/garbage", "kind": "feed", "is_news": False,
             "site": "broken.example", "interval_seconds": 900, "new_per_day": None},
        ),
    )  # fmt: skip
    with web_of(world) as web:
        crawled(
            repository, web, tmp_path, document, SECONDS=9, TEMPORAL_DISCOVER=False,
            TEMPORAL_EXPLORE=0, TEMPORAL_INTERVAL_FACTOR=1 / 900,
        )  # fmt: skip

    def times(host: str) -> list[float]:
        return [visit.time for visit in web.visits if f"//{host}.example/" in visit.url]

    busy = [visit for visit in web.visits if visit.url == "http://busy.example/"]
    assert [visit.status for visit in busy][:2] == [429, 200]
    assert busy[1].time - busy[0].time > 2.5  # Retry-After: 3
    assert web.asked("down.example") == []
    assert 2 <= len(times("down")) <= 6  # robots.txt alone, at waits that double
    gaps = [after - before for before, after in zip(times("slow"), times("slow")[1:], strict=False)]
    assert min(gaps) > 0.95  # Crawl-delay: 1
    assert len(gaps) >= 3
    assert web.asked("closed.example") == []
    assert web.asked().count("http://news.example/politics/gone") == 1  # 410: retired
    assert "http://news.example/politics/new" in web.asked()
    index = lines(tmp_path)
    answer = {
        line["url"]: line for line in index if line["status"] is None or line["status"] >= 400
    }
    assert answer["http://closed.example/"]["error"] == "robots.txt forbids it"
    assert answer["http://news.example/politics/gone"]["status"] == 410
    agents = {visit.headers["User-Agent"] for visit in web.visits}
    assert len(agents) == 1
    circle = [url for url in web.asked("broken.example") if "circle" in url]
    assert 2 <= len(circle) < 80
    assert {line["error"] for line in index if "mute" in line["url"]} == {"DownloadFailedError"}
    assert 3 <= len(web.asked("mute.example")) <= 15  # waits double; without it is asked 27 times
    revisits = [line for line in index if line["kind"] == "hub" and line.get("changed") is False]
    assert revisits


def test_a_spider_of_ones_own_follows_feeds_with_the_add_on(
    repository: Path, tmp_path: Path
) -> None:
    """It follows links of HTML, and knows nothing of feeds."""
    world = World([Article(f"http://feed.example/n/s-{n}", 0.0, "n") for n in range(4)])
    (tmp_path / "policy.json").write_text(as_text(policy("https://feed.example/", sources=(
        {"url": "https://feed.example/all", "kind": "feed", "is_news": False,
         "site": "feed.example", "interval_seconds": 900, "new_per_day": None},
    ))), "utf-8")  # fmt: skip
    settings = {
        **SETTINGS,
        "ADDONS": {"temporal_assets.crawl.scrapy.PolicyAddon": 500},
        "TEMPORAL_POLICY": str(tmp_path / "policy.json"),
        "TEMPORAL_REVISIT": False,
        "TELNETCONSOLE_ENABLED": False,
    }
    with web_of(world) as web:
        done = subprocess.run(
            [sys.executable, "-m", "tests.integration.crawling", json.dumps(settings), "spider"],
            cwd=repository,
            env={**os.environ, "http_proxy": web.address, "no_proxy": ""},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert {article.url for article in world.articles} < set(web.asked("feed.example"))
