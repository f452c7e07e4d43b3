"""The instant crawler on the demo mirror over time, beside the same spider with the list in use.

The policy is learned from what people did on the first 45 days of the demo. Then pages appear as
they were born: half a day of the ten days after passes in a second. Both crawls have been running
before, so pages older than a day are not linked any more. The baseline is the list as people keep
it: every site of it watched as a whole from its front page. `benchmarks/instant_crawl.py` does the
same without requests, for several corpora and budgets.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from filelock import FileLock

pytest.importorskip("scrapy", reason="the scrapy extra is not installed")
pytest.importorskip("warcio", reason="the scrapy extra is not installed")

from scrapy.settings import Settings, default_settings

from benchmarks.demo_over_time import DemoOverTime, read
from benchmarks.demo_policy import learn
from temporal_assets.crawl.instant import AGENT, Budget, settings_of
from temporal_assets.crawl.instant.archive import Archive
from temporal_assets.demo import DemoOptions
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

LEARNED = 45
"""Days that are known when the crawl begins."""
WINDOW = 40
NEW_DAYS = 10.0
SPEED = 0.5
"""Days that pass in a second."""
SECONDS = NEW_DAYS / SPEED + 3
"""Length of the crawl in seconds; the last of them are for what came last."""

VISITS = {"policy": 4.0, "baseline": 24.0}
"""A day, to all hubs together. The list has three front pages, which are looked at every three
hours; the policy is said to make more of a sixth of these visits."""

ROBOTS = b"User-agent: *\nDisallow: /private/\n"

DAY = 86_400


@dataclass(frozen=True)
class World:
    """Days that are learned, and pages that come later."""

    told: dict[str, Document]
    sites: DemoOverTime


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    # Another corpus than that of the demo command, with which the defaults were looked at.
    options, root = DemoOptions(seed=2), tmp_path_factory.mktemp("demo")
    hubs = {"visits_per_day": VISITS["policy"], "longest_hours": 24.0}
    learned = learn(options, root, LEARNED, WINDOW, hubs=hubs)
    sites = read(root / "demo", LEARNED - 1.0)
    return World({"policy": learned.policy.document, "baseline": listed(sites)}, sites)


def listed(sites: DemoOverTime) -> Document:
    """A policy that says what the list in use does: front pages, and everything on their sites."""
    seconds = round(DAY * len(sites.baseline) / VISITS["baseline"])
    hubs = [
        {"url": f"https://{host}/", "rank": rank, "tier": 1, "temporal_pages": 9,
         "interval_seconds": seconds, "clients": 9}
        for rank, host in enumerate(sites.baseline, 1)
    ]  # fmt: skip
    wanted = [{"prefix": f"{h}/", "score": 0.9, "pages": 9, "clients": 9} for h in sites.baseline]
    tables = Tables(
        SITES.empty_table(),
        pa.Table.from_pylist(hubs, HUBS),
        pa.Table.from_pylist(wanted, PREFIXES),
        PATTERNS.empty_table(),
    )
    return assemble(tables, Provenance("2025-04-16", "2025-03-08", WINDOW, (), (), {}))


@dataclass(frozen=True)
class Outcome:
    """Pages found by a crawl among those that appeared while it ran."""

    requests: int
    downloads: int
    """Requests that were not answered with "not modified"."""
    temporal: int
    """Temporal pages born during the crawl that were fetched."""
    born: int
    late_days: float
    """Mean days between birth and fetching, of those fetched."""


def crawl(world: World, name: str, repository: Path, folder: Path) -> Outcome:
    folder.mkdir()
    (folder / "policy.json").write_text(as_text(world.told[name]), "utf-8")
    begun: list[float] = []
    fetched: dict[str, float] = {}

    def today() -> float:
        return LEARNED + (time.monotonic() - begun[0]) * SPEED

    def answer(url: str) -> bytes | None:
        if not begun:
            begun.append(time.monotonic())
        if url.endswith("/robots.txt"):
            return ROBOTS
        page = url.replace("http://", "https://", 1)
        now = today()
        if page not in world.sites.pages or world.sites.pages[page]["birth"] > now:
            return None
        fetched.setdefault(page, now)
        items = (f'<a href="{u.replace("https:", "http:").replace("&", "&amp;")}">x</a>'
                 for u in world.sites.shown(page, now))  # fmt: skip
        return ("<html>" + "".join(items) + '<a href="/private/x">x</a></html>').encode()

    settings = {
        **{name: value for name, value in COMMON.items() if name != "ADDONS"},
        "TEMPORAL_POLICY": str(folder / "policy.json"),
        "TEMPORAL_INTERVAL_FACTOR": 1 / DAY / SPEED,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
        "TEMPORAL_RELOAD_SECONDS": 0,
        "SECONDS": SECONDS,
        "FOLDER": str(folder / "archive"),
    }
    with served(answer) as sites:
        run(repository, sites, settings, "instant")
    assert not [url for url in sites.asked if "/private/" in url]  # robots.txt
    new = world.sites.born(LEARNED, LEARNED + NEW_DAYS)
    late = [fetched[url] - birth for url, birth in new.items() if url in fetched]
    requests = sum(not url.endswith("robots.txt") for url in sites.asked)
    unchanged = sum(not url.endswith("robots.txt") for url in sites.unchanged)
    return Outcome(
        requests, requests - unchanged, len(late), len(new), sum(late) / max(1, len(late))
    )


@pytest.mark.long
def test_more_temporal_pages_with_fewer_downloads(
    world: World, repository: Path, tmp_path: Path
) -> None:
    ours, theirs = (crawl(world, name, repository, tmp_path / name) for name in VISITS)
    print(json.dumps({"policy": ours.__dict__, "baseline": theirs.__dict__}))
    assert ours.born == theirs.born > 50
    assert ours.temporal > theirs.temporal
    assert ours.requests < theirs.requests
    assert ours.downloads < theirs.downloads  # even though three of four visits of theirs are none


def archived(folder: Path) -> list[dict[str, Any]]:
    """Lines of the index with a record, after a look at each record."""
    lines = [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]
    index = [line for line in lines if "file" in line]
    for line in index:
        with (folder / line["file"]).open("rb") as file:
            file.seek(line["offset"])
            record = gzip.decompress(file.read(line["length"]))
        assert record.startswith(b"WARC/1.0")
        assert f"WARC-Target-URI: {line['url']}\r\n".encode() in record
    return index


@pytest.mark.slow
def test_an_archive_grows_over_runs(repository: Path, tmp_path: Path) -> None:
    from warcio.archiveiterator import ArchiveIterator

    (tmp_path / "policy.json").write_text(as_text(document()), "utf-8")
    folder = tmp_path / "archive"
    settings = {
        **{name: value for name, value in COMMON.items() if name != "ADDONS"},
        "TEMPORAL_POLICY": str(tmp_path / "policy.json"),
        "TEMPORAL_REVISIT": False,
        "TEMPORAL_DISCOVER": False,
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
        bodies = [
            record.content_stream().read()
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        ]
    digests = [line["digest"] for line in index if line["file"] == "pages-00002.warc.gz"]
    assert [f"sha256:{hashlib.sha256(body).hexdigest()}" for body in bodies] == digests


def test_other_archives_in_the_folder_have_no_number(tmp_path: Path) -> None:
    for name in ("pages-old.warc.gz", "pages-00002.warc.gz.bak", "pages-00007.warc.gz"):
        (tmp_path / name).touch()
    for _ in range(2):
        Archive(tmp_path).close()
    assert {"pages-00008.warc.gz", "pages-00009.warc.gz"} < {p.name for p in tmp_path.iterdir()}


def test_only_html_is_followed(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text(as_text(document()), "utf-8")
    settings = {
        **{name: value for name, value in COMMON.items() if name != "ADDONS"},
        "TEMPORAL_POLICY": str(tmp_path / "policy.json"),
        "TEMPORAL_REVISIT": False,
        "TEMPORAL_DISCOVER": False,
        "FOLDER": str(tmp_path / "archive"),
    }
    with served(lambda url: b'{"next": "<a href=/politics/x>x</a>"}') as sites:
        stats = run(repository, sites, settings, "instant")
    assert not [name for name in stats if name.startswith("spider_exceptions")]
    assert len(archived(tmp_path / "archive")) == 4


def test_rules_of_robots_txt_for_words_of_the_contact_are_not_ours(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "policy.json").write_text(as_text(document()), "utf-8")
    settings = {
        **{name: value for name, value in COMMON.items() if name != "ADDONS"},
        "TEMPORAL_POLICY": str(tmp_path / "policy.json"),
        "TEMPORAL_REVISIT": False,
        "TEMPORAL_DISCOVER": False,
        "FOLDER": str(tmp_path / "archive"),
        "USER_AGENT": f"{AGENT} (+https://example.org/crawler)",
    }
    robots = b"User-agent: crawler\nDisallow: /\n\nUser-agent: *\nDisallow: /offers\n"

    def site(url: str) -> bytes | None:
        return robots if url.endswith("/robots.txt") else b"<html></html>"

    with served(site) as sites:
        run(repository, sites, settings, "instant")
    assert sorted(url for url in sites.asked if not url.endswith("/robots.txt")) == [
        "http://board.example/list?forum=2&sort=new",
        "http://news.example/",
        "http://news.example/politics/",
    ]


@pytest.mark.parametrize("delay", [0, 1.0, 300.0])
def test_the_delay_is_what_was_asked_for(delay: float) -> None:
    settings = Settings(settings_of("policy.json", Budget(), {"DOWNLOAD_DELAY": delay}))
    assert settings.getfloat("DOWNLOAD_DELAY") == delay
    if hasattr(default_settings, "DOWNLOAD_DELAY_JITTER"):
        assert settings.getfloat("DOWNLOAD_DELAY_JITTER") == 0
    else:
        assert not settings.getbool("RANDOMIZE_DOWNLOAD_DELAY")


def test_own_settings_have_the_last_word() -> None:
    own = {"DOWNLOAD_TIMEOUT": 5.0, "CONCURRENT_REQUESTS": 8}
    settings = settings_of("policy.json", Budget(), own)
    assert {name: settings[name] for name in own} == own


def test_nobody_can_run_code_in_a_crawl() -> None:
    settings = Settings(settings_of("policy.json", Budget(), {}))
    assert not settings.getbool("TELNETCONSOLE_ENABLED")
    assert not settings.getbool("REMOTE_CONTROL_ENABLED")


def test_sites_that_wait_leave_places_to_others() -> None:
    settings = Settings(settings_of("policy.json", Budget(), {}))
    assert settings.getint("CONCURRENT_REQUESTS") > 3 * default_settings.CONCURRENT_REQUESTS
    assert settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") == 1


COMMAND = [sys.executable, "-m", "temporal_assets", "crawl", "--contact", "us@news.example"]


def refused(repository: Path, tmp_path: Path, to: Path) -> str:
    """Return the message of a crawl that does not start."""
    policy = tmp_path / "policy.json"
    policy.write_text(as_text(document()), "utf-8")
    done = subprocess.run(
        [*COMMAND, "--policy", str(policy), "--to", str(to)],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_crawl_that_cannot_start_says_why(repository: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    assert f"error: {taken}: File exists" in refused(repository, tmp_path, taken)


def test_one_crawl_at_a_time_has_a_folder(repository: Path, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    with FileLock(folder / "crawl.lock"):
        message = refused(repository, tmp_path, folder)
    assert f"another crawl is under way in {folder}" in " ".join(message.split())
    assert [path.name for path in folder.iterdir()] == ["crawl.lock"]


def test_a_crawl_that_is_killed_has_no_reason_of_its_own(repository: Path, tmp_path: Path) -> None:
    doc = document()
    for hub in doc["hubs"]:
        hub["url"] = hub["url"].replace("https:", "http:")
    policy = tmp_path / "policy.json"
    policy.write_text(as_text(doc), "utf-8")
    asked, ended = threading.Event(), threading.Event()

    def silent(url: str) -> bytes | None:
        asked.set()
        ended.wait(60)
        return None

    with served(silent) as sites:
        crawl = subprocess.Popen(
            [*COMMAND, "--policy", str(policy), "--to", str(tmp_path / "archive"), "--json"],
            cwd=repository,
            env={**os.environ, "http_proxy": sites.address, "no_proxy": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert asked.wait(60)
        crawl.send_signal(signal.SIGINT)  # ends when what is under way has come
        assert crawl.stderr is not None
        while "shutting down gracefully" not in crawl.stderr.readline():
            assert crawl.poll() is None
        crawl.send_signal(signal.SIGINT)  # ends at once
        output, errors = crawl.communicate(timeout=60)
        ended.set()
    assert crawl.returncode == 130, errors
    numbers = json.loads(output)
    assert numbers.pop("ended") == "killed"
    assert list(numbers) == [
        "downloads",
        "pages",
        "visits_of_sources",
        "visits_still_due",
        "sources_discovered",
        "explored",
        "links_not_wanted",
        "refused_by_robots",
        "put_off",
    ]
    assert numbers["visits_of_sources"] <= numbers["downloads"]  # others are due and not made
    assert numbers["visits_of_sources"] + numbers["visits_still_due"] >= 1
