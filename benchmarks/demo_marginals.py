"""The published marginals, measured on a generated corpus (docs/demo.md compares them).

What belongs here: statistics of the truth's daily views that the papers print too. What does
not: the pipeline's own labels, which are made without knowing the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.demo.options import DemoSummary

_FIRST_DAYS: Final = 3
"""m of NP 4.1; the paper does not give it, this is our default."""
_THRESHOLD: Final = 3.0
"""NP 4.1: 91.9 % of the other pages have a concentration below it."""


@dataclass(frozen=True, slots=True)
class Marginals:
    """The figures that TW 4.2 and NP 4.1 report of their data. Hubs are not counted."""

    pages: int
    """Pages with at least one view."""
    reliable: int
    """Pages with a view per day of the window in the mean (TW 4.1: 60 in 60 days)."""
    temporal_share: float
    """Share of the reliable pages whose curve is temporal by TW 4.2."""
    news_share: float
    """Share of the reliable pages that are news."""
    news_concentration: float
    other_concentration: float
    """Means over the reliable pages of each kind (NP 4.1)."""
    others_below: float
    """Share of the other reliable pages with a concentration below 3."""


def measure(summary: DemoSummary) -> Marginals:
    """Marginals of a corpus with daily truth; needs days x pages numbers in memory."""
    pages = pq.read_table(
        summary.truth["pages"], columns=["url", "kind", "is_temporal", "is_news"], partitioning=None
    )
    daily = _daily_views(summary, pages["url"])
    is_page = pages["kind"].to_numpy() != "hub"
    total = daily.sum(axis=1)
    days = len(summary.days)
    reliable = is_page & (total >= days)
    news = pages["is_news"].to_numpy()[reliable]
    temporal = pages["is_temporal"].to_numpy()[reliable]
    measured = concentration(daily[reliable])
    return Marginals(
        pages=int((is_page & (total > 0)).sum()),
        reliable=int(reliable.sum()),
        temporal_share=float(temporal.mean()),
        news_share=float(news.mean()),
        news_concentration=float(measured[news].mean()),
        other_concentration=float(measured[~news].mean()),
        others_below=float((measured[~news] < _THRESHOLD).mean()),
    )


def concentration(daily: NDArray[np.integer]) -> NDArray[np.float64]:
    """ClickThroughConcentration of pages (rows) with views by day; NaN without views.

    Views in the first 3 days of life over those one would expect if they were spread evenly;
    1 for pages that live no longer.
    """
    days = daily.shape[1]
    birth = np.argmax(daily > 0, axis=1)
    column = np.arange(days)[None, :] - birth[:, None]
    first = np.where((column >= 0) & (column < _FIRST_DAYS), daily, 0).sum(axis=1)
    life = days - birth
    total = daily.sum(axis=1)
    with np.errstate(invalid="ignore"):
        spread = first / total * life / _FIRST_DAYS
    return np.where((life <= _FIRST_DAYS) & (total > 0), 1.0, spread)


def _daily_views(summary: DemoSummary, urls: Any) -> NDArray[np.int64]:
    """Views of every page (rows) on every day (columns)."""
    views = pq.read_table(
        summary.truth["views"], columns=["day", "url", "views"], partitioning=None
    )
    number = {url: row for row, url in enumerate(urls.to_pylist())}
    row = np.fromiter((number[url] for url in views["url"].to_pylist()), np.int64, len(views))
    first = np.datetime64(summary.days[0])
    column = (views["day"].to_numpy().astype("datetime64[D]") - first).astype(np.int64)
    daily = np.zeros((len(number), len(summary.days)), np.int64)
    daily[row, column] = views["views"].to_numpy()
    return daily
