"""`hub_seeds`: the pages to start crawling from, and how often to visit them (NP 4.2, 5.1).

The list has three parts: hubs, from which links lead to temporal pages; the front pages of sites
that have temporal pages but no hub; and, if the list is shorter than `FILLED`, the pages with the
most clicks out of them.

Here: choosing between the two implementations, front pages, clicked pages, and the published rows.
Not here: the choice of hubs by SQL (`hub_choice`) and in compiled code (`hub_choice_compiled`),
which give the same hubs, and the order of the list (`hub_list`).
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
from temporal_assets.logs.urls.canonical import site_of
from temporal_assets.settings import VIEWS_PER_CLIENT
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.hubs.chosen_hubs import ChosenHubs, without_links
from temporal_assets.windows.hubs.hub_candidates import (
    CLIENTS_SQL,
    VisitFiles,
    count_clients,
    without_search_engines,
)
from temporal_assets.windows.hubs.hub_choice import STATEMENTS, hubs_by_statements
from temporal_assets.windows.hubs.hub_choice_compiled import numbered_hubs
from temporal_assets.windows.hubs.hub_list import FILLED, published
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
"""Limit of a query for sites, above any number of them."""

_FRONT_PAGES: Final = passing(
    "front_pages", "page BIGINT, url VARCHAR, number BIGINT, followers BIGINT"
)

_CLICKED_PAGES: Final = passing(
    "clicked_pages", "page BIGINT, url VARCHAR, number BIGINT, clicks BIGINT"
)


def _make(job: Job) -> Sequence[Path]:
    days = [job.first + dt.timedelta(days=n) for n in range((job.day - job.first).days + 1)]
    visits = VisitFiles(job.followed(), job.files("page_traffic"), days)
    chosen = None
    # Logs of counts per day have few links, and pages of a link may be opened on other days only:
    # SQL compares their URLs, compiled code their numbers of one day.
    has_counts = any(manifest.counts for manifest in job.window("transits").manifests)
    if job.engine.spread is None and not has_counts:
        chosen = numbered_hubs(job, visits, LINKS_AT_ONCE)
    if chosen is None:
        chosen = hubs_by_statements(job, visits, LINKS_AT_ONCE)
    fronts, clicked = _fronts(job, chosen, visits), _clicked(job, visits)
    hubs = published(chosen, fronts, clicked, job.settings.hubs)
    ranked = {"ranked_hubs": handed_on(hubs, job.out / "ranked_hubs.parquet")}
    return job.engine.query("hub_seeds", ranked, {"day": job.day}, job.asset.table, job.out)


def _fronts(job: Job, chosen: ChosenHubs, visits: VisitFiles) -> pa.Table:
    """Return the front page of each site without a hub, if enough clients opened it.

    Where nobody opened the front page, because a cache answers for it, say, the site gets the page
    that most clients came from on the last day; `followers` is their number.
    """
    sites = _sites_without_hub(job, chosen)
    if not sites:
        return without_links(pa.array([], pa.string()), pa.array([], pa.int64()))
    listed = handed_on(pa.table({"site": pa.array(sites, pa.string())}), job.out / "lonely.parquet")
    totals = {"lonely_sites": listed, "page_totals": job.files("page_totals")}
    inputs = {**job.transits(job.window("transits").manifests[-1:]), **totals}
    front_files = paths(job.engine.query("front_pages", inputs, {}, _FRONT_PAGES, job.out))
    folder = job.out / "fronts"
    folder.mkdir()
    client_files = count_clients(job.engine, job.settings, visits, front_files, folder)
    pages, clients = (whole_table(files) for files in (front_files, client_files))
    rows = pages.join(clients, "page", join_type="left outer", use_threads=False)
    people = pc.fill_null(pc.coalesce(rows["clients"], rows["followers"]), 0)
    rows = rows.set_column(rows.column_names.index("clients"), "clients", people)
    rows = rows.filter(pc.greater_equal(rows["clients"], job.settings.privacy.min_clients))
    place_of_site: dict[str, int] = {}
    rows = rows.sort_by([("clients", "descending"), ("url", "ascending")])
    for place, url in enumerate(rows["url"].to_pylist()):
        place_of_site.setdefault(site_of(url), place)  # http and https are two front pages
    rows = rows.take(pa.array(place_of_site.values(), pa.int64()))
    return without_links(rows["url"].combine_chunks(), rows["clients"].combine_chunks())


def _sites_without_hub(job: Job, chosen: ChosenHubs) -> list[str]:
    """Return the sites with temporal pages but no hub, because no referrer leads to those pages.

    Returns all sites if there is neither a hub nor a temporal page at all: a list must not be empty
    for lack of labels.
    """
    labels = {"page_labels": job.files("page_labels")}
    sites = {row["site"] for row in job.engine.rows(_TEMPORAL_SITES, labels, _ALL_ROWS)}
    if not sites and not len(chosen.hubs):
        totals = {"page_totals": job.files("page_totals")}
        sites = {row["site"] for row in job.engine.rows(_SITES, totals, _ALL_ROWS)}
    return sorted(sites - {site_of(url) for url in chosen.hubs["url"].to_pylist()})


def _clicked(job: Job, visits: VisitFiles) -> pa.Table:
    """Return the pages with the most clicks out of them on the last day.

    Returns those of all days of the window if the last day has none.
    """
    manifests = job.window("transits").manifests
    on_last_day = _clicked_on(job, visits, manifests[-1:], "clicked")
    if len(on_last_day) or len(manifests) == 1:
        return on_last_day
    return _clicked_on(job, visits, manifests, "clicked_before")


def _clicked_on(job: Job, visits: VisitFiles, manifests: Sequence[Manifest], name: str) -> pa.Table:
    """Return the pages with the most clicks out of them on some days and enough clients.

    `name` is the folder for the files of the step.
    """
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
