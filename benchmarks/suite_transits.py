"""Transits for lines of the benchmark suite about hubs, and hubs by pandas.

A web of sites with hubs: most transits lead from the hubs of a site to its pages, others from page
to page, and a fifth from nowhere.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.window_builds import publish_rows
from temporal_assets import contracts
from temporal_assets.days.transits import make_transits
from temporal_assets.engines.base import Engine
from temporal_assets.engines.statements import run
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.store import Store

_SITES: Final = 2_000
_HUBS: Final = 20
"""Hubs of each site."""
_BY_HUB: Final = 0.55
_BY_PAGE: Final = 0.25
_CLIENTS: Final = 1_000_000
_FIRST: Final = dt.date(2025, 3, 3)
_DAYS: Final = 60
_DAY: Final = _FIRST + dt.timedelta(days=_DAYS - 1)


def hubs_of_pandas(store: Store, opened: pd.Series[str]) -> pd.DataFrame:
    """The paper's order of hubs: temporal pages that known pages lead to (NP 5.1)."""
    labels = store.read("page_labels", _DAY, ["url", "is_temporal"]).to_pandas()
    links = _transits_of_pandas(store, ["referrer", "target"]).dropna().drop_duplicates()
    links = links[links["target"].isin(labels.loc[labels["is_temporal"], "url"])]
    counts = links.groupby("referrer").size()
    counts = counts[counts.index.isin(opened)]
    return counts.reset_index(name="pages").sort_values(
        ["pages", "referrer"], ascending=[False, True], ignore_index=True
    )


def _transits_of_pandas(store: Store, columns: list[str]) -> pd.DataFrame:
    days = store.window("transits", _DAY, _DAYS, 1).present
    return store.read("transits", days, columns).to_pandas()


def write(store: Store, engine: Engine, pages: pa.Table, transits: int) -> None:
    """Labels, histories and curves of the pages; views and transits of every day."""
    dice = np.random.default_rng(1)
    site = np.array([int(name[4:-8]) for name in pages["site"].to_pylist()])
    hubs = [f"https://site{n // _HUBS}.example/hub/{n % _HUBS}" for n in range(_SITES * _HUBS)]
    urls = pa.concat_arrays([pages["url"].combine_chunks(), pa.array(hubs)])
    site = np.concatenate([site, np.repeat(np.arange(_SITES), _HUBS)])
    names = pa.array([f"site{n}.example" for n in range(_SITES)])
    total = np.zeros(len(urls), np.int64)
    birth = np.full(len(urls), -1)
    days_seen = np.zeros(len(urls), np.int64)
    opened: list[Input] = []
    share = np.cumsum(dice.lognormal(0, 1.8, len(pages)))  # a few pages have most of the readers
    for n in range(_DAYS):
        day = _FIRST + dt.timedelta(days=n)
        once = np.arange(n, len(pages), _DAYS)  # of a page that nobody opened there is no label
        source, target, client = _steps(dice, transits // _DAYS, once, site, share)
        columns = {
            "day": pa.repeat(pa.scalar(day), len(target)),
            "referrer": urls.take(pa.array(source, mask=source < 0)),
            "url": urls.take(pa.array(target)),
            "site": names.take(pa.array(site[target])),
            "client": pa.array(client),
        }
        _write_transits(store, engine, day, pa.table(columns))
        page, views = np.unique(target, return_counts=True)
        total[page] += views
        birth[page] = np.where(birth[page] < 0, n, birth[page])
        days_seen[page] |= 1 << n
        columns = {"site": names.take(pa.array(site[page])), "url": urls.take(pa.array(page))}
        manifest = publish(store, engine, "page_views", day, columns | {"views": pa.array(views)})
        opened.append(Input(f"page_views/day={day}", manifest.digest))
    born = pa.array(np.datetime64(_FIRST) + np.maximum(birth, 0))
    seen = pa.array(np.flatnonzero(birth >= 0))
    every = {"site": names.take(pa.array(site)), "url": urls, "birth": born}
    every["total"] = pa.array(np.maximum(total, 1))
    totals = every | {"seen": pa.array(days_seen)}
    totals = {name: column.take(seen) for name, column in totals.items()}
    publish(store, engine, "page_totals", _DAY, totals, opened)
    page_columns = {name: column.slice(0, len(pages)) for name, column in every.items()}
    _write_labels(store, engine, pages, page_columns)


def _write_transits(store: Store, engine: Engine, day: dt.date, requests: pa.Table) -> None:
    """Write transits as the asset makes them."""
    with store.scratch() as scratch:
        path = scratch / "requests.parquet"
        pq.write_table(requests, path)
        transits = run(engine, make_transits([str(path)], scratch))
        store.publish(
            "transits", day, transits.rows, inputs=[], settings_digest="", beside=transits.urls
        )


def _write_labels(
    store: Store, engine: Engine, pages: pa.Table, known: dict[str, pa.Array]
) -> None:
    count = len(pages)
    views = np.zeros((count, _DAYS), np.int32)
    views[:, -1] = pages["total"].to_numpy()
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * _DAYS)
    lists = pa.ListArray.from_arrays(offsets, pa.array(views.ravel()))
    columns = known | {name: pages[name] for name in ("is_news", "is_temporal", "total")}
    columns |= {"mu": pa.array(np.full(count, 0.5)), "views": lists}
    for name in ("page_labels", "page_histories", "interest_curves"):
        publish(store, engine, name, _DAY, columns)
    publish(store, engine, "early_labels", _DAY, {"url": pa.array([], pa.string())})


def _steps(
    dice: np.random.Generator,
    count: int,
    once: np.ndarray,
    site: np.ndarray,
    share: np.ndarray,
) -> Sequence[np.ndarray]:
    """Referrers (-1 for nowhere), targets and clients of one day, by number.

    Pages that are opened at least `once` are, from hubs.
    """
    pages = len(share)
    target = np.searchsorted(share, dice.random(count) * share[-1])
    way = dice.random(count)
    target[: len(once)], way[: len(once)] = once, 0
    # Low numbers are the front page and the large sections.
    hub = (dice.random(count) ** 3 * _HUBS).astype(np.int64)
    hub_page = pages + site[target] * _HUBS + hub
    near = np.clip(target + dice.integers(1, 4, count), 0, pages - 1)
    nowhere = way >= _BY_HUB + _BY_PAGE
    source = np.where(way < _BY_HUB, hub_page, np.where(nowhere, -1, near))
    # Those who come from nowhere open a hub as often as a page.
    target = np.where(nowhere & (hub % 2 == 0), hub_page, target)
    return source, target, dice.integers(0, _CLIENTS, count)


def publish(
    store: Store,
    engine: Engine,
    name: str,
    day: dt.date,
    columns: dict[str, Any],
    inputs: Sequence[Input] = (),
) -> Manifest:
    """A partition with the columns there are, and zeros or nothing for the others."""
    schema = contracts.table(name).arrow_schema
    count = len(next(iter(columns.values())))
    fixed = {pa.bool_(): False, pa.string(): "", pa.date32(): day}
    arrays = []
    for column in schema:
        if column.name in columns and column.name != "day":
            arrays.append(columns[column.name].cast(column.type))
        else:
            scalar = pa.scalar(fixed.get(column.type, 0), column.type)
            arrays.append(pa.repeat(scalar, count))
    rows = pa.Table.from_arrays(arrays, schema=schema)
    return publish_rows(store, engine, name, day, rows, "site", "url", inputs=inputs)
