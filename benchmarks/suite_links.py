"""Lines of the benchmark suite about transits between pages: traffic of all pages, and hubs.

Not here: distinct transits of a day (`suite_logs`), ranks of graphs (`suite_graphs`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.compute as pc

from benchmarks.suite_job import Done, Job, Sized
from benchmarks.suite_lists import LABELLED, SITES, labelled_day

if TYPE_CHECKING:
    from temporal_assets.windows.frame.asset import WindowAsset

_TRANSITS: Final[Sized] = {"small": 1_000_000, "medium": 5_000_000, "paper": 20_000_000}
_LEAST_CLIENTS: Final = 5
"""Least clients of a hub, and of a page without named ones: `privacy.min_clients`."""
_BEST: Final = 100
_SUMS: Final = ("visits", "referred", "referrals", "clients")
_LISTS: Final = ("few_clients", "links")
"""Columns of `page_traffic`."""


def write_links(folder: Path, size: str) -> None:
    """Labels, transits and the traffic of pages of a web of sites with hubs."""
    from benchmarks import suite_transits as lists
    from benchmarks.suite_pages import make_pages
    from benchmarks.window_builds import build
    from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

    store, engine, settings = _linked(folder)
    lists.write(store, engine, make_pages(LABELLED[size], SITES), _TRANSITS[size])
    build(store, engine, settings, PAGE_TRAFFIC, labelled_day(store))


def _linked(folder: Path) -> tuple[Any, Any, Any]:
    """The store, the engine and the settings, which make the lists those of the papers."""
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.settings import load_settings
    from temporal_assets.storage.store import Store

    settings = load_settings(folder / "linked")
    return Store.open(settings), DuckDBEngine(settings), settings


def _published(
    folder: Path, size: str, asset: WindowAsset, answer: Callable[[Any, dt.date], int]
) -> Job:
    """Makes and publishes an asset; `answer` reads from it what all ways of the line must say."""
    from benchmarks.window_builds import build

    store, engine, settings = _linked(folder)
    day = labelled_day(store)

    def job() -> Done:
        build(store, engine, settings, asset, day)
        return _TRANSITS[size], answer(store, day)

    job()
    return job


def _transit_files(store: Any) -> list[str]:
    """Files with URLs, as others read them."""
    from benchmarks.transits import text_files

    return text_files(store, store.state / "transits_as_text")


# Traffic -------------------------------------------------------------------------------------


def traffic_by_us(folder: Path, size: str) -> Job:
    """`page_traffic`, as it is published."""
    from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

    def counted(store: Any, day: dt.date) -> int:
        table = store.read("page_traffic", day, [*_SUMS, *_LISTS])
        lists = sum(pc.sum(pc.list_value_length(table[name])).as_py() for name in _LISTS)
        return int(lists + sum(pc.sum(table[name]).as_py() for name in _SUMS))

    return _published(folder, size, PAGE_TRAFFIC, counted)


def traffic_by_pandas(folder: Path, size: str) -> Job:
    """Count the traffic of each page (BB 2), but for the lists of links and of clients."""
    import pandas as pd

    store = _linked(folder)[0]
    day, files = labelled_day(store), _transit_files(store)

    def job() -> Done:
        (totals_file,) = store.files("page_totals", day)
        pages = pd.read_parquet(totals_file, columns=["site", "url", "total", "birth"])
        read = ["referrer", "target", "client"]
        transits = pd.concat([pd.read_parquet(file, columns=read) for file in files])
        transits = transits.drop_duplicates()
        transits = transits[transits["target"].isin(pages["url"])]
        visits = transits.groupby("target").agg(
            visits=("client", "size"), referred=("referrer", "count"), clients=("client", "nunique")
        )
        referrals = transits.groupby("referrer").size().rename("referrals")
        out = pages.set_index("url").join(visits).join(referrals).fillna(0)
        out.sort_values(["site", "url"]).to_parquet(folder / "pandas.parquet", compression="zstd")
        return _TRANSITS[size], None

    return job


def traffic_by_polars(folder: Path, size: str) -> Job:
    """The same with both lists, pages numbered so that URLs are compared once."""
    import polars as pl

    store = _linked(folder)[0]
    day, files = labelled_day(store), _transit_files(store)

    def job() -> Done:
        (totals_file,), (labels_file,) = (
            store.files(name, day) for name in ("page_totals", "page_labels")
        )
        totals = pl.read_parquet(totals_file, columns=["site", "url", "total", "birth"])
        labels = pl.read_parquet(labels_file, columns=["url", "is_temporal"])
        pages = totals.sort("site", "url").with_row_index("page")
        numbers = pages.select("url", "page", first=pl.col("page").min().over("site"))
        read = ["referrer", "target", "client"]
        transits = pl.read_parquet(files, columns=read)
        unknown = pl.col("page").is_null() & pl.col("referrer").is_not_null()
        triples = (
            transits.join(numbers, left_on="target", right_on="url")
            .rename({"page": "to"})
            .join(numbers, left_on="referrer", right_on="url", how="left")
            .select(
                "to", "client", "first",
                source="page", source_first="first_right",
                stranger=pl.when(unknown).then(pl.col("referrer").hash()),
            )
            .unique()
        )  # fmt: skip
        came = pl.col("source").is_not_null() | pl.col("stranger").is_not_null()
        visits = triples.group_by(page="to").agg(visits=pl.len(), referred=came.sum())
        openers = triples.select("client", page="to").unique()
        clients = openers.group_by("page").agg(clients=pl.len())
        few = clients.filter(pl.col("clients") < _LEAST_CLIENTS)
        named = openers.join(few, on="page", how="semi").group_by("page").agg(
            few_clients=pl.col("client").sort()
        )  # fmt: skip
        within = triples.filter(pl.col("source_first") == pl.col("first"))
        edges = within.group_by("to", "first", "source").agg(transits=pl.len())
        link = pl.struct(page=pl.col("source") - pl.col("first"), transits="transits")
        links = edges.sort("to", "source").group_by(page="to").agg(links=link)
        left = triples.drop_nulls("source").group_by(page="source").agg(referrals=pl.len())
        out = pages.join(labels, on="url", how="left")
        for part in (visits, left, clients, named, links):
            out = out.join(part, on="page", how="left")
        out.sort("page").write_parquet(folder / "polars.parquet")
        lists = sum(int(out[name].list.len().sum()) for name in _LISTS)
        return _TRANSITS[size], lists + sum(int(out[name].sum()) for name in _SUMS)

    return job


# Hubs ----------------------------------------------------------------------------------------


def hubs_by_us(folder: Path, size: str) -> Job:
    """`hub_seeds`, as published: all orders, expected pages, times to revisit."""
    import pyarrow.compute as pc

    from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS

    def best(store: Any, day: dt.date) -> int:
        seeds = store.read("hub_seeds", day, ["paper_rank", "temporal_pages"])
        ranked = seeds.filter(pc.is_valid(seeds["paper_rank"])).sort_by("paper_rank")
        return sum(ranked["temporal_pages"].to_pylist()[:_BEST])

    return _published(folder, size, HUB_SEEDS, best)


def hubs_by_pandas(folder: Path, size: str) -> Job:
    """Only the paper's order (NP 5.1)."""
    import pandas as pd

    from benchmarks.suite_transits import hubs_of_pandas

    store = _linked(folder)[0]
    day = labelled_day(store)

    def job() -> Done:
        (file,), (totals_file,) = (
            store.files(name, day) for name in ("page_traffic", "page_totals")
        )
        traffic = pd.read_parquet(file, columns=["clients"])
        traffic["url"] = pd.read_parquet(totals_file, columns=["url"])["url"]
        urls = traffic.loc[traffic["clients"] >= _LEAST_CLIENTS, "url"]
        return _TRANSITS[size], int(hubs_of_pandas(store, urls)["pages"][:_BEST].sum())

    return job


def order_by_polars(folder: Path, size: str) -> Job:
    """The same."""
    store = _linked(folder)[0]

    def job() -> Done:
        _, order = _ordered_by_polars(store)
        return _TRANSITS[size], int(order["temporal_pages"][:_BEST].sum())

    return job


def _ordered_by_polars(store: Any) -> tuple[Any, Any]:
    """Links to temporal pages, and the hubs in the order of the paper."""
    import polars as pl

    (labels_file,), (traffic_file,), (totals_file,) = (
        store.files(name, labelled_day(store))
        for name in ("page_labels", "page_traffic", "page_totals")
    )
    labels = pl.read_parquet(labels_file, columns=["url", "is_temporal"])
    traffic = pl.read_parquet(traffic_file, columns=["site", "clients"])
    traffic = traffic.with_columns(pl.read_parquet(totals_file, columns=["url"])["url"])
    referrers = traffic.filter(pl.col("clients") >= _LEAST_CLIENTS).rename({"url": "referrer"})
    temporal = labels.filter("is_temporal").select(target="url")
    transits = pl.read_parquet(_transit_files(store), columns=["referrer", "target"])
    links = transits.drop_nulls().unique().join(temporal, on="target", how="semi")
    counts = links.group_by("referrer").len("temporal_pages")
    order = counts.join(referrers, on="referrer").sort(
        "temporal_pages", "referrer", descending=[True, False]
    )
    return links, order
