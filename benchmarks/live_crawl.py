"""The instant crawler beside others, with real requests to a small web in which things happen.

Run `python -m benchmarks.live_crawl` (five minutes; `--seeds 1` one and a half).

The web is that of `tests.web_world`: a portal with sections and a feed, hosts whose articles are in
a feed or a sitemap only, a section and a host that nobody knows, and evergreen pages to waste
requests on. Every crawler has the same number of requests and the same seconds, one request of a
host at a time, and visits its front pages, hubs and sources once a second. The policy of the
instant crawler names the hubs and prefixes that were there before; feeds and sitemaps it finds by
itself.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from temporal_assets.policy.document import as_text
from tests.integration.test_live_world import PORTAL
from tests.web_world import SITES, UNKNOWN_HOST, UNKNOWN_SECTION, Article, World, articles, web_of

SECONDS: Final = 20.0
REQUESTS: Final = 700
EVERY: Final = 1.0
EVERGREEN: Final = 60
LAST: Final = 2.0
"""Seconds before the end in which births do not count: nobody has the time."""

COMMON: Final = {
    "CLOSESPIDER_TIMEOUT": SECONDS,
    "CLOSESPIDER_PAGECOUNT": REQUESTS,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0.02,
    "DOWNLOAD_DELAY_JITTER": 0.0,
    "ROBOTSTXT_OBEY": True,
    "FRONTS": [f"http://{host}/" for host in SITES],
    "EVERY": EVERY,
}

Kind = Callable[[Article], bool]

KINDS: Final[dict[str, Kind]] = {
    "portal": lambda one: "news.example" in one.url and one.section != UNKNOWN_SECTION,
    "feed or sitemap only": lambda one: any(host in one.url for host in SITES[1:]),
    "unknown section": lambda one: one.section == UNKNOWN_SECTION,
    "unknown host": lambda one: UNKNOWN_HOST in one.url,
}


@dataclass(frozen=True)
class Outcome:
    """The share of pages born during a crawl that it found."""

    found: float
    by_kind: tuple[float, ...]
    median: float
    p90: float
    requests: int
    wasted: int
    """Requests that were neither the first of an article nor a visit of something that changed."""


def _command(name: str, folder: Path) -> list[str]:
    if name != "instant":
        return [sys.executable, "-m", "benchmarks.live_spiders", name, json.dumps(COMMON)]
    (folder / "policy.json").write_text(as_text(PORTAL), "utf-8")
    settings = {
        "TEMPORAL_POLICY": str(folder / "policy.json"),
        "FOLDER": str(folder / "archive"),
        "TEMPORAL_SCHEME": "http",
        "TEMPORAL_INTERVAL_FACTOR": EVERY / 900,
        "TEMPORAL_TICK_SECONDS": 0.1,
        "TEMPORAL_RELOAD_SECONDS": 0,
        "TEMPORAL_THROTTLE": False,
        "LOG_LEVEL": "ERROR",
        "DOWNLOAD_DELAY": COMMON["DOWNLOAD_DELAY"],
        "PAGES": REQUESTS,
        "SECONDS": SECONDS,
    }
    return [sys.executable, "-m", "tests.integration.crawling", json.dumps(settings), "instant"]


def crawl(name: str, seed: int) -> Outcome:
    """Crawl a new web once, and count what was found."""
    world = World(articles(seed, SECONDS))
    world.evergreen = EVERGREEN
    with web_of(world) as web, tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            _command(name, Path(folder)),
            env={**os.environ, "http_proxy": web.address, "no_proxy": ""},
            check=True,
            stdout=subprocess.DEVNULL,
        )
    first: dict[str, float] = {}
    begun = web.visits[0].time
    useful = 0
    for visit in web.visits:
        is_article = "story" in visit.url and visit.status == 200
        if is_article and visit.url not in first:
            first[visit.url] = visit.time - begun
        useful += (is_article and first[visit.url] == visit.time - begun) or visit.status == 304
    born = [one for one in world.articles if one.birth < SECONDS - LAST]
    late = [first[one.url] - one.birth for one in born if one.url in first] or [SECONDS]

    def share(of: list[Article]) -> float:
        return sum(one.url in first for one in of) / len(of)

    return Outcome(
        share(born),
        tuple(share([one for one in born if kind(one)]) for kind in KINDS.values()),
        float(np.median(late)),
        float(np.quantile(late, 0.9)),
        len(web.visits),
        len(web.visits) - useful,
    )


def main() -> None:
    """Crawl and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(1, parser.parse_args().seeds + 1)
    kinds = " | ".join(KINDS)
    print(f"| crawler | found | {kinds} | median s | p90 s | requests | not useful |")
    print("|---|" + "---:|" * (len(KINDS) + 5))
    for name in ("instant", "feeds", "breadth", "list"):
        told = [crawl(name, seed) for seed in seeds]
        found = [one.found for one in told]
        each = np.mean([one.by_kind for one in told], axis=0)
        rest = np.mean([(o.median, o.p90, o.requests, o.wasted) for o in told], axis=0)
        print(
            f"| {name} | {np.mean(found):.0%} ({min(found):.0%} to {max(found):.0%}) | "
            + " | ".join(f"{share:.0%}" for share in each)
            + f" | {rest[0]:.2f} | {rest[1]:.2f} | {rest[2]:.0f} | {rest[3]:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
