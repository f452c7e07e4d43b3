"""Metadata of every materialisation, kept small because it lives in Dagster's event log.

No URL is shown here: one that few clients opened must not leave the tables (`samples` shows those
that enough did).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Final

import dagster as dg

from temporal_assets.days.daily import DayResult, RequestsResult
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.partitions import in_words
from temporal_assets.quality.evaluate import NO_REFERRERS
from temporal_assets.reports.plots import bars, drawn
from temporal_assets.reports.text import shown

MAX_ROWS: Final = 50
"""Most rows of a table in the metadata."""

MAX_PLOTTED_DAYS: Final = 7
"""Number of days in a run above which only the last is plotted: a plot takes 0.1 s and 10 kB, and
nobody looks at hundreds."""

_HOURS: Final = (
    "SELECT CAST(extract(hour FROM ts) AS BIGINT) AS hour, count(*) AS requests"
    " FROM requests GROUP BY 1"
)

_MAGNITUDES: Final = (
    "SELECT CAST(floor(log2(views)) AS BIGINT) AS magnitude, count(*) AS pages"
    " FROM page_views GROUP BY 1"
)


def plotted(keys: Sequence[str]) -> frozenset[dt.date]:
    """Return the days of a run that get plots and samples: all of a few, else the last."""
    days = sorted(map(dt.date.fromisoformat, keys))
    return frozenset(days if len(days) <= MAX_PLOTTED_DAYS else days[-1:])


def of_partition(result: DayResult) -> dict[str, Any]:
    """Return the metadata that every daily table has."""
    manifest = result.manifest
    return {
        "dagster/partition_row_count": manifest.rows,
        "bytes": manifest.size,
        "seconds": round(result.seconds, 3),
        **({"inputs": len(manifest.inputs)} if len(manifest.inputs) > 1 else {}),
        "content": manifest.digest,
    }


def of_requests(result: RequestsResult) -> dict[str, Any]:
    """Return the metadata of `requests`: numbers of lines by what became of them."""
    lost = {"rejected": 0, "dropped": 0}
    for kind, _, lines in result.losses:
        lost[kind] += lines
    return {
        **of_partition(result.requests),
        "log_lines": result.lines,
        "rejected_lines": lost["rejected"],
        "dropped_lines": lost["dropped"],
        "rejected_share": lost["rejected"] / result.lines if result.lines else 0.0,
        **_referrers(result.has_referrers),
    }


def of_rejects(result: RequestsResult) -> dict[str, Any]:
    """Return the metadata of `rejects`: lines by reason, most frequent first."""
    worst = sorted(result.losses, key=lambda loss: (-loss[2], loss))
    rows = [
        {"kind": kind, "reason": reason, "lines": lines} for kind, reason, lines in worst[:MAX_ROWS]
    ]
    return {
        **of_partition(result.rejects),
        "reasons": grid(rows, {"kind": "string", "reason": "string", "lines": "int"}),
    }


def of_derived(result: DayResult) -> dict[str, Any]:
    """Return the metadata of `page_views` and `transits`."""
    return of_partition(result) | _referrers(bool(result.manifest.extra["has_referrers"]))


def of_window(result: DayResult) -> dict[str, Any]:
    """Return the metadata of every window asset: how complete its window was."""
    missing = result.manifest.extra["missing_days"]
    expected = result.manifest.extra["window_days"]
    named = {"missing_days": in_words([dt.date.fromisoformat(day) for day in missing])}
    return {
        **of_partition(result),
        **(
            {"cut_by_bounds": "; ".join(cuts)}
            if (cuts := result.manifest.extra.get("cuts"))
            else {}
        ),
        "window_days_expected": expected,
        "window_days_present": expected - len(missing),
        **(named if missing else {}),
    }


def hours_plot(installation: Installation, day: dt.date) -> dict[str, Any]:
    """Return a plot of requests by hour, in which a missing log is a gap."""
    inputs = {"requests": installation.store.files("requests", day)}
    rows = installation.engine.rows(_HOURS, inputs)
    counts = {row["hour"]: row["requests"] for row in rows}
    title = f"requests by hour (UTC), {day}"
    names, heights = [f"{hour:02}" for hour in range(24)], [counts.get(h, 0) for h in range(24)]
    return {"hours": dg.MetadataValue.md(drawn(bars(title, names, heights, "hour", "requests")))}


def views_plot(installation: Installation, day: dt.date) -> dict[str, Any]:
    """Return a plot of the number of pages by views, in powers of two."""
    inputs = {"page_views": installation.store.files("page_views", day)}
    rows = installation.engine.rows(_MAGNITUDES, inputs)
    counts = {row["magnitude"]: row["pages"] for row in rows}
    powers = range(max(counts, default=0) + 1)
    title = f"pages by views (each bar begins at the number below it), {day}"
    names, heights = [f"{2**n:,}" for n in powers], [counts.get(n, 0) for n in powers]
    chart = bars(title, names, heights, "views", "pages")
    return {"pages_by_views": dg.MetadataValue.md(drawn(chart))}


def grid(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> dg.TableMetadataValue:
    """Return rows as table metadata; texts come from logs and are escaped."""
    return dg.MetadataValue.table(
        [
            dg.TableRecord(
                {k: shown(v) if isinstance(v, str) else rounded(v) for k, v in row.items()}
            )
            for row in rows
        ],
        schema=dg.TableSchema([dg.TableColumn(name, type=t) for name, t in columns.items()]),
    )


def rounded(value: Any) -> Any:
    """Return a number with four significant digits; other values unchanged."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def plottable(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata whose numbers make readable plots over partitions.

    Dagster plots each number under its name and without a unit: shares become percent, bytes MiB.
    """
    return dict(_plottable(name, value) for name, value in shown.items())


def _plottable(name: str, value: Any) -> tuple[str, Any]:
    stem, _, unit = name.rpartition("_")
    if isinstance(value, int | float) and unit == "share":
        return f"{stem}_percent", rounded(100.0 * value)
    if isinstance(value, int | float) and unit == "bytes":
        return f"{stem}_mib" if stem else "mib", rounded(value / _MIB)
    return name, rounded(value)


_MIB: Final = 2**20


def _referrers(has_referrers: bool) -> dict[str, Any]:
    return {} if has_referrers else {"referrers": NO_REFERRERS}
