"""Pages that an instant crawl of the demo finds, by a learned policy and by the list in use.

Run `python -m benchmarks.instant_crawl` (three minutes; `--seeds 1` one).

The policy is learned from the first 45 days of a corpus, by a window of 40. In the ten days after
them pages appear, and both crawlers fetch what their hubs show: ours what the policy wants now, the
other one everything on its sites, each watched from its front page. Both ask whether a hub has
changed before they download it again. Fetches take no time here; the same with real requests is
`pytest -m long tests/integration/test_instant_crawler.py`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from benchmarks.demo_over_time import DemoOverTime, read
from benchmarks.demo_policy import learn
from temporal_assets.demo import DemoOptions

LEARNED: Final = 45
WINDOW: Final = 40
CRAWLED: Final = 10.0
"""Days."""

RUNNING: Final = 1.0
"""Days that the crawls have been running before: pages of these may still be fetched."""

LONGEST_HOURS: Final = 24.0
"""Between visits to a hub: hubs that the budget does not reach daily are left out. Later than that,
most of the interest in a page is over."""

BUDGETS: Final = (4.0, 6.0, 12.0, 24.0, 72.0)
"""Visits to hubs a day, all together."""

OFTEN: Final = (24.0, 72.0)
"""The same for the list in use; 72 is each of its three sites once an hour."""

_DAY: Final = 86_400


@dataclass(frozen=True)
class Outcome:
    """Result of a crawl."""

    temporal: float
    """Temporal pages fetched that were born while it ran, as a share of those."""
    pages: float
    """Temporal pages, as a number."""
    requests: float
    downloads: float
    """Requests that were not answered with "not modified"."""
    late: float
    """Mean days from birth to fetching."""


def crawl(
    world: DemoOverTime, hubs: Mapping[str, float], wants: Callable[[str], bool], start: float
) -> Outcome:
    """Visit hubs at their intervals (days), and fetch at once what is new on them and wanted."""
    fetched: dict[str, float] = {}
    before: dict[str, list[str]] = {}
    visits = downloads = 0
    for now, url in _visits(hubs, start):
        visits += 1
        links = world.shown(url, now)
        if before.get(url) == links:
            continue
        before[url] = links
        downloads += 1
        waiting = list(links)
        while waiting:
            page = waiting.pop()
            if page not in fetched and page not in hubs and wants(page):
                fetched[page] = now
                waiting += world.shown(page, now)
    born = world.born(start, start + CRAWLED)
    late = [fetched[url] - birth for url, birth in born.items() if url in fetched]
    return Outcome(
        len(late) / len(born),
        len(late),
        visits + len(fetched),
        downloads + len(fetched),
        float(np.mean(late)) if late else 0.0,
    )


def _visits(hubs: Mapping[str, float], start: float) -> list[tuple[float, str]]:
    """Times of all visits; first visits are spread, as those of a crawl that has been running."""
    return sorted(
        (start + (number + place / len(hubs)) * interval, url)
        for place, (url, interval) in enumerate(hubs.items())
        for number in range(int(CRAWLED / interval) + 1)
        if (number + place / len(hubs)) * interval < CRAWLED
    )


def of_seed(seed: int, root: Path) -> dict[str, Outcome]:
    """All crawls of one corpus."""
    learned = learn(DemoOptions(seed=seed), root, LEARNED, WINDOW)
    start = float(LEARNED)
    world = read(root / "demo", start - RUNNING)
    outcomes = {}
    for visits in BUDGETS:
        policy = learned.with_hubs(visits_per_day=visits, longest_hours=LONGEST_HOURS).policy
        intervals = {hub["url"]: hub["interval_seconds"] / _DAY for hub in policy.document["hubs"]}
        outcomes[f"policy, {visits:.0f}"] = crawl(
            world, intervals, lambda url, p=policy: p.match(url).decision == "now", start
        )
    for visits in OFTEN:
        each = len(world.baseline) / visits
        outcomes[f"list in use, {visits:.0f}"] = crawl(
            world,
            {f"https://{host}/": each for host in world.baseline},
            lambda url: urlsplit(url).hostname in world.baseline,
            start,
        )
    return outcomes


def main() -> None:
    """Crawl and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    rows: dict[str, list[Outcome]] = {}
    for seed in range(1, parser.parse_args().seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            for name, outcome in of_seed(seed, Path(folder)).items():
                rows.setdefault(name, []).append(outcome)
    print("| visits to hubs a day | temporal pages | of all | requests | downloads | days late |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, outcomes in rows.items():
        share, pages, requests, downloads, late = np.mean([astuple(o) for o in outcomes], axis=0)
        print(
            f"| {name} | {pages:.0f} | {share:.0%} | {requests:.0f} | {downloads:.0f} |"
            f" {late:.2f} |"
        )


if __name__ == "__main__":
    main()
