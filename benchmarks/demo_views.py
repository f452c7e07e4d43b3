"""Daily views of a demo corpus as a matrix, with the truth about its pages.

Here: drawing a corpus and reading its truth. Not here: what is measured on it. That logs lead to
exactly these views is tested elsewhere (tests/integration/test_demo_truth.py).
"""

from __future__ import annotations

import datetime as dt
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.core.text.page_section import section_of
from temporal_assets.demo import DemoOptions, generate


@dataclass(frozen=True, slots=True)
class DemoViews:
    """One row per page that anybody opened."""

    views: NDArray[np.int64]
    """pages x days."""
    first_day: dt.date
    sites: NDArray[Any]
    sections: NDArray[Any]
    is_temporal: NDArray[np.bool_]
    """By the page's own curve: more than 70 % of its interest within three days."""

    @property
    def born(self) -> NDArray[np.int64]:
        """First day with views, from 0."""
        return np.asarray((self.views > 0).argmax(axis=1))


def draw(seed: int, days: int, sites: int, pages: int, requests: int) -> DemoViews:
    """Write a corpus into a temporary folder and read what its readers did."""
    options = DemoOptions(
        seed=seed, days=days, sites=sites, pages=pages, requests=requests,
        clients=max(40_000, requests // 12), mirror=False,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        made = generate(options, Path(folder))
        seen = pq.read_table(made.truth["views"], columns=["day", "url", "views"])
        known = pq.read_table(made.truth["pages"], columns=["url", "site", "is_temporal"])
    urls, row = np.unique(seen.column("url").to_numpy(zero_copy_only=False), return_inverse=True)
    day = (seen.column("day").to_numpy() - np.datetime64(made.days[0])).astype(np.int64)
    views = np.zeros((len(urls), days), np.int64)
    inside = (day >= 0) & (day < days)
    np.add.at(views, (row[inside], day[inside]), seen.column("views").to_numpy()[inside])
    truth = {one["url"]: one for one in known.to_pylist()}
    return DemoViews(
        views,
        made.days[0],
        np.array([truth[url]["site"] for url in urls]),
        np.array([section_of(url) for url in urls]),
        np.array([truth[url]["is_temporal"] for url in urls]),
    )
