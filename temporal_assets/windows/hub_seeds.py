"""`hub_seeds`: the pages to start crawling from, and how often (NP 4.2, 5.1).

Here: the choice among the candidates (`hub_order`), and what is said of the hubs chosen. Links are
read for the hubs that lead to the most, some at a time, so that memory does not grow with the
window: see `core.hub_coverage.Greedy`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.core.hub_coverage import WHOLE, Greedy, HubOrder, HubPart
from temporal_assets.core.revisits import day_weights, intervals
from temporal_assets.core.rounding import rounded_down, rounded_up
from temporal_assets.core.texts import Floats, Int64s
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.logs.urls import site_of
from temporal_assets.settings import Hubs
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.days import observed_days
from temporal_assets.windows.hub_order import HUB_COLUMNS, ORDER_SQL, VisitFiles, hub_order
from temporal_assets.windows.interest_curves import INTEREST_CURVES
from temporal_assets.windows.link_graph import LINK_SQL, PAGE, LinkTables, link_tables, paths
from temporal_assets.windows.page_histories import PAGE_HISTORIES
from temporal_assets.windows.page_labels import PAGE_LABELS
from temporal_assets.windows.page_totals import PAGE_TOTALS
from temporal_assets.windows.page_traffic import PAGE_TRAFFIC

LINKS_AT_ONCE: Final = 20_000_000
"""Links in memory at a time, half a gigabyte while they are sorted. With fewer in all, which the
papers' logs have, every hub is read once and at once."""

_HOURS: Final = 24.0
_MINUTES: Final = 24.0 * 60

_TIERS: Final = (0.5, 0.9)
"""Shares of what all seeds cover at which the first and the second tier end."""

_SHORTEST_HALF_LIFE: Final = 1 / _HOURS
"""In days. Views are known by day: a shorter life cannot be told from this."""

_UNKNOWN_HALF_LIFE: Final = 1.0
"""In days, where no page of the window has a curve: news (TW figure 5)."""

_BILLION: Final = 1_000_000_000
"""Sums of mu are of integers, so that they do not depend on the order of rows."""

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


@dataclass(frozen=True, slots=True)
class Demand:
    """What `core.revisits` needs to know of hubs; one entry for each."""

    rate: Floats
    """New temporal pages a day."""
    views: Floats
    """Of such a page."""
    half_life: Floats
    """Days."""


def revisit_minutes(wanted: Demand, hubs: Hubs) -> Int64s:
    """Whole minutes between visits; rounded up, so that the budget is kept."""
    visits = len(wanted.rate) * _HOURS if hubs.visits_per_day is None else hubs.visits_per_day
    shortest, longest = hubs.shortest_minutes / _MINUTES, hubs.longest_hours / _HOURS
    days = intervals(wanted.rate, wanted.views, wanted.half_life, visits, shortest, longest)
    return rounded_up(days * _MINUTES)


def most_hubs(hubs: Hubs) -> int:
    """How many hubs the settings allow: no more than the budget can visit at all."""
    if hubs.visits_per_day is None:
        return hubs.top_k
    most = rounded_down(hubs.visits_per_day * hubs.longest_hours / _HOURS)
    return min(hubs.top_k, int(most))


def _make(job: Job) -> Sequence[Path]:
    files = job.window("transits").files
    labels = {"page_labels": job.files("page_labels")}
    wanted = paths(job.engine.query("temporal_urls", labels, {}, _WANTED, job.out))
    links = link_tables(job.engine, files, job.files("page_totals"), wanted, job.out)
    observed = observed_days(job)
    audience = VisitFiles(files, job.files("page_traffic"), _recent(job))
    order = hub_order(job.engine, job.settings, audience, links, observed, job.day, job.out)
    limit = most_hubs(job.settings.hubs)
    taken = take(job, links, order, limit)
    chosen = _chosen(job, order, taken, limit)
    ranked = job.out / "ranked_hubs.parquet"
    demanded = _demand(job, links, chosen)
    pq.write_table(_ranked(job, chosen, taken, demanded, len(ParquetRows(wanted))), ranked)
    parameters = {"day": job.day}
    return job.engine.query(
        "hub_seeds", {"ranked_hubs": [str(ranked)]}, parameters, job.asset.table, job.out
    )


def _recent(job: Job) -> list[str]:
    """Files of the last days of `page_views`, by which a hub may have gone quiet."""
    first = job.day - dt.timedelta(days=job.settings.sites.quiet_days - 1)
    days = [one for one in job.window("page_views").manifests if one.day >= first]
    return [path for one in days for path in job.store.paths(one)]


def take(job: Job, links: LinkTables, order: Sequence[str], limit: int) -> HubOrder:
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
    unknown = np.log(_UNKNOWN_HALF_LIFE)
    if everywhere["curves"]:
        unknown = everywhere["billionths"] / _BILLION / everywhere["curves"]
    rows = pq.read_table(paths(made))
    return demand(rows, weight, float(unknown), int(observed.sum()))


def demand(rows: pa.Table, weight: Floats, unknown: float, days: int) -> Demand:
    """Of each hub of `hub_demand`, in ascending order.

    `weight` is what a page that was born on each day of the window adds to the new pages to expect
    a day; `unknown` is the mu of hubs none of whose pages has a curve; `days` is the longest life.
    """
    _, start = np.unique(rows["page"].to_numpy(), return_index=True)
    age = rows["age"].fill_null(-1).to_numpy()
    newness = np.where(age >= 0, weight[::-1][age], 0.0)
    counts = {name: rows[name].to_numpy() for name in ("pages", "views", "curves", "billionths")}

    def summed(values: Any) -> Any:
        return np.add.reduceat(values, start) if len(start) else values[:0]

    curves = summed(counts["curves"])
    mu = np.full(len(start), unknown)
    np.divide(summed(counts["billionths"]) / _BILLION, curves, out=mu, where=curves > 0)
    return Demand(
        rate=summed(counts["pages"] * newness),
        views=summed(counts["views"]) / summed(counts["pages"]),
        # The median age of a view of one page is exp(mu) (TW 4.1).
        half_life=np.clip(np.exp(mu), _SHORTEST_HALF_LIFE, days),
    )


def _ranked(
    job: Job, chosen: Sequence[Path], taken: HubOrder, wanted: Demand, temporal_pages: int
) -> pa.Table:
    """The chosen hubs, by number, with everything known of them."""
    hubs = pq.read_table(paths(chosen))
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
            "coverage": of_seeds(covered / max(temporal_pages, 1)),
            "tier": of_seeds(tier),
            "new_per_day": wanted.rate,
            "half_life_hours": wanted.half_life * _HOURS,
            "revisit_minutes": pa.array(minutes, mask=~is_taken),
        }
    )


def _places(taken: HubOrder, page: Int64s) -> tuple[Int64s, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Place of each page among the seeds, from 0, and whether it is one of them."""
    at = np.zeros(len(page), np.int64)
    at[np.searchsorted(page, taken.hub)] = np.arange(len(taken))
    return at, np.isin(page, taken.hub)


def _write(path: Path, columns: dict[str, Int64s], schema: pa.Schema) -> list[str]:
    pq.write_table(pa.table(columns, schema=schema), path)
    return [str(path)]


HUB_SEEDS: Final = WindowAsset(
    "hub_seeds",
    _make,
    windows=("page_views", "transits"),
    tables=(PAGE_TOTALS, PAGE_HISTORIES, INTEREST_CURVES, PAGE_LABELS, PAGE_TRAFFIC),
    sql=(
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
