"""The sites of a demo corpus as they look at any time: pages appear, hubs list the newest.

The demo's own mirror is how the sites look at the end. Here a page is there from its birth on, a
hub lists the newest of its section (or site), and all else is as in the mirror.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.parquet as pq

from benchmarks.timely_crawl import SHOWN

Row = dict[str, Any]


@dataclass(frozen=True)
class DemoOverTime:
    """Times are days since the first of the corpus."""

    pages: dict[str, Row]
    """Rows by URL, hubs included: birth, kind, is_temporal."""
    hubs: dict[str, Row]
    newest: dict[str, list[Row]]
    """Pages of each site, the last born first."""
    links: dict[str, list[str]]
    baseline: list[str]
    """Hosts of the list in use that are still there."""
    since: float
    """Pages born before are not linked any more: whoever crawls has them."""

    def shown(self, url: str, now: float) -> list[str]:
        """Return the links of a page."""
        if url not in self.hubs:
            return [target for target in self.links[url] if self._is_shown(target, now)]
        hub = self.hubs[url]
        listed = [
            row["url"]
            for row in self.newest[hub["site"]]
            if row["birth"] <= now and (hub["role"] != "index" or row["section"] == hub["section"])
        ]
        own = [other for other, row in self.hubs.items() if row["site"] == hub["site"]]
        return own + [
            target for target in listed[: SHOWN[hub["role"]]] if self._is_shown(target, now)
        ]

    def born(self, first: float, last: float) -> dict[str, float]:
        """Temporal pages that appear between two times, and when."""
        return {
            url: row["birth"]
            for url, row in self.pages.items()
            if row["is_temporal"] and first < row["birth"] <= last
        }

    def _is_shown(self, url: str, now: float) -> bool:
        row = self.pages.get(url)
        if row is None:
            return False
        return url in self.hubs or self.since < row["birth"] <= now


def read(demo: Path, since: float) -> DemoOverTime:
    """Read the folder of a corpus with a mirror."""
    pages = {row["url"]: row for row in pq.read_table(demo / "truth/pages.parquet").to_pylist()}
    hubs = {row["url"]: row for row in pq.read_table(demo / "truth/hubs.parquet").to_pylist()}
    newest: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(pages.values(), key=lambda row: -row["birth"]):
        if row["url"] not in hubs:
            newest[row["site"]].append(row)
    links: dict[str, list[str]] = defaultdict(list)
    for row in pq.read_table(demo / "mirror/links.parquet").to_pylist():
        links[row["source"]].append(row["target"])
    lines = (demo / "baseline.txt").read_text("utf-8").splitlines()
    names = [line.partition("#")[0].strip().lower() for line in lines]
    hosts = {urlsplit(name).hostname or name for name in names if name}
    there = sorted(host for host in hosts if f"https://{host}/" in pages)
    return DemoOverTime(pages, hubs, newest, links, there, since)
