"""Making the days of a run, one after the other.

One day that fails does not lose the others: they are published, and the run then fails with the
names of the days that did. Dagster marks either all days of a step or none, so after a failure
the good ones are marked here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import dagster as dg

from temporal_assets.defs import lifelines
from temporal_assets.defs.events import Event
from temporal_assets.defs.partitions import days_of, in_words
from temporal_assets.defs.resources import Installation
from temporal_assets.quality import verdicts
from temporal_assets.reports.text import shown
from temporal_assets.storage import catalogue
from temporal_assets.storage.manifest import Manifest, digest_of

_MESSAGE_CHARACTERS: Final = 1000
"""Of the reason why a day failed: messages quote log lines, which may be long."""

_LISTED_FAILURES: Final = 10
"""Days whose reasons the run's error repeats; the log has all of them."""


@dataclass(frozen=True, slots=True)
class Made:
    """A partition that was published, and what to say about it."""

    manifest: Manifest
    metadata: Mapping[str, Any]


Parts = Mapping[str, Made]
"""Asset name -> what was published for it."""


class UnfinishedDay(Exception):
    """A day failed after something of it was published. The cause is its `__cause__`."""

    def __init__(self, message: str, parts: Parts) -> None:
        super().__init__(message)
        self.parts = parts


class BlockedDay(Exception):
    """The day's input breaks an invariant, so nothing is built on it."""


def refuse_blocked(installation: Installation, asset: str, days: Iterable[dt.date]) -> None:
    """Raise where a day of `asset`, which is about to be built upon, breaks an invariant.

    Dagster stops what is downstream of a failed check within one run. This stops later runs too.
    """
    blocked = {day: broken for day in days if (broken := broken_of(installation, asset, day))}
    if not blocked:
        return
    (day, broken), more = next(iter(blocked.items())), len(blocked) - 1
    names = ", ".join(f"{one.check} ({one.message})" for one in broken)
    others = f"; {more} more of its days neither" if more else ""
    raise BlockedDay(f"{asset} of {day} must not be built upon: {names}{others}")


def broken_of(installation: Installation, asset: str, day: dt.date) -> list[verdicts.Judgement]:
    """Invariants that a published day is known to break; none where it is missing."""
    manifest = installation.store.manifest(asset, day)
    if manifest is None:
        return []  # reading it will say so
    return verdicts.blockers(verdicts.read(installation.settings.state, manifest))


def make_days(
    context: dg.AssetExecutionContext,
    installation: Installation,
    assets: Sequence[str],
    make: Callable[[dt.date], Parts],
) -> Iterator[dg.MaterializeResult[Any]]:
    """Have `make` publish `assets` for every day of the run."""
    lifelines.hold(installation.settings.state, context.run.run_id)
    made: dict[dt.date, Parts] = {}
    failed: dict[dt.date, str] = {}
    for day in days_of(context.partition_keys):
        try:
            made[day] = make(day)
        except Exception as error:
            failed[day] = _reason(error)
            context.log.error(f"{day}: {failed[day]}", exc_info=error)
            if isinstance(error, UnfinishedDay):
                made[day] = error.parts
            installation.report(Event("failed", assets[0], day, message=failed[day]))
        for asset, part in made.get(day, {}).items():
            rows, size = part.manifest.rows, part.manifest.size
            installation.report(Event("published", asset, day, rows=rows, bytes=size))
    catalogue.refresh(installation.store)
    if failed:
        _mark(context, made)
        raise _failure(failed, len(days_of(context.partition_keys)))
    for asset in assets:
        yield _result(context, asset, {day: parts[asset] for day, parts in made.items()})


def _result(
    context: dg.AssetExecutionContext, asset: str, parts: Mapping[dt.date, Made]
) -> dg.MaterializeResult[Any]:
    for day, part in parts.items():
        context.add_asset_metadata(part.metadata, asset_key=asset, partition_key=day.isoformat())
    digests = [part.manifest.digest for part in parts.values()]
    # Dagster takes one version for all days of a run. With one day it is the content itself;
    # with several it marks what is downstream as stale once too often rather than too seldom.
    version = digests[0] if len(digests) == 1 else digest_of(digests)
    return dg.MaterializeResult(asset_key=asset, data_version=dg.DataVersion(version))


def _mark(context: dg.AssetExecutionContext, made: Mapping[dt.date, Parts]) -> None:
    for day, parts in made.items():
        for asset, part in parts.items():
            context.log_event(
                dg.AssetMaterialization(
                    asset_key=asset,
                    partition=day.isoformat(),
                    metadata=part.metadata,
                    tags={
                        "dagster/data_version": part.manifest.digest,
                        "dagster/data_version_is_user_provided": "true",
                    },
                )
            )


def _failure(failed: Mapping[dt.date, str], days: int) -> dg.Failure:
    reasons = [f"{day}: {reason}" for day, reason in list(failed.items())[:_LISTED_FAILURES]]
    more = len(failed) - len(reasons)
    if more:
        reasons.append(f"and {more} more days, see the log")
    if days == 1:
        return dg.Failure("\n".join(reasons), allow_retries=False)
    return dg.Failure(
        f"{len(failed)} of {days} days failed: {in_words(list(failed))}. The others are published."
        + "".join(f"\n{reason}" for reason in reasons),
        metadata={"failed_days": ", ".join(day.isoformat() for day in failed)},
        allow_retries=False,  # the same logs fail in the same way
    )


def _reason(error: Exception) -> str:
    known = error.__cause__ if isinstance(error, UnfinishedDay) else error
    return shown(f"{type(known).__name__}: {error}", _MESSAGE_CHARACTERS)
