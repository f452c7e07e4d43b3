"""Building the days of a run in order; small days share statements.

One day that fails does not lose the others: they are published, and the run then fails with the
names of the days that did. Dagster marks either all days of a step or none, so after a failure the
good ones are marked here. Days that failed for a transient reason are tried again later, by the
same step: it continues from what its earlier attempts built.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from typing import Any, Final

import dagster as dg

from temporal_assets import contracts
from temporal_assets.contracts import Table
from temporal_assets.defs.events import Event
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.metadata import plottable
from temporal_assets.defs.partitions import days_of, in_words
from temporal_assets.defs.publications import Attempts, Publication, Publications
from temporal_assets.defs.runs.retries import can_retry, is_transient, retry
from temporal_assets.defs.runs.step_log import step_log
from temporal_assets.engines.batches import SMALL_ROWS, in_order, small_batches
from temporal_assets.engines.statements import Steps, run, run_together
from temporal_assets.machine.error_sentences import sentence_of
from temporal_assets.ops import catalogue
from temporal_assets.quality import verdicts
from temporal_assets.quality.inspect import Inspector
from temporal_assets.reports.text import shown
from temporal_assets.storage.batch_publication import together
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.sealed import digest_of

_MESSAGE_CHARACTERS: Final = 1000
"""Most characters of the reason why a day failed: messages quote log lines, which may be long."""

_LISTED_FAILURES: Final = 10
"""Days whose reasons the run's error repeats; the log has all of them."""


Make = Callable[[Installation, dt.date], Steps[Publications]]
"""Function that publishes one day in the store of an installation.

It yields the SQL statements to run, and returns what it has published."""


def as_steps(make: Callable[[Installation, dt.date], Publications]) -> Make:
    """Return a builder for `make_days` from a plain function that publishes one day.

    Other builders are generators of SQL statements, which several small days run together
    (`engines.statements`). This one yields no statement: its days are published one by one.
    """

    def steps(installation: Installation, day: dt.date) -> Steps[Publications]:
        yield from ()
        return make(installation, day)

    return steps


class UnfinishedDay(Exception):
    """Error: a day failed after a part of it was published; the reason is its `__cause__`."""

    def __init__(self, message: str, parts: Publications) -> None:
        super().__init__(message)
        self.parts = parts


class BlockedDay(Exception):
    """Error: the day's input breaks an invariant, so nothing is built on it."""


def refuse_blocked(installation: Installation, asset: str, days: Iterable[dt.date]) -> None:
    """Raise `BlockedDay` if a day of `asset`, which is about to be built upon, breaks an invariant.

    Dagster stops what is downstream of a failed check within one run. This stops later runs too.
    """
    _judge_unjudged(installation, asset, days := list(days))
    blocked = {day: broken for day in days if (broken := broken_of(installation, asset, day))}
    if not blocked:
        return
    (day, broken), more = next(iter(blocked.items())), len(blocked) - 1
    names = ", ".join(f"{blocker.check} ({blocker.message})" for blocker in broken)
    others = f"; {more} more of its days neither" if more else ""
    raise BlockedDay(
        f"{asset} of {day} must not be built upon: {names}{others}; once what is wrong there is"
        f" mended: temporal-assets materialize {asset} --day {day}"
    )


def _judge_unjudged(installation: Installation, asset: str, days: Sequence[dt.date]) -> None:
    """Check the invariants of days whose run was killed between publishing and checking them.

    Only those without a result: somebody may have run some checks since, but not all.
    """
    store, state = installation.store, installation.settings.state
    table = contracts.table(asset)
    inspector = Inspector(store, installation.engine, installation.settings)
    for names, manifests in _unjudged(installation, table, days).items():
        checks = [check for check in table.checks if check.name in names]
        findings_of_day = inspector.inspect(table, [manifest.day for manifest in manifests], names)
        for manifest in manifests:
            judged = [
                verdicts.judgement(asset, manifest.day, check, finding)
                for check, finding in zip(checks, findings_of_day[manifest.day], strict=True)
            ]
            verdicts.record(state, manifest, judged)


def _unjudged(
    installation: Installation, table: Table, days: Iterable[dt.date]
) -> dict[frozenset[str], list[Manifest]]:
    """Return the days by the names of the invariants that were not checked on them."""
    invariants = {check.name for check in table.checks if verdicts.is_blocking(check)}
    by_checks: dict[frozenset[str], list[Manifest]] = {}
    for day in days:
        manifest = installation.store.manifest(table.name, day)
        if manifest is None:
            continue  # reading it will say so
        unjudged = verdicts.missing(installation.settings.state, manifest)
        if missing := unjudged & invariants:
            by_checks.setdefault(missing, []).append(manifest)
    return by_checks


def broken_of(installation: Installation, asset: str, day: dt.date) -> list[verdicts.Judgement]:
    """Return the invariants that a published day is known to break; none if it is missing."""
    manifest = installation.store.manifest(asset, day)
    if manifest is None:
        return []  # reading it will say so
    return verdicts.blockers(verdicts.read(installation.settings.state, manifest))


def make_days(
    context: dg.AssetExecutionContext,
    installation: Installation,
    assets: Sequence[str],
    make: Make,
    rows: Callable[[dt.date], int] | None = None,
    alone: Collection[dt.date] = (),
) -> Iterator[dg.MaterializeResult[Any]]:
    """Have `make` publish `assets` for every day of the run.

    Where `rows` says how many rows a day has, small days share their statements and are published
    together: `make` must not read what it has just published, except on days that are built
    `alone`.
    """
    days = days_of(context.partition_keys)
    done = installation.attempts.pop(assets[0], Attempts())
    left = [day for day in days if day not in done.published and day not in done.failed]
    # No day is under way any more when the step is over, however it ends.
    counted = None if rows is None else partial(_rows_of, rows, alone)
    with step_log(context), closing(_attempts(installation, make, left, counted)) as attempts:
        for day, parts in zip(left, attempts, strict=True):
            _enter(context, installation, assets, day, parts, done)
    if installation.refreshes_catalogue:
        catalogue.refresh(installation.store)
    if done.waiting:
        (day, why), more = next(iter(done.waiting.items())), len(done.waiting) - 1
        others = f" (and {more} more days)" if more else ""
        done.waiting = {}
        installation.attempts[assets[0]] = done
        raise retry(context, installation, assets[0], f"{day}: {why}{others}")
    if done.failed:
        _mark(context, done.published)
        raise _failure(dict(sorted(done.failed.items())), len(days))
    for asset in assets:
        yield _result(context, asset, {day: parts[asset] for day, parts in done.published.items()})


def _rows_of(rows: Callable[[dt.date], int], alone: Collection[dt.date], day: dt.date) -> int:
    return SMALL_ROWS + 1 if day in alone else rows(day)


def _attempts(
    installation: Installation,
    make: Make,
    days: Sequence[dt.date],
    rows: Callable[[dt.date], int] | None,
) -> Generator[Publications | Exception]:
    """Yield the publications of each day, or the error, in the order of the days.

    Several batches of small days are built at once.
    """
    if rows is None:
        yield from (_attempt(make, installation, day) for day in days)
        return
    of_batch = partial(_attempt_together, installation, make)
    threads = installation.settings.engine.used_threads
    for is_alone, batches in groupby(small_batches(days, rows), lambda batch: len(batch) == 1):
        if is_alone:
            yield from (_attempt(make, installation, day) for (day,) in batches)
        else:
            yield from chain.from_iterable(in_order(of_batch, batches, threads))


def _attempt_together(
    installation: Installation, make: Make, days: Sequence[dt.date]
) -> Sequence[Publications | Exception]:
    """Build small days and publish them at once; each is published completely or not at all.

    Threads may build several such batches side by side.
    """
    attempts: list[Publications | Exception] = []
    try:
        with together(installation.store) as store:
            publishing = replace(installation, store=store)
            works = [make(publishing, day) for day in days]
            attempts += run_together(installation.engine, works)
    except Exception as error:  # none of them was published, or not all: they are made again
        return [
            attempt if isinstance(attempt, Exception) else error for attempt in attempts or days
        ]
    return attempts


def _attempt(make: Make, installation: Installation, day: dt.date) -> Publications | Exception:
    try:
        return run(installation.engine, make(installation, day))
    except Exception as error:
        return error


def _enter(
    context: dg.AssetExecutionContext,
    installation: Installation,
    assets: Sequence[str],
    day: dt.date,
    attempt: Publications | Exception,
    done: Attempts,
) -> None:
    """Record the outcome of a day, and report it."""
    if isinstance(attempt, Exception):
        why = _reason(attempt).removeprefix(f"{day}: ")
        if is_transient(attempt) and can_retry(context):
            done.waiting[day] = why
            return
        done.failed[day] = why
        context.log.error(f"{day}: {why}", exc_info=attempt)
        if isinstance(attempt, UnfinishedDay):
            done.published[day] = attempt.parts
        installation.report(Event("failed", assets[0], day, message=why))
    else:
        done.published[day] = attempt
    for asset, part in done.published.get(day, {}).items():
        rows, size = part.manifest.rows, part.manifest.size
        installation.report(Event("published", asset, day, rows=rows, bytes=size))


def _result(
    context: dg.AssetExecutionContext, asset: str, parts: Mapping[dt.date, Publication]
) -> dg.MaterializeResult[Any]:
    """Return the result of an asset over all days of a run, with metadata for each day."""
    for day, part in parts.items():
        shown = plottable(part.metadata)
        context.add_asset_metadata(shown, asset_key=asset, partition_key=day.isoformat())
    digests = [part.manifest.digest for part in parts.values()]
    # Dagster takes one version for all days of a run. With one day it is the content itself;
    # with several it marks what is downstream as stale once too often rather than too seldom.
    version = digests[0] if len(digests) == 1 else digest_of(digests)
    return dg.MaterializeResult(asset_key=asset, data_version=dg.DataVersion(version))


def _mark(context: dg.AssetExecutionContext, parts_of_day: Mapping[dt.date, Publications]) -> None:
    """Record days as materialised in Dagster's history, before their run fails for others."""
    for day, parts in parts_of_day.items():
        for asset, part in parts.items():
            context.log_event(
                dg.AssetMaterialization(
                    asset_key=asset,
                    partition=day.isoformat(),
                    metadata=plottable(part.metadata),
                    tags={
                        "dagster/data_version": part.manifest.digest,
                        "dagster/data_version_is_user_provided": "true",
                    },
                )
            )


def _failure(failed: Mapping[dt.date, str], days: int) -> dg.Failure:
    """Return the failure of a run, with the reasons of some days."""
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
    cause = error.__cause__ if isinstance(error, UnfinishedDay) else error
    why = (cause and sentence_of(cause)) or _message_of(cause or error)
    return shown(why, _MESSAGE_CHARACTERS)


def _message_of(error: BaseException) -> str:
    """Return the message of an error; for errors of libraries with the type's name."""
    kind = type(error)
    is_ours = kind.__module__.split(".")[0] == __name__.split(".")[0]
    return str(error) if is_ours and str(error) else f"{kind.__name__}: {error}"
