"""`crawl_simulation`: every crawl order on the mirror, in sample and out of time (BB 5.3).

Here: which mirror, which sites, which days, and rows from curves. Not here: crawls and curves
(`crawl.evaluation`), arriving in time (`timely_simulation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from temporal_assets.core.crawls.crawl_curves import CrawlCurve
from temporal_assets.core.crawls.crawl_policies import SCENARIOS
from temporal_assets.crawl.evaluation import FEWEST_PAGES, evaluate
from temporal_assets.crawl.evaluation_results import Evaluation
from temporal_assets.crawl.mirror.mirror import (
    Mirror,
    identity,
    load,
    mirror_folder,
)
from temporal_assets.crawl.mirror.traffic import (
    CRAWL_SQL,
    Learning,
    Traffic,
    TrafficByPeriod,
    mirror_of,
    traffic_of,
)
from temporal_assets.reports.document import Missing
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS

Row = dict[str, Any]

MOST_SITES: Final = 20
"""Sites with the most views that are crawled. BB 5.1 has nine; the average of twenty says as much,
and the largest logs need no more time than this many sites."""

MOST_PAGES: Final = 5_000_000
"""Pages in the logs that the sites may have together: one that has more than the sites before it
have left is left out, and not replaced. Crawls are in memory, a kilobyte a page, as is a stored
mirror; the largest site of BB Table 2 has 1.7 million."""

LEARN_SHARE: Final = 0.5
"""Part of the days of the window that orders are learned from out of time; the days after them
score. BB 5.1 learns from one month and scores by the next five."""

THROUGHPUTS: Final = np.linspace(0.0, 1.0, 101)
"""Shares of the pages at which curves are kept; with those that BB 5.3.1 investigates."""

_SITES: Final = (
    "SELECT site, count(*) AS pages FROM page_totals GROUP BY site HAVING count(*) >= {pages}"
    " ORDER BY sum(total) DESC, site"
)


@dataclass(frozen=True, slots=True)
class Trial:
    """Days that crawl orders are learned from and days that score them; the same days in sample."""

    name: Literal["in_sample", "out_of_time"]
    learned: tuple[Manifest, ...]
    scored: tuple[Manifest, ...]


def trials(job: Job) -> list[Trial]:
    """Return the trial in sample, and out of time if the window has two days at least."""
    days = job.window("transits").manifests
    usual_trials = [Trial("in_sample", days, days)] if days else []
    first = round(len(days) * LEARN_SHARE)
    if 0 < first < len(days):
        usual_trials.append(Trial("out_of_time", days[:first], days[first:]))
    return usual_trials


def crawled_sites(job: Job) -> tuple[list[str], int]:
    """Return the most viewed sites with enough pages that fit into memory; how many do not fit."""
    viewed = _most_viewed(job)
    sites = fitting(viewed)
    left_out = len(viewed) - len(sites)
    if left_out:
        job.cut(
            f"{left_out} of the {len(viewed)} most viewed sites are not crawled on"
            f" paper: {MOST_PAGES:,} pages fit in memory"
        )
    return sites, left_out


def too_large(job: Job) -> Missing | None:
    """Return why no site is crawled, if all are left out for their size."""
    viewed = _most_viewed(job)
    if not viewed or fitting(viewed):
        return None
    return no_site_fits()


def no_site_fits() -> Missing:
    """Return the reason and the remedy where every site is too large."""
    reason = f"every site has more than {MOST_PAGES:,} pages"
    return Missing(reason, "read logs of smaller sites as well")


def fitting(sites: Iterable[tuple[str, int]]) -> list[str]:
    """Return the sites, in their order, that have `MOST_PAGES` pages together at most."""
    kept: list[str] = []
    left = MOST_PAGES
    for site, pages in sites:
        if pages <= left:
            kept.append(site)
            left -= pages
    return kept


def _most_viewed(job: Job) -> list[tuple[str, int]]:
    """Return the sites with the most views, each with its number of pages."""
    inputs = {"page_totals": job.files("page_totals")}
    query = _SITES.format(pages=FEWEST_PAGES)
    rows = job.engine.rows(query, inputs, MOST_SITES)
    return [(row["site"], row["pages"]) for row in rows]


def stored_mirror(settings: Settings) -> Mirror | None:
    """Return the stored mirror, or None if it is not stored yet."""
    folder = mirror_folder(settings)
    return None if identity(folder) is None else load(folder)


def stored_identity(settings: Settings) -> str | None:
    """Return an identity of the stored mirror: another mirror makes other crawls."""
    return identity(mirror_folder(settings))


def traffic(job: Job, sites: Sequence[str]) -> Traffic:
    """Return the traffic of the window."""
    return traffic_of(job.engine, job.transits(), job.out / "traffic", sites)


def _periods(job: Job, planned: Sequence[Trial], sites: Sequence[str]) -> TrafficByPeriod:
    """Return the traffic of the days that teach, in two halves, and of those that score."""
    learned = planned[-1].learned
    bounds = {"second_from": learned[len(learned) // 2].day} if len(learned) > 1 else {}
    if len(planned) > 1:
        bounds["third_from"] = planned[-1].scored[0].day
    return TrafficByPeriod(job.engine, job.transits(), job.out / "traffic", sites, **bounds)


def _learning(users: TrafficByPeriod, trial: Trial, is_split: bool) -> tuple[Learning, Traffic]:
    """Return the traffic that a trial learns from, and the traffic that scores it."""
    if trial.name == "in_sample":
        whole = users.of(1, 2, 3)
        parts = (users.of(1, 2), users.of(3)) if is_split else (None, None)
        return Learning(whole, *parts), whole
    parts = (users.of(1), users.of(2)) if len(trial.learned) > 1 else (None, None)
    return Learning(users.of(1, 2), *parts), users.of(3)


def judge(job: Job) -> list[Row]:
    """Return the rows of `crawl_simulation`; none where no site can be crawled."""
    sites, left_out = crawled_sites(job)
    planned = trials(job)
    if not sites or not planned:
        return []
    users = _periods(job, planned, sites)
    stored = stored_mirror(job.settings)
    if not len(users.of(1, 2, 3).pages):
        return []  # views were counted, and nobody is known to have come to a page
    mirror = mirror_of(users.of(1, 2, 3)) if stored is None else stored
    kind = "transits" if stored is None else "stored"
    rows: list[Row] = []
    for trial in planned:
        learned, scored = _learning(users, trial, is_split=len(planned) > 1)
        result = evaluate(mirror, learned, scored.pages, sites)
        if result.sites:
            facts = _facts(job, trial, kind, result)
            facts["left_out"] += left_out
            rows += [facts | row for row in _points(result)]
    return rows


def _facts(job: Job, trial: Trial, kind: str, result: Evaluation) -> Row:
    """Return the columns of a row that describe the trial and what was crawled."""
    return {
        "day": job.day,
        "trial": trial.name,
        "mirror": kind,
        "sites": len(result.sites),
        "left_out": len(result.skipped),
        "pages": sum(site.pages for site in result.sites),
        "visited_pages": sum(site.visited for site in result.sites),
        "links": sum(site.links for site in result.sites),
        "learned_from": trial.learned[0].day,
        "learned_until": trial.learned[-1].day,
        "scored_from": trial.scored[0].day,
        "scored_until": trial.scored[-1].day,
    }


def _points(result: Evaluation) -> Iterator[Row]:
    """Yield the points of all curves, with values of the whole curve repeated in each."""
    for scenario in SCENARIOS:
        curves = result.mean(scenario)
        best = result.best_baseline(scenario, THROUGHPUTS)
        for name, curve in curves.items():
            whole: Row = {
                "scenario": scenario,
                "crawl_order": name,
                "area": curve.area,
                "pages_50": curve.pages_for(0.5),
                "pages_80": curve.pages_for(0.8),
                "pages_90": curve.pages_for(0.9),
            }
            for other in ("breadth_first", "page_rank"):
                whole[f"pages_80_less_{other}"] = _less(curve, curves[other])
                whole[f"sites_ahead_of_{other}"] = result.sites_ahead(scenario, name, other)
            gain = result.gain(scenario, name, best, THROUGHPUTS)
            for i, share in enumerate(curve.at(THROUGHPUTS)):
                yield whole | {
                    "throughput": i / (len(THROUGHPUTS) - 1),
                    "traffic_share": float(share),
                    "best_baseline": best[i],
                    "traffic_less_best": float(gain.mean[i]),
                    "traffic_less_best_low": None if gain.low is None else float(gain.low[i]),
                    "traffic_less_best_high": None if gain.high is None else float(gain.high[i]),
                }


def _less(curve: CrawlCurve, other: CrawlCurve) -> float | None:
    mine, theirs = curve.pages_for(0.8), other.pages_for(0.8)
    return None if mine is None or theirs is None else mine - theirs


def _make(job: Job) -> Sequence[Path]:
    return job.write_rows(judge(job))


CRAWL_SIMULATION: Final = WindowAsset(
    "crawl_simulation",
    _make,
    waits=True,
    windows=("transits",),
    tables=(PAGE_TOTALS,),
    sql=CRAWL_SQL,
    settings=lambda settings: [
        settings.window.days,
        settings.cleaning.model_dump(mode="json"),
        MOST_SITES,
        MOST_PAGES,
        LEARN_SHARE,
        stored_identity(settings),
    ],
)
