"""The hubs of a window chosen in this process, where their links fit into memory: as numbers.

Links are told by the numbers of days (`links_by_numbers`), or by a statement that compares URLs,
and so is who came to the pages with links; in between there are numbers. The hubs are those of the
statements of `hub_seeds`, which are for a cluster, for more links, and for external hubs, of which
hosts have to be known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.core.distinct import distinct_numbers
from temporal_assets.core.hub_coverage import WHOLE, Greedy, HubPart
from temporal_assets.core.revisits import day_weights
from temporal_assets.core.texts import Flags, Floats, Int64s
from temporal_assets.engines.batches import handed_on
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.asset import Job
from temporal_assets.windows.chosen_hubs import (
    BILLION,
    ChosenHubs,
    Demand,
    demand,
    most_hubs,
    usual_mu,
)
from temporal_assets.windows.days import observed_days
from temporal_assets.windows.hub_order import (
    VisitFiles,
    count_visits,
    order_rules,
    without_search_engines,
)
from temporal_assets.windows.link_graph import paths
from temporal_assets.windows.links_by_numbers import (
    NumberedLinks,
    TooManyLinks,
    links_by_numbers,
)
from temporal_assets.windows.page_rows import read_in_step
from temporal_assets.windows.visits_by_numbers import Visits, visits_by_numbers

NUMBERS_SQL: Final = ("wanted_links",)
"""The statement of this way, beside those that count visits."""

_FACTS: Final = {
    "page_labels": ("url", "is_temporal"),
    "page_histories": ("url", "birth", "total", "is_born_before"),
    "interest_curves": ("url", "mu"),
}
_WANTED_LINKS: Final = passing(
    name="wanted_links",
    description="Links to temporal pages.",
    grain="referrer, target",
    columns=(
        ColumnSpec("referrer", Type.VARCHAR, "Page with the link."),
        ColumnSpec("target", Type.BIGINT, "Number of the page it leads to."),
    ),
)
_MOST_BYTES: Final = 1 << 30
"""Of the URLs with links as they are encoded: an array of Arrow has twice as many at most."""

_ROWS_AT_ONCE: Final = 131_072
"""Some megabytes of URLs in each table."""

_BEFORE: Final = -1
"""Age of a page that was born before the window, or on its first day."""


def numbered_hubs(job: Job, visits: VisitFiles, most_links: int) -> ChosenHubs | None:
    """The hubs of both orders; None where there are more links than `most_links`, or long URLs."""
    found = ordered_hubs(job, visits, most_links)
    if found is None:
        return None
    temporal, links, order = found
    limit = most_hubs(job.settings.hubs)
    greedy = Greedy(limit, job.settings.hubs.again)
    if len(order.hub):
        count, target = links.of(order.hub)
        place = np.arange(1, len(order.hub) + 1)
        greedy.extend(HubPart(order.hub, place, count * WHOLE, count, target, is_all=True))
    taken = greedy.order
    chosen = order.chosen(limit, taken.hub)
    return ChosenHubs(
        chosen.table(links), taken, _demand(job, temporal, links, chosen.hub), len(temporal.url)
    )


def ordered_hubs(
    job: Job, visits: VisitFiles, most_links: int
) -> tuple[_Temporal, _Links, _Order] | None:
    """Temporal pages, what leads to them, and the pages that may be hubs in the paper's order."""
    temporal = _temporal_pages(job)
    links = temporal and _links(job, temporal.url, most_links)
    if temporal is None or links is None:
        return None
    return temporal, links, _order(job, links, visits)


# Pages ---------------------------------------------------------------------------------------


class _Temporal(NamedTuple):
    """Temporal pages, by number."""

    url: pa.Array
    views: Int64s
    age: Int64s
    """Days since birth, or `_BEFORE`."""
    mu: Floats
    """Of the curve; NaN where none tells."""


def _temporal_pages(job: Job) -> _Temporal | None:
    """None where their URLs may be too many for an array."""
    files = {name: job.files(name) for name in _FACTS}
    if ParquetRows(files["page_labels"]).unpacked_bytes(("url",)) > _MOST_BYTES:
        return None

    def found() -> Iterator[_Temporal]:
        for labels, lives, curves in read_in_step(files, _FACTS, _ROWS_AT_ONCE):
            wanted = labels["is_temporal"].to_numpy()
            age = (np.datetime64(job.day) - lives["birth"].to_numpy()).astype(np.int64)
            age[lives["is_born_before"].to_numpy()] = _BEFORE
            yield _Temporal(
                labels["url"].filter(labels["is_temporal"]).combine_chunks(),
                lives["total"].to_numpy()[wanted],
                age[wanted],
                curves["mu"].to_numpy()[wanted],
            )

    url, *numbers = zip(*found(), strict=True)
    return _Temporal(pa.concat_arrays(url), *map(np.concatenate, numbers))


# Links ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Links:
    """The temporal pages that each page leads to. Pages are in the order of hosts and URLs."""

    url: pa.Array
    host: pa.DictionaryArray
    page: Int64s | None
    """Place of each page in the window, where that is known."""
    start: Int64s
    count: Int64s
    """Of each page: where its links begin in `target`, and how many there are."""
    target: Int64s
    linked: Int64s
    """Temporal pages that people came to from anywhere."""

    def of(self, pages: Int64s) -> tuple[Int64s, Int64s]:
        """How many pages each leads to, and the numbers of these, one after the other."""
        count = self.count[pages]
        before = np.cumsum(count) - count
        at = np.arange(count.sum()) + np.repeat(self.start[pages] - before, count)
        return count, self.target[at]


def _links(job: Job, wanted: pa.Array, most: int) -> _Links | None:
    try:
        found = links_by_numbers(job, len(wanted), most, _MOST_BYTES)
    except TooManyLinks:
        return None
    return _asked_links(job, wanted, most) if found is None else _in_order(found)


def _asked_links(job: Job, wanted: pa.Array, most: int) -> _Links | None:
    """By their URLs, where days have no numbers."""
    numbered = pa.table({"page": np.arange(len(wanted)), "url": wanted})
    inputs = {
        "transits": job.window("transits").files,
        "wanted": handed_on(numbered, job.out / "wanted.parquet"),
    }
    made = job.engine.query("wanted_links", inputs, {}, _WANTED_LINKS, job.out)
    rows = ParquetRows(paths(made), repeated=("referrer",))
    if len(rows) > most or rows.unpacked_bytes(("referrer",)) > _MOST_BYTES:
        return None
    blocks = [*rows.blocks(("referrer", "target"), lambda block: block)]
    referrer = pa.chunked_array(
        [chunk for block in blocks for chunk in block["referrer"].chunks],
        pa.dictionary(pa.int32(), pa.string()),
    ).combine_chunks()
    target = np.concatenate([np.empty(0, np.int64), *(one["target"].to_numpy() for one in blocks)])
    source = referrer.indices.to_numpy()
    order = np.argsort(source, kind="stable")
    linked = distinct_numbers(target)
    return _in_order(NumberedLinks(referrer.dictionary, None, source[order], target[order], linked))


def _in_order(found: NumberedLinks) -> _Links:
    """Links whose pages lie in any order in which the URLs of a host ascend, in that of hosts."""
    url, target = found.url, found.target
    count = np.bincount(found.source, minlength=len(url))
    host = pc.list_element(pc.split_pattern(url, "/", max_splits=3), 2).dictionary_encode()
    rank = np.empty(len(host.dictionary), np.int64)
    rank[pc.array_sort_indices(host.dictionary).to_numpy()] = np.arange(len(rank))
    order = np.argsort(rank[host.indices.to_numpy()], kind="stable")
    start = np.cumsum(count) - count
    page = None if found.page is None else found.page[order]
    return _Links(
        url.take(order), host.take(order), page, start[order], count[order], target, found.linked
    )


# Order ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Order:
    """Pages that may be hubs, or some of them, with their place in the order of the paper."""

    hub: Int64s
    place: Int64s
    clients: Int64s

    def chosen(self, limit: int, taken: Int64s) -> _Order:
        """Those of the first `limit` places and those taken, by number."""
        kept = np.flatnonzero((self.place <= limit) | np.isin(self.hub, taken))
        kept = kept[np.argsort(self.hub[kept])]
        return _Order(self.hub[kept], self.place[kept], self.clients[kept])

    def table(self, links: _Links) -> pa.Table:
        """Rows of `hub_order.HUB_COLUMNS`."""
        return pa.table(
            {
                "page": self.hub,
                "place": self.place,
                "url": links.url.take(self.hub),
                "is_external": np.zeros(len(self.hub), np.bool_),
                "clients": self.clients,
                "temporal_pages": links.count[self.hub],
            }
        )


def _order(job: Job, links: _Links, files: VisitFiles) -> _Order:
    """By the temporal pages they lead to (NP 5.1), as sql/hub_order.sql has it."""
    pages = pa.table({"page": np.arange(len(links.url)), "url": links.url, "host": links.host})
    if job.settings.hubs.search_engines == "drop":
        pages = without_search_engines(pages, job.settings.hubs)
    page, visits = _visits(job, links, pages.drop("host"), files)
    is_hub = _may_be_hub(job, visits)
    hub, clients = page[is_hub], visits.clients[is_hub]
    order = np.lexsort((hub, -links.count[hub]))
    return _Order(hub[order], np.arange(1, len(hub) + 1), clients[order])


def _visits(job: Job, links: _Links, pages: pa.Table, files: VisitFiles) -> tuple[Int64s, Visits]:
    """The pages that somebody came to, by number, and who did."""
    page = pages["page"].to_numpy()
    if links.page is not None and not job.settings.privacy.rotation_days:
        found = visits_by_numbers(job, links.page[page])
        if found is not None:
            return page, found
    # Pages that nobody opened have no visits, and are no hubs.
    pages = pages.append_column("is_opened", pa.array(np.ones(len(pages), np.bool_)))
    candidates = handed_on(pages, job.out / "candidates.parquet")
    made = count_visits(job.engine, job.settings, files, candidates, job.day, job.out)
    rows = pq.read_table(made, partitioning=None)
    names = ("clients", "visits", "recent_visits")
    return rows["page"].to_numpy(), Visits(*(rows[name].to_numpy() for name in names))


def _may_be_hub(job: Job, of: Visits) -> Flags:
    rules = order_rules(job.settings, observed_days(job))
    usual = of.visits * rules["recent_days"] / rules["observed_days"]
    is_quiet = (usual >= rules["usual_visits"]) & (of.recent < rules["quiet_share"] * usual)
    known: Flags = of.clients >= rules["min_clients"]
    return known & ~is_quiet if rules["drops_quiet"] else known


# Demand --------------------------------------------------------------------------------------


def _demand(job: Job, temporal: _Temporal, links: _Links, hubs: Int64s) -> Demand:
    scaled = np.nan_to_num(temporal.mu) * BILLION
    billionths = np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int64)
    has_curve = ~np.isnan(temporal.mu)
    in_graph = np.asarray(pc.is_in(temporal.url, value_set=links.url).to_numpy(False), np.bool_)
    in_graph[links.linked] = True
    unknown = usual_mu(int(has_curve[in_graph].sum()), int(billionths[in_graph].sum()))
    count, target = links.of(hubs)
    # Rows of sql/hub_demand.sql, in its order: the pages of a hub that are of one age, in ascending
    # order, and then those of which it is not known.
    hub, age = np.repeat(hubs, count), temporal.age[target]
    order = np.lexsort((age, age == _BEFORE, hub))
    begins = np.flatnonzero(np.diff(hub[order], prepend=-1) | np.diff(age[order], prepend=-2))

    def summed(values: Int64s) -> Int64s:
        return np.add.reduceat(values[target][order], begins) if len(begins) else values[:0]

    first = order[begins]
    rows = pa.table(
        {
            "page": hub[first],
            "age": pa.array(age[first], mask=age[first] == _BEFORE),
            "pages": summed(np.ones(len(temporal.age), np.int64)),
            "views": summed(temporal.views),
            "curves": summed(has_curve.astype(np.int64)),
            "billionths": summed(billionths),
        }
    )
    observed = observed_days(job)
    weight = day_weights(observed, job.settings.hubs.rate_half_life_days)
    return demand(rows, weight, unknown, int(observed.sum()))
