"""The provisional policy of the first days, judged by pages born after them.

A set is taken as an installation that has read its first 1, 3 or 7 days and no more (with
`window.min_days` above that, so that the policy is provisional throughout). What it fetches now,
and its hubs, are judged like those of `real_lists` and `real_hubs`, beside what anybody could do on
such a day: fetch everything, fetch the folder with the most views, go where the last day's clicks
went out.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

import numpy as np

from benchmarks.real_hubs import most, places_of
from benchmarks.real_judged import Flags, Int64s, Judged, folder_of, site_of
from benchmarks.real_judging import LEAST, Draws, Table
from benchmarks.real_lists import MANY_SITES, NOW_TIERS
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
    found = _policy(judged, day).match_many(urls)
    ours = (found.tier >= 1) & (found.tier <= NOW_TIERS)
    folder = _most_viewed_folder(judged, day)
    rest: dict[str, Flags] = {
        "everything": np.ones(len(urls), np.bool_),
        "most viewed folder": np.array([folder_of(url) == folder for url in urls]),
    }
    sites = [site_of(url) for url in urls]
    draws = Draws(sites if len(set(sites)) >= MANY_SITES else page)
    cells = [judged.real.name, days, len(page), int(truth.sum())]
    lists, right = tables
    lists.add(
        cells,
        draws.f_measure(ours, truth),
        {name: draws.f_measure(one, truth) for name, one in rest.items()},
    )
    right.add(
        cells,
        draws.share(ours == truth),
        {name: draws.share(one == truth) for name, one in rest.items()},
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
    known = past.take(judged.public_pages(day)[past.referrer])
    rows = judged.built.store.read("hub_seeds", day)
    ranked = rows.filter(rows["rank"].is_valid()).sort_by("rank")
    orders = {
        "ours": judged.lives.find(ranked["url"].to_pylist()),
        "last day's clicks out": most(known, known.clients * (known.day == number)),
    }
    place = {name: places_of(order, later, wanted) for name, order in orders.items()}
    draws = Draws(wanted)
    for k in _HUBS:
        found = {name: draws.share(one < k) for name, one in place.items()}
        table.add([judged.real.name, days, k], found.pop("ours"), found)
