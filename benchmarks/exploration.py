"""The worth of Thompson sampling in exploration, on demos over time.

Run `python -m benchmarks.exploration` (two minutes).

For forty days of a corpus every hub is visited once a day. Half of the sections, drawn by chance,
are unknown: their pages are fetched by the exploration share alone (`crawl.instant.explore`), 5 %
of all fetches. Hubs of one site also link its calendar, whose pages never end and are no news. An
exploring fetch pays if its page is new and says so, as the pages of half of the sites do. The
instant crawler takes pages first whose link is new, of the arm that wins a draw (Thompson
sampling). Beside it stand the same without regard to links, arms drawn by chance, and the arm that
has paid best.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from zlib import crc32

import numpy as np

from benchmarks.demo_over_time import DemoOverTime, read
from benchmarks.live_crawl import interval
from temporal_assets.core.crawls.exploration import choose
from temporal_assets.crawl.instant import explore
from temporal_assets.crawl.instant.explore import SHARE, Candidate, Explorer, arm_of
from temporal_assets.crawl.instant.hosts import host_of
from temporal_assets.demo import DemoOptions, generate

START: Final = 15.0
DAYS: Final = 40.0
RECENT_DAYS: Final = 2.0
CALENDAR: Final = 5
"""New links of the calendar on each hub of its site."""
_NO_NEWS: Final[dict[str, Any]] = {"birth": -np.inf, "is_temporal": False}

Choice = Callable[[Sequence[float], Sequence[float], np.random.Generator], int]


def by_chance(wins: Sequence[float], _losses: Sequence[float], random: np.random.Generator) -> int:
    """Return any arm."""
    return int(random.integers(len(wins)))


def best_so_far(wins: Sequence[float], losses: Sequence[float], _: np.random.Generator) -> int:
    """Return the arm with the largest share of fetches that paid; arms not tried have a half."""
    paid = (np.asarray(wins) + 1.0) / (np.asarray(wins) + np.asarray(losses) + 2.0)
    return int(np.argmax(paid))


OURS: Final = "Thompson sampling, new pages first"
ANY_PAGE: Final = "Thompson sampling, any page"
CHOICES: Final[dict[str, Choice]] = {
    OURS: choose,
    ANY_PAGE: choose,
    "best so far, new pages first": best_so_far,
    "by chance, new pages first": by_chance,
}


class Known:
    """The pages that were fetched, as the memory of a crawl."""

    def __init__(self) -> None:
        self.pages: set[str] = set()

    def arms(self) -> dict[str, tuple[float, float]]:
        """Return nothing: the crawl begins."""
        return {}

    def knows(self, page: str) -> bool:
        """Return whether a page was fetched."""
        return page in self.pages

    def keep_arm(self, *_: object) -> None:
        """Keep nothing: the crawl ends with the process."""


@dataclass
class Outcome:
    """Results of the fetches that explored."""

    fetches: int = 0
    new: int = 0
    temporal: int = 0
    """New pages that readers wanted for some days."""


def crawl(world: DemoOverTime, is_unknown: Callable[[str], bool], name: str, seed: int) -> Outcome:
    """Visit every hub once a day, and explore what is unknown."""
    known, outcome = Known(), Outcome()
    explorer = Explorer(known, SHARE, seed)  # type: ignore[arg-type]
    seen: set[str] = set()
    visited: set[str] = set()

    def offer(links: Sequence[str], source: str, *, may_be_new: bool) -> None:
        for url in links:
            if url in world.hubs or url in known.pages:
                continue
            if not is_unknown(url):
                known.pages.add(url)
                explorer.spent(exploring=False)
                continue
            arm = arm_of("site", host_of(url), url, None) or ""
            is_new = may_be_new and url not in seen and name != ANY_PAGE
            explorer.offer(Candidate(url, url, arm, source, is_new))
        seen.update(links)

    site = host_of(min(world.hubs))
    with patch.object(explore, "choose", CHOICES[name]):
        for now, hub in visits(world):
            explorer.spent(exploring=False)
            links = world.shown(hub, now)
            if host_of(hub) == site:
                links += [f"https://{site}/calendar/{now:.6f}/{n}" for n in range(CALENDAR)]
            offer(links, hub, may_be_new=hub in visited)
            visited.add(hub)
            while (candidate := explorer.take()) is not None:
                known.pages.add(candidate.url)
                page = world.pages.get(candidate.url, _NO_NEWS)
                is_new = now - page["birth"] < RECENT_DAYS
                if page is not _NO_NEWS and is_dated(candidate.url, seed):
                    explorer.learned(candidate.arm, paid=is_new)
                outcome.fetches += 1
                outcome.new += is_new
                outcome.temporal += is_new and page["is_temporal"]
                if page is not _NO_NEWS:
                    offer(world.shown(candidate.url, now), candidate.url, may_be_new=False)
    return outcome


def is_dated(url: str, seed: int) -> bool:
    """Return whether a site says when its pages were published: half of them do."""
    return bool(crc32(f"{seed} {host_of(url)}".encode()) % 2)


def visits(world: DemoOverTime) -> list[tuple[float, str]]:
    """Return when hubs are visited: each once a day, one after the other."""
    hubs = sorted(world.hubs)
    return [
        (START + day + place / len(hubs), hub)
        for day in range(int(DAYS))
        for place, hub in enumerate(hubs)
    ]


def of_seed(seed: int) -> dict[str, Outcome]:
    """Explore one corpus in each way."""
    with tempfile.TemporaryDirectory() as folder:
        generate(DemoOptions(seed=seed), Path(folder) / "demo")
        world = read(Path(folder) / "demo", 0.0)
    sections = sorted({(row["site"], row["section"]) for row in world.pages.values()})
    drawn = np.random.default_rng(seed).random(len(sections)) < 0.5
    unknown = {section for section, is_drawn in zip(sections, drawn, strict=True) if is_drawn}

    def is_unknown(url: str) -> bool:
        page = world.pages.get(url)
        return page is None or (page["site"], page["section"]) in unknown

    return {name: crawl(world, is_unknown, name, seed) for name in CHOICES}


def main() -> None:
    """Explore and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="*", default=[11, 12, 13, 14])
    outcomes = [of_seed(seed) for seed in parser.parse_args().seeds]
    names = ("new", "temporal")
    print("| choice | fetches | of new pages | of new temporal pages | ours less, new | temporal |")
    print("|---|" + "---:|" * 5)
    for name in CHOICES:
        fetches = np.array([o[name].fetches for o in outcomes])
        cells = [f"{fetches.mean():.0f}"]
        for kind in names:
            counts = np.array([getattr(o[name], kind) for o in outcomes])
            cells.append(f"{counts.mean():.0f} ({counts.sum() / fetches.sum():.0%})")
        for kind in names:
            less = np.array([getattr(o[OURS], kind) - getattr(o[name], kind) for o in outcomes])
            low, high = interval(less)
            cells.append(f"{less.mean():+.0f} [{low:+.0f}, {high:+.0f}]" if name != OURS else "")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
