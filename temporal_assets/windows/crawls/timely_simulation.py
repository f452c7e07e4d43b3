"""`timely_simulation`: which crawler arrives while pages are of interest (Lefortier et al. 2013).

Here: the world of a window and what crawlers know of it, from tables. Not here: the crawl
(`core.crawls.timely_simulation`) and the strategies (`core.crawls.timely_strategies`).

The pages are those of the mirror; links are those of the mirror and those that users followed. A
page that is reliable and was seen for the first time during the crawl is born then, at the hour its
interest curve says; one without a curve, which was mostly opened on a single day, is born at any
moment of that day and has the half-life of all such pages. All others are known at the start. Links
leave hubs as `hub_seeds` says of this window, for all strategies alike.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import passing
from temporal_assets.core.crawls.timely_simulation import (
    GOLDEN,
    NEVER,
    Lead,
    Strategy,
    TimelyResult,
    TimelyWorld,
    lead_of,
    simulate_timely,
)
from temporal_assets.core.crawls.timely_strategies import HubFacts, Knowledge, strategies
from temporal_assets.core.curves.histories import births_a_day
from temporal_assets.core.graph.link_graph import LinkGraph, link_graph
from temporal_assets.core.hubs.interest import half_lives
from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s
from temporal_assets.core.text.page_section import SECTION
from temporal_assets.crawl.mirror.mirror import Mirror
from temporal_assets.crawl.mirror.traffic import CRAWL_SQL, mirror_of
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.logs.urls.canonical import site_of
from temporal_assets.windows.crawls.crawl_simulation import (
    MOST_PAGES,
    MOST_SITES,
    crawled_sites,
    stored_identity,
    stored_mirror,
    traffic,
)
from temporal_assets.windows.evaluation.trials import baseline
from temporal_assets.windows.frame.asset import Job, WindowAsset, learned_days
from temporal_assets.windows.frame.days import histories_window
from temporal_assets.windows.frame.given_files import content_of_file, file_in
from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.windows.labels.interest_curves import INTEREST_CURVES
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS

Row = dict[str, Any]

BUDGETS: Final = (1.0, 2.0, 5.0, 10.0)
"""Fetches an hour for a thousand pages: from every page once in six weeks to once in four days."""

_HOURS: Final = 24.0
_SEEDS: Final = (
    *("url", "rank", "revisit_minutes", "new_per_day"),
    *("half_life_hours", "interest_missed"),
)
_BEFORE: Final = -1e9
"""Birth of the pages that are known at the start: before the crawl."""

_NEW_PAGES: Final = (
    "SELECT birth, count(*) AS pages FROM page_histories"
    " INNER JOIN crawled_sites ON crawled_sites.site = page_histories.site GROUP BY birth"
)

_TIMELY_PAGES: Final = passing(
    "timely_pages",
    "url VARCHAR, birth DATE, total BIGINT, one_day BIGINT, three_days BIGINT, b DOUBLE,"
    " mu DOUBLE, sigma DOUBLE, is_temporal BOOLEAN, expected DOUBLE",
)


@dataclass(frozen=True, slots=True)
class Period:
    """The period of a crawl, and the day on which its hubs were learned."""

    trial: Literal["in_sample", "out_of_time"]
    horizon: int
    learned_until: dt.date
    first: dt.date
    last: dt.date

    @property
    def hours(self) -> float:
        """Length of the crawl."""
        return ((self.last - self.first).days + 1) * _HOURS


def periods(job: Job) -> list[Period]:
    """Return the period in sample, and one for every horizon whose earlier window is published."""
    evaluation = job.settings.evaluation
    last = job.day - dt.timedelta(days=evaluation.settle_days)
    longest = max(evaluation.horizons, default=job.settings.window.days)
    # On the first day of a window every page is seen for the first time.
    first = max(last - dt.timedelta(days=longest - 1), job.first + dt.timedelta(days=1))
    usual_periods = [Period("in_sample", 0, job.day, first, last)] if first <= last else []
    for horizon, day in learned_days(job.settings, job.day).items():
        begin = max(day + dt.timedelta(days=1), job.first + dt.timedelta(days=1))
        file_lists = (job.learned_on(name, day) for name in ("hub_seeds", "page_histories"))
        if begin <= last and all(files is not None for files in file_lists):
            usual_periods.append(Period("out_of_time", horizon, day, begin, last))
    return usual_periods


def judge(job: Job) -> list[Row]:
    """Return rows of `timely_simulation`; none where no site can be crawled or no page is born."""
    return [row for world in worlds(job) for row in _rows(job, *world)]


def worlds(job: Job) -> Iterator[tuple[Period, TimelyWorld, Knowledge]]:
    """Yield, for every crawl of a window, its period, its world and what is known at its start."""
    sites, _ = crawled_sites(job)
    planned = periods(job)
    if not sites or not planned:
        return
    users = traffic(job, sites)
    if not len(users.pages):
        return  # views were counted, and nobody is known to have come to a page
    stored = stored_mirror(job.settings)
    mirror = mirror_of(users) if stored is None else stored
    ends = [mirror.number(users.transits.column(c)) for c in ("referrer", "target")]
    crawled = _mirrored_sites(job, mirror)
    for period in planned:
        born = _born(job, period, crawled)
        number = mirror.number(born.column("url"))
        born, number = born.filter(pa.array(number >= 0)), number[number >= 0]
        if len(number):
            world = _world(job, period, mirror, ends, born, number)
            yield period, world, _knowledge(job, period, mirror, crawled, born, number)


def _mirrored_sites(job: Job, mirror: Mirror) -> list[str]:
    """Write the sites of the mirror to a Parquet file and return its path."""
    sites = job.out / "mirrored_sites.parquet"
    pq.write_table(pa.table({"site": pa.array(mirror.sites, pa.string())}), sites)
    return [str(sites)]


def _born(job: Job, period: Period, crawled: list[str]) -> pa.Table:
    """Return pages of mirrored sites born during the crawl, with the usual views of such pages."""
    inputs = {
        name: job.files(name) for name in ("page_histories", "interest_curves", "page_labels")
    }
    before = job.learned_on("page_histories", period.learned_until)
    inputs["known_histories"] = inputs["page_histories"] if before is None else before
    inputs["crawled_sites"] = crawled
    parameters = {
        "first": job.first,
        "born_from": period.first,
        "born_until": period.last,
        "section": SECTION,
    }
    written = job.engine.query("timely_pages", inputs, parameters, _TIMELY_PAGES, job.out)
    return whole_table(written)


def _world(
    job: Job,
    period: Period,
    mirror: Mirror,
    steps: Sequence[np.ndarray[Any, np.dtype[np.int64]]],
    born: pa.Table,
    number: np.ndarray[Any, np.dtype[np.int64]],
) -> TimelyWorld:
    """Return what happens in the simulation: links, births, curves, interest."""
    pages = len(mirror)
    birth = np.full(pages, _BEFORE)
    birth[number] = birth_hours(job.first, period.first, born)
    mu, sigma, interest = np.zeros(pages), np.ones(pages), np.zeros(pages)
    mu[number] = np.asarray(pc.fill_null(born.column("mu"), usual_mu(born)))
    sigma[number] = np.asarray(pc.fill_null(born.column("sigma"), 1.0))
    interest[number] = born.column("total").to_numpy()
    is_temporal = np.zeros(pages, np.bool_)
    is_temporal[number] = np.asarray(born.column("is_temporal"))
    links = _links(mirror, steps, birth)
    shown = np.zeros(pages, np.int64)
    stay = stays(links, *_hub_leaves(job, mirror))
    return TimelyWorld(links, shown, birth, mu, sigma, interest, is_temporal, stay)


def usual_mu(born: pa.Table) -> float:
    """Return mu for pages without a curve: the log of their usual half-life in days."""
    rest = born.filter(pc.is_null(born.column("mu")))
    total = float(pc.sum(rest.column("total")).as_py() or 0)
    parts = (pc.sum(rest.column(name)).as_py() or 0 for name in ("one_day", "three_days"))
    # As if half a view more had come later: a share of 1 has no half-life.
    first_day_share, three_day_share = (np.array([(part + 0.5) / (total + 1.0)]) for part in parts)
    return float(np.log(half_lives(first_day_share, three_day_share)[0]))


def _hub_leaves(job: Job, mirror: Mirror) -> tuple[np.ndarray[Any, Any], Floats]:
    """Return the numbers of this window's hubs, and the rate per day at which links leave each."""
    names = ["url", "half_life_hours", "interest_missed"]
    hubs = job.store.read("hub_seeds", job.day, names)
    place = mirror.number(hubs.column("url"))
    return place[place >= 0], leave_of(hubs)[place >= 0]


def leave_of(hubs: pa.Table) -> Floats:
    """Return the rate per day at which links leave each hub, from rows of `hub_seeds`."""
    missed = hubs.column("interest_missed").to_numpy()
    half_life = hubs.column("half_life_hours").to_numpy() / _HOURS
    return np.asarray(np.log(2) / half_life * missed / (1 - missed))


def stays(links: LinkGraph, hubs: np.ndarray[Any, Any], leave: Floats) -> Floats:
    """Return the hours for which each link stays on its page.

    The hours are evenly spaced quantiles of an exponential distribution, not random draws.
    """
    stay = np.full(len(links.target), np.inf)
    for hub, rate in zip(hubs.tolist(), leave.tolist(), strict=True):
        first, last = links.first[hub], links.first[hub + 1]
        chance = (np.arange(1, last - first + 1) * GOLDEN) % 1.0
        if rate > 0:
            stay[first:last] = -np.log1p(-chance) / rate * _HOURS
    return stay


def birth_hours(window_first: dt.date, crawl_first: dt.date, born: pa.Table) -> Floats:
    """Return the hour of each birth since the crawl began, by the page's curve.

    Births are within the day of the first views; without a curve they are spread evenly over it.
    """
    days = born.column("birth").cast(pa.int32()).to_numpy().astype(np.float64)
    epoch = dt.date(1970, 1, 1)
    first = (window_first - epoch).days
    fitted = first + np.asarray(pc.fill_null(born.column("b"), -np.inf))
    ends = np.nextafter(days + 1.0, days)  # the next day is not this one
    spread = days + (np.arange(len(days)) * GOLDEN) % 1.0
    fitted = np.where(np.isfinite(fitted), fitted, spread)
    hour = np.clip(fitted, days, ends) - (crawl_first - epoch).days
    return np.asarray(hour * _HOURS)


def _links(
    mirror: Mirror, steps: Sequence[np.ndarray[Any, np.dtype[np.int64]]], birth: Floats
) -> LinkGraph:
    """Return links of the mirror and the steps of users, those of a page in the order of birth."""
    pages = len(mirror)
    inside = (steps[0] >= 0) & (steps[1] >= 0)
    sources: Int32s = np.repeat(np.arange(pages, dtype=np.int32), np.diff(mirror.links.first))
    source = np.concatenate((sources, steps[0][inside].astype(np.int32)))
    target = np.concatenate((mirror.links.target, steps[1][inside].astype(np.int32)))
    order = np.argsort(birth[target], kind="stable")
    return link_graph(pages, source[order], target[order])


def _knowledge(
    job: Job,
    period: Period,
    mirror: Mirror,
    crawled: list[str],
    born: pa.Table,
    number: np.ndarray[Any, np.dtype[np.int64]],
) -> Knowledge:
    """Return what crawlers know at its beginning: hubs, intervals, lists."""
    pages = len(mirror)
    seeds = job.store.read("hub_seeds", period.learned_until, list(_SEEDS))
    seeds = seeds.filter(pc.is_valid(seeds.column("rank")))
    place = mirror.number(seeds.column("url"))
    minutes = seeds.column("revisit_minutes").to_numpy()
    hours = np.full(pages, NEVER)
    hours[place[place >= 0]] = minutes[place >= 0] / 60.0
    expected = np.zeros(pages)
    expected[number] = born.column("expected").to_numpy()
    fronts, listed = _listed(job, mirror)
    per_hour = new_per_hour(job, period.learned_until, crawled)
    usual = expected[number].mean() if len(number) else 0.0
    return Knowledge(hours, expected, per_hour, fronts, listed, _facts(seeds, place, usual))


def _facts(seeds: pa.Table, place: np.ndarray[Any, Any], views: float) -> HubFacts:
    """Return what `hub_seeds` says of the hubs that are in the mirror."""
    there = place >= 0
    return HubFacts(
        place[there],
        seeds.column("new_per_day").to_numpy()[there],
        np.full(int(there.sum()), views),
        seeds.column("half_life_hours").to_numpy()[there] / _HOURS,
        leave_of(seeds)[there],
    )


def new_per_hour(job: Job, day: dt.date, crawled: list[str]) -> float:
    """Return how many pages of crawled sites were born per hour, by the window ending on `day`."""
    histories = job.store.require("page_histories", day)
    first, observed = histories_window(histories)
    lives = {"page_histories": job.store.paths(histories), "crawled_sites": crawled}
    births = np.zeros(len(observed))
    for row in job.engine.rows(_NEW_PAGES, lives, len(observed)):
        births[(row["birth"] - first).days] = row["pages"]
    return births_a_day(births, observed) / _HOURS


def _listed(job: Job, mirror: Mirror) -> tuple[Flags | None, Flags | None]:
    """Return flags of the front pages and of all pages of the sites in the list in use, if any."""
    entries = baseline(job.settings)
    if entries is None:
        return None, None
    place = mirror.number(pa.array(entries.urls, pa.large_string()))
    if not (place >= 0).any():
        return None, None
    fronts, listed = np.zeros(len(mirror), np.bool_), np.zeros(len(mirror), np.bool_)
    fronts[place[place >= 0]] = True
    hosts = {site_of(url) for url in entries.urls}
    for i, site in enumerate(mirror.sites):
        listed[mirror.first[i] : mirror.first[i + 1]] = site in hosts
    return fronts, listed


def _rows(job: Job, period: Period, world: TimelyWorld, knowledge: Knowledge) -> Iterator[Row]:
    """Yield a row for each budget and strategy in one period."""
    is_born = world.birth >= 0
    facts: Row = {
        "day": job.day,
        "trial": period.trial,
        "horizon_days": period.horizon,
        "learned_until": period.learned_until,
        "crawled_from": period.first,
        "crawled_until": period.last,
        "hours": period.hours,
        "pages": int((~is_born).sum()),
        "born": int(is_born.sum()),
        "temporal": int((is_born & world.is_temporal).sum()),
    }
    for share in BUDGETS:
        budget = share * len(is_born) / 1_000
        by_name = strategies(world, knowledge, budget)
        crawls = {
            name: simulate_timely(world, strategy, budget, period.hours)
            for name, strategy in by_name.items()
        }
        for name, done in crawls.items():
            lead = lead_of(world, done, crawls["ours"], period.hours)
            yield (
                facts
                | {"fetches_per_hour": budget, "strategy": name}
                | _row(done, lead, by_name[name], is_born)
            )


def _row(done: TimelyResult, lead: Lead, strategy: Strategy, is_born: Flags) -> Row:
    """Return the columns of a row that say how a strategy did."""
    watched = np.isfinite(strategy.interval) & ~is_born & strategy.is_allowed
    return {
        "remaining": done.remaining,
        "remaining_low": done.remaining_low,
        "remaining_high": done.remaining_high,
        "remaining_less_ours": lead.share,
        "remaining_less_ours_low": lead.low,
        "remaining_less_ours_high": lead.high,
        "temporal_remaining": done.temporal_remaining,
        "temporal_fetched": done.temporal_fetched,
        "median_delay_hours": _known_or_none(done.median_delay),
        "median_delay_low_hours": _known_or_none(done.median_delay_low),
        "median_delay_high_hours": _known_or_none(done.median_delay_high),
        "delay_90_hours": _known_or_none(done.delay_90),
        "fetches": done.fetches,
        "wasted": done.wasted,
        "watched": int(watched.sum()),
    }


def _known_or_none(value: float) -> float | None:
    return None if np.isnan(value) else value


def _make(job: Job) -> Sequence[Path]:
    return job.write_rows(judge(job))


TIMELY_SIMULATION: Final = WindowAsset(
    "timely_simulation",
    _make,
    waits=True,
    windows=("transits",),
    tables=(PAGE_TOTALS, PAGE_HISTORIES, INTEREST_CURVES, PAGE_LABELS, HUB_SEEDS),
    learned=(PAGE_HISTORIES, HUB_SEEDS),
    sql=(*CRAWL_SQL, "timely_pages"),
    settings=lambda settings: [
        settings.window.days,
        settings.cleaning.model_dump(mode="json"),
        settings.evaluation.horizons,
        settings.evaluation.settle_days,
        MOST_SITES,
        MOST_PAGES,
        content_of_file(file_in(settings.state, settings.baseline.path)),
        stored_identity(settings),
    ],
)
