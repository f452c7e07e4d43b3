"""The hubs of a window, chosen by SQL statements on any engine and at any size.

Here: from links and wanted pages to the hubs that are published. Memory is bounded by the published
hubs and a sample of hubs whose links fit. Not here: the same choice in compiled code, where all
links fit into memory (`hub_choice_compiled`).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from temporal_assets.contracts import passing
from temporal_assets.core.hubs.yields import HubYield, NewLinks, learn
from temporal_assets.engines.batches import handed_on
from temporal_assets.engines.parquet_rows import ParquetRows, whole_table
from temporal_assets.logs.urls.canonical import SITE
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.days import observed_days
from temporal_assets.windows.hubs.chosen_hubs import (
    FACTS,
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
from temporal_assets.windows.hubs.link_graph import (
    LinkTables,
    link_tables,
    paths,
)
from temporal_assets.windows.hubs.wanted_pages import FACTS as WANTED_FACTS
from temporal_assets.windows.hubs.wanted_pages import wanted_pages

STATEMENTS: Final = (
    "wanted_pages",
    "wanted_numbers",
    "hub_births",
    "hub_facts",
    "hub_order",
    "covered_links",
)

_ROWS: Final = 100_000
"""Rows whose hosts are compared with search engines at a time."""

_WANTED_NUMBERS: Final = passing("wanted_numbers", "page BIGINT", *WANTED_FACTS)
_HUB_BIRTHS: Final = passing("hub_births", "page BIGINT, day BIGINT, new BIGINT")
_HUB_FACTS: Final = passing(
    "hub_facts", "page BIGINT", *FACTS, "url VARCHAR, host VARCHAR, number BIGINT"
)
_HUB_ORDER: Final = passing("hub_order", *HUB_COLUMNS)
_COVERED_LINKS: Final = passing(
    "covered_links", "source BIGINT, target BIGINT, is_temporal BOOLEAN, evidence BIGINT"
)


def hubs_by_statements(job: Job, visits: VisitFiles, most_links: int) -> ChosenHubs:
    """Return the hubs of both orders; `most_links` bounds the links in memory at a time."""
    wanted = wanted_pages(job)
    totals = job.files("page_totals")
    links = link_tables(job.engine, visits.transits, totals, wanted, job.first, job.out)
    inputs = {"wanted_pages": wanted, "link_pages": links.pages}
    numbers = _query(job, "wanted_numbers", inputs, {}, _WANTED_NUMBERS)
    model = _learned(job, links, numbers, most_links)
    weights = {"day": np.arange(len(model.weights)), "weight": model.weights}
    days = handed_on(pa.table(weights), job.out / "day_weights.parquet")
    order = _order(job, links, numbers, days, visits)
    hubs = whole_table(order).sort_by("place")
    labels = ParquetRows(job.files("page_labels"))
    temporal = labels.numbers("is_temporal", np.bool_)
    covered_links = _covered(job, links, numbers, days, hubs, most_links)
    return ChosenHubs(hubs, covered_links, int(temporal.sum()), model)


def _query(
    job: Job, name: str, inputs: dict[str, list[str]], parameters: dict[str, Any], table: Any
) -> list[str]:
    return paths(job.engine.query(name, inputs, parameters, table, job.out))


def _learned(job: Job, links: LinkTables, wanted: list[str], most_links: int) -> HubYield:
    """Return the model of hub yields, learned from all hubs or a sample that fits into memory."""
    count = len(ParquetRows(links.numbers))
    inputs = {"link_numbers": links.numbers, "link_pages": links.pages, "wanted_numbers": wanted}
    parameters = {"one_in": max(1, -(-count // max(most_links, 1)))}
    if parameters["one_in"] > 1:
        job.cut(
            f"what hubs lead to day by day is learned from one hub in {parameters['one_in']}: all"
            f" have {count:,} links, and {most_links:,} fit"
        )
    births = whole_table(_query(job, "hub_births", inputs, parameters, _HUB_BIRTHS))
    rows = NewLinks(*(births[name].to_numpy() for name in ("page", "day", "new")))
    return learn(rows, observed_days(job))


def _order(
    job: Job, links: LinkTables, wanted: list[str], days: list[str], visits: VisitFiles
) -> list[str]:
    """Return files of hub candidates in order, those with enough clients and not too many."""
    inputs = {
        "link_numbers": links.numbers,
        "wanted_numbers": wanted,
        "link_pages": links.pages,
        "day_weights": days,
    }
    facts = _query(job, "hub_facts", inputs, {}, _HUB_FACTS)
    kernel = partial(without_search_engines, hubs=job.settings.hubs)
    folder = job.out / "crawlable"
    folder.mkdir()
    facts = paths(job.engine.apply(kernel, {"hub_facts": facts}, _HUB_FACTS, folder, _ROWS))
    clients = count_clients(job.engine, job.settings, visits, facts, job.out)
    parameters = {
        "min_clients": job.settings.privacy.min_clients,
        "most_hubs": most_hubs(job.settings.hubs),
        "site": SITE,
    }
    return _query(
        job, "hub_order", {"hub_facts": facts, "link_visits": clients}, parameters, _HUB_ORDER
    )


def _covered(
    job: Job,
    links: LinkTables,
    wanted: list[str],
    days: list[str],
    hubs: pa.Table,
    most_links: int,
) -> HubLinks:
    """Return the links of the first hubs, of as many as have links that fit into memory."""
    pages = hubs["page"].to_numpy()
    count = hubs["wanted_pages"].to_numpy()
    fits = np.cumsum(count) - count < most_links
    if not fits.all():
        job.cut(
            f"what they add to each other is known of the first {int(fits.sum()):,} of"
            f" {len(fits):,} hubs, which have {most_links:,} links"
        )
    covering = handed_on(pa.table({"page": pages[fits]}), job.out / "covering.parquet")
    inputs = {
        "link_numbers": links.numbers,
        "wanted_numbers": wanted,
        "covering_hubs": covering,
        "day_weights": days,
    }
    rows = whole_table(_query(job, "covered_links", inputs, {}, _COVERED_LINKS))
    names = ("source", "target", "is_temporal", "evidence")
    return hub_links(pages, *(rows[name].to_numpy() for name in names))
