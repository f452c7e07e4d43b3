"""A store with labelled pages, as if their windows had been made, and the assets above them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.engines.base import Engine
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import Job, WindowAsset, _sources
from temporal_assets.windows.lists.news_prefixes import NEWS_PREFIXES
from temporal_assets.windows.lists.page_flow import PAGE_FLOW
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.lists.section_scores import SECTION_SCORES
from temporal_assets.windows.lists.site_changes import SITE_CHANGES
from temporal_assets.windows.lists.site_scores import SITE_SCORES
from tests.tables import write_table
from tests.traffic import write_traffic_files
from tests.transits import publish_transits

ASSETS = (PAGE_FLOW, PREFIX_TREES, SITE_SCORES, SECTION_SCORES, NEWS_PREFIXES, SITE_CHANGES)

FIRST = dt.date(2026, 3, 1)
ONE = dt.timedelta(days=1)

_MANY = 10**6

Row = dict[str, Any]


class Labelled:
    """Pages with views by day and labels; every view is a client of its own by number."""

    def __init__(self, engine: Engine, root: Path, days: int = 8, **sections: Any) -> None:
        window = {"days": days, "min_days": 1}
        # By the stock, unless a test is about the flow.
        stock: dict[str, Any] = {
            "sites": {"rule": "confident"},
            "prefixes": {"rule": "confident", "label": "news"},
        }
        chosen = {name: stock.get(name, {}) | sections.get(name, {}) for name in stock | sections}
        self.settings = load_settings(root, window=window, **chosen)
        self.store, self.engine, self.days = Store.open(self.settings), engine, days
        self.clients = _MANY
        self.missing: set[dt.date] = set()

    def day(self, n: int) -> dt.date:
        return FIRST + n * ONE

    def publish(self, name: str, day: dt.date, rows: Iterable[Row]) -> None:
        asset = next((one for one in ASSETS if one.name == name), None)
        digest = asset.settings_digest(self.settings) if asset else ""
        with self.store.scratch() as scratch:
            of_day = [{"day": day} | row for row in rows]
            path, *urls = _written(name, of_day, scratch)
            self.store.publish(
                name,
                day,
                [path],
                inputs=[],
                settings_digest=digest,
                extra=self._completeness(day),
                beside=urls,
            )

    def _completeness(self, last: dt.date) -> Row:
        window = (last - n * ONE for n in range(self.days))
        missing = sorted(day.isoformat() for day in window if day in self.missing)
        return {"window_days": self.days, "missing_days": missing}

    def write_days(
        self, pages: Mapping[str, list[int]], clients: int = _MANY, missing: Collection[int] = ()
    ) -> None:
        """Views and transits of all days; no page has more than `clients` different clients."""
        self.clients = clients
        self.missing = {self.day(n) for n in missing}
        for n in range(len(next(iter(pages.values())))):
            if n in missing:
                continue
            read = [(url, views[n]) for url, views in sorted(pages.items()) if views[n]]
            self.publish(
                "page_views",
                self.day(n),
                [{"site": host_of(url), "url": url, "views": views} for url, views in read],
            )
            publish_transits(
                self.store,
                self.day(n),
                [
                    {"referrer": None, "target": url, "client": self._client(n, k)}
                    for url, views in read
                    for k in range(views)
                ],
                extra=self._completeness(self.day(n)),
            )

    def write_labels(
        self,
        last: int,
        pages: Mapping[str, list[int]],
        temporal: set[str],
        news: set[str],
        young: Mapping[str, float | None] = {},
        births: Mapping[str, int] = {},
        thresholds: Mapping[str, Row] = {},
    ) -> None:
        """Write labels of the window that ends with day `last`.

        `young` are pages of two days without a curve, with the probability that they are temporal;
        others were born on the first day of the window, or as `births` has it.
        """
        histories, labels = [], []
        first = max(0, last - self.days + 1)
        total = {url: sum(views[first : last + 1]) for url, views in pages.items()}
        for url, views in sorted(pages.items()):
            window = views[first : last + 1]
            if not total[url]:
                continue
            page = {"site": host_of(url), "url": url}
            padded = [0] * (self.days - len(window)) + window
            histories.append(
                page
                | {
                    "birth": self.day(last - 1 if url in young else births.get(url, first)),
                    "total": total[url],
                    "views": padded,
                }
                | {"is_born_before": False}
            )
            labels.append(
                page
                | {"is_temporal": url in temporal, "is_sure": True, "is_news": url in news}
                | {
                    "label_basis": "none" if url in young else "curve",
                    "is_temporal_by_curve": url in temporal,
                    "phi_n": None if url in young else 0.5,
                    "concentration": 1.0,
                    "has_concentration": True,
                }
                | {"n": 3.0, "q": 0.7, "m": 3, "p": 1.91}
                | thresholds.get(url, {})
            )
        self.publish("page_histories", self.day(last), histories)
        self.publish("page_labels", self.day(last), labels)
        self._write_traffic(last, pages)
        early = [
            {"site": host_of(url), "url": url, "age": 2, "total": total[url]}
            | {"birth": self.day(last - 1), "probability": probability}
            for url, probability in sorted(young.items())
        ]
        self.publish("early_labels", self.day(last), early)

    def _write_traffic(self, last: int, pages: Mapping[str, list[int]]) -> None:
        """Write traffic of pages in the window that ends with day `last`, as in `write_days`."""
        rows = []
        for url, views in sorted(pages.items()):
            days = range(max(0, last - self.days + 1), last + 1)
            came = {self._client(n, k) for n in days for k in range(views[n])}
            known = sorted(came) if len(came) < self.settings.privacy.min_clients else []
            rows.append(
                {"site": host_of(url), "url": url, "views": sum(views[n] for n in days)}
                | {"visits": len(came), "clients": len(came), "few_clients": known}
                | {"referred": 0, "referrals": 0, "links": [], "is_new": False}
                | {"birth": self.day(next((n for n in days if views[n]), last))}
            )
        self.publish("page_traffic", self.day(last), rows)

    def _client(self, n: int, k: int) -> int:
        return (100 * n + k) % self.clients

    def make(self, last: int, assets: Iterable[WindowAsset] = ASSETS) -> None:
        """The assets above labels, without asking whether what they read is up to date."""
        for asset in assets:
            day = self.day(last)
            with self.store.scratch() as scratch:
                job = self.job(asset, last, scratch)
                self.store.publish(
                    asset.name,
                    day,
                    asset.make(job),
                    inputs=job.sources.inputs,
                    settings_digest=asset.settings_digest(self.settings),
                    extra=self._completeness(day),
                )

    def job(self, asset: WindowAsset, last: int, scratch: Path) -> Job:
        """The making of an asset, likewise."""
        sources = _sources(self.store, self.settings, asset, self.day(last))
        return Job(asset, self.store, self.engine, self.settings, self.day(last), sources, scratch)

    def rows(self, asset: str, last: int) -> list[Row]:
        rows: list[Row] = self.store.read(asset, self.day(last)).to_pylist()
        return rows


def _written(name: str, rows: list[Row], out: Path) -> tuple[Path, ...]:
    """The file of the rows, and behind it that of the URLs that they number, if they do."""
    if name == "page_traffic":
        return write_traffic_files(rows, out)
    path = out / f"{name}.parquet"
    write_table(pa.Table.from_pylist(rows, contracts.table(name).arrow_schema), path)
    return (path,)


def host_of(url: str) -> str:
    """Host without the port."""
    return url.split("/")[2].split(":")[0]
