"""Hubs out of time: how many new temporal pages the first K seeds lead to."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final

import numpy as np

from benchmarks.real_judged import Flags, Int64s, Judged, Links
from benchmarks.real_judging import LEAST, Draws, Table

KS: Final = (5, 20, 50, 500)
HALF_LIFE: Final = 1.0
"""Days in which a link to a newly born page loses half of its weight in the baseline; of 0.5, 1, 2
and 4 the best on `globo_8h` and `globo_4h_from_2h`, which are not reported."""

_FAR: Final = 1 << 40


def hubs(judged: Judged) -> list[Table]:
    """Judge hubs on every day of decision: pages with many views, and those with few."""
    parts: list[tuple[Int64s, dict[str, Int64s]]] = [
        _of_day(judged, day) for day in judged.decisions()
    ]
    page = np.concatenate([wanted for wanted, _ in parts]) if parts else np.zeros(0, np.int64)
    if not len(page) or not len(judged.links.day):
        return []
    place = {name: np.concatenate([places[name] for _, places in parts]) for name in parts[0][1]}
    many = judged.lives.has_many[page]
    tables = []
    for title, rows in (("", many), (", pages with few views", ~many)):
        if rows.sum() >= LEAST:
            table = Table(f"hubs{title}", ["set", "K", "wanted"])
            draws = Draws(judged.units(page[rows]), page[rows])
            for k in KS:
                shares = {name: draws.share(places[rows] < k) for name, places in place.items()}
                ours = shares.pop("ours")
                table.add([judged.real.name, k, int(rows.sum())], ours, shares)
            tables.append(table)
    return tables


def _of_day(judged: Judged, day: dt.date) -> tuple[Int64s, dict[str, Int64s]]:
    """Wanted pages, and for each list the place of its first hub that leads there."""
    lives, links, number = judged.lives, judged.links, judged.day(day)
    wanted = np.flatnonzero(judged.born_after(day) & lives.by_days)
    later = links.take(links.day > number)
    past = links.take((links.day >= judged.first(day)) & (links.day <= number))
    lists = orders(judged, day, past) if len(wanted) else dict.fromkeys(NAMES, wanted)
    return wanted, {name: places_of(lists[name], later, wanted) for name in NAMES}


NAMES: Final = (
    "ours",
    "paper's order",
    "greedy",
    "last day's clicks out",
    "decayed new targets",
)


def orders(judged: Judged, day: dt.date, past: Links) -> Mapping[str, Int64s]:
    """Return hubs in the order of each list, best first."""
    rows = judged.table("hub_seeds", day)
    ranked = rows.filter(rows["rank"].is_valid()).sort_by("rank")
    ours = judged.lives.find(ranked["url"].to_pylist())
    public = judged.public_pages(day)
    past_links = past.take(public[past.referrer])
    temporal = np.zeros(len(judged.lives.urls), np.bool_)
    page, label = judged.labelled(day)
    temporal[page[label]] = True
    return {
        "ours": ours,
        "paper's order": most(past_links, temporal[past_links.target].astype(float), distinct=True),
        "greedy": _greedy(past_links, temporal),
        "last day's clicks out": most(
            past_links, past_links.clients * (past_links.day == judged.day(day))
        ),
        "decayed new targets": decayed(judged, day, past_links, HALF_LIFE),
    }


def decayed(judged: Judged, day: dt.date, links: Links, half_life: float) -> Int64s:
    """Return hubs by their links to pages born in the window, the younger the more."""
    birth = judged.lives.birth[links.target]
    worth = np.where(birth > judged.first(day), 0.5 ** ((judged.day(day) - birth) / half_life), 0)
    return most(links, worth, distinct=True)


def most(links: Links, worth: np.ndarray, *, distinct: bool = False) -> Int64s:
    """Return hubs by the sum of what their links are worth, each target once if `distinct`."""
    rows = np.arange(len(worth))
    if distinct:
        _, rows = np.unique(np.stack([links.referrer, links.target]), axis=1, return_index=True)
    sums = np.bincount(links.referrer[rows], worth[rows]) if len(rows) else np.zeros(0)
    order = np.argsort(-sums, kind="stable")
    return np.asarray(order[sums[order] > 0])


def _greedy(links: Links, temporal: Flags) -> Int64s:
    """Hubs by what each adds to those before it, as many as are asked for."""
    own: dict[int, set[int]] = {}
    for hub, target in zip(links.referrer.tolist(), links.target.tolist(), strict=True):
        if temporal[target]:
            own.setdefault(hub, set()).add(target)
    left, covered = dict(own), set[int]()
    order: list[int] = []
    bound = {hub: len(targets) for hub, targets in own.items()}
    while left and len(order) < KS[-1]:
        best, gain = -1, 0
        for hub in sorted(left, key=lambda candidate: -bound[candidate]):
            if bound[hub] <= gain:
                break
            bound[hub] = len(left[hub] - covered)
            if bound[hub] > gain:
                best, gain = hub, bound[hub]
        if best < 0:
            break
        order.append(best)
        covered |= left.pop(best)
    return np.array(order, np.int64)


def places_of(order: Int64s, later: Links, wanted: Int64s) -> Int64s:
    """Return the place of the first hub in `order` that leads to each wanted page."""
    pages = int(max(later.referrer.max(initial=0), later.target.max(initial=0), 0)) + 1
    pages = max(pages, int(wanted.max(initial=0)) + 1, int(order.max(initial=0)) + 1)
    place = np.full(pages, _FAR)
    is_ordered = order >= 0
    place[order[is_ordered]] = np.flatnonzero(is_ordered)
    reached = np.full(pages, _FAR)
    np.minimum.at(reached, later.target, place[later.referrer])
    return reached[wanted]
