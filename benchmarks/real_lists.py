"""Sites, sections, prefixes, patterns and the policy, judged by pages born after they were made."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from benchmarks.real_judged import Flags, Int64s, Judged, folder_of, site_of
from benchmarks.real_judging import LEAST, Draws, Table
from temporal_assets.policy import Policy
from temporal_assets.windows.policy.crawl_policy import files_of

NOW_TIERS: Final = 8
MANY_SITES: Final = 8
"""With fewer sites, what was born on them on a day is drawn in the bootstrap, and not sites."""


OURS: Final = ("sites", "sections", "prefixes", "patterns", "policy: now")


def lists(judged: Judged) -> list[Table]:
    """Judge lists on some days of decision: pages with many views, and those with few."""
    parts = [
        (pages, lists_of(judged, day, judged.lives.urls[pages].tolist()))
        for day in judged.decisions(judged.real.most)
        if len(pages := np.flatnonzero(judged.born_after(day)))
    ]
    if not parts:
        return []
    page = np.concatenate([pages for pages, _ in parts])
    covers = {name: np.concatenate([covered[name] for _, covered in parts]) for name in parts[0][1]}
    truth, many = judged.lives.by_days[page], judged.lives.has_many[page]
    sites = np.array([site_of(url) for url in judged.lives.urls[page].tolist()])
    tables = []
    for title, rows in (("", many), (", pages with few views", ~many)):
        if rows.sum() >= LEAST:
            unit = sites if len(set(sites[rows].tolist())) >= MANY_SITES else judged.units(page)
            chosen = {name: covered[rows] for name, covered in covers.items()}
            draws = Draws(unit[rows], page[rows])
            tables.append(_table(judged, title, chosen, truth[rows], draws))
    return tables


_RATIOS: Final = ("precision", "recall")


def _table(
    judged: Judged, title: str, covers: Mapping[str, Flags], truth: Flags, draws: Draws
) -> Table:
    what = "F" if truth.any() else "share decided right, where nothing is temporal"
    table = Table(f"lists{title}: {what}", ["set", "list", "born", "temporal", *_RATIOS])
    values = {
        name: draws.f_measure(covered, truth) if truth.any() else draws.share(covered == truth)
        for name, covered in covers.items()
    }
    rest = {name: covered for name, covered in values.items() if name not in OURS}
    for name in OURS:
        both, covered = int((covers[name] & truth).sum()), covers[name]
        precision, recall = both / max(int(covered.sum()), 1), both / max(int(truth.sum()), 1)
        cells = [judged.real.name, name, len(truth), int(truth.sum())]
        table.add([*cells, f"{precision:.3f}", f"{recall:.3f}"], values[name], rest)
    return table


def lists_of(judged: Judged, day: dt.date, urls: list[str]) -> dict[str, Flags]:
    """Return which URLs each list covers, as it was published on a day."""
    policy = policy_of(judged, day)
    matches = policy.match_many(urls)
    decided = [entry["decision"] == "now" for entry in policy.document["patterns"]]
    sections = _listed(judged.table("section_scores", day), "is_selected")["prefix"].to_pylist()
    prefixes = judged.table("news_prefixes", day)["prefix"].to_pylist()
    sites = set(_listed(judged.table("site_scores", day), "is_selected")["site"].to_pylist())
    result = {
        "sites": np.array([site_of(url) in sites for url in urls]),
        "sections": beneath(urls, sections),
        "prefixes": beneath(urls, prefixes),
        "patterns": np.array([*decided, False])[matches.pattern],
        "policy: now": (matches.tier >= 1) & (matches.tier <= NOW_TIERS),
        "everything": np.ones(len(urls), np.bool_),
        "folder majority": _majority(judged, urls, judged.labelled(day)),
        "folder majority of births": _majority(judged, urls, _births(judged, day)),
    }
    if judged.real.listed:
        entries = [url.split("://")[1] for url in judged.real.listed]
        result["list in use"] = beneath(urls, entries)
    return result


def policy_of(judged: Judged, day: dt.date) -> Policy:
    """Return the policy that was published on a day."""
    judged.table("crawl_policy", day)
    store = judged.built.store
    folder = files_of(store, judged.built.settings, store.require("crawl_policy", day))
    if folder is None:
        raise RuntimeError("the policy names no files")
    return Policy.load(folder)


def _listed(rows: pa.Table, flag: str) -> pa.Table:
    return rows.filter(rows[flag])


def beneath(urls: Iterable[str], prefixes: Iterable[str]) -> Flags:
    """Return which URLs begin, after the scheme, with one of the prefixes."""
    starts = tuple(prefixes)
    return np.array([url.split("://", 1)[1].startswith(starts) for url in urls], np.bool_)


def _births(judged: Judged, day: dt.date) -> tuple[Int64s, Flags]:
    """Labels of pages born in the window, after its first seventh."""
    page, label = judged.labelled(day)
    first = judged.first(day)
    born = judged.lives.birth[page] > first + (judged.day(day) - first) // 7
    return page[born], label[born]


def _majority(judged: Judged, urls: list[str], labels: tuple[Int64s, Flags]) -> Flags:
    """Take a URL if most labelled pages of its folder are temporal, else by its site."""
    votes: dict[str, list[int]] = {}
    for page, label in zip(*(label.tolist() for label in labels), strict=True):
        url = str(judged.lives.urls[page])
        for name in (folder_of(url), "site " + site_of(url)):
            vote = votes.setdefault(name, [0, 0])
            vote[0] += label
            vote[1] += 1
    taken = {name: 2 * temporal > pages for name, (temporal, pages) in votes.items()}
    return np.array(
        [taken.get(folder_of(url), taken.get("site " + site_of(url), False)) for url in urls],
        np.bool_,
    )
