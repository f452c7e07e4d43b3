"""`sources`: hubs, feeds and sitemaps by what their visits brought.

Here: counting over the fetches of the window, and which of the pages are temporal. Not here: the
fetches (`windows.results.fetches`), rates and intervals (`core.crawls.visit_rates`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.core.crawls.visit_rates import bounds, interval, pages_an_hour
from temporal_assets.crawl.results import Fetch
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.settings import Settings
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.given_files import content_of_file, file_in
from temporal_assets.windows.labels.early_labels import EARLY_LABELS
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.results.fetches import FETCHES, fetches_between, settings_of_results

_GONE: Final = 410
_MISSING: Final = 404
_MISSED: Final = 3
_FAILED: Final = 400
_OF_PAGES: Final = ("page", "explore")
_ALL_ROWS: Final = 100_000_000
_HOURS: Final = 24.0

_KNOWN: Final = (
    "SELECT page, birth, coalesce(is_temporal, probability > 0.5, FALSE) AS is_temporal"
    " FROM credited LEFT JOIN (SELECT url AS page, birth FROM page_totals) AS seen USING (page)"
    " LEFT JOIN (SELECT url AS page, is_temporal FROM page_labels) AS labels USING (page)"
    " LEFT JOIN (SELECT url AS page, probability FROM early_labels) AS early USING (page)"
)


@dataclass(slots=True)
class Tally:
    """Counts of the visits to a source, and of the pages that it was the first to show."""

    kind: str
    is_listed: bool = False
    visits: int = 0
    unchanged: int = 0
    failures: int = 0
    missed: int = 0
    """Number of visits in a row, up to the last, that were answered with 404."""
    last_status: int | None = None
    last: dt.datetime | None = None
    first: dt.datetime | None = None
    pages: dict[str, dt.datetime] = field(default_factory=dict)
    """Pages that it showed first, with the time of their fetch."""

    def visited(self, fetch: Fetch) -> None:
        """Count a visit; visits must come in the order of time."""
        self.visits += 1
        self.unchanged += fetch.changed is False
        self.failures += fetch.status is None or fetch.status >= _FAILED
        self.missed = self.missed + 1 if fetch.status == _MISSING else 0
        self.first = self.first or fetch.time
        self.last, self.last_status = fetch.time, fetch.status

    @property
    def is_gone(self) -> bool:
        """True if the last visit was answered with 410, or several in a row with 404."""
        return self.last_status == _GONE or self.missed >= _MISSED


def listed_sources(settings: Settings) -> dict[str, str]:
    """Return the kinds of the sources in the user's list, by URL: a line has a URL, then a kind."""
    path = file_in(settings.state, settings.crawls.sources)
    kind_by_url: dict[str, str] = {}
    if path is None:
        return kind_by_url
    for line in path.read_text("utf-8-sig").splitlines():
        url, _, kind = line.partition("#")[0].strip().partition("\t")
        if url.startswith(("http://", "https://")):
            guess = "sitemap" if "sitemap" in url.lower() else "feed"
            kind_by_url[url] = kind.strip() if kind.strip() in ("feed", "sitemap") else guess
    return kind_by_url


def tallies(
    fetches: Iterable[Fetch], listed: Mapping[str, str], rules: UrlRules
) -> dict[str, Tally]:
    """Count the visits to each source, and credit each page to the source that showed it first."""
    tally_by_url = {url: Tally(kind, is_listed=True) for url, kind in listed.items()}
    credited: set[str] = set()
    for fetch in sorted(fetches, key=lambda visit: visit.time):
        if fetch.kind not in _OF_PAGES:
            url = fetch.source or fetch.url
            tally_by_url.setdefault(url, Tally(fetch.kind)).visited(fetch)
            continue
        page = canonical_url(fetch.url, rules)
        if page is None or page in credited or fetch.status is None or fetch.status >= _FAILED:
            continue
        credited.add(page)
        if fetch.source in tally_by_url:
            tally_by_url[fetch.source].pages[page] = fetch.time
    return tally_by_url


def _make(job: Job) -> Sequence[Path]:
    """Write a row for each source, with what its visits brought and became of it."""
    settings = job.settings
    rules = UrlRules.from_settings(settings.cleaning)
    fetches = fetches_between(settings, job.first, job.day)
    tally_by_url = tallies(fetches, listed_sources(settings), rules)
    page_facts = _page_facts(job, [page for tally in tally_by_url.values() for page in tally.pages])
    rows = [_row(job.day, url, tally, page_facts) for url, tally in sorted(tally_by_url.items())]
    file = job.out / "sources.parquet"
    table = pa.Table.from_pylist(rows, contracts.SOURCES.arrow_schema)
    pq.write_table(table, file, compression="zstd")
    return [file]


def _page_facts(job: Job, pages: Sequence[str]) -> dict[str, tuple[dt.date | None, bool]]:
    """Return birth and label of the fetched pages, where the logs have them."""
    if not pages:
        return {}
    credited = job.out / "credited.parquet"
    pq.write_table(pa.table({"page": pa.array(pages, pa.string())}), credited)
    inputs = {
        "credited": [str(credited)],
        **{name: job.files(name) for name in ("page_totals", "page_labels", "early_labels")},
    }
    rows = job.engine.rows(_KNOWN, inputs, _ALL_ROWS)
    return {row["page"]: (row["birth"], row["is_temporal"]) for row in rows}


def _row(
    day: dt.date, url: str, tally: Tally, page_facts: Mapping[str, tuple[dt.date | None, bool]]
) -> dict[str, Any]:
    """Return the row of one source: its visits, and the pages it was the first to show."""
    temporal = {
        page: (time, page_facts[page][0])
        for page, time in tally.pages.items()
        if page_facts.get(page, (None, False))[1]
    }
    delays = [_delay(time, birth) for time, birth in temporal.values() if birth is not None]
    hours = (tally.last - tally.first).total_seconds() / 3600 if tally.first and tally.last else 0.0
    expected = pages_an_hour(len(temporal), hours) if tally.visits else None
    low, high = bounds(len(temporal), hours) if tally.visits else (None, None)
    return {
        "day": day,
        "url": url,
        "site": site_of(url),
        "kind": tally.kind,
        "is_news": tally.kind == "sitemap" and "news" in url.lower(),
        "is_listed": tally.is_listed,
        "visits": tally.visits,
        "unchanged": tally.unchanged,
        "failures": tally.failures,
        "last_status": tally.last_status,
        "is_gone": tally.is_gone,
        "pages": len(tally.pages),
        "temporal_pages": len(temporal),
        "delay_hours": sum(delays) / len(delays) if delays else None,
        "new_per_day": None if expected is None else expected * _HOURS,
        "new_per_day_low": None if low is None else low * _HOURS,
        "new_per_day_high": None if high is None else high * _HOURS,
        "revisit_minutes": round(interval(len(tally.pages), hours) / 60),
    }


def _delay(time: dt.datetime, birth: dt.date) -> float:
    """Return the hours from the end of the day of birth to the fetch; 0 if it came before."""
    end = dt.datetime.combine(birth + dt.timedelta(days=1), dt.time(), dt.UTC)
    return max((time - end).total_seconds() / 3600, 0.0)


SOURCES: Final = WindowAsset(
    "sources",
    _make,
    days=("page_views",),
    tables=(FETCHES, PAGE_TOTALS, PAGE_LABELS, EARLY_LABELS),
    settings=lambda settings: [
        *settings_of_results(settings),
        settings.window.days,
        content_of_file(file_in(settings.state, settings.crawls.sources)),
    ],
)
