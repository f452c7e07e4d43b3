"""The instant crawler beside others, with real requests to a small web in which things happen.

Run `python -m benchmarks.live_crawl` (a minute for each of eight seeds; `--seeds 2` two minutes).

The web is that of `tests.web_world`: a portal with sections and a feed, hosts whose articles are in
a feed or a sitemap only, a section and a host that nobody knows, and evergreen pages to waste
requests on. Every crawler has the same number of requests and the same seconds, one request of a
host at a time, and visits its front pages, hubs and sources at the same interval. The policy of the
instant crawler names the hubs and prefixes that were there before; feeds and sitemaps it finds by
itself. A second stands for six minutes, so a crawl of fifty is one of five hours. The crawlers of a
seed run side by side, each in a web of its own with the same articles; they wait most of the time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np

from temporal_assets.policy import Policy
from temporal_assets.policy.document import as_text
from tests.integration.test_live_world import PORTAL
from tests.web_world import (
    SITES,
    UNKNOWN_HOST,
    UNKNOWN_SECTION,
    Article,
    Visit,
    World,
    articles,
    web_of,
)

SECONDS: Final = 50.0
REQUESTS: Final = 400
EVERY: Final = 2.5
EVERGREEN: Final = 60
LAST: Final = 6.0
"""Seconds before the end in which births do not count: nobody has the time."""

COMMON: Final = {
    "CLOSESPIDER_TIMEOUT": SECONDS,
    "CLOSESPIDER_PAGECOUNT": REQUESTS,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0.05,
    "DOWNLOAD_DELAY_JITTER": 0.0,
    "ROBOTSTXT_OBEY": True,
    "FRONTS": [f"http://{host}/" for host in SITES],
    "EVERY": EVERY,
}

Kind = Callable[[Article], bool]

KINDS: Final[dict[str, Kind]] = {
    "portal": lambda article: "news.example" in article.url and article.section != UNKNOWN_SECTION,
    "feed or sitemap only": lambda article: any(host in article.url for host in SITES[1:]),
    "unknown section": lambda article: article.section == UNKNOWN_SECTION,
    "unknown host": lambda article: UNKNOWN_HOST in article.url,
}

CRAWLERS: Final = {
    "instant": "ours",
    "feeds": "feed poller",
    "breadth": "Scrapy, breadth first",
    "list": "list in use",
}

SHARES: Final = ("all sources", *KINDS)
COUNTS: Final = ("median delay", "p90 delay", "requests", "wasted")

Told = dict[str, Any]
"""A crawl as JSON: `delays` of the articles found, by URL; `born`, URLs by kind; counts."""


def told_of(born: Sequence[Article], visits: Sequence[Visit]) -> Told:
    """Return what a crawl came to; delays are in intervals between two visits."""
    first: dict[str, float] = {}
    for visit in visits:
        if "story" in visit.url and visit.status == 200:
            first.setdefault(visit.url, visit.time - visits[0].time)
    return {
        "delays": {
            article.url: (first[article.url] - article.birth) / EVERY
            for article in born
            if article.url in first
        },
        "born": {
            "all sources": [article.url for article in born],
            **{
                name: [article.url for article in born if is_of(article)]
                for name, is_of in KINDS.items()
            },
        },
        "requests": len(visits),
        "wasted": wasted(visits),
    }


def wasted(visits: Sequence[Visit]) -> int:
    """Count requests that brought nothing: failures, evergreen pages, what had not changed."""
    seen: dict[str, str] = {}
    count = 0
    for visit in visits:
        is_new = bool(visit.version) and seen.get(visit.url) != visit.version
        count += not is_new or "/wiki/" in visit.url
        seen[visit.url] = visit.version
    return count


def shares(outcome: Told) -> list[float]:
    """Return the share of all articles, and of those of each kind, that was found."""
    return [
        float(np.mean([u in outcome["delays"] for u in urls])) for urls in outcome["born"].values()
    ]


def delays(outcome: Told, among: Collection[str]) -> list[float]:
    """Return the median delay of some articles, and the 90th percentile."""
    late = [delay for url, delay in outcome["delays"].items() if url in among] or [np.nan]
    return [float(np.quantile(late, q)) for q in (0.5, 0.9)]


def _command(name: str, folder: Path) -> list[str]:
    if name != "instant":
        return [sys.executable, "-m", "benchmarks.live_spiders", name, json.dumps(COMMON)]
    (folder / "policy.json").write_text(as_text(PORTAL), "utf-8")
    settings = {
        "TEMPORAL_POLICY": str(folder / "policy.json"),
        "FOLDER": str(folder / "archive"),
        "TEMPORAL_SCHEME": "http",
        "TEMPORAL_INTERVAL_FACTOR": EVERY / 900,
        "TEMPORAL_TICK_SECONDS": EVERY / 50,
        "TEMPORAL_RELOAD_SECONDS": 0,
        "TEMPORAL_THROTTLE": False,
        "LOG_LEVEL": "ERROR",
        "DOWNLOAD_DELAY": COMMON["DOWNLOAD_DELAY"],
        "PAGES": REQUESTS,
        "SECONDS": SECONDS,
    }
    return [sys.executable, "-m", "tests.integration.crawling", json.dumps(settings), "instant"]


def crawl(name: str, seed: int) -> Told:
    """Crawl a new web once."""
    world = World(articles(seed, SECONDS))
    world.evergreen = EVERGREEN
    with web_of(world) as web, tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            _command(name, Path(folder)),
            # Locks of hosts, which hold for all crawls of a user, are its own.
            env={**os.environ, "http_proxy": web.address, "no_proxy": "", "TMPDIR": folder},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        born = [article for article in world.articles if article.birth < SECONDS - LAST]
        return told_of(born, list(web.visits))


def interval(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    """Return the 95 % interval of a mean over seeds, which are drawn again."""
    dice = np.random.default_rng(1)
    drawn = dice.choice(differences, (2000, len(differences))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def of_all(outcome: Told) -> list[float]:
    """Return the numbers of a row of the first table."""
    return [
        *shares(outcome),
        *delays(outcome, outcome["delays"]),
        outcome["requests"],
        outcome["wasted"],
    ]


def less(ours: Told, other: Told) -> list[float]:
    """Return the numbers of a row of the second; delays are of the articles that both found."""
    both = ours["delays"].keys() & other["delays"].keys()
    mine = [*shares(ours), *delays(ours, both), ours["requests"], ours["wasted"]]
    theirs = [*shares(other), *delays(other, both), other["requests"], other["wasted"]]
    return [a - b for a, b in zip(mine, theirs, strict=True)]


def tables(results_of: dict[str, list[Told]]) -> str:
    """Means of every crawler, and ours less each other with its interval over seeds."""
    names = (*SHARES, *COUNTS)
    rule = "|---|" + "---:|" * len(names)
    lines = ["| crawler | " + " | ".join(names) + " |", rule]
    for name, rows in results_of.items():
        mean = np.mean([of_all(row) for row in rows], axis=0)
        lines.append(f"| {CRAWLERS[name]} | " + " | ".join(map(_cell, names, mean)) + " |")
    lines += ["", "| ours less | " + " | ".join(names) + " |", rule]
    for name in [name for name in results_of if "instant" in results_of and name != "instant"]:
        each = np.array(
            [less(*two) for two in zip(results_of["instant"], results_of[name], strict=True)]
        )
        cells = [_difference(*two) for two in zip(names, each.T, strict=True)]
        lines.append(f"| {CRAWLERS[name]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(name: str, value: float) -> str:
    return f"{value:.0%}" if name in SHARES else f"{value:.{_digits(name)}f}"


def _difference(name: str, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    numbers = values[~np.isnan(values)]
    if not len(numbers):
        return "–"
    scale, digits = (100, 0) if name in SHARES else (1, _digits(name))
    mean, low, high = (scale * value for value in (numbers.mean(), *interval(numbers)))
    return f"{mean:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


def _digits(name: str) -> int:
    return 2 if "delay" in name else 0


def main() -> None:
    """Crawl and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--only", nargs="*", choices=CRAWLERS, default=list(CRAWLERS))
    parser.add_argument(
        "--keep", type=Path, help="a file for what crawls came to, which it goes on with"
    )
    given = parser.parse_args()
    Policy(PORTAL).match("https://news.example/")  # compiled before any clock runs
    results_of: dict[str, list[Told]] = {name: [] for name in given.only}
    if given.keep and given.keep.exists():
        results_of |= json.loads(given.keep.read_text("utf-8"))
    with ThreadPoolExecutor(len(results_of)) as pool:
        for seed in range(given.first, given.first + given.seeds):
            crawls = pool.map(crawl, results_of, [seed] * len(results_of))
            for name, done in zip(results_of, crawls, strict=True):
                results_of[name].append(done)
            if given.keep:
                given.keep.write_text(json.dumps(results_of), "utf-8")
    print(tables(results_of))


if __name__ == "__main__":
    main()
