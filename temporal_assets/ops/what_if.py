"""Trials: the latest window computed under other settings, beside what is published.

A trial is a state folder of its own, `what_if/<settings>` in the one it asks about. Tables that the
other settings do not affect are linked from there; the others are computed anew. So a trial costs
what a change of the settings would cost, and every command that looks at a state folder can look at
it. Nothing of the real one is changed. Not here: settings that change how logs are read. They need
the logs read again, into a state folder of their own.
"""

from __future__ import annotations

import datetime as dt
import re
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import tomlkit

from temporal_assets import contracts
from temporal_assets.crawl.mirror import mirror
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.engine_choice import engine_of
from temporal_assets.logs.privacy import key_periods
from temporal_assets.machine.locks import held
from temporal_assets.settings import SETTINGS_FILE, Settings, SettingsError, load_settings
from temporal_assets.storage.partition_errors import MissingPartition
from temporal_assets.storage.sealed import digest_of
from temporal_assets.storage.store import Store
from temporal_assets.windows import registry
from temporal_assets.windows.frame.asset import build

Sections = Mapping[str, Any]
"""Settings by section and name; those of a file without section are on the top level."""

FOLDER: Final = "what_if"
"""Folder of the state folder with the trials."""

OF_READING: Final = frozenset(
    {"state", "storage", "sources", "reading", "cleaning", "privacy", "orchestration", "retention"}
)
"""Sections of settings that affect daily tables, or no table at all; not for trials."""

_STILL_ALLOWED: Final = frozenset({"privacy.min_clients"})
"""Settings of these that may be raised but not lowered: names that few clients know must stay
hidden in a trial, too."""

MOST_NAMES: Final = 1000
"""Number of entries of the policy that are named for each kind of change."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Numbers of rows of one table that differ between published and trial."""

    asset: str
    before: int
    """Number of published rows."""
    after: int
    added: int
    removed: int
    changed: int
    """Number of rows with the same key and another value somewhere."""


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """Entries of a policy that differ in the same way."""

    kind: str
    """`site`, `hub`, `prefix` or `pattern`."""
    change: str
    """`added`, `removed` or `changed` (another decision, tier or interval)."""
    site: str
    name: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A window under other settings."""

    day: dt.date
    settings: Settings
    """Settings of the trial; its `state` is the folder to look at."""
    differences: tuple[Difference, ...]
    """Differences of the tables that were computed anew, in order."""
    policy: tuple[PolicyChange, ...]
    outdated: tuple[str, ...]
    """Published tables that are older than their inputs or the settings: they would differ without
    the trial's settings, too."""

    def warning(self, command: Callable[[str], str] = "temporal-assets {}".format) -> str | None:
        """Return a warning on outdated tables, with the command that makes them again."""
        if not self.outdated:
            return None
        make = command(f"materialize {' '.join(self.outdated)} --day {self.day}")
        return (
            "not all of this is of the settings tried: published tables of that day are older than"
            " what they are made from, or than settings.toml. To see what the settings change"
            f" alone, first: {make}"
        )


def what_if(
    settings: Settings,
    changes: Mapping[str, str],
    day: dt.date | None = None,
    on_built: Callable[[str, int, int], None] = lambda _asset, _done, _all: None,
) -> Trial:
    """Compute the window of `day` (default: the latest) with `changes` like `labels.q: 0.8`.

    Equal trials are made one after the other: they have one folder. Raises `SettingsError` for
    changes that are none, or none a trial can make.
    """
    nested = _nested(changes)
    store = Store.open(settings)
    chosen = day or max(store.days("page_labels"), default=None)
    if chosen is None:
        raise MissingPartition(
            "no window has been made yet: temporal-assets materialize makes those of the latest day"
        )
    store.require("page_labels", chosen)
    folder, locks = _folder(settings, changes), settings.state / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with held(locks / f"{FOLDER}-{folder.name}.lock", "trying the same settings"):
        return _tried(settings, nested, folder, store, chosen, on_built)


def _tried(
    settings: Settings,
    nested: Sections,
    folder: Path,
    store: Store,
    chosen: dt.date,
    on_built: Callable[[str, int, int], None],
) -> Trial:
    """Return the trial, computed anew in its folder."""
    late = registry.stale(store, settings, chosen)
    trial = _sandbox(settings, nested, folder)
    # Files beside the tables, as the policy's, are made in the trial's folder though none differs.
    stale = registry.stale(store, trial, chosen)
    other = registry.stale(store, trial.model_copy(update={"state": settings.state}), chosen)
    days = max(trial.window.days, settings.window.days)
    _link_tables(store, Store.open(trial), chosen, stale, days)
    own, engine = Store.open(trial), engine_of(trial)
    # What was never made of that day has nothing to differ from.
    anew = [name for name in stale if store.manifest(name, chosen) is not None]
    needed = registry.needed(own, trial, anew, [chosen])
    wanted = [asset for asset in registry.WINDOW_ASSETS if asset.name in needed]
    for done, asset in enumerate(wanted, 1):
        build(own, engine, trial, asset, chosen)
        on_built(asset.name, done, len(wanted))
    differences = [_difference(engine, store, own, name, chosen) for name in anew if name in other]
    policy = _policy(engine, store, own, chosen) if "crawl_policy" in anew else ()
    outdated = tuple(name for name in late if store.manifest(name, chosen) is not None)
    return Trial(
        chosen,
        trial,
        tuple(difference for difference in differences if difference),
        tuple(policy),
        outdated,
    )


def _nested(changes: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return dotted names and values as nested tables, as in `settings.toml`."""
    nested: dict[str, dict[str, Any]] = {}
    for dotted, text in changes.items():
        section, _, name = dotted.partition(".")
        section_field = Settings.model_fields.get(section)
        fields = getattr(section_field and section_field.annotation, "model_fields", {})
        if name not in fields:
            raise SettingsError(f"there is no setting {dotted!r} (docs/settings.md lists them)")
        if section in OF_READING and dotted not in _STILL_ALLOWED:
            raise SettingsError(
                f"{dotted} changes how logs are read or kept: set it in the settings.toml of"
                " another state folder and `temporal-assets ingest` the logs there"
            )
        nested.setdefault(section, {})[name] = _value(text)
    if not nested:
        raise SettingsError("name a setting and a value, like labels.q=0.8")
    return nested


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # a word needs no quotes


def _folder(settings: Settings, changes: Mapping[str, str]) -> Path:
    """Return the folder of a trial with these changes."""
    label = re.sub(r"[^A-Za-z0-9._=-]+", "_", ",".join(f"{k}={v}" for k, v in changes.items()))
    return settings.state / FOLDER / f"{label[:80]}-{digest_of(dict(changes))[:8]}"


def _sandbox(settings: Settings, nested: Sections, folder: Path) -> Settings:
    """Return the settings of a new state folder for the trial."""
    file = settings.state / SETTINGS_FILE
    written = tomllib.loads(file.read_text("utf-8")) if file.exists() else {}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        trial = _written(folder, written, nested)
        if trial.privacy.min_clients < settings.privacy.min_clients:
            raise SettingsError(
                "privacy.min_clients can be tried higher, not lower than"
                f" {settings.privacy.min_clients}: what fewer clients know is shown nowhere"
            )
        rotation = settings.privacy.rotation_days
        key_periods.hand_on(settings.state / "secrets", folder / "secrets", rotation)
        if mirror.identity(settings.state / mirror.FOLDER):
            (folder / mirror.FOLDER).symlink_to((settings.state / mirror.FOLDER).absolute())
        return _written(folder, written, _merged(nested, _named(trial, settings.state)))
    except SettingsError as error:
        shutil.rmtree(folder)
        raise SettingsError(str(error).removeprefix(f"{folder / SETTINGS_FILE}: ")) from error


def _written(folder: Path, before: Sections, changes: Sections) -> Settings:
    """Return the settings of a folder after writing settings `before` with `changes` into it."""
    own = {name: value for name, value in before.items() if name != "storage"}
    (folder / SETTINGS_FILE).write_text(tomlkit.dumps(_merged(own, changes)), "utf-8")
    # Given as arguments as well, because variables of the environment are stronger than a file.
    return load_settings(folder, **{"storage": None, **changes})


def _merged(before: Sections, changes: Sections) -> dict[str, Any]:
    changed = {name: {**before.get(name, {}), **values} for name, values in changes.items()}
    return {**before, **changed}


def _named(trial: Settings, state: Path) -> dict[str, dict[str, str]]:
    """Return the paths in a trial's settings, relative to the folder it asks about."""
    listed: tuple[tuple[str, str, Path | str | None], ...] = (
        ("baseline", "path", trial.baseline.path),
        ("calibration", "annotated", trial.calibration.annotated),
    )
    return {section: {name: str(state / path)} for section, name, path in listed if path}


def _link_tables(store: Store, own: Store, day: dt.date, anew: Sequence[str], days: int) -> None:
    """Link everything published into the trial, except what is computed anew.

    Links are never published into. From a bucket the window is copied instead.
    """
    for asset in store.assets():
        source, target = Path(store.root) / asset, Path(own.root) / asset
        target.mkdir(parents=True)
        for stored_day in store.days(asset):
            if asset in anew and stored_day == day:
                continue
            folder = target / f"day={stored_day}"
            if store.is_local:
                folder.symlink_to(source / f"day={stored_day}")
            elif day - dt.timedelta(days=days) <= stored_day <= day:
                store.fetch(asset, stored_day, folder)


def _difference(
    engine: Engine, store: Store, own: Store, asset: str, day: dt.date
) -> Difference | None:
    """Return how many rows of a table differ; None for a table without a key to join by."""
    table = contracts.table(asset)
    if not table.key:
        return None
    # SQL: names of columns are the contracts', not anybody's.
    same = " AND ".join(f"old.{name} IS NOT DISTINCT FROM new.{name}" for name in table.key)
    # A page's number is its place, which moves with the pages before it: no change of the page.
    values = [name for name in table.column_names if name not in (*table.key, "number")]
    # SQL: the same.
    other = " OR ".join(f"old.{name} IS DISTINCT FROM new.{name}" for name in values)
    query = (
        "SELECT count(old.day) AS before, count(new.day) AS after,"  # noqa: S608 - columns of the contract
        " sum(CASE WHEN old.day IS NULL THEN 1 ELSE 0 END) AS added,"
        " sum(CASE WHEN new.day IS NULL THEN 1 ELSE 0 END) AS removed,"
        " sum(CASE WHEN old.day IS NOT NULL AND new.day IS NOT NULL"
        f" AND ({other}) THEN 1 ELSE 0 END) AS changed"
        f" FROM {_rows_with_urls('old', table)} FULL JOIN {_rows_with_urls('new', table)} ON {same}"
    )
    inputs = dict(_both(store, own, asset, day))
    if table.numbered:
        for side, of_side in (("old", store), ("new", own)):
            inputs[f"{side}_urls"] = of_side.paths_beside(of_side.require(asset, day))
    (row,) = engine.rows(query, inputs)
    return Difference(asset, **{name: int(number or 0) for name, number in row.items()})


def _rows_with_urls(side: str, table: contracts.Table) -> str:
    """Return SQL for the rows of a side, with URLs in place of their numbers."""
    if not table.numbered:
        return side
    (numbered,) = table.numbered  # of window tables, which alone are made anew
    columns = ", ".join(
        f"{side}_urls.url AS {name}" if name == numbered else f"{side}.{name}"
        for name in table.column_names
    )
    # SQL: sides of the comparison, and a column of the contract
    joined = f"{side} INNER JOIN {side}_urls ON {side}_urls.number = {side}.{numbered}"
    return f"(SELECT {columns} FROM {joined}) AS {side}"  # noqa: S608 - columns of the contract


_POLICY: Final = (
    "SELECT coalesce(new.kind, old.kind) AS kind,"
    " CASE WHEN old.kind IS NULL THEN 'added' WHEN new.kind IS NULL THEN 'removed'"
    " ELSE 'changed' END AS change,"
    " coalesce(new.site, old.site) AS site, coalesce(new.name, old.name) AS name"
    " FROM old FULL JOIN new ON old.kind = new.kind AND old.site = new.site AND old.name = new.name"
    " WHERE old.kind IS NULL OR new.kind IS NULL OR old.decision <> new.decision"
    " OR old.tier <> new.tier OR old.interval_seconds IS DISTINCT FROM new.interval_seconds"
    " ORDER BY 1, 2, 3, 4"
)


def _policy(engine: Engine, store: Store, own: Store, day: dt.date) -> list[PolicyChange]:
    rows = engine.rows(_POLICY, _both(store, own, "crawl_policy", day), limit=MOST_NAMES)
    return [PolicyChange(**row) for row in rows]


def _both(store: Store, own: Store, asset: str, day: dt.date) -> Inputs:
    return {"old": store.files(asset, day), "new": own.files(asset, day)}
