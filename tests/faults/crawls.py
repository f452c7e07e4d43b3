"""A crawl into which faults are injected, and the proof that every page is archived once.

    python -m tests.faults.crawls [--seconds 3600] [--seed 1]

Here: the faults, the crawl through them, and the count at the end. Not here: the crawled web
(`tests.web_world`), faults of the tables (`tests.faults`).

Articles appear on four hosts for so many seconds of real time, an hour unless said otherwise, while
the instant crawler runs. Meanwhile

    kill -9      ends the crawl at random moments, a dozen times in an hour
    the disk     fills up twice (a file system of its own, or a limit on the size of files for those
                 who are not root), which must end the crawl in a sentence; then there is more room
    hosts        answer every sixth request with 500, 503, 429, nothing at all, half a body, or by
                 hanging up; sources also with garbage, and with redirects in a circle

A page fails twice in a row at most, because the crawler gives it up after three times, and
robots.txt does not lie, because it is believed for a day. After the last article the hosts are well
again; then every article that the policy wants has to be in the archive exactly once, and the
digests of all records have to be right. Hubs are visited every 120th of the time, so that a shorter
crawl is the same crawl with faster visits.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from warcio.archiveiterator import ArchiveIterator

from temporal_assets.policy.document import as_text
from tests.faults.kinds import Disk, Skipped
from tests.faults.world import Lost
from tests.integration.test_live_world import PORTAL
from tests.web_world import SITES, UNKNOWN_HOST, UNKNOWN_SECTION, Article, Reply, Web, World, web_of
from tests.web_world import articles as articles_of

HOUR: Final = 3600.0

_FAULTS: Final = ("500", "503", "429", "silence", "hangs up", "half a body")
_OF_SOURCES: Final = ("garbage", "circle")
_SHARE: Final = 1 / 6
"""Share of the requests that fail."""
_IN_A_ROW: Final = 2
_MIB: Final = 1 << 20
_DISKS: Final = 2
_ENDS_WITHIN: Final = 60.0
"""Seconds in which a crawl that cannot write has to end."""


class FaultyWorld(World):
    """A web whose hosts fail until it is `well`."""

    def __init__(self, articles: list[Article], seed: int, timeout: float) -> None:
        super().__init__(articles)
        self._random = random.Random(seed)
        self._silence = timeout + 1.0
        self._in_a_row: Counter[str] = Counter()
        self.injected: Counter[str] = Counter()
        self.is_well = False

    def answer(self, url: str) -> Reply | None:
        if url.endswith("/circle"):
            return Reply(302, headers={"Location": url})
        fails = self._random.random() < _SHARE and self._in_a_row[url] < _IN_A_ROW
        if self.is_well or not fails:
            self._in_a_row[url] = 0
            return super().answer(url)
        self._in_a_row[url] += 1
        is_source = "story" not in url and not url.endswith("/robots.txt")
        fault = self._random.choice((*_FAULTS, *(_OF_SOURCES if is_source else ())))
        self.injected[fault] += 1
        return self._failing(fault, url)

    def _failing(self, fault: str, url: str) -> Reply | None:
        host = url.removeprefix("http://").partition("/")[0]
        if fault == "silence":
            time.sleep(self._silence)
            return None
        replies = {
            "500": Reply(500),
            "503": Reply(503, headers={"Retry-After": "1"}),
            "429": Reply(429, headers={"Retry-After": "1"}),
            "half a body": Reply(body=b"<html>" * 20, missing=1000),
            "garbage": Reply(body=self._random.randbytes(20_000)),
            "circle": Reply(302, headers={"Location": f"http://{host}/circle"}),
        }
        return replies.get(fault)


@dataclass
class Run:
    """A crawl with faults, and what was done to it."""

    repository: Path
    folder: Path
    web: Web
    seconds: float
    random: random.Random
    disk: Disk | None
    kills: int = 0
    full: int = 0
    visits_before: int = 0
    """Requests that the hosts had seen when the crawl was started last."""
    sentences: list[str] = field(default_factory=list)

    @property
    def every(self) -> float:
        """Seconds between two visits of a hub."""
        return self.seconds / 120

    def start(self) -> subprocess.Popen[str]:
        """Start the crawl, or go on with it."""
        settings = {
            "TEMPORAL_POLICY": str(self.folder / "policy.json"),
            "FOLDER": str(self.folder / "archive"),
            "TEMPORAL_SCHEME": "http",
            "TEMPORAL_INTERVAL_FACTOR": self.every / 900,
            "TEMPORAL_TICK_SECONDS": min(self.every / 20, 1.0),
            "TEMPORAL_RELOAD_SECONDS": 0,
            "TEMPORAL_FIRST_WAIT_SECONDS": self.every / 20,
            "TEMPORAL_THROTTLE": False,
            "DOWNLOAD_DELAY": 0.02,
            "DOWNLOAD_TIMEOUT": timeout_of(self.seconds),
            "LOG_LEVEL": "ERROR",
        }
        command = [sys.executable, "-m", "tests.integration.crawling", json.dumps(settings)]
        self.visits_before = len(self.web.visits)
        return subprocess.Popen(
            [*command, "instant"],
            cwd=self.repository,
            # Locks of hosts, which hold for all crawls of a user, are its own.
            env={
                **os.environ,
                "http_proxy": self.web.address,
                "no_proxy": "",
                "TMPDIR": str(self.folder.parent),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def through_faults(self) -> subprocess.Popen[str]:
        """Crawl while articles appear; return the process that is left."""
        begun, process = time.monotonic(), self.start()
        kills = int(np.clip(self.seconds / 20, 2, 12))
        times = sorted(self.random.uniform(0.05, 0.95) for _ in range(kills + _DISKS))
        full = set(self.random.sample(range(len(times)), _DISKS))
        for number, share in enumerate(times):
            time.sleep(max(begun + share * self.seconds - time.monotonic(), 0.0))
            if process.poll() is not None:
                raise Lost(f"the crawl ended by itself: {_said(process)}")
            if number in full:
                self._fill(process)
            else:
                process.kill()
                _said(process)
                self.kills += 1
            process = self.start()
        time.sleep(max(begun + self.seconds - time.monotonic(), 0.0))
        return process

    def _fill(self, process: subprocess.Popen[str]) -> None:
        """Leave a few kilobytes of room until the crawl has ended, and then plenty.

        It has to be under way: on a busy machine the start alone takes minutes.
        """
        deadline = time.monotonic() + 5 * _ENDS_WITHIN
        while len(self.web.visits) == self.visits_before and time.monotonic() < deadline:
            time.sleep(0.1)
        room = self.random.randrange(0, 40_000)
        process.send_signal(signal.SIGSTOP)  # a disk cannot become smaller than what is on it
        if self.disk is not None:
            status = os.statvfs(self.folder)
            used = (status.f_blocks - status.f_bfree) * status.f_frsize
            self.disk.change(f"size={used + room}")
        else:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        process.send_signal(signal.SIGCONT)
        try:
            process.wait(_ENDS_WITHIN + self.every)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Lost(f"a full disk does not end the crawl: {_said(process)[-3000:]}") from None
        message = _said(process)
        if process.returncode != 1 or "cannot be written" not in message or "Traceback" in message:
            raise Lost(f"a full disk ends the crawl with {process.returncode}: {message[-3000:]}")
        self.full += 1
        self.sentences.append(message.strip().splitlines()[-1])
        if self.disk is not None:
            self.disk.change(f"size={256 * _MIB}")

    def finish(self, process: subprocess.Popen[str], wanted: set[str]) -> None:
        """Wait until all that is wanted was archived, and end the crawl."""
        deadline = time.monotonic() + 10 * self.every + 60
        while time.monotonic() < deadline and not wanted <= set(self.archived()):
            time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        message = _said(process)
        if process.returncode != 0:
            raise Lost(f"the crawl ended with {process.returncode}: {message[-3000:]}")

    def archived(self) -> Counter[str]:
        """Count the lines of the index that say where a page is."""
        text = (self.folder / "archive" / "index.jsonl").read_text("utf-8")
        lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
        return Counter(line["url"] for line in lines if "file" in line and "story" in line["url"])

    def records(self) -> Counter[str]:
        """Count the responses of the archive; a digest that is wrong raises."""
        count: Counter[str] = Counter()
        for file in sorted((self.folder / "archive").glob("*.warc.gz")):
            with file.open("rb") as stream:
                for record in ArchiveIterator(stream, check_digests="raise"):
                    record.content_stream().read()
                    if record.rec_type == "response":
                        count[record.rec_headers.get_header("WARC-Target-URI")] += 1
        return Counter({url: times for url, times in count.items() if "story" in url})


def timeout_of(seconds: float) -> float:
    """Return the seconds after which the crawler gives a response up."""
    return min(max(seconds / 300, 1.0), 10.0)


def _said(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=60)[1]


def world_of(seed: int, seconds: float) -> tuple[FaultyWorld, set[str]]:
    """Return a web with articles that appear, move and vanish, and those that are to be found."""
    per_section = 3 * int(np.clip(seconds / 36, 12, 100))
    born = [
        article
        for article in articles_of(seed, seconds, of_portal=per_section, of_others=per_section // 4)
        if article.section != UNKNOWN_SECTION and UNKNOWN_HOST not in article.url
    ]
    actual: list[Article] = []
    for number, one in enumerate(born):
        if number % 20 == 0:  # it has moved, and is linked at both places
            there = one.url.replace("story", "story-moved")
            actual += [
                Article(one.url, one.birth, one.section, moved=there),
                Article(there, one.birth, one.section),
            ]
        elif number % 20 == 1:
            actual.append(Article(one.url, one.birth, one.section, gone=one.birth + seconds / 12))
        else:
            actual.append(one)
    wanted = {one.url for one in actual if one.moved is None and one.gone is None}
    return FaultyWorld(actual, seed, timeout_of(seconds)), wanted


@contextlib.contextmanager
def _place(parent: Path | None) -> Iterator[tuple[Path, Disk | None]]:
    """Yield a folder, on a disk of its own where that is possible."""
    with tempfile.TemporaryDirectory(prefix="crawl-", dir=parent) as work:
        try:
            disk = Disk(Path(work) / "disk", 256 * _MIB)
        except Skipped:
            (Path(work) / "disk").mkdir(exist_ok=True)
            yield Path(work) / "disk", None
            return
        with disk:
            yield disk.place, disk


def crawl(seconds: float, seed: int, repository: Path, parent: Path | None = None) -> str:
    """Crawl with faults; return what happened as a table. Raise `Lost` if anything was lost."""
    world, wanted = world_of(seed, seconds)
    with _place(parent) as (folder, disk), web_of(world) as web:
        (folder / "policy.json").write_text(as_text(PORTAL), "utf-8")
        run = Run(repository, folder, web, seconds, random.Random(seed), disk)
        process = run.through_faults()
        try:
            world.is_well = True
            run.finish(process, wanted)
        finally:
            process.kill()
        archived, records = run.archived(), run.records()
        visits = list(web.visits)
    if missing := sorted(wanted - set(archived)):
        raise Lost(f"{len(missing)} of {len(wanted)} pages are not archived: {missing[:5]}")
    if twice := [url for url, times in (archived | records).items() if times > 1]:
        raise Lost(f"{len(twice)} pages are archived more than once: {twice[:5]}")
    if archived != records:
        raise Lost("the index and the archive do not hold the same pages")
    fetched = Counter(visit.url for visit in visits if visit.status == 200 and visit.url in wanted)
    rows = {
        "seconds": f"{seconds:.0f}",
        "hosts": len(SITES),
        "kill -9": run.kills,
        "full disks": f"{run.full} ({'a disk of its own' if disk else 'a limit of files'})",
        "requests": len(visits),
        "faults of hosts": sum(world.injected.values()),
        "of them": ", ".join(f"{fault} {times}" for fault, times in world.injected.items()),
        "articles to be found": len(wanted),
        "archived exactly once": sum(archived[url] == 1 for url in wanted),
        "pages with 200 that were asked for again, half bodies among them": sum(fetched.values())
        - len(fetched),
        "a full disk says": run.sentences[0].replace(str(folder), "FOLDER"),
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows.items())])


def main() -> None:
    """Crawl and print; exit with 1 where anything was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=HOUR)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to work, on a local disk")
    given = parser.parse_args()
    try:
        print(crawl(given.seconds, given.seed, Path(__file__).parents[2], given.folder))
    except Lost as error:
        raise SystemExit(f"LOST: {error}") from None


if __name__ == "__main__":
    main()
