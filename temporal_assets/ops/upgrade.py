"""Partitions written under another schema version of their contract, and their migration.

Readers do not see such a partition: columns may be missing or mean something else. The partition
stays on disk until it is rebuilt, which needs its inputs, or until it is migrated. A migration is a
file `sql/migrations/migrate_<asset>_from_<version>.sql` that returns the present columns from the
old ones (for `transits`, it returns requests to build them from). Migrations exist for assets that
cannot be rebuilt, or not cheaply, and whose old columns suffice.

Here: finding such partitions, and migrating. Not here: rebuilding them (`operate`), Dagster's own
storage.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Final

from temporal_assets import contracts
from temporal_assets.contracts import REQUESTS, TRANSITS, passing
from temporal_assets.days.asset_names import DAILY_ASSETS, DERIVED
from temporal_assets.days.transits import make_transits
from temporal_assets.engines.base import Engine
from temporal_assets.engines.sql import sql_names
from temporal_assets.engines.statements import run
from temporal_assets.landing.inventory import Inventory
from temporal_assets.ops import catalogue
from temporal_assets.quality import verdicts
from temporal_assets.quality.inspect import Inspector
from temporal_assets.quality.verdicts import Judgement
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.retained_days import RetainedDays
from temporal_assets.storage.store import Store
from temporal_assets.windows.lists.site_scores import SITE_SCORES

_EARLIER_REQUESTS: Final = passing(
    "earlier_requests",
    *(replace(column, sources=()) for column in REQUESTS.columns if column.name != "ts"),
)


class Remedy(Enum):
    """What to do about partitions of another version."""

    MIGRATE = "migrate"
    REBUILD = "rebuild"
    LOST = "lost"
    """None: what they were made from is gone, and no migration is known."""
    NEWER = "newer"
    """A later release wrote them; that release can read them."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """Days of one asset of the same schema version, which is not the current one."""

    asset: str
    version: int
    remedy: Remedy
    days: tuple[dt.date, ...]


def plan(store: Store, inventory: Inventory, settings: Settings) -> tuple[Outdated, ...]:
    """Return all partitions of other versions, in the order in which assets are computed."""
    held = set(filter(RetainedDays.load(settings.state).has_requests, inventory.days()))
    outdated_days: dict[tuple[str, int, Remedy], list[dt.date]] = {}
    for manifest in store.outdated():
        remedy = _remedy_of(store, manifest, held)
        outdated_days.setdefault((manifest.asset, manifest.schema_version, remedy), []).append(
            manifest.day
        )
    return tuple(Outdated(*key, tuple(days)) for key, days in outdated_days.items())


def migrate(
    store: Store, engine: Engine, settings: Settings, outdated: Iterable[Outdated]
) -> tuple[Judgement, ...]:
    """Rewrite what can be migrated, day by day; return the checks that days fail.

    If killed, the same call goes on: a day is of the old version or of the new one.
    """
    judged: list[Judgement] = []
    inspector = Inspector(store, engine, settings)
    for outdated_asset in outdated:
        if outdated_asset.remedy is not Remedy.MIGRATE:
            continue
        table = contracts.table(outdated_asset.asset)
        manifests = [_migrated(store, engine, outdated_asset, day) for day in outdated_asset.days]
        findings_of_day = inspector.inspect(table, outdated_asset.days)
        for manifest in manifests:
            of_day = [
                verdicts.judgement(outdated_asset.asset, manifest.day, check, finding)
                for check, finding in zip(table.checks, findings_of_day[manifest.day], strict=True)
            ]
            verdicts.record(settings.state, manifest, of_day)
            judged += of_day
        catalogue.refresh(store)
    return tuple(outdated_asset for outdated_asset in judged if not outdated_asset.passed)


def doubtful_weight(store: Store, settings: Settings) -> str | None:
    """Return a sentence on a `sites.alpha` that may be of a release in which it meant less.

    It was one part of alpha + beta there, with a beta of 2, and is out of 5 now. Only 3 is the same
    share in both. A list of sites that was made with the present settings ends the doubt.
    """
    alpha = settings.sites.alpha
    days = store.folders(SITE_SCORES.name)
    made = store.stored(SITE_SCORES.name, days[-1]) if days else None
    is_settled = made is None or made.settings_digest == SITE_SCORES.settings_digest(settings)
    if is_settled or alpha == type(settings.sites)().alpha:
        return None
    return (
        f"sites.alpha = {alpha:g} is out of 5 in this release, which weighs new temporal pages by"
        f" {alpha:g} and their views by {5 - alpha:g}; if it was written beside a beta of 2, write"
        f" {5 * alpha / (alpha + 2):.4g} (docs/upgrade.md). The next list of sites is made with it"
    )


def statement(asset: str, version: int) -> str:
    """Return the name of the SQL file that migrates partitions of a version, if there is one."""
    return f"migrate_{asset}_from_{version}"


def _remedy_of(store: Store, manifest: Manifest, held: set[dt.date]) -> Remedy:
    """Return what to do about a partition of another version."""
    asset, day = manifest.asset, manifest.day
    if manifest.schema_version > contracts.table(asset).version:
        return Remedy.NEWER
    is_known = statement(asset, manifest.schema_version) in sql_names()
    if is_known and (asset != TRANSITS.name or _views(store, day)):
        return Remedy.MIGRATE
    if asset not in DAILY_ASSETS or day in held:
        return Remedy.REBUILD
    is_derivable = asset in DERIVED and store.manifest("requests", day) is not None
    return Remedy.REBUILD if is_derivable else Remedy.LOST


def _migrated(store: Store, engine: Engine, outdated_asset: Outdated, day: dt.date) -> Manifest:
    """Publish a partition in its present version, and return its manifest."""
    before = store.stored(outdated_asset.asset, day)
    if before is None or before.schema_version != outdated_asset.version:
        return store.require(outdated_asset.asset, day)  # another process was faster
    with store.scratch() as scratch:
        name, files = (
            statement(outdated_asset.asset, outdated_asset.version),
            store.paths(store.verified(before)),
        )
        if outdated_asset.asset == TRANSITS.name:
            parts, urls = _transits(store, engine, name, files, day, scratch)
        else:
            table = contracts.table(outdated_asset.asset)
            parts, urls = engine.query(name, {outdated_asset.asset: files}, {}, table, scratch), []
        return store.publish(
            outdated_asset.asset,
            day,
            parts,
            inputs=before.inputs,
            settings_digest=before.settings_digest,
            extra=before.extra,
            beside=urls,
        )


def _views(store: Store, day: dt.date) -> Manifest | None:
    """Return the manifest of a day's page views, which hold URLs that its transits lack."""
    return store.intact("page_views", day)


def _transits(
    store: Store, engine: Engine, name: str, files: Sequence[str], day: dt.date, out: Path
) -> tuple[list[Path], list[Path]]:
    """Return files of migrated transits, and of their URLs by number."""
    views = store.paths(store.verified(store.require("page_views", day)))
    inputs = {"transits": files, "page_views": views}
    requests = engine.query(name, inputs, {}, _EARLIER_REQUESTS, out)
    tables = run(engine, make_transits([str(path) for path in requests], out))
    return tables.rows, tables.urls
