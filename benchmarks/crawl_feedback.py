"""The worth of feeding crawl results back into the intervals of hubs, on demos over time.

Run `python -m benchmarks.crawl_feedback` (a minute and a half).

A policy is learned from the first 45 days of a corpus, and crawls the ten days after them, while
pages appear. Without feeding back every hub keeps the interval of the policy; with it the interval
grows while a hub brings less than the policy promises, counting only pages that no other hub had
shown before, as the instant crawler does at every visit (`core.crawls.visit_rates.stretch`). A
third crawl feeds nothing back and has all its intervals longer by one factor, so that it makes as
many visits as the second. A fourth also feeds delay back: hubs whose pages were fetched late have
shorter intervals, and the others longer ones, so that the sum of visits stays that of the second.
All fetch what the policy wants now. The differences have 95 % intervals over seeds.
"""

from __future__ import annotations

import argparse
import heapq
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.demo_over_time import DemoOverTime, read
from benchmarks.demo_policy import learn
from benchmarks.instant_crawl import CRAWLED, LEARNED, RUNNING, WINDOW
from benchmarks.live_crawl import interval
from temporal_assets.core.crawls.visit_rates import LONGEST, MOST_STRETCH, stretch
from temporal_assets.demo import DemoOptions

_DAY: Final = 86_400.0


@dataclass(frozen=True)
class Outcome:
    """A crawl of ten days."""

    pages: float
    """Temporal pages fetched that were born while it ran."""
    of_all: float
    visits: float
    """Visits to hubs, a day."""
    unchanged: float
    """Visits that found nothing new, a day."""
    late: float
    """Mean hours from birth to fetching."""


class Intervals:
    """Days between two visits of each hub, as they are by what was found so far."""

    def __init__(self, every: Mapping[str, float]) -> None:
        self._places = {url: place for place, url in enumerate(every)}
        self._every = np.array(list(every.values()))
        self._longer = np.ones(len(every))
        self._late, self._pages = np.zeros(len(every)), np.zeros(len(every))

    def lengthen(self, url: str, factor: float) -> None:
        """Make the interval of a hub so many times longer."""
        self._longer[self._places[url]] = factor

    def count(self, url: str, late: Sequence[float]) -> None:
        """Count by how many days the pages of a visit were fetched late."""
        self._late[self._places[url]] += sum(late)
        self._pages[self._places[url]] += len(late)

    def days(self, url: str, *, by_delay: bool) -> float:
        """Return the days until the next visit of a hub.

        By delay, a hub whose pages are twice as late as usual has twice the visits, and the sum of
        all visits stays. One page as late as usual stands for what is believed of a hub before.
        """
        place = self._places[url]
        longest = np.minimum(self._every * self._longer, LONGEST / _DAY)
        intervals = np.maximum(self._every, longest)
        if not by_delay or not self._pages.any():
            return float(intervals[place])
        usual = self._late.sum() / self._pages.sum()
        late = (self._late / usual + 1.0) / (self._pages + 1.0)
        weights = np.clip(late, 1 / MOST_STRETCH, MOST_STRETCH)
        scale = (weights / intervals).sum() / (1.0 / intervals).sum()
        return float(intervals[place] * scale / weights[place])


def crawl(
    world: DemoOverTime,
    hubs: Mapping[str, Mapping[str, Any]],
    wants: Callable[[str], bool],
    *,
    feeds_back: bool,
    by_delay: bool = False,
) -> Outcome:
    """Visit hubs when they are due, and fetch at once what is new on them and wanted."""
    start, end = float(LEARNED), LEARNED + CRAWLED
    every = {url: hub["interval_seconds"] / _DAY for url, hub in hubs.items()}
    intervals = Intervals(every)
    births = world.born(start, end)
    due = [(start + n / len(hubs) * every[url], url) for n, url in enumerate(hubs)]
    heapq.heapify(due)
    fetched: dict[str, float] = {}
    new_pages = dict.fromkeys(hubs, 0)
    before: dict[str, list[str]] = {}
    visits = unchanged = 0
    while due and due[0][0] < end:
        now, url = heapq.heappop(due)
        visits += 1
        links = world.shown(url, now)
        unchanged += before.get(url) == links
        is_first = url not in before
        new = [page for page in links if page not in fetched and page not in hubs and wants(page)]
        before[url] = links
        fetched |= dict.fromkeys(new, now)
        new_pages[url] += 0 if is_first else len(new)
        if feeds_back:
            expected = (now - start) * (hubs[url]["new_per_day"] or 0.0)
            intervals.lengthen(url, stretch(expected, new_pages[url]))
        intervals.count(url, [now - births[page] for page in new if page in births])
        heapq.heappush(due, (now + intervals.days(url, by_delay=by_delay), url))
    late = [fetched[page] - birth for page, birth in births.items() if page in fetched]
    hours = 24 * float(np.mean(late)) if late else 0.0
    return Outcome(len(late), len(late) / len(births), visits / CRAWLED, unchanged / CRAWLED, hours)


NO: Final = "no"
YES: Final = "yes"
FEWER: Final = "no, as few visits"
LATE: Final = "yes, and delay"


def of_seed(seed: int) -> dict[tuple[str, str], Outcome]:
    """Crawl one corpus by the intervals of the default and of 1,000 visits a day."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        learned = learn(DemoOptions(seed=seed), root, LEARNED, WINDOW)
        world = read(root / "demo", LEARNED - RUNNING)
        outcomes: dict[tuple[str, str], Outcome] = {}
        for name, more in (
            ("by default", {}),
            ("1,000 a day", {"visits_per_day": 1000.0}),
        ):
            policy = learned.with_hubs(**more).policy
            entries = {hub["url"]: hub for hub in policy.document["hubs"]}
            wants: dict[str, bool] = {}

            def is_wanted(url: str, wants: dict[str, bool] = wants, policy: Any = policy) -> bool:
                if url not in wants:
                    wants[url] = policy.match(url).decision == "now"
                return wants[url]

            for label, feeds_back in ((NO, False), (YES, True)):
                outcomes[name, label] = crawl(world, entries, is_wanted, feeds_back=feeds_back)
            outcomes[name, LATE] = crawl(world, entries, is_wanted, feeds_back=True, by_delay=True)
            longer = outcomes[name, NO].visits / outcomes[name, YES].visits
            slower = {
                url: {**hub, "interval_seconds": longer * hub["interval_seconds"]}
                for url, hub in entries.items()
            }
            outcomes[name, FEWER] = crawl(world, slower, is_wanted, feeds_back=False)
        return outcomes


def main() -> None:
    """Crawl and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3, 4])
    parser.add_argument(
        "--keep", type=Path, help="a file of JSON lines for what crawls came to, to go on with"
    )
    given = parser.parse_args()
    crawled = [(key, outcome) for seed in given.seeds for key, outcome in of_seed(seed).items()]
    if given.keep:
        with given.keep.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps([key, astuple(outcome)]) + "\n" for key, outcome in crawled)
        lines = map(json.loads, given.keep.read_text("utf-8").splitlines())
        crawled = [((key[0], key[1]), Outcome(*numbers)) for key, numbers in lines]
    rows: dict[tuple[str, str], list[Outcome]] = {}
    for key, outcome in crawled:
        rows.setdefault(key, []).append(outcome)
    print(tables(rows))


def tables(rows: dict[tuple[str, str], list[Outcome]]) -> str:
    """Return the means of all crawls, and what feeding back changes."""
    names = "pages | of all | visits | unchanged | hours late |"
    rule = "|---|---|" + "---:|" * 5
    lines = [f"| visits to hubs | feeding back | {names}", rule]
    for (name, label), outcomes in rows.items():
        pages, of_all, visits, unchanged, late = np.mean([astuple(o) for o in outcomes], axis=0)
        lines.append(
            f"| {name} | {label} | {pages:.1f} | {of_all:.1%} |"
            f" {visits:,.0f} | {unchanged:,.0f} | {late:.2f} |"
        )
    lines += ["", f"| visits to hubs | feeding back less | {names}", rule]
    for name, label in (key for key in rows if key[1] != YES):
        each = np.array([astuple(o) for o in rows[name, YES]])
        each -= np.array([astuple(o) for o in rows[name, label]])
        cells = []
        for values, digits in zip(each.T, (1, 3, 0, 0, 2), strict=True):
            low, high = interval(values)
            cells.append(f"{values.mean():+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]")
        lines.append(f"| {name} | {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
