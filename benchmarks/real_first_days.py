"""The provisional policy of the first days, judged by pages born after them.

    python -m benchmarks.real_predictions --part first   # through the product's windows
    python -m benchmarks.real_first_days [SET ...]       # its sections alone, in seconds a set
    python -m benchmarks.real_first_days --least         # by how many views a page needs to count

A set is taken as an installation that has read its first 1, 3 or 7 days and no more (with
`window.min_days` above that, so that the policy is provisional throughout). What it fetches now,
and its hubs, are judged like those of `real_lists` and `real_hubs`, beside what anybody could do on
such a day: fetch everything, fetch the folder with the most views, go where the last day's clicks
went out. The second command asks the same mathematics for the sections to fetch from, on plain
arrays, without patterns and hubs.
"""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.real_hubs import most, places_of
from benchmarks.real_judged import Flags, Int64s, Judged, folder_of, site_of
from benchmarks.real_judging import LEAST, Draws, Table
from benchmarks.real_lists import MANY_SITES, NOW_TIERS
from benchmarks.real_lives import Lives, lives_of
from benchmarks.real_sets import DATA, SETS, Daily, daily_of
from temporal_assets.core.labels.fading import LEAST_VIEWS, fading_evidence, fading_share
from temporal_assets.core.lists.dated_sections import dated_sections, passing_sections
from temporal_assets.core.lists.provisional import (
    URGENT_SHARE,
    section_shares,
    sections_to_list,
)
from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_sections import section_trees
from temporal_assets.policy import Policy
from temporal_assets.windows.policy.crawl_policy import files_of

DAYS: Final = (1, 3, 7)
_HUBS: Final = (5, 20, 50)


def first_days(judged: Judged) -> list[Table]:
    """Judge what is said after the first days: what to fetch, and where to look for it."""
    lists = Table("first days: F of what is fetched now", ["set", "days", "born", "temporal"])
    right = Table("first days: share decided right", ["set", "days", "born", "temporal"])
    hubs = Table(
        "first days: share of new temporal pages that K hubs lead to", ["set", "days", "K"]
    )
    for days in DAYS:
        if days >= len(judged.built.days) - judged.real.settle:
            continue
        day = judged.built.days[days - 1]
        _judge_lists(judged, day, days, (lists, right))
        _judge_hubs(judged, day, days, hubs)
    return [table for table in (lists, right, hubs) if table.rows]


def _judge_lists(judged: Judged, day: dt.date, days: int, tables: tuple[Table, Table]) -> None:
    page = np.flatnonzero(judged.born_after(day))
    if len(page) < LEAST:
        return
    urls = judged.lives.urls[page].tolist()
    truth = judged.lives.by_days[page]
    matches = _policy(judged, day).match_many(urls)
    ours = (matches.tier >= 1) & (matches.tier <= NOW_TIERS)
    folder = _most_viewed_folder(judged, day)
    rest: dict[str, Flags] = {
        "everything": np.ones(len(urls), np.bool_),
        "most viewed folder": np.array([folder_of(url) == folder for url in urls]),
    }
    sites = [site_of(url) for url in urls]
    draws = Draws(sites if len(set(sites)) >= MANY_SITES else judged.units(page), page)
    cells = [judged.real.name, days, len(page), int(truth.sum())]
    lists, right = tables
    lists.add(
        cells,
        draws.f_measure(ours, truth),
        {name: draws.f_measure(chosen, truth) for name, chosen in rest.items()},
    )
    right.add(
        cells,
        draws.share(ours == truth),
        {name: draws.share(chosen == truth) for name, chosen in rest.items()},
    )


def _policy(judged: Judged, day: dt.date) -> Policy:
    built = judged.built
    window = built.settings.window.model_copy(update={"min_days": max(DAYS) + 1})
    built.make(["crawl_policy"], day, window=window)
    folder = files_of(built.store, built.settings, built.store.require("crawl_policy", day))
    if folder is None:
        raise RuntimeError("the policy names no files")
    return Policy.load(folder)


def _most_viewed_folder(judged: Judged, day: dt.date) -> str:
    """The folder with the most views so far."""
    rows = judged.built.store.read("page_totals", day)
    views: dict[str, int] = {}
    for url, total in zip(rows["url"].to_pylist(), rows["total"].to_pylist(), strict=True):
        views[folder_of(url)] = views.get(folder_of(url), 0) + total
    return max(views, key=lambda name: (views[name], name), default="")


def _judge_hubs(judged: Judged, day: dt.date, days: int, table: Table) -> None:
    number = judged.day(day)
    wanted: Int64s = np.flatnonzero(judged.born_after(day) & judged.lives.by_days)
    if len(wanted) < LEAST or not len(judged.links.day):
        return
    later = judged.links.take(judged.links.day > number)
    past = judged.links.take(judged.links.day <= number)
    past_links = past.take(judged.public_pages(day)[past.referrer])
    rows = judged.built.store.read("hub_seeds", day)
    ranked = rows.filter(rows["rank"].is_valid()).sort_by("rank")
    orders = {
        "ours": judged.lives.find(ranked["url"].to_pylist()),
        "last day's clicks out": most(past_links, past_links.clients * (past_links.day == number)),
    }
    place = {name: places_of(order, later, wanted) for name, order in orders.items()}
    draws = Draws(judged.units(wanted), wanted)
    for k in _HUBS:
        shares = {name: draws.share(places < k) for name, places in place.items()}
        table.add([judged.real.name, days, k], shares.pop("ours"), shares)


AHEAD: Final = 7
"""Days of births that the plain arrays are judged by."""

Least = Callable[[Floats], float]
"""Views that a page needs to say something, by the views of each page of its site."""

LEAST_RULES: Final[Mapping[str, Least]] = {
    f"{LEAST_VIEWS} (in use)": lambda _: LEAST_VIEWS,
    "3": lambda _: 3,
    "6": lambda _: 6,
    "mean of the site": lambda views: max(3.0, float(views.mean())),
    "twice the mean": lambda views: max(3.0, 2 * float(views.mean())),
    "a thousandth of the site": lambda views: max(3.0, float(views.sum()) / 1000),
    "a three-hundredth": lambda views: max(3.0, float(views.sum()) / 300),
    "the 500 most viewed": lambda views: max(3.0, float(np.sort(views)[-500:][0])),
}
"""Thresholds that stay, and some that scale with the traffic."""


def least_rows(name: str, daily: Daily, lives: Lives) -> Iterator[list[Any]]:
    """Judge the sections of one set by each threshold: rows of a table."""
    for days in DAYS:
        born = lives.is_known & (lives.birth >= days) & (lives.birth < days + AHEAD)
        if born.sum() < LEAST:
            continue
        truth, urls = lives.by_days[born], lives.urls[born].tolist()
        answers = [
            _under(urls, _listed_sections(daily, days, rule)[0]) for rule in LEAST_RULES.values()
        ]
        yield [name, days, *(_cell(answer, truth) for answer in answers)]


def plain_rows(name: str, daily: Daily, lives: Lives) -> Iterator[list[Any]]:
    """Judge the sections of one set after its first days: rows of a table."""
    for days in DAYS:
        born = lives.is_known & (lives.birth >= days) & (lives.birth < days + AHEAD)
        if born.sum() < LEAST:
            continue
        truth, urls = lives.by_days[born], lives.urls[born].tolist()
        sections, top = _listed_sections(daily, days)
        answers: list[Flags] = [
            _under(urls, sections),
            np.ones(len(urls), np.bool_),
            np.array([folder_of(url) == top for url in urls], np.bool_),
        ]
        cells = [_cell(answer, truth) for answer in answers]
        yield [name, days, len(truth), int(truth.sum()), *cells]


def _under(urls: list[str], sections: tuple[str, ...]) -> Flags:
    return np.array([url.split("://", 1)[1].startswith(sections) for url in urls], np.bool_)


def _cell(answer: Flags, truth: Flags) -> str:
    return f"{_f(answer, truth):.3f} ({(answer == truth).mean():.3f})"


def _listed_sections(
    daily: Daily, days: int, least: Least = lambda _: LEAST_VIEWS
) -> tuple[tuple[str, ...], str]:
    """Sections that are fetched now after some days, and the folder with the most views."""
    views = daily.views[:, :days].astype(np.float64)
    total = views.sum(axis=1)
    seen = np.flatnonzero(total)
    top: dict[str, float] = {}
    by_site: dict[str, list[int]] = {}
    for page in seen.tolist():
        url = str(daily.urls[page])
        top[folder_of(url)] = top.get(folder_of(url), 0.0) + total[page]
        by_site.setdefault(site_of(url), []).append(page)
    listed: list[str] = []
    unseen: list[str] = []
    for site, all_pages in by_site.items():
        threshold = least(total[all_pages])
        pages = [page for page in all_pages if total[page] >= threshold]
        if not pages:
            unseen.append(site)
            continue
        share, probability = fading_share(fading_evidence(views[pages], np.arange(days)))
        trees = section_trees(texts(daily.urls[pages].tolist()))
        names = trees.names()
        count = trees.total(np.ones(len(pages), np.int64)).astype(np.float64)
        fading = trees.total(np.rint(1000 * probability).astype(np.int64)) / 1000
        shares = section_shares(trees.parent, count, fading, share)
        chosen = sections_to_list(
            trees.parent, count, shares, dated_sections(names), passing_sections(names)
        )
        listed += [name for name, flag in zip(names, chosen.tolist(), strict=True) if flag]
    if URGENT_SHARE < 0.5:  # of a site without a page that says anything, nothing is known
        listed += [f"{site}/" for site in unseen]
    return tuple(listed), max(top, key=lambda name: (top[name], name), default="")


def _f(listed: Flags, truth: Flags) -> float:
    return float(2 * (listed & truth).sum() / max(int(listed.sum() + truth.sum()), 1))


def main() -> None:
    """Judge the sections of some sets on plain arrays, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--least", action="store_true", help="compare thresholds of views")
    parser.add_argument("--chosen", action="store_true", help="sets that parameters are chosen on")
    given = parser.parse_args()
    rows = least_rows if given.least else plain_rows
    baselines = ["born", "temporal", "ours", "everything", "most viewed folder"]
    head = ["set", "days", *(LEAST_RULES if given.least else baselines)]
    print("F (share decided right) of pages born in the week after\n")
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    role = "chosen on" if given.chosen else "reported on"
    for name in given.sets or [name for name, real in SETS.items() if real.role == role]:
        visits = SETS[name].visits(given.data)
        for row in rows(name, daily_of(visits), lives_of(visits)):
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
