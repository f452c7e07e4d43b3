"""Pictures and samples of the two assets that are no tables: `log_files` and `released_policy`.

Counts by day and the names of checks: no line of a log, and no entry of a policy.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any, Final

import dagster as dg

from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.metadata import grid
from temporal_assets.landing.inventory import Inventory
from temporal_assets.quality import verdicts
from temporal_assets.reports.document import Axis, Chart, Series
from temporal_assets.reports.plots import drawn
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY

_MOST_DAYS: Final = 120
"""Most days in a picture, the latest ones: more bars would run into each other."""

_MOST_RELEASES: Final = 10
"""Rows of the sample, as many as those of tables have."""

_GREY, _BLUE, _RED = 5, 0, 1


def of_logs(inventory: Inventory) -> dict[str, Any]:
    """Return the picture of the log files: lines of each day, and those kept and rejected."""
    days = inventory.days()[-_MOST_DAYS:]
    if not days:
        return {}
    shares = [[file.days[day] for file in inventory.of_day(day)] for day in days]
    lines = [sum(share.lines for share in of_day) for of_day in shares]
    requests = [sum(share.rows for share in of_day) for of_day in shares]
    rejected = [
        sum(
            loss["lines"] for share in of_day for loss in share.losses if loss["kind"] == "rejected"
        )
        for of_day in shares
    ]
    places = [day.toordinal() for day in days]
    bars = [
        _bars("log lines", _GREY, places, lines),
        _bars("kept as page requests", _BLUE, places, requests),
        _bars("rejected as malformed", _RED, places, rejected),
    ]
    return {"lines_by_day": _picture("log lines by day", Axis("", "date"), "lines", bars)}


def of_releases(installation: Installation, day: dt.date) -> dict[str, Any]:
    """Return the picture and sample of the policies up to a day, with the reasons of refusals."""
    policies = list(_policies(installation, day))
    if not policies:
        return {}
    places = range(len(policies))
    passed = [0 if broken else entries for _, entries, broken in policies]
    refused = [entries if broken else 0 for _, entries, broken in policies]
    bars = [_bars("may be released", _BLUE, places, passed)]
    if any(refused):
        bars.append(_bars("refused by its checks", _RED, places, refused))
    days = Axis("", ticks=tuple(f"{at:%-d %b}" for at, _, _ in policies))
    rows = [
        {"day": str(at), "entries": entries, "checks": ", ".join(broken) or "passed"}
        for at, entries, broken in reversed(policies[-_MOST_RELEASES:])
    ]
    return {
        "picture": _picture("entries of the policy by its day", days, "entries", bars),
        "sample": grid(rows, {"day": "string", "entries": "int", "checks": "string"}),
    }


def _policies(
    installation: Installation, last: dt.date
) -> Iterator[tuple[dt.date, int, list[str]]]:
    """Yield the day, the entries and the broken invariants of each policy, oldest first."""
    store, state = installation.store, installation.settings.state
    days = [day for day in store.days(CRAWL_POLICY.name) if day <= last]
    for day in days[-_MOST_DAYS:]:
        manifest = store.manifest(CRAWL_POLICY.name, day)
        if manifest is not None:
            broken = verdicts.blockers(verdicts.read(state, manifest))
            yield day, manifest.rows, [judgement.check for judgement in broken]


def _bars(name: str, colour: int, places: Sequence[int], heights: Sequence[int]) -> Series:
    return Series(name, "bars", colour, tuple(map(float, places)), tuple(map(float, heights)))


def _picture(title: str, x: Axis, what: str, bars: Sequence[Series]) -> dg.MarkdownMetadataValue:
    chart = Chart(title, title, x, Axis(what, "count", 0.0), tuple(bars))
    return dg.MetadataValue.md(drawn(chart))
