"""`hub_evaluation`: how many temporal pages the first K seeds lead to (NP 6.2), by list."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import passing
from temporal_assets.contracts.evaluation.hub_evaluation import (
    ENDING_LISTS,
    HUB_LISTS,
    SIMPLE_LISTS,
)
from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.graph.reach import Lead, Reach, groups_of, lead, reach
from temporal_assets.core.numerics.arrays import Int64s
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.logs.tables.site_lists import SiteList
from temporal_assets.logs.urls.canonical import SITE
from temporal_assets.windows.evaluation.trials import MOST_PAGES, Trial, baseline, trials
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.given_files import content_of_file, file_in
from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.windows.hubs.link_graph import LINK_SQL, LinkTables, link_tables, read_links
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS

Row = dict[str, Any]

_SEEDS: Final = ("url", "rank", "paper_rank", "greedy_rank")
_ORDERS: Final = {"ours": "rank", "paper": "paper_rank", "greedy": "greedy_rank"}
"""Lists that `hub_seeds` holds, with their column."""
_BASELINE_DAYS: Final = 14
"""Days that the baseline of decayed new links looks back; earlier links are not read."""

_SITE: Final = SITE.replace("(", "(?P<site>", 1)

_HUB_BASELINES: Final = passing("hub_baselines", "list VARCHAR, url VARCHAR, place BIGINT")

_NAMED_PAGES: Final = passing("named_pages", "list VARCHAR, place BIGINT, page BIGINT")


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists of seeds as ordered URLs, and the wanted pages that the seeds should lead to."""

    seeds: Mapping[str, Sequence[str]]
    """Seeds by the name of the list: `HUB_LISTS`."""
    wanted: pa.StringArray
    unit: str
    """The kind of groups in which wanted pages stand or fall together."""
    group: Int64s
    """The group of each wanted page."""


def judge(job: Job, listed: SiteList | None) -> list[Row]:
    """Return the rows of `hub_evaluation`, for all trials whose seeds are published.

    Links are those of the whole window that judges. A page born after the seeds were made has no
    link before it, so that one hop is out of time; of two hops the first may be older.
    """
    judged = [
        (trial, _lists(job, trial, listed))
        for trial in trials(job)
        if trial.name == "in_sample" or job.learned_on("hub_seeds", trial.learned_until) is not None
    ]
    tables = _links(job, [lists for _, lists in judged])
    links = read_links(tables)
    rows: list[Row] = []
    for trial, lists in judged:
        numbers = _numbers(job, tables, lists)
        rows += _rows(job.day, trial, _reached(links, numbers), lists)
    return rows


def _links(job: Job, lists: Sequence[Lists]) -> LinkTables:
    """Return the links that are walked: from the seeds of all lists, and to wanted pages."""
    wanted = job.out / "wanted.parquet"
    urls = pa.chunked_array([trial_lists.wanted for trial_lists in lists], pa.string())
    pq.write_table(pa.table({"url": urls}), wanted)
    seeds = {url for trial_lists in lists for urls in trial_lists.seeds.values() for url in urls}
    return link_tables(
        job.engine,
        job.followed(),
        job.files("page_totals"),
        [str(wanted)],
        job.first,
        job.out,
        sorted(seeds),
    )


def _lists(job: Job, trial: Trial, listed: SiteList | None) -> Lists:
    """Return the seeds of every list, and the pages they should lead to."""
    seeds = job.store.read("hub_seeds", trial.learned_until, list(_SEEDS))
    orders = {name: _in_order(seeds, column) for name, column in _ORDERS.items()}
    in_use = [] if listed is None else listed.urls
    wanted = trial.judged.filter(trial.judged["is_temporal"])
    urls = wanted["url"].combine_chunks()
    site = pc.struct_field(pc.extract_regex(urls, _SITE), "site").dictionary_encode()
    birth = wanted["birth"].to_numpy().astype(np.int64)
    seeds = {"baseline": in_use, **orders, **_baselines(job, trial)}
    return Lists(seeds, urls, *groups_of(site.indices.to_numpy().astype(np.int64), birth))


def _in_order(seeds: pa.Table, column: str) -> list[str]:
    """Return the hubs that `column` ranks, up to the first gap in the ranks.

    Hubs behind a gap are published because another order ranks them.
    """
    ranked = seeds.filter(pc.is_valid(seeds[column])).sort_by(column)
    follows = pc.equal(ranked[column], pa.array(np.arange(1, len(ranked) + 1)))
    urls: list[str] = ranked.filter(follows)["url"].to_pylist()
    return urls


def _baselines(job: Job, trial: Trial) -> dict[str, list[str]]:
    """Return the baseline lists as they were known on the evening when the seeds were made."""
    first = trial.learned_until - dt.timedelta(days=_BASELINE_DAYS - 1)
    days = [
        manifest
        for manifest in job.window("transits").manifests
        if first <= manifest.day <= trial.learned_until
    ]
    if not days:
        return {"clicks": [], "recent": []}
    inputs = {**job.followed(days), "page_totals": job.files("page_totals")}
    parameters = {
        "last_day": trial.learned_until,
        "born_after": job.first,  # on the first day of the window everything is new
        "most": job.settings.hubs.top_k,
    }
    written = job.engine.query("hub_baselines", inputs, parameters, _HUB_BASELINES, job.out)
    rows = whole_table(written).sort_by("place")
    return {
        name: rows.filter(pc.equal(rows["list"], name))["url"].to_pylist()
        for name in ("clicks", "recent")
    }


def _reached(links: LinkGraph, numbers: dict[str, Int64s]) -> dict[str, Reach]:
    """Return, by list, the wanted pages within reach of its first entries.

    URLs that are not in the graph reach nothing. `linked_by` covers the wanted pages alone and
    holds ranks in the list.
    """
    return {name: _reach(links, numbers["wanted"], numbers[name]) for name in HUB_LISTS}


def _reach(links: LinkGraph, wanted: Int64s, pages: Int64s) -> Reach:
    """Return how many wanted pages the first seeds reach, by number of seeds."""
    is_numbered, is_linked = pages >= 0, wanted >= 0
    is_wanted = np.zeros(len(links), np.bool_)
    is_wanted[wanted[is_linked]] = True
    reached = reach(links, is_wanted, pages[is_numbered])
    place = np.cumsum(is_numbered)  # entries known among the first k
    one_hop, two_hops = (
        np.concatenate(([0], part))[place] for part in (reached.one_hop, reached.two_hops)
    )
    places = np.concatenate(([0], np.flatnonzero(is_numbered) + 1))
    linked_by = np.zeros(len(wanted), np.int64)
    linked_by[is_linked] = places[reached.linked_by[wanted[is_linked]]]
    return Reach(one_hop, two_hops, linked_by)


def _numbers(job: Job, tables: LinkTables, lists: Lists) -> dict[str, Int64s]:
    """Return the numbers of the URLs of each list in the graph; -1 for URLs that are not in it."""
    names = (*HUB_LISTS, "wanted")
    parts = [pa.array(lists.seeds[name], pa.string()) for name in HUB_LISTS] + [lists.wanted]
    lengths = [len(part) for part in parts]
    named = pa.table(
        {
            "list": pa.array(np.repeat(names, lengths), pa.string()),
            "place": np.concatenate([np.arange(length) for length in lengths]),
            "url": pa.concat_arrays(parts),
        }
    )
    path = job.out / "named.parquet"
    pq.write_table(named, path)
    inputs = {"named": [str(path)], "link_pages": tables.pages}
    written = job.engine.query("named_pages", inputs, {}, _NAMED_PAGES, job.out)
    rows = whole_table(written)
    result = {}
    for name, length in zip(names, lengths, strict=True):
        own = rows.filter(pc.equal(rows["list"], name))
        pages = np.full(length, -1, np.int64)
        pages[own["place"].to_numpy()] = own["page"].to_numpy()
        result[name] = pages
    return result


def _rows(day: dt.date, trial: Trial, reached: dict[str, Reach], lists: Lists) -> Iterator[Row]:
    """Yield a row for each number of seeds, up to the longest list."""
    longest = max(len(reach_of_any.one_hop) for reach_of_any in reached.values())
    ours = reached["ours"].linked_by
    leads = {
        name: lead(ours, reached[name].linked_by, lists.group, longest) for name in SIMPLE_LISTS
    }
    for k in range(1, longest + 1):
        row: Row = {
            "day": day,
            "trial": trial.name,
            "horizon_days": trial.horizon,
            "learned_until": trial.learned_until,
            "site_share": trial.share,
            "k": k,
            "wanted": len(lists.wanted),
            "lead_unit": lists.unit,
        }
        for name, reach_of_list in reached.items():
            # Lists of ours end where nothing is expected: the last numbers hold for more seeds.
            at = min(k, len(reach_of_list.one_hop)) if name in ENDING_LISTS else k
            there = 0 < at <= len(reach_of_list.one_hop)
            row[f"{name}_one_hop"] = int(reach_of_list.one_hop[at - 1]) if there else None
            row[f"{name}_two_hops"] = int(reach_of_list.two_hops[at - 1]) if there else None
        for name in ENDING_LISTS:
            if row[f"{name}_one_hop"] is None:
                row |= {f"{name}_one_hop": 0, f"{name}_two_hops": 0}
        yield row | _lead(row, leads)


def _lead(row: Row, leads: Mapping[str, Lead]) -> Row:
    """Return the lead of the published hubs over the better of two simple orders as long."""
    simple = {name: row[f"{name}_one_hop"] for name in leads}
    if None in simple.values():
        return dict.fromkeys(("lead", "lead_low", "lead_high"))
    best, at = leads[max(simple, key=simple.__getitem__)], row["k"] - 1
    return {
        "lead": int(best.pages[at]),
        "lead_low": float(best.low[at]),
        "lead_high": float(best.high[at]),
    }


def _make(job: Job) -> Sequence[Path]:
    return job.write_rows(judge(job, baseline(job.settings)))


HUB_EVALUATION: Final = WindowAsset(
    "hub_evaluation",
    _make,
    waits=True,
    windows=("transits",),
    days=("page_views",),
    tables=(PAGE_TOTALS, PAGE_HISTORIES, PAGE_LABELS, HUB_SEEDS),
    learned=(PAGE_HISTORIES, PAGE_LABELS, HUB_SEEDS),
    sql=(*LINK_SQL, "hub_baselines", "known_pages", "born_pages", "named_pages"),
    settings=lambda settings: [
        content_of_file(file_in(settings.state, settings.baseline.path)),
        settings.cleaning.model_dump(mode="json"),
        settings.evaluation.model_dump(mode="json"),
        MOST_PAGES,
        settings.labels.model_dump(mode="json"),
        settings.window.days,
        settings.hubs.top_k,
    ],
)
