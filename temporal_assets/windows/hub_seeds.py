"""`hub_seeds`: the pages to start crawling from, and how often (NP 4.2, 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.contracts import ColumnSpec, Table, Type
from temporal_assets.core.hub_coverage import HubOrder, greedy_order, paper_order
from temporal_assets.core.links import Links
from temporal_assets.core.revisits import day_weights, intervals
from temporal_assets.core.texts import Flags, Floats, Int64s
from temporal_assets.logs.urls import site_of
from temporal_assets.settings import Hubs, Settings
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.days import observed_days
from temporal_assets.windows.interest_curves import INTEREST_CURVES
from temporal_assets.windows.link_graph import (
    LINK_SQL,
    VISIT_SQL,
    LinkGraph,
    Visits,
    count_visits,
    read_links,
)
from temporal_assets.windows.page_histories import PAGE_HISTORIES
from temporal_assets.windows.page_labels import PAGE_LABELS
from temporal_assets.windows.page_totals import PAGE_TOTALS

_HOURS: Final = 24.0
_MINUTES: Final = 24.0 * 60

_TIERS: Final = (0.5, 0.9)
"""Shares of what all seeds cover at which the first and the second tier end."""

_USUAL_VISITS: Final = 3.0
"""Visits that the last days of a hub should have had before silence says anything: with fewer,
nobody comes in more than 5 % of such days (exp(-3)) to a hub that is as alive as ever."""

_SHORTEST_HALF_LIFE: Final = 1 / _HOURS
"""In days. Views are known by day: a shorter life cannot be told from this."""

_UNKNOWN_HALF_LIFE: Final = 1.0
"""In days, where no page of the window has a curve: news (TW figure 5)."""

_LINKED_TEMPORAL: Final = Table(
    name="linked_temporal",
    version=1,
    description="Temporal pages of the graph; lives within one run.",
    grain="page",
    columns=(
        ColumnSpec("page", Type.BIGINT, "Number of the URL within this run."),
        ColumnSpec("views", Type.BIGINT, "Views within the window."),
        ColumnSpec("age", Type.BIGINT, "Days since birth; NULL if born before.", nullable=True),
        ColumnSpec("mu", Type.DOUBLE, "Of the interest curve.", nullable=True),
    ),
)


_WANTED: Final = Table(
    name="temporal_urls",
    version=1,
    description="Temporal pages of the window; lives within one run.",
    grain="url",
    columns=(ColumnSpec("url", Type.VARCHAR, "Canonical URL."),),
)


@dataclass(frozen=True, slots=True)
class Interest:
    """What is known of the temporal pages that hubs lead to; one entry for every page."""

    newness: Floats
    """What it adds to the new pages a day of its hubs; 0 for others than temporal pages."""
    views: Floats
    mu: Floats
    """NaN where there is no curve."""
    temporal_pages: int
    """Of the whole window, linked or not."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What `core.revisits` needs to know of hubs; one entry for each."""

    rate: Floats
    """New temporal pages a day."""
    views: Floats
    """Of such a page."""
    half_life: Floats
    """Days."""


def demand(links: Links, hubs: Int64s, interest: Interest, days: int) -> Demand:
    """Rates, views and half-lives of the temporal pages of hubs; `links` lead to these only."""
    mu = np.where(np.isnan(interest.mu), 0, interest.mu)
    has_curve = ~np.isnan(interest.mu)
    pages = links.counts[hubs].astype(np.float64)
    known = _sums(links, hubs, has_curve)
    everywhere = mu.sum() / has_curve.sum() if has_curve.any() else np.log(_UNKNOWN_HALF_LIFE)
    mean_mu = np.divide(
        _sums(links, hubs, mu), known, out=np.full(len(hubs), everywhere), where=known > 0
    )
    return Demand(
        rate=_sums(links, hubs, interest.newness),
        views=_sums(links, hubs, interest.views) / np.maximum(pages, 1),
        # The median age of a view of one page is exp(mu) (TW 4.1).
        half_life=np.clip(np.exp(mean_mu), _SHORTEST_HALF_LIFE, days),
    )


def revisit_minutes(wanted: Demand, hubs: Hubs) -> Int64s:
    """Whole minutes between visits; rounded up, so that the budget is kept."""
    visits = len(wanted.rate) * _HOURS if hubs.visits_per_day is None else hubs.visits_per_day
    shortest, longest = hubs.shortest_minutes / _MINUTES, hubs.longest_hours / _HOURS
    days = intervals(wanted.rate, wanted.views, wanted.half_life, visits, shortest, longest)
    return np.ceil(np.round(days * _MINUTES, 6)).astype(np.int64)


def most_hubs(hubs: Hubs) -> int:
    """How many hubs the settings allow: no more than the budget can visit at all."""
    if hubs.visits_per_day is None:
        return hubs.top_k
    return min(hubs.top_k, int(hubs.visits_per_day * hubs.longest_hours / _HOURS))


def is_quiet(visits: Visits, settings: Settings, observed: Flags) -> Flags:
    """Hubs that hardly anybody came to in the last days, as sites are quiet, and not by chance."""
    sites = settings.sites
    usual = visits.total * observed[-sites.quiet_days :].sum() / observed.sum()
    quiet: Flags = (usual >= _USUAL_VISITS) & (visits.recent < sites.quiet_share * usual)
    return quiet


def _make(job: Job) -> Sequence[Path]:
    window = job.window("transits")
    labels = {"page_labels": job.files("page_labels")}
    wanted = job.engine.query("temporal_urls", labels, {}, _WANTED, job.out)
    graph = read_links(
        job.engine,
        window.files,
        job.files("page_totals"),
        [str(path) for path in wanted],
        job.out,
    )
    chosen = job.out / "chosen_hubs.parquet"
    pq.write_table(choose(job, graph, _interest(job, graph)), chosen)
    inputs = {"chosen_hubs": [str(chosen)], "link_pages": [str(path) for path in graph.pages]}
    return job.engine.query("hub_seeds", inputs, {"day": job.day}, job.asset.table, job.out)


def choose(job: Job, graph: LinkGraph, interest: Interest) -> pa.Table:
    """The best hubs of either order, by number, with everything known of them."""
    hubs, links = job.settings.hubs, graph.links
    observed = observed_days(job)
    reachable = graph.reachable(job.settings)
    files = job.window("transits").files
    visits = count_visits(job.engine, job.settings, files, graph, reachable, job.day, job.out)
    kept = visits.clients >= job.settings.privacy.min_clients
    if hubs.quiet == "drop":
        kept &= ~is_quiet(visits, job.settings, observed)
    candidates = reachable[kept]
    limit = most_hubs(hubs)
    paper = paper_order(links, candidates)
    greedy = greedy_order(links, candidates, limit, hubs.again)
    page = np.unique(np.concatenate([greedy.hub, paper.hub[:limit]]))
    rank, in_greedy = _places(greedy, page)
    paper_rank, _ = _places(paper, page)
    wanted = demand(links, page, interest, int(observed.sum()))
    chosen = Demand(*(part[in_greedy] for part in (wanted.rate, wanted.views, wanted.half_life)))
    minutes = np.zeros(len(page), np.int64)
    minutes[in_greedy] = revisit_minutes(chosen, hubs)
    covered = greedy.covered
    tier = 1 + np.searchsorted(np.array(_TIERS), (covered - greedy.gain) / covered[-1:], "right")
    at = np.where(in_greedy, rank - 1, 0)
    none = ~in_greedy

    def greedily(values: Int64s | Floats) -> pa.Array:
        return pa.array(values[at] if len(values) else np.zeros(len(at)), mask=none)

    return pa.table(
        {
            "page": page,
            "site": _sites(graph, page),
            "clients": visits.clients[np.searchsorted(reachable, page)],
            "temporal_pages": links.counts[page],
            "rank": pa.array(rank, mask=none),
            "paper_rank": paper_rank,
            "gain": greedily(greedy.gain),
            "covered": greedily(covered),
            "coverage": greedily(covered / max(interest.temporal_pages, 1)),
            "tier": greedily(tier),
            "new_per_day": wanted.rate,
            "half_life_hours": wanted.half_life * _HOURS,
            "revisit_minutes": pa.array(minutes, mask=none),
        }
    )


def _interest(job: Job, graph: LinkGraph) -> Interest:
    inputs = {
        name: job.files(name) for name in ("page_labels", "page_histories", "interest_curves")
    }
    numbered = {"link_pages": [str(path) for path in graph.pages]}
    found = job.engine.query(
        "linked_temporal", inputs | numbered, {"day": job.day}, _LINKED_TEMPORAL, job.out
    )
    rows = pq.read_table([str(path) for path in found])
    (counted,) = job.engine.rows(
        "SELECT count(*) AS pages FROM page_labels WHERE is_temporal",
        {"page_labels": inputs["page_labels"]},
    )
    count = graph.links.pages
    page = rows["page"].to_numpy()
    newness, views, mu = np.zeros(count), np.zeros(count), np.full(count, np.nan)
    age = rows["age"].fill_null(-1).to_numpy()
    weight = day_weights(observed_days(job), job.settings.hubs.rate_half_life_days)
    newness[page] = np.where(age >= 0, weight[::-1][age], 0)
    views[page] = rows["views"].to_numpy()
    mu[page] = rows["mu"].to_numpy()
    return Interest(newness, views, mu, counted["pages"])


def _sums(links: Links, hubs: Int64s, values: Floats | Flags) -> Floats:
    """Sum of a value over the pages that each hub links to."""
    before = np.concatenate(([0.0], np.cumsum(values[links.target], dtype=np.float64)))
    return np.asarray(before[links.start[hubs + 1]] - before[links.start[hubs]])


def _places(order: HubOrder, page: Int64s) -> tuple[Int64s, Flags]:
    """Place of each page in an order, from 1, and whether it is there at all."""
    place = dict(zip(order.hub.tolist(), range(1, len(order) + 1), strict=True))
    found = np.array([place.get(one, 0) for one in page.tolist()], np.int64)
    return found, found > 0


def _sites(graph: LinkGraph, page: Int64s) -> list[str]:
    urls = pq.read_table([str(path) for path in graph.pages], columns=["url"])["url"]
    return [site_of(url) for url in urls.take(pa.array(page)).to_pylist()]


HUB_SEEDS: Final = WindowAsset(
    "hub_seeds",
    _make,
    windows=("page_views", "transits"),  # of the former, which of the days are there
    tables=(PAGE_TOTALS, PAGE_HISTORIES, INTEREST_CURVES, PAGE_LABELS),
    sql=("temporal_urls", *LINK_SQL, *VISIT_SQL, "linked_temporal", "hub_seeds"),
    settings=lambda settings: [
        settings.window.days,
        settings.privacy.min_clients,
        settings.privacy.rotation_days,
        settings.sites.quiet_days,
        settings.sites.quiet_share,
        settings.hubs.model_dump(mode="json"),
    ],
)
