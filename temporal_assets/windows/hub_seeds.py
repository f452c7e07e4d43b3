"""`hub_seeds`: the pages to start crawling from, and how often (NP 4.2, 5.1).

Here: the choice among the candidates (`hub_order`) by statements, and what is said of the hubs
chosen. Links are read for the hubs that lead to the most, some at a time, so that memory does not
grow with the window: see `core.hub_coverage.Greedy`. Not here: the choice among links that fit into
memory (`hub_numbers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.core.hub_coverage import WHOLE, Greedy, HubOrder, HubPart
from temporal_assets.core.revisits import day_weights
from temporal_assets.core.texts import Floats, Int64s
from temporal_assets.engines.batches import handed_on
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.logs.urls import site_of
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.chosen_hubs import (
    HOURS,
    ChosenHubs,
    Demand,
    demand,
    most_hubs,
    revisit_minutes,
    usual_mu,
)
from temporal_assets.windows.days import observed_days, recent_days
from temporal_assets.windows.hub_numbers import NUMBERS_SQL, numbered_hubs
from temporal_assets.windows.hub_order import HUB_COLUMNS, ORDER_SQL, VisitFiles, hub_order
from temporal_assets.windows.interest_curves import INTEREST_CURVES
from temporal_assets.windows.link_graph import LINK_SQL, PAGE, LinkTables, link_tables, paths
from temporal_assets.windows.page_histories import PAGE_HISTORIES
from temporal_assets.windows.page_labels import PAGE_LABELS
from temporal_assets.windows.page_totals import PAGE_TOTALS
from temporal_assets.windows.page_traffic import PAGE_TRAFFIC

LINKS_AT_ONCE: Final = 20_000_000
"""Links in memory at a time, half a gigabyte while they are sorted. Fewer in all, which the papers'
logs have, are no work for statements (`hub_numbers`)."""

_TIERS: Final = (0.5, 0.9)
"""Shares of what all seeds cover at which the first and the second tier end."""

_ALL_CURVES: Final = (
    "SELECT count(mu) AS curves,"
    " CAST(coalesce(sum(CAST(round(mu * 1000000000) AS BIGINT)), 0) AS BIGINT) AS billionths"
    " FROM linked_temporal"
)

_WANTED: Final = passing(
    name="temporal_urls",
    description="Temporal pages of the window.",
    grain="url",
    columns=(ColumnSpec("url", Type.VARCHAR, "Canonical URL."),),
)
_HUB_LINKS: Final = passing(
    name="hub_links",
    description="The best of the hubs that are left.",
    grain="page",
    columns=(
        PAGE,
        ColumnSpec("place", Type.BIGINT, "In the order of the paper."),
        ColumnSpec("bound", Type.BIGINT, "What it adds now."),
        ColumnSpec("targets", Type.INTEGERS, "Temporal pages it links to."),
        ColumnSpec("hubs_left", Type.BIGINT, "Hubs that add anything; the same in every row."),
    ),
)
_CHOSEN_HUBS: Final = passing(
    name="chosen_hubs",
    description="The hubs that are published.",
    grain="page",
    columns=HUB_COLUMNS,
)
_LINKED_TEMPORAL: Final = passing(
    name="linked_temporal",
    description="Temporal pages of the graph.",
    grain="page",
    columns=(
        PAGE,
        ColumnSpec("views", Type.BIGINT, "Views within the window."),
        ColumnSpec("age", Type.BIGINT, "Days since birth; NULL if born before.", nullable=True),
        ColumnSpec("mu", Type.DOUBLE, "Of the interest curve.", nullable=True),
    ),
)
_HUB_DEMAND: Final = passing(
    name="hub_demand",
    description="What chosen hubs lead to.",
    grain="page, age",
    columns=(
        PAGE,
        ColumnSpec("age", Type.BIGINT, "Days since birth; NULL if born before.", nullable=True),
        ColumnSpec("pages", Type.BIGINT, "Temporal pages of that age that the hub links to."),
        ColumnSpec("views", Type.BIGINT, "Their views."),
        ColumnSpec("curves", Type.BIGINT, "Those with a curve."),
        ColumnSpec("billionths", Type.BIGINT, "Sum of mu over these, in billionths."),
    ),
)
_TAKEN: Final = pa.schema({"page": pa.int64()})
_COVERED: Final = pa.schema({"page": pa.int64(), "worth": pa.int64()})


def _make(job: Job) -> Sequence[Path]:
    visits, found = visit_files(job), None
    if job.engine.spread is None and job.settings.hubs.external == "drop":
        found = numbered_hubs(job, visits, LINKS_AT_ONCE)
    if found is None:
        found = _hubs_by_statements(job, visits)
    ranked = {"ranked_hubs": handed_on(_ranked(job, found), job.out / "ranked_hubs.parquet")}
    return job.engine.query("hub_seeds", ranked, {"day": job.day}, job.asset.table, job.out)


def visit_files(job: Job) -> VisitFiles:
    """What says who came to pages of the window."""
    recent = [path for one in recent_days(job) for path in job.store.paths(one)]
    return VisitFiles(job.window("transits").files, job.files("page_traffic"), recent)


def _hubs_by_statements(job: Job, visits: VisitFiles) -> ChosenHubs:
    """Of as many links as there are."""
    labels = {"page_labels": job.files("page_labels")}
    wanted = paths(job.engine.query("temporal_urls", labels, {}, _WANTED, job.out))
    links = link_tables(job.engine, visits.transits, job.files("page_totals"), wanted, job.out)
    observed = observed_days(job)
    order = hub_order(job.engine, job.settings, visits, links, observed, job.day, job.out)
    limit = most_hubs(job.settings.hubs)
    taken = _take(job, links, order, limit)
    chosen = _chosen(job, order, taken, limit)
    hubs = pq.read_table(paths(chosen), partitioning=None)
    return ChosenHubs(hubs, taken, _demand(job, links, chosen), len(ParquetRows(wanted)))


def _take(job: Job, links: LinkTables, order: Sequence[str], limit: int) -> HubOrder:
    """The seeds, best first; hubs by their number."""
    greedy = Greedy(limit, job.settings.hubs.again)
    while not greedy.is_full and (part := _best_left(job, links, order, greedy)) is not None:
        greedy.extend(part)
    return greedy.order


def _best_left(job: Job, links: LinkTables, order: Sequence[str], greedy: Greedy) -> HubPart | None:
    """The hubs that add most to those taken; None where no hub adds anything."""
    with TemporaryDirectory(dir=job.out) as folder:
        out = Path(folder)
        covered = {"page": greedy.pages, "worth": greedy.worth}
        inputs = {
            "hub_order": order,
            "link_numbers": links.numbers,
            "taken_hubs": _write(out / "taken", {"page": greedy.order.hub}, _TAKEN),
            "covered_pages": _write(out / "covered", covered, _COVERED),
        }
        parameters = {"most_links": LINKS_AT_ONCE, "whole": WHOLE}
        rows = pq.read_table(
            paths(job.engine.query("hub_links", inputs, parameters, _HUB_LINKS, out)),
            memory_map=False,
            partitioning=None,
        )
    if not len(rows):
        return None
    return HubPart(
        rows["page"].to_numpy(),
        rows["place"].to_numpy(),
        rows["bound"].to_numpy(),
        pc.list_value_length(rows["targets"]).to_numpy().astype(np.int64),
        pc.list_flatten(rows["targets"]).to_numpy().astype(np.int64),
        rows["hubs_left"][0].as_py() == len(rows),
    )


def _chosen(job: Job, order: Sequence[str], taken: HubOrder, limit: int) -> Sequence[Path]:
    """Files of the hubs of either order."""
    hubs = _write(job.out / "seeds_taken", {"page": taken.hub}, _TAKEN)
    inputs = {"hub_order": order, "taken_hubs": hubs}
    return job.engine.query("chosen_hubs", inputs, {"most_hubs": limit}, _CHOSEN_HUBS, job.out)


def _demand(job: Job, links: LinkTables, chosen: Sequence[Path]) -> Demand:
    """Rates, views and half-lives of the temporal pages of the chosen hubs."""
    names = ("page_labels", "page_histories", "interest_curves")
    facts = job.engine.query(
        "linked_temporal",
        {name: job.files(name) for name in names} | {"link_pages": links.pages},
        {"day": job.day},
        _LINKED_TEMPORAL,
        job.out,
    )
    known = {"linked_temporal": paths(facts)}
    (everywhere,) = job.engine.rows(_ALL_CURVES, known)
    inputs = {"chosen_hubs": paths(chosen), "link_numbers": links.numbers}
    made = job.engine.query("hub_demand", inputs | known, {}, _HUB_DEMAND, job.out)
    observed = observed_days(job)
    weight = day_weights(observed, job.settings.hubs.rate_half_life_days)
    unknown = usual_mu(everywhere["curves"], everywhere["billionths"])
    return demand(
        pq.read_table(paths(made), partitioning=None), weight, unknown, int(observed.sum())
    )


def _ranked(job: Job, found: ChosenHubs) -> pa.Table:
    """The chosen hubs, by number, with everything known of them."""
    hubs, taken, wanted = found.hubs, found.taken, found.demand
    at, is_taken = _places(taken, hubs["page"].to_numpy())
    minutes = np.zeros(len(hubs), np.int64)
    seeds = Demand(*(part[is_taken] for part in (wanted.rate, wanted.views, wanted.half_life)))
    minutes[is_taken] = revisit_minutes(seeds, job.settings.hubs)
    covered = taken.covered
    tier = 1 + np.searchsorted(np.array(_TIERS), (covered - taken.gain) / covered[-1:], "right")

    def of_seeds(values: Int64s | Floats) -> pa.Array:
        return pa.array(values[at] if len(values) else at, mask=~is_taken)

    return pa.table(
        {
            "url": hubs["url"],
            "site": pa.array(map(site_of, hubs["url"].to_pylist()), pa.string()),
            "is_external": hubs["is_external"],
            "clients": hubs["clients"],
            "temporal_pages": hubs["temporal_pages"],
            "rank": pa.array(at + 1, mask=~is_taken),
            "paper_rank": hubs["place"],
            "gain": of_seeds(taken.gain),
            "covered": of_seeds(covered),
            "coverage": of_seeds(covered / max(found.temporal_pages, 1)),
            "tier": of_seeds(tier),
            "new_per_day": wanted.rate,
            "half_life_hours": wanted.half_life * HOURS,
            "revisit_minutes": pa.array(minutes, mask=~is_taken),
        }
    )


def _places(taken: HubOrder, page: Int64s) -> tuple[Int64s, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Place of each page among the seeds, from 0, and whether it is one of them."""
    at = np.zeros(len(page), np.int64)
    at[np.searchsorted(page, taken.hub)] = np.arange(len(taken))
    return at, np.isin(page, taken.hub)


def _write(path: Path, columns: dict[str, Int64s], schema: pa.Schema) -> list[str]:
    return handed_on(pa.table(columns, schema=schema), path)


HUB_SEEDS: Final = WindowAsset(
    "hub_seeds",
    _make,
    windows=("page_views", "transits"),
    tables=(PAGE_TOTALS, PAGE_HISTORIES, INTEREST_CURVES, PAGE_LABELS, PAGE_TRAFFIC),
    sql=(
        *NUMBERS_SQL,
        "temporal_urls",
        *LINK_SQL,
        *ORDER_SQL,
        "hub_links",
        "chosen_hubs",
        "linked_temporal",
        "hub_demand",
        "hub_seeds",
    ),
    settings=lambda settings: [
        settings.window.days,
        settings.privacy.min_clients,
        settings.privacy.rotation_days,
        settings.sites.quiet_days,
        settings.sites.quiet_share,
        settings.hubs.model_dump(mode="json"),
    ],
)
