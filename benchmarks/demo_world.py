"""The demo's world beside the real sets: each statistic that its constants were fitted to.

    python -m benchmarks.demo_world [--data ../shared/data] [--seed 1] [--world NAME=FILE ...]

prints a table with what the real sets say and what a corpus of the demo says. The same statistics
of another version of the demo come from `--save FILE` there and `--world NAME=FILE` here.

The demo's numbers come from the requests it draws, before they are lines of a log; that logs lead
to the same views is shown elsewhere (tests/integration/test_demo_truth.py). Its constants were
chosen by looking at all of these sets, so the demo is a place to try things, not evidence for
them: `benchmarks.real_predictions` has that.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks import real_visits
from temporal_assets.demo import mirror
from temporal_assets.demo.files import style_of
from temporal_assets.demo.formats import escape_of, external_referrers
from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.scale import views_of_corpus
from temporal_assets.demo.world.pages import FRONT, make_pages
from temporal_assets.demo.world.requests import DAY_MS
from temporal_assets.demo.world.sites import PageKind, SiteKind, make_sites
from temporal_assets.demo.world.urls import make_urls
from temporal_assets.demo.world.visits import SiteWorld, page_requests

Numbers = dict[str, float]
Floats = NDArray[np.float64]

OPTIONS: Final = DemoOptions(pages=20_000, requests=3_000_000, clients=200_000, mirror=False)
"""Options of the measured corpus: larger than the default's, for stable shares."""

_SETTLES: Final = 5.0
"""Days for which the life of a page is watched: the portal's clicks span eight."""
_READ: Final = 20
"""Views within them that make a life worth measuring."""
_TOP: Final = 10
"""Articles of a day that lead to the most new ones."""
_NEWS_FROM: Final = dt.date(2022, 9, 1)
"""First of the 60 days of `top_news_arrivals` that are looked at."""


@dataclass(frozen=True, slots=True)
class Views:
    """Views of one site's pages, hubs left out, in order of time."""

    page: NDArray[np.int64]
    at: Floats
    """Days since midnight of the first day."""
    source: NDArray[np.int64]
    """Page (not a hub) from which it was opened; -1 if none."""

    @property
    def births(self) -> Floats:
        """First view of each page."""
        births = np.full(int(self.page.max(initial=-1)) + 1, np.inf)
        np.minimum.at(births, self.page, self.at)
        return births

    def between(self, first: float, last: float) -> Views:
        """Views of some days, with times from the first of them on."""
        kept = (self.at >= first) & (self.at < last)
        return Views(self.page[kept], self.at[kept] - first, self.source[kept])


def popularity(views: Views) -> Numbers:
    """Measure how views are spread over the pages that anybody opened."""
    counts = np.sort(np.bincount(views.page))[::-1]
    counts = counts[counts > 0]
    return {
        "opened pages with one view": float((counts == 1).mean()),
        "views of the first 1 % of the pages": share(counts[: max(len(counts) // 100, 1)], counts),
        "views of the first page": share(counts[:1], counts),
    }


def share(part: NDArray[Any], whole: NDArray[Any]) -> float:
    """Sum of a part relative to that of the whole."""
    return float(part.sum() / whole.sum())


def lives(views: Views, days: float) -> Numbers:
    """Measure how fast interest comes in pages first opened after the first day."""
    births = views.births
    age = views.at - births[views.page]
    born = (births >= 1) & (births < days - _SETTLES)
    kept = born[views.page] & (age < _SETTLES)
    counts = np.bincount(views.page[kept], minlength=len(births))
    ages = [age[kept & (views.page == page)] for page in np.flatnonzero(counts >= _READ)]
    logs = [np.log(age_of_page[age_of_page > 0] + 1 / 96) for age_of_page in ages]
    mu, sigma = (np.array([of(log) for log in logs]) for of in (np.mean, np.std))
    one_day = _days_seen(views, kept)[counts >= 2] == 1
    return {
        "lives measured": len(ages),
        "e^mu, days (median)": float(np.exp(np.median(mu))),
        "mu, spread": float(mu.std()),
        "sigma (tenth)": float(np.quantile(sigma, 0.1)),
        "sigma (nine tenths)": float(np.quantile(sigma, 0.9)),
        **{
            f"interest within {hours} h": float(
                np.mean([(age_of_page < hours / 24).mean() for age_of_page in ages])
            )
            for hours in (6, 24, 72)
        },
        "lives of one day (two views or more)": float(one_day.mean()),
    }


def _days_seen(views: Views, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Days on which each page was opened."""
    pairs = np.unique(np.column_stack([views.page[kept], views.at[kept].astype(np.int64)]), axis=0)
    return np.bincount(pairs[:, 0], minlength=int(views.page.max()) + 1)


def sources(views: Views, days: int) -> Numbers:
    """Return whether articles that lead to new ones stay the same on later days, and their age."""
    births = views.births
    linked = (views.source >= 0) & (views.source < len(births))
    page, source, at = views.page[linked], views.source[linked], views.at[linked]
    fresh = at - births[page] < 2
    tops = []
    for day in range(1, days):
        here = fresh & (at.astype(np.int64) == day)
        pairs = np.unique(np.column_stack([source[here], page[here]]), axis=0)
        targets = np.bincount(pairs[:, 0])
        leading = np.argsort(-targets, kind="stable")[:_TOP]
        tops.append(set(leading[targets[leading] > 0].tolist()))
    young = (at - births[source] < 2)[fresh & (at > 2)]
    return {
        f"first {_TOP} sources there after {lag} d": float(
            np.mean([len(a & b) / _TOP for a, b in zip(tops, tops[lag:], strict=False)])
        )
        for lag in (1, 2)
    } | {"steps from pages younger than 2 d": float(young.mean())}


def old(views: Views) -> Numbers:
    """Views on the eighth day of pages that were opened on the first two."""
    seen_early = views.births[views.page] < 2
    return {"views on day 8 of pages of days 1 and 2": float(seen_early[views.at >= 7].mean())}


def hours(views: Views) -> Numbers:
    """Shares of a day's quarters."""
    quarter = (views.at % 1 * 4).astype(np.int64)
    shares = np.bincount(quarter, minlength=4) / len(quarter)
    return {f"views {6 * i} to {6 * i + 6} h": float(shares[i]) for i in range(4)}


def daily_noise(views: Floats, weekday: NDArray[np.int64], least: float) -> Numbers:
    """Noise of pages with at least so many views a day, and how often one has far more.

    Args:
        views: pages x days; 0 where nothing is known.
        weekday: Of each day, Monday 0.
        least: Median of four weeks that a page needs.
    """
    profile = np.array([views[:, weekday == day].sum() for day in range(7)])
    profile = profile / np.array([(weekday == day).sum() for day in range(7)])
    weekend = profile[5:].mean() / profile[:5].mean()
    width = 29
    padded = np.pad(views, ((0, 0), (width // 2, width // 2)), mode="reflect")
    usual = np.median(np.lib.stride_tricks.sliding_window_view(padded, width, axis=1), axis=2)
    is_usual = (usual >= least) & (views > 0)
    ratio = views / np.where(is_usual, usual, 1) / (profile / profile.mean())[weekday]
    logs = np.log(ratio[is_usual])
    low, high = np.quantile(logs, [0.25, 0.75])
    windows = [slice(first, first + 60) for first in range(0, views.shape[1] - 59, 60)]
    peaks = [
        np.where(is_usual, ratio, 0)[:, window].max(axis=1)[is_usual[:, window].any(axis=1)]
        for window in windows
    ]
    highest = np.concatenate(peaks)
    return {
        "weekend day to weekday": float(weekend),
        "noise of a page's day (sd of log)": float((high - low) / 1.349),
        "pages with a day above 3 times the usual": float((highest > 3).mean()),
        "pages with a day above 4 times the usual": float((highest > 4).mean()),
    }


def arrivals(
    day: NDArray[np.int64], weekday: NDArray[np.int64], hour: Floats, section: list[str]
) -> Numbers:
    """Measure when new pages of a site appear, and under which folders.

    Args:
        day: Of each page, from 0.
        weekday: Of each page, Monday 0.
        hour: Of each page, in the zone of the site.
        section: Folder of each page.
    """
    by_day = np.bincount(day)
    _, counts = np.unique(section, return_counts=True)
    ranked = np.sort(counts)[::-1]
    large = ranked[ranked >= by_day.size / 5]
    slope = (
        np.polyfit(np.log(np.arange(1, len(large) + 1)), np.log(large), 1)[0]
        if len(large) > 2
        else np.nan
    )
    of_weekday = np.bincount(weekday, minlength=7)
    return {
        "new pages a day": float(by_day.mean()),
        "weekend day to weekday, births": float(of_weekday[5:].mean() / of_weekday[:5].mean()),
        "births 0 to 6 h": float((hour < 6).mean()),
        "births a day, sd to mean": float(by_day.std() / by_day.mean()),
        "sections with a page in five days": float(len(large)),
        "births of the first section": float(ranked[0] / ranked.sum()),
        "fall of sections (exponent)": float(-slope),
    }


_AGES: Final = (3, 6, 12, 24)


def of_real_sets(data: Path) -> dict[str, Numbers]:
    """Every statistic on the sets that can show it, by name of the set."""
    portal = _clicks(real_visits.globo(data), zone=-3)
    small = real_visits.logged([data / "elastic_logs" / "apache_logs"], "www.semicomplete.com")
    log = _clicks(small, zone=0)
    days = real_visits.GLOBO_DAYS
    return {
        "globo": popularity(portal)
        | lives(portal, days)
        | sources(portal, days)
        | old(portal)
        | hours(portal),
        "elastic": popularity(log) | hours(log),
        "bbc": _promo_ages(data),
        **{f"wiki {trial}": _wiki(data, trial) for trial in (1, 2, 3, 4, 6)},
        "top_news": _top_news(data),
        "BB table 2": {"mirrored pages that nobody opens": 1 - 6_662_505 / 74_454_927},
    }


def _clicks(visits: Any, zone: int) -> Views:
    """First view of a page by each client and day, in a zone so many hours from UTC."""
    time = real_visits.times_of(visits) + np.timedelta64(zone, "h")
    start = time[0].astype("datetime64[D]")
    at = (time - start) / np.timedelta64(1, "D")
    url = visits["url"].combine_chunks().dictionary_encode()
    source = pc.index_in(visits["referrer"], value_set=url.dictionary).fill_null(-1).to_numpy()
    client = visits["client"].combine_chunks().dictionary_encode().indices.to_numpy()
    page = url.indices.to_numpy().astype(np.int64)
    key = np.column_stack([page, client, at.astype(np.int64)])
    _, first = np.unique(key, axis=0, return_index=True)
    kept = np.sort(first)
    return Views(page[kept], at[kept], source[kept].astype(np.int64))


def _promo_ages(data: Path) -> Numbers:
    """Return shares of a front page's links that are still there some hours later."""
    rows = real_visits.promos(data)
    seen = rows["seen"].to_numpy().astype("datetime64[s]").astype(np.int64)
    times, snapshot = np.unique(seen, return_inverse=True)
    urls = np.asarray(rows["url"].to_pylist())
    shown = [set(urls[snapshot == number].tolist()) for number in range(len(times))]
    return {_on_front(hours): _still(times, shown, hours) for hours in _AGES}


def _still(times: NDArray[np.int64], shown: list[set[str]], hours: int) -> float:
    later = np.searchsorted(times, times + hours * 3_600 - 1_800)
    pairs = [(a, b) for a, b in enumerate(later) if b < len(times)]
    close = [(a, b) for a, b in pairs if abs(times[b] - times[a] - hours * 3_600) < 1_800]
    return float(np.mean([len(shown[a] & shown[b]) / len(shown[a]) for a, b in close]))


def _on_front(hours: int) -> str:
    return f"links on the front page after {hours} h"


def _wiki(data: Path, trial: int) -> Numbers:
    dates, _, views = real_visits.wiki_series(data / "wiki_pageviews_links" / f"trial_{trial}")
    weekday = (dates.astype("datetime64[D]").astype(np.int64) + 3) % 7
    return daily_noise(views, weekday, 100)


def _top_news(data: Path) -> Numbers:
    """Medians over the sites that have folders, of 60 days."""
    rows = real_visits.between(real_visits.arrivals(data), _NEWS_FROM, 60)
    measures = []
    for site in pc.unique(rows["site"]).to_pylist():
        own = rows.filter(pc.equal(rows["site"], site))
        local = real_visits.times_of(own) - np.timedelta64(4, "h")
        day = local.astype("datetime64[D]").astype(np.int64)
        hour = (local - local.astype("datetime64[D]")) / np.timedelta64(1, "h")
        folders = [_folder(url) for url in own["url"].to_pylist()]
        measure = arrivals(day - day.min(), (day + 3) % 7, hour, folders)
        # Two sites keep all articles in one folder, one gives each a folder of its own.
        if measure["sections with a page in five days"] > 2:
            measures.append(measure)
    return {name: float(np.median([measure[name] for measure in measures])) for name in measures[0]}


def _folder(url: str) -> str:
    names = [part for part in urlsplit(url).path.split("/")[1:-1] if not part.isdecimal()]
    return names[0] if names else ""


def of_demo(options: DemoOptions) -> dict[str, Numbers]:
    """The same statistics of a corpus: of its portals, its lasting sites and its mirror."""
    sites = make_sites(options)
    views = views_of_corpus(options, sites)
    externals = len(external_referrers(sites))
    portals: list[Numbers] = []
    lasting: list[Floats] = []
    mirrored = opened = 0
    for site in sites:
        pages = make_pages(options, site, views * site.traffic)
        urls = make_urls(options, pages, escape_of(style_of(site).format))
        world = SiteWorld(options, pages, urls, views * site.traffic, externals)
        seen, from_front = _drawn(world)
        if site.kind is SiteKind.PORTAL:
            portals.append(_portal(world, seen) | _front_ages(world, seen, from_front))
        if site.kind is SiteKind.REFERENCE:
            days = seen.at.astype(np.int64)
            daily = np.zeros((len(pages), options.days))
            np.add.at(daily, (seen.page, days), 1)
            lasting.append(daily)
        mirrored += len(mirror.mirror_site(options, pages, urls.table).pages)
        opened += len(np.unique(seen.page)) + pages.hubs
    days = np.arange(options.days) + options.first_day.weekday()
    return {
        "portals": {
            name: float(np.mean([portal[name] for portal in portals])) for name in portals[0]
        },
        "encyclopedias": daily_noise(np.concatenate(lasting), days % 7, 30),
        "mirror": {"mirrored pages that nobody opens": 1 - opened / mirrored},
    }


def _drawn(world: SiteWorld) -> tuple[Views, NDArray[np.bool_]]:
    """Views of a site's pages on all days, and which came from its front page."""
    parts: list[NDArray[Any]] = []
    front = world.externals
    for day in range(world.options.days):
        drawn = page_requests(world, day)
        # Reloads are no further views; requests of hubs are none of pages.
        key = np.column_stack([drawn.row, drawn.client])
        _, first = np.unique(key, axis=0, return_index=True)
        kept = first[drawn.row[first] >= world.pages.hubs]
        source = drawn.referrer[kept].astype(np.int64) - front
        columns = (drawn.row[kept], day + drawn.time[kept] / DAY_MS, source)
        parts.append(np.column_stack(columns))
    page, at, source = np.concatenate(parts).T
    order = np.argsort(at, kind="stable")
    is_page = source >= world.pages.hubs
    views = Views(
        page.astype(np.int64)[order],
        at[order],
        np.where(is_page, source, -1).astype(np.int64)[order],
    )
    return views, (source == FRONT)[order]


def _portal(world: SiteWorld, views: Views) -> Numbers:
    """A week of a portal as the clicks of a real one, its births over the whole window."""
    days = real_visits.GLOBO_DAYS
    part = views.between(16, 16 + days)
    options, pages = world.options, world.pages
    born = np.flatnonzero((pages.kind == PageKind.NEWS) & (pages.birth >= 0))
    birth = pages.birth[born].astype(np.float64)
    day = birth.astype(np.int64)
    folders = [world.pages.site.sections[index].prefix for index in pages.section[born]]
    weekday = (day + options.first_day.weekday()) % 7
    return (
        popularity(part)
        | lives(views, options.days)
        | sources(part, days)
        | old(part)
        | hours(part)
        | arrivals(day, weekday, birth % 1 * 24, folders)
    )


def _front_ages(world: SiteWorld, views: Views, from_front: NDArray[np.bool_]) -> Numbers:
    """Share of a page's readers who still come by the front page, relative to the first hour's."""
    news = world.pages.kind[views.page] == PageKind.NEWS
    age = (views.at - world.pages.birth[views.page]) * 24
    rate = {
        hours: float(from_front[news & (age >= hours - 0.5) & (age < hours + 0.5)].mean())
        for hours in (0, *_AGES)
    }
    return {_on_front(hours): rate[hours] / rate[0] for hours in _AGES}


def rows_of(measured: Mapping[str, Numbers]) -> dict[str, str]:
    """Every statistic with its values, those of several sets as their range."""
    rows: dict[str, dict[str, list[float]]] = {}
    for name, numbers in measured.items():
        for statistic, value in numbers.items():
            rows.setdefault(statistic, {}).setdefault(name.split()[0], []).append(value)
    return {statistic: _text(values) for statistic, values in rows.items()}


def _text(values: Mapping[str, list[float]]) -> str:
    """`globo 0.57, elastic 0.68`; a range where a set has several values."""
    lines = []
    for name, numbers in values.items():
        low, high = min(numbers), max(numbers)
        lines.append(f"{name} {low:.3g}" if low == high else f"{name} {low:.3g} to {high:.3g}")
    return ", ".join(lines)


def main() -> None:
    """Print the table, or keep what this version of the demo says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=Path, help="write the demo's statistics here and stop")
    parser.add_argument("--world", action="append", default=[], metavar="NAME=FILE")
    chosen = parser.parse_args()
    world = of_demo(replace(OPTIONS, seed=chosen.seed))
    if chosen.save is not None:
        chosen.save.write_text(json.dumps(world, indent=1), "utf-8")
        return
    columns = {"real sets": of_real_sets(chosen.data), "demo": world}
    for given in chosen.world:
        name, _, file = given.partition("=")
        columns[name] = json.loads(Path(file).read_text("utf-8"))
    print_table({name: rows_of(column) for name, column in columns.items()})


def print_table(columns: Mapping[str, Mapping[str, str]]) -> None:
    """Print statistics that real sets have, with every column's values, as Markdown."""
    first = next(iter(columns.values()))
    print("| " + " | ".join(["statistic", *columns]) + " |")
    print("|---|" + "---|" * len(columns))
    for statistic in first:
        print(
            "| "
            + " | ".join([statistic, *(column.get(statistic, "") for column in columns.values())])
            + " |"
        )


if __name__ == "__main__":
    main()
