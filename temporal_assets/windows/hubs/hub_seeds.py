"""`hub_seeds`: the pages to start crawling from, and how often to visit them (NP 4.2, 5.1).

Here: choosing between the two implementations, sites without a hub, and the published rows. Not
here: the choice by SQL (`hub_choice`), the same in compiled code (`hub_choice_compiled`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import passing
from temporal_assets.engines.batches import handed_on
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.logs.urls.urls import site_of
from temporal_assets.settings import VIEWS_PER_CLIENT
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.hubs.chosen_hubs import ChosenHubs, without_links
from temporal_assets.windows.hubs.hub_choice import STATEMENTS, hubs_by_statements
from temporal_assets.windows.hubs.hub_choice_compiled import numbered_hubs
from temporal_assets.windows.hubs.hub_list import FILLED, published
from temporal_assets.windows.hubs.hub_order import (
    CLIENTS_SQL,
    VisitFiles,
    count_clients,
    without_search_engines,
)
from temporal_assets.windows.hubs.link_graph import LINK_SQL, paths
from temporal_assets.windows.labels.early_labels import EARLY_LABELS
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

LINKS_AT_ONCE: Final = 20_000_000
"""Links in memory at a time: half a gigabyte while they are sorted. With fewer links in all, as in
the papers' logs, the compiled code chooses the hubs (`hub_choice_compiled`)."""

_TEMPORAL_SITES: Final = "SELECT DISTINCT site FROM page_labels WHERE is_temporal ORDER BY site"
_SITES: Final = "SELECT DISTINCT site FROM page_totals ORDER BY site"
_ALL_ROWS: Final = 10_000_000

_FRONT_PAGES: Final = passing("front_pages", "page BIGINT, url VARCHAR, followers BIGINT")

_CLICKED_PAGES: Final = passing("clicked_pages", "page BIGINT, url VARCHAR, clicks BIGINT")


def _make(job: Job) -> Sequence[Path]:
    days = [job.first + dt.timedelta(days=n) for n in range((job.day - job.first).days + 1)]
    visits = VisitFiles(job.followed(), job.files("page_traffic"), job.urls("page_traffic"), days)
    chosen = None
    # Counts of links are few, and their pages may be opened on other days: statements compare URLs.
    is_counted = any(manifest.counts for manifest in job.window("transits").manifests)
    if job.engine.spread is None and not is_counted:
        chosen = numbered_hubs(job, visits, LINKS_AT_ONCE)
    if chosen is None:
        chosen = hubs_by_statements(job, visits, LINKS_AT_ONCE)
    fronts, clicked = _fronts(job, chosen, visits), _clicked(job, visits)
    hubs = published(chosen, fronts, clicked, job.settings.hubs)
    ranked = {"ranked_hubs": handed_on(hubs, job.out / "ranked_hubs.parquet")}
    return job.engine.query("hub_seeds", ranked, {"day": job.day}, job.asset.table, job.out)


def _fronts(job: Job, chosen: ChosenHubs, visits: VisitFiles) -> pa.Table:
    """Return the front page of each site without a hub, if enough clients opened it.

    A site without a hub is called lonely; `followers` are the clients that came from its front
    page.
    """
    lonely = _lonely_sites(job, chosen)
    if not lonely:
        return without_links(pa.array([], pa.string()), pa.array([], pa.int64()))
    listed = handed_on(
        pa.table({"site": pa.array(lonely, pa.string())}), job.out / "lonely.parquet"
    )
    totals = {"lonely_sites": listed, "page_totals": job.files("page_totals")}
    inputs = {**job.transits(job.window("transits").manifests[-1:]), **totals}
    front_files = paths(job.engine.query("front_pages", inputs, {}, _FRONT_PAGES, job.out))
    folder = job.out / "fronts"
    folder.mkdir()
    client_files = count_clients(job.engine, job.settings, visits, front_files, folder)
    pages, clients = (whole_table(files) for files in (front_files, client_files))
    rows = pages.join(clients, "page", join_type="left outer", use_threads=False)
    # Of a page that nobody opened, those who came from it are known.
    people = pc.fill_null(pc.coalesce(rows["clients"], rows["followers"]), 0)
    rows = rows.set_column(rows.column_names.index("clients"), "clients", people)
    rows = rows.filter(pc.greater_equal(rows["clients"], job.settings.privacy.min_clients))
    place_of_site: dict[str, int] = {}
    rows = rows.sort_by([("clients", "descending"), ("url", "ascending")])
    for place, url in enumerate(rows["url"].to_pylist()):
        place_of_site.setdefault(site_of(url), place)  # http and https may both be there
    rows = rows.take(pa.array(place_of_site.values(), pa.int64()))
    return without_links(rows["url"].combine_chunks(), rows["clients"].combine_chunks())


def _lonely_sites(job: Job, chosen: ChosenHubs) -> list[str]:
    """Return the sites with temporal pages but no hub, because no referrer leads to them.

    Where there is neither a hub nor a temporal page at all, return all sites, so that the list is
    not empty only because nothing is known.
    """
    labels = {"page_labels": job.files("page_labels")}
    sites = {row["site"] for row in job.engine.rows(_TEMPORAL_SITES, labels, _ALL_ROWS)}
    if not sites and not len(chosen.hubs):
        totals = {"page_totals": job.files("page_totals")}
        sites = {row["site"] for row in job.engine.rows(_SITES, totals, _ALL_ROWS)}
    return sorted(sites - {site_of(url) for url in chosen.hubs["url"].to_pylist()})


def _clicked(job: Job, visits: VisitFiles) -> pa.Table:
    """Return the pages with the most clicks out on the last day, or else in the whole window."""
    manifests = job.window("transits").manifests
    on_last_day = _clicked_on(job, visits, manifests[-1:], "clicked")
    if len(on_last_day) or len(manifests) == 1:
        return on_last_day
    return _clicked_on(job, visits, manifests, "clicked_before")


def _clicked_on(job: Job, visits: VisitFiles, manifests: Sequence[Manifest], name: str) -> pa.Table:
    """Return the pages with the most clicks out on some days, among those with enough clients."""
    folder = job.out / name
    folder.mkdir()
    inputs = {**job.transits(manifests), "page_totals": job.files("page_totals")}
    most = {"most": 2 * FILLED}
    clicked = paths(job.engine.query("clicked_pages", inputs, most, _CLICKED_PAGES, folder))
    clients = whole_table(count_clients(job.engine, job.settings, visits, clicked, folder))
    rows = whole_table(clicked).join(clients, "page", join_type="inner", use_threads=False)
    rows = rows.sort_by("page")
    rows = rows.filter(pc.greater_equal(rows["clients"], job.settings.privacy.min_clients))
    host = pc.list_element(pc.split_pattern(rows["url"], "/", max_splits=3), 2)
    rows = without_search_engines(rows.append_column("host", host), job.settings.hubs)
    return rows.select(["url", "clients", "clicks"])


HUB_SEEDS: Final = WindowAsset(
    "hub_seeds",
    _make,
    windows=("page_views", "transits"),
    tables=(PAGE_TOTALS, PAGE_HISTORIES, PAGE_LABELS, EARLY_LABELS, PAGE_TRAFFIC),
    sql=(*LINK_SQL, *CLIENTS_SQL, *STATEMENTS, "front_pages", "clicked_pages", "hub_seeds"),
    settings=lambda settings: [
        settings.window.days,
        settings.window.min_views_per_day,
        settings.privacy.min_clients,
        VIEWS_PER_CLIENT,
        settings.privacy.rotation_days,
        settings.hubs.model_dump(mode="json"),
    ],
)
