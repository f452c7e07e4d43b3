"""`page_traffic`: visits, referrals and links of every page of the window (BB 2).

URLs are long and there are many transits, so URLs are counted as integers. Transits are
deduplicated and lists are built for some pages at a time, because an engine keeps the lists of a
statement in memory, but spills its distinct rows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from temporal_assets import contracts
from temporal_assets.contracts import Table, passing
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.settings import VIEWS_PER_CLIENT
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.day_numbers import DayFiles, PageCountMismatch, are_numbered
from temporal_assets.windows.frame.incremental import find_earlier
from temporal_assets.windows.frame.page_rows import ranges
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.traffic.page_traffic_compiled import write_counted
from temporal_assets.windows.traffic.page_traffic_incremental import go_on

CHANCE: Final = 0.1
"""A page is new if the silence before its first view would be less likely than this for an old page
that is opened at a steady rate (docs/url-patterns.md says how well that works)."""

PAGES_AT_ONCE: Final = 1_000_000
"""Pages whose lists are built at a time: some 300 bytes each, a fifth of the default limit."""

TRAFFIC_SQL: Final = ("page_numbers", "page_transits", "page_referrals", "page_traffic")
"""The statements, in the order they run."""


_PAGE_NUMBERS: Final = passing(
    "page_numbers",
    "page BIGINT, first BIGINT, last BIGINT, site VARCHAR, url VARCHAR, total BIGINT,"
    " birth DATE, is_temporal BOOLEAN",
)

_PAGE_TRANSITS: Final = passing(
    "page_transits", "referrer BIGINT, stranger BIGINT, target BIGINT, client BIGINT"
)

_PAGE_REFERRALS: Final = passing("page_referrals", "page BIGINT, referrals BIGINT")


def later_half(present: Sequence[dt.date]) -> Sequence[dt.date]:
    """Return the days on which a page that is first seen counts as new.

    On the first days of a window nearly every page is seen for the first time. Half of the window
    is long enough to see the old ones.
    """
    return present[(len(present) + 1) // 2 :]


def write_traffic(
    engine: Engine,
    days: Sequence[DayFiles],
    first: dt.date | None,
    tables: Inputs,
    parameters: Mapping[str, Any],
    out: Path,
    at_once: int = PAGES_AT_ONCE,
) -> list[Path]:
    """Return files of `page_traffic` of some days, from `page_totals` and `page_labels`.

    Args:
        engine: Engine of the statements.
        days: Transits of the days.
        first: Day of the first bit of `page_totals.seen`; None where its bits do not say which URLs
            of these days are which pages.
        tables: Input files by table.
        parameters: Parameters of sql/traffic/page_traffic.sql, without the range of pages.
        out: Folder of the files.
        at_once: Pages in a file.
    """
    if engine.spread is None and first is not None:
        try:
            return write_counted(engine, days, first, tables, parameters, out, at_once)
        except PageCountMismatch:
            pass  # of other requests: statements compare URLs
    return by_statements(engine, days, tables, parameters, out, at_once)


def by_statements(
    engine: Engine,
    days: Sequence[DayFiles],
    tables: Inputs,
    parameters: Mapping[str, Any],
    out: Path,
    at_once: int,
) -> list[Path]:
    """Return files made by SQL alone, for a cluster, which has memory for all transits at once."""

    def query(table: Table, *names: str) -> list[str]:
        chosen = {name: sources[name] for name in names}
        return [str(path) for path in engine.query(table.name, chosen, {}, table, out)]

    sources = dict(tables)
    sources["transits"] = [path for day in days for path in day.rows]
    sources["urls"] = [path for day in days for path in day.urls]
    sources["page_numbers"] = query(_PAGE_NUMBERS, "page_totals", "page_labels")
    sources["page_transits"] = query(_PAGE_TRANSITS, "transits", "urls", "page_numbers")
    sources["page_referrals"] = query(_PAGE_REFERRALS, "page_transits")
    numbered = {name: sources[name] for name in TRAFFIC_SQL[:-1]}
    files: list[Path] = []
    for first, stop in ranges(len(ParquetRows(sources["page_numbers"])), at_once):
        folder = out / f"pages-{first}"
        folder.mkdir()
        pages = {"first_page": first, "last_page": stop - 1}
        files += engine.query(
            "page_traffic", numbered, {**parameters, **pages}, contracts.PAGE_TRAFFIC.stored, folder
        )
    return files


def _make(job: Job) -> Sequence[Path]:
    """Write `page_traffic`: from the window before if possible, else from all days."""
    present = job.present("transits")
    later = later_half(present)
    parameters = {
        "day": job.day,
        "observed_days": (job.day - present[0]).days + 1,
        "chance": CHANCE,
        # With a single day there is none that is later.
        "new_from": later[0] if later else job.day + dt.timedelta(days=1),
        "least_clients": job.settings.privacy.min_clients,
    }
    days = job.window("transits").manifests
    totals = job.sources.tables["page_totals"]
    is_told = job.engine.spread is None and are_numbered(job, totals, days)
    is_counted = any(manifest.counts for manifest in days)
    # A cluster counts all days anew: the rows of the window before are too many for one machine.
    # So does a window with counts: those of days that leave it are not in the rows of before.
    earlier = find_earlier(job, "transits") if is_told and not is_counted else None
    if earlier and any(manifest.counts for manifest in earlier.left):
        earlier = None
    written = earlier and go_on(job, earlier, parameters, PAGES_AT_ONCE)
    if written:
        return written
    tables = {name: job.files(name) for name in ("page_totals", "page_labels")}
    files = [DayFiles.of(job.store, day) for day in days]
    first = job.first if is_told else None
    rows = write_traffic(job.engine, files, first, tables, parameters, job.out, PAGES_AT_ONCE)
    return _with_counts(job, rows) if is_counted else rows


def _with_counts(job: Job, rows: Sequence[Path]) -> list[Path]:
    """Return files of `page_traffic` with the counts of sites that count no visitors added."""
    followed = job.followed()
    inputs = {
        "page_traffic": [str(path) for path in rows],
        "page_totals": job.files("page_totals"),
        "counts": followed["counts"],
        "urls": followed["urls"],
    }
    parameters = {"views_per_client": VIEWS_PER_CLIENT}
    folder = job.out / "counted"
    folder.mkdir()
    return job.engine.query("counted_traffic", inputs, parameters, job.asset.table.stored, folder)


PAGE_TRAFFIC: Final = WindowAsset(
    "page_traffic",
    _make,
    windows=("transits",),
    tables=(PAGE_TOTALS, PAGE_LABELS),
    numbered_by=PAGE_TOTALS,
    sql=(*TRAFFIC_SQL, "counted_traffic"),
    settings=lambda settings: [
        settings.window.days,
        settings.privacy.min_clients,
        VIEWS_PER_CLIENT,
    ],
)
