"""The hubs of a window, chosen by compiled code in this process where all links fit into memory.

Links, and the clients of pages with links, are integers (`wanted_links`). The result equals that of
`hub_choice`, to the last digit; that module serves clusters, more links, and longer windows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.core.hubs.yields import NewLinks, learn
from temporal_assets.core.numerics.arrays import Flags, Int64s
from temporal_assets.engines.batches import handed_on
from temporal_assets.engines.parquet_rows import ParquetRows, whole_table
from temporal_assets.logs.urls.canonical import site_of
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.days import observed_days
from temporal_assets.windows.hubs.chosen_hubs import (
    HUB_COLUMNS,
    ChosenHubs,
    HubLinks,
    hub_links,
    most_hubs,
)
from temporal_assets.windows.hubs.hub_candidates import (
    VisitFiles,
    count_clients,
    without_search_engines,
)
from temporal_assets.windows.hubs.wanted_links import (
    NumberedLinks,
    TooManyLinks,
    wanted_links,
)
from temporal_assets.windows.hubs.wanted_pages import Wanted, number_of_places, wanted_by_place


def numbered_hubs(job: Job, visits: VisitFiles, most_links: int) -> ChosenHubs | None:
    """Return the hubs of both orders, or None if there are more links than `most_links`."""
    wanted = wanted_by_place(job)
    links = wanted and _links(job, wanted, most_links)
    if wanted is None or links is None:
        return None
    model = learn(links.births(wanted), observed_days(job))
    facts = links.facts(wanted, model.weights)
    hubs = _order(job, links, facts, visits)
    covered_links = links.of(hubs["page"].to_numpy(), wanted, model.weights)
    return ChosenHubs(hubs, covered_links, int(wanted.is_temporal.sum()), model)


@dataclass(frozen=True, slots=True)
class _Links:
    """Links to wanted pages as CSR adjacency; pages are in the order of hosts and URLs."""

    url: pa.Array
    host: pa.DictionaryArray
    page: Int64s
    """Position of each page in the window."""
    start: Int64s
    """Index of the first link of each page; the number of all links at the end."""
    count: Int64s
    target: Int64s
    first_day: Int64s
    last_day: Int64s

    def of(self, pages: Int64s, wanted: Wanted, weights: Int64s) -> HubLinks:
        """Return the links of some pages, each weighted by the evidence that it adds."""
        count = self.count[pages]
        before = np.cumsum(count) - count
        at = np.arange(count.sum()) + np.repeat(self.start[pages] - before, count)
        source, target = np.repeat(pages, count), self.target[at]
        evidence = self._evidence(wanted, weights)[at]
        return hub_links(pages, source, target, wanted.is_temporal[target], evidence)

    def _evidence(self, wanted: Wanted, weights: Int64s) -> Int64s:
        """Return the evidence of every link."""
        worth = wanted.worth[self.target] * weights[self.first_day]
        return np.asarray(np.where(wanted.born[self.target] >= 0, worth, 0))

    def births(self, wanted: Wanted) -> NewLinks:
        """Return the rows of sql/hubs/hub_births.sql, for all hubs."""
        is_new = wanted.born[self.target] >= 0
        hub = self._sources()[is_new]
        days = int(self.first_day.max(initial=0)) + 1
        key = hub * days + self.first_day[is_new]
        order = np.argsort(key, kind="stable")
        key, worth = key[order], wanted.worth[self.target[is_new]][order]
        begins = np.flatnonzero(np.diff(key, prepend=-1))
        new = np.add.reduceat(worth, begins) if len(begins) else worth
        return NewLinks(key[begins] // days, key[begins] % days, new)

    def _sources(self) -> Int64s:
        """Return the page that each link leads from."""
        order = np.argsort(self.start, kind="stable")
        return np.repeat(order, self.count[order])

    def facts(self, wanted: Wanted, weights: Int64s) -> dict[str, Int64s]:
        """Return the columns of sql/hubs/hub_facts.sql, with one entry per page."""
        target = self.target
        born = wanted.born[target]
        sums = {"evidence": self._evidence(wanted, weights)}
        sums |= {"temporal_pages": wanted.is_temporal[target].astype(np.int64)}
        for name in ("views", "one_day", "three_days", "all_days"):
            sums[name] = getattr(wanted, name)[target]
        by_day = np.stack([wanted.one_day, wanted.two_days, wanted.three_days])
        late = np.minimum(self.first_day - born, 3)
        before = np.where(late > 0, by_day[np.maximum(late, 1) - 1, target], 0)
        sums["wanted_pages"] = np.ones(len(target), np.int64)
        sums["shown"] = sums["all_days"] - before
        gone = self.last_day - born
        seen = by_day[np.clip(gone, 0, 2), target]
        sums["missed"] = np.where((gone >= 0) & (gone < 3), sums["all_days"] - seen, 0)
        return {name: self._summed(values) for name, values in sums.items()}

    def _summed(self, values: Int64s) -> Int64s:
        """Return the sum over the links of each page; every page has some."""
        if not len(values):
            return np.zeros(0, np.int64)
        order = np.argsort(self.start, kind="stable")
        summed = np.empty(len(order), np.int64)
        summed[order] = np.add.reduceat(values, self.start[order])
        return summed


def _links(job: Job, wanted: Wanted, most: int) -> _Links | None:
    pages = len(ParquetRows(job.files("page_totals")))
    number = number_of_places(wanted, pages)
    try:
        numbered_links = wanted_links(job, number, len(wanted.place), most)
    except TooManyLinks:
        return None
    return None if numbered_links is None else _in_order(numbered_links)


def _in_order(numbered_links: NumberedLinks) -> _Links:
    """Return the links with their pages sorted by host; within a host they are sorted already."""
    url = numbered_links.url
    count = np.bincount(numbered_links.source, minlength=len(url))
    host = pc.list_element(pc.split_pattern(url, "/", max_splits=3), 2)
    host = host.cast(pa.string()).dictionary_encode()
    rank = np.empty(len(host.dictionary), np.int64)
    rank[pc.array_sort_indices(host.dictionary).to_numpy()] = np.arange(len(rank))
    order = np.argsort(rank[host.indices.to_numpy()], kind="stable")
    start = np.cumsum(count) - count
    return _Links(
        url.take(order),
        host.take(order),
        numbered_links.page[order],
        start[order],
        count[order],
        numbered_links.target,
        numbered_links.first_day,
        numbered_links.last_day,
    )


def _order(job: Job, links: _Links, facts: dict[str, Int64s], files: VisitFiles) -> pa.Table:
    """Return the hubs to publish, with the columns of sql/hubs/hub_order.sql."""
    page = np.arange(len(links.url))
    columns = {"page": page, "url": links.url, "number": links.page, "host": links.host}
    pages = pa.table(columns)
    pages = without_search_engines(pages, job.settings.hubs)
    page, clients = _clients(job, links, pages.drop("host"), files)
    is_known = clients >= job.settings.privacy.min_clients
    page, clients = page[is_known], clients[is_known]
    evidence, temporal = facts["evidence"][page], facts["temporal_pages"][page]
    order = np.lexsort((page, -temporal, -evidence))
    page, clients, temporal = page[order], clients[order], temporal[order]
    paper = np.empty(len(page), np.int64)
    paper[np.lexsort((page, -temporal))] = np.arange(1, len(page) + 1)
    is_entrance = _entrances(links.host, page)
    most = most_hubs(job.settings.hubs)
    place = np.arange(1, len(page) + 1)
    kept = np.flatnonzero((place <= most) | (paper <= most) | is_entrance)
    chosen = page[kept]
    columns = {name: values[chosen] for name, values in facts.items()} | {
        "page": chosen,
        "url": links.url.take(chosen).cast(pa.string()),
        "clients": clients[kept],
        "place": place[kept],
        "paper_place": paper[kept],
        "is_entrance": is_entrance[kept],
    }
    schema = pa.schema([(column.name, column.type.arrow) for column in HUB_COLUMNS])
    return pa.table({name: columns[name] for name in schema.names}, schema)


def _entrances(host: pa.DictionaryArray, pages: Int64s) -> Flags:
    """Return flags of the pages that come first among those of their site."""
    names = [site_of(f"https://{name}/") for name in host.dictionary.to_pylist()]
    _, site = np.unique(np.array(names, np.str_), return_inverse=True)
    _, first = np.unique(site[host.indices.to_numpy()[pages]], return_index=True)
    is_entrance = np.zeros(len(pages), np.bool_)
    is_entrance[first] = True
    return is_entrance


def _clients(job: Job, links: _Links, pages: pa.Table, files: VisitFiles) -> tuple[Int64s, Int64s]:
    """Return the numbers of the pages that somebody opened, and how many clients opened each."""
    page = pages["page"].to_numpy()
    if files.have_one_key(job.settings):
        traffic = ParquetRows(files.traffic).numbers("clients", np.int64)
        return page, traffic[links.page[page]]
    candidates = handed_on(pages, job.out / "candidates.parquet")
    counted = count_clients(job.engine, job.settings, files, candidates, job.out)
    rows = whole_table(counted)
    return rows["page"].to_numpy(), rows["clients"].to_numpy()
