"""The resources: what a shell of ours needs, and the catalogue for assets that users add."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dagster_duckdb import DuckDBResource

from temporal_assets.defs.events import Event
from temporal_assets.engines.base import Engine
from temporal_assets.engines.chosen import engine_of
from temporal_assets.ops.catalogue import CATALOGUE
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store

INSTALLATION: Final = "installation"
"""Name of the resource, and of the parameter by which shells ask for it."""

CATALOGUE_RESOURCE: Final = "catalogue"
"""Name of the resource with a SQL view of every asset (docs/running-daily.md)."""


def _silent(_: Event) -> None:
    """Nobody is watching."""


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation: a state folder with its settings, store and engine.

    Making it touches no file.
    """

    settings: Settings
    store: Store
    engine: Engine
    report: Callable[[Event], None] = _silent
    """Told what happens. Called from several threads while log files are read."""

    @classmethod
    def of(cls, settings: Settings, report: Callable[[Event], None] = _silent) -> Installation:
        """The installation the settings describe."""
        return cls(settings, Store.open(settings), engine_of(settings), report)


def catalogue_resource(settings: Settings) -> DuckDBResource:
    """`catalogue.duckdb`, read-only: it is rebuilt after every publish, never written to."""
    return DuckDBResource(
        database=str(settings.state / CATALOGUE), connection_config={"access_mode": "READ_ONLY"}
    )
