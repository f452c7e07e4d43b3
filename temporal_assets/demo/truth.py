"""The truth about a corpus: sites, sections, hubs, pages, and what readers did each day.

What belongs here: tables of the truth and their columns. What does not: samples for people
(`lists`) and files (`corpus`). Every URL is canonical, as the pipeline would store it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets.demo.files import style_of
from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.interest import accumulated
from temporal_assets.demo.world.pages import FRONT, PageTable
from temporal_assets.demo.world.people import addresses
from temporal_assets.demo.world.ragged import Int32s, Ragged, join
from temporal_assets.demo.world.requests import NO_REFERRER, Requests
from temporal_assets.demo.world.sites import PageKind, Site
from temporal_assets.demo.world.urls import hub_paths
from temporal_assets.demo.world.visits import SiteWorld

_N: Final = 3.0
_Q: Final = 0.7
"""Threshold of TW 4.2: a page is temporal if more than this share of its interest accumulates
within n days."""

PAGES: Final = pa.schema(
    {
        "url": pa.string(),
        "site": pa.string(),
        "section": pa.string(),
        "kind": pa.string(),
        "birth": pa.float32(),
        "mu": pa.float32(),
        "sigma": pa.float32(),
        "amplitude": pa.float32(),
        "expected_views": pa.float32(),
        "phi3": pa.float32(),
        "is_temporal": pa.bool_(),
        "is_news": pa.bool_(),
    }
)
"""Columns of pages. birth: days since 0:00 UTC of the window's first day (negative: before it).
amplitude, mu, sigma: the interest curve of TW 4.1, NULL for hubs. expected_views: within the
window. phi3: share of the interest within 3 days. is_temporal: by that share; is_news: by what the
page is."""

SITES: Final = pa.schema(
    {
        "site": pa.string(),
        "kind": pa.string(),
        "pages": pa.int64(),
        "traffic": pa.float64(),
        "opens": pa.date32(),
        "closes": pa.date32(),
        "format": pa.string(),
    }
)
"""Columns of sites. pages: hubs not counted. traffic: share of all views. opens, closes: first and
last day with visitors."""

SECTIONS: Final = pa.schema(
    {
        "site": pa.string(),
        "prefix": pa.string(),
        "is_program": pa.bool_(),
        "is_news": pa.bool_(),
        "pages": pa.int64(),
        "hub": pa.string(),
    }
)
HUBS: Final = pa.schema(
    {"url": pa.string(), "site": pa.string(), "section": pa.string(), "role": pa.string()}
)
"""Columns of hubs. role: `front`, `index` of a section, or `hot` list of all sections."""

VIEWS: Final = pa.schema(
    {"day": pa.date32(), "site": pa.string(), "url": pa.string(), "views": pa.int64()}
)
TRANSITS: Final = pa.schema(
    {"day": pa.date32(), "referrer": pa.string(), "target": pa.string(), "client": pa.int64()}
)
"""Columns of transits. client: its row in `clients`. referrer: NULL where there was none."""

CLIENTS: Final = pa.schema({"client": pa.int64(), "address": pa.string()})


@dataclass(frozen=True, slots=True)
class DayTruth:
    """The numbers that the pipeline must find on a day in the logs of some sites."""

    views: pa.Table
    transits: pa.Table


def page_rows(pages: PageTable, urls: Ragged) -> pa.Table:
    """Return the truth about the pages of one site; `urls` begins with theirs."""
    count = len(pages)
    is_hub = pages.kind == PageKind.HUB
    names = np.array([*(section.prefix for section in pages.site.sections), "/"])
    phi3 = accumulated(np.full(count, _N, np.float32), pages.mu, pages.sigma)
    expected = pages.expected(pages.site.opens, pages.site.closes)
    columns = [
        urls.take(np.arange(count)).to_arrow(),
        pa.repeat(pages.site.host, count),
        pa.array(names[pages.section]),
        pa.array(_KIND_NAMES[pages.kind]),
        pa.array(pages.birth),
        *(pa.array(part, mask=is_hub) for part in (pages.mu, pages.sigma, pages.amplitude)),
        pa.array(expected, mask=is_hub),
        pa.array(phi3, mask=is_hub),
        pa.array((phi3 > _Q) & ~is_hub),
        pa.array(pages.kind == PageKind.NEWS),
    ]
    return pa.Table.from_arrays(columns, schema=PAGES)


_KIND_NAMES: Final = np.array([kind.name.lower() for kind in PageKind])


def site_rows(options: DemoOptions, sites: Sequence[Site]) -> pa.Table:
    """Return the truth about the sites."""
    rows = [
        {
            "site": site.host,
            "kind": site.kind.value,
            "pages": site.pages,
            "traffic": site.traffic,
            "opens": options.first_day + dt.timedelta(site.opens),
            "closes": options.first_day + dt.timedelta(site.closes - 1),
            "format": style_of(site).format,
        }
        for site in sites
    ]
    return pa.Table.from_pylist(rows, SITES)


def section_rows(pages: PageTable) -> pa.Table:
    """Return the truth about the sections of one site."""
    site = pages.site
    rows = [
        {
            "site": site.host,
            "prefix": section.prefix,
            "is_program": section.style.is_program,
            "is_news": section.is_news,
            "pages": int((pages.section[pages.hubs :] == index).sum()),
            "hub": site.origin + section.hub_path,
        }
        for index, section in enumerate(site.sections)
    ]
    return pa.Table.from_pylist(rows, SECTIONS)


def hub_rows(pages: PageTable) -> pa.Table:
    """Return the truth about the hubs of one site."""
    site = pages.site
    rows = []
    for row, path in enumerate(hub_paths(site)):
        is_index = 0 < row <= len(site.sections)
        role = "front" if row == FRONT else "index" if is_index else "hot"
        section = site.sections[row - 1].prefix if is_index else "/"
        url = site.origin + path
        rows.append({"url": url, "site": site.host, "section": section, "role": role})
    return pa.Table.from_pylist(rows, HUBS)


def client_rows(options: DemoOptions) -> pa.Table:
    """Return the addresses of the readers by number."""
    client_addresses = addresses(options.clients).take(np.arange(options.clients)).to_arrow()
    return pa.Table.from_arrays(
        [pa.array(np.arange(options.clients)), client_addresses], schema=CLIENTS
    )


def referrer_urls(world: SiteWorld, externals: Ragged) -> pa.StringArray:
    """Return the URL of every referrer code: external ones, then the site's own pages."""
    return join(externals, world.urls.table.take(np.arange(len(world.pages)))).to_arrow()


def day_truth(
    day: dt.date,
    worlds: Sequence[SiteWorld],
    readers: Sequence[Requests],
    referrers: Sequence[pa.StringArray],
) -> DayTruth:
    """Return distinct clients of every page and distinct steps between pages, for some sites.

    `referrers` has the URL of every referrer code of each site (`referrer_urls`).
    """
    views, transits = [], []
    for world, requests, named in zip(worlds, readers, referrers, strict=True):
        views.append(_views(day, world.pages.site.host, named, world.externals, requests))
        transits.append(_transits(day, named, world.externals, requests))
    return DayTruth(pa.concat_tables(views), pa.concat_tables(transits))


def _views(
    day: dt.date, host: str, named: pa.StringArray, externals: int, requests: Requests
) -> pa.Table:
    """Return the true views of a site's pages on a day."""
    row, _ = _distinct(requests.row, requests.client)
    seen, count = np.unique(row, return_counts=True)
    columns = [
        pa.repeat(pa.scalar(day), len(seen)),
        pa.repeat(host, len(seen)),
        named.take(pa.array(externals + seen)),
        pa.array(count, pa.int64()),
    ]
    return pa.Table.from_arrays(columns, schema=VIEWS)


def _transits(day: dt.date, named: pa.StringArray, externals: int, requests: Requests) -> pa.Table:
    """Return the true transits of a site on a day, each triple once."""
    moved = requests.take(np.flatnonzero(requests.referrer != externals + requests.row))
    row, referrer, client = _distinct(moved.row, moved.referrer, moved.client)
    columns = [
        pa.repeat(pa.scalar(day), len(row)),
        named.take(pa.array(referrer, mask=referrer == NO_REFERRER)),
        named.take(pa.array(externals + row)),
        pa.array(client, pa.int64()),
    ]
    return pa.Table.from_arrays(columns, schema=TRANSITS)


def _distinct(*columns: Int32s) -> list[NDArray[np.int32]]:
    """Return the distinct rows of columns, sorted by the first column, then the second ..."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    is_new = np.zeros(len(order), np.bool_)
    is_new[:1] = True
    for column in ordered:
        is_new[1:] |= column[1:] != column[:-1]
    return [column[is_new] for column in ordered]
