"""The work of each daily asset for one day: read, transform, publish.

In: landed log files of a day (for `requests` and `rejects`), or its published requests (for
`page_views` and `transits`). Out: exactly one partition of each asset; repeating it gives the same.
Plain functions over a store and an engine, so that Dagster's assets stay shells and everything can
be used without Dagster. Not here: which days are to be made (`staleness`), which files they are
made from (`day_inputs`), what is no request (`rejects`).
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from temporal_assets import contracts
from temporal_assets.days.asset_names import COUNTED
from temporal_assets.days.counts import DayCounts, make_counts
from temporal_assets.days.day_inputs import (
    NoLogs,
    count_files,
    no_lines_of,
    refuse_loss,
    refuse_removed,
    robot_limits,
    segments_of_day,
)
from temporal_assets.days.rejects import (
    by_reason,
    losses_of_day,
    losses_of_file,
    refuse_wrong_format,
    write_rejects,
)
from temporal_assets.days.requests import sort_out
from temporal_assets.days.staleness import emptied_days, requests_digest, silent_days
from temporal_assets.days.transits import DayTransits, make_transits
from temporal_assets.engines.base import Engine, Statement
from temporal_assets.engines.statements import Steps, run
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landed_files import names_apart
from temporal_assets.settings import (
    Settings,
)
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.sealed import digest_of
from temporal_assets.storage.store import Store

_REPEATED_FACTS: Final = ("has_referrers", COUNTED)
"""Keys of facts of `requests` that derived partitions repeat."""


@dataclass(frozen=True, slots=True)
class DayResult:
    """A published partition."""

    manifest: Manifest
    seconds: float


@dataclass(frozen=True, slots=True)
class RequestsResult:
    """The partitions computed from a day's log lines."""

    requests: DayResult
    rejects: DayResult
    lines: int
    """Number of log lines of the day, kept or not."""
    losses: tuple[tuple[str, str, int], ...]
    """(kind, reason, number of lines) of those not kept."""
    has_referrers: bool


def build_requests(
    store: Store, engine: Engine, settings: Settings, day: dt.date, inventory: Inventory
) -> RequestsResult:
    """Publish `rejects` and `requests` of a day; runs all of `requests_steps`."""
    return run(engine, requests_steps(store, engine, settings, day, inventory))


def requests_steps(
    store: Store, engine: Engine, settings: Settings, day: dt.date, inventory: Inventory
) -> Steps[RequestsResult]:
    """Publish `rejects` and then `requests` of a day from its landed log files.

    Raises `TooManyRejects` after `rejects` and before `requests` is published: the evidence is
    there, and the requests of an earlier run stay.
    """
    started = time.monotonic()
    refuse_removed(settings, day)
    refuse_loss(store, inventory, day)
    files = inventory.of_day(day)
    if not files and day not in (*silent_days(inventory), *emptied_days(store, inventory)):
        raise NoLogs(no_lines_of(day, inventory))
    inputs = inventory.inputs(day)
    digest = requests_digest(settings)
    names = names_apart(files)
    of_files = [(loss, file) for file in files for loss in losses_of_file(file, names, day)]
    losses = [loss for loss, _ in of_files]
    logs = [file for file in files if not file.is_counted]
    with store.scratch() as scratch:
        segments = segments_of_day(inventory, logs, day)
        sorted_requests = yield from sort_out(segments, robot_limits(settings, logs), scratch)
        counts = make_counts(engine, count_files(inventory, files, day), scratch)
        losses += losses_of_day(sorted_requests, counts)
        rejects = store.publish(
            "rejects",
            day,
            [write_rejects(day, losses, scratch)],
            inputs=inputs,
            settings_digest=digest,
        )
        rejected = DayResult(rejects, time.monotonic() - started)
        lines = sum(file.days[day].lines for file in files)
        refuse_wrong_format(settings, day, of_files, lines)
        has_referrers = any(file.has_referrers for file in files)
        summary = by_reason(losses)
        requests = store.publish(
            "requests",
            day,
            (yield from sorted_requests.write(scratch)),
            inputs=inputs,
            settings_digest=digest,
            extra={"lines": lines, "has_referrers": has_referrers, "losses": summary}
            | _counted_sites(counts),
            counts=counts.files if counts else (),
        )
    return RequestsResult(
        DayResult(requests, time.monotonic() - started),
        rejected,
        lines,
        tuple(summary),
        has_referrers,
    )


def build_derived(store: Store, engine: Engine, asset: str, day: dt.date) -> DayResult:
    """Publish `page_views` or `transits` of a day; runs all of `derived_steps`."""
    return run(engine, derived_steps(store, asset, day))


def derived_steps(store: Store, asset: str, day: dt.date) -> Steps[DayResult]:
    """Publish a day of `page_views` or `transits` from the day's `requests`."""
    started = time.monotonic()
    source = store.require("requests", day)
    files = store.paths(store.verified(source))
    with store.scratch() as scratch:
        counts = store.paths_of_counts(source)
        tables = yield from _derived(asset, files, counts, scratch)
        manifest = store.publish(
            asset,
            day,
            tables.rows,
            inputs=[Input("requests", source.digest)],
            settings_digest=digest_of({}),
            extra={name: source.extra[name] for name in _REPEATED_FACTS if name in source.extra},
            beside=tables.urls,
            counts=tables.counts,
        )
    return DayResult(manifest, time.monotonic() - started)


def _derived(
    asset: str, requests: Sequence[str], counts: Sequence[str], out: Path
) -> Steps[DayTransits]:
    """Return the files to publish: rows, and beside them URLs by number and counts."""
    if asset == "transits":
        return (yield from make_transits(requests, out, counts))
    table = contracts.table(asset)
    rows = yield Statement(asset, {"requests": requests}, {}, table, out)
    if counts:
        both = {asset: [str(path) for path in rows], "counts": counts}
        folder = out / "counted"
        folder.mkdir()
        rows = yield Statement("counted_views", both, {}, table, folder)
    return DayTransits(rows, [], [])


def _counted_sites(counts: DayCounts | None) -> dict[str, list[str]]:
    return {COUNTED: counts.sites} if counts else {}
