"""The one resource: everything a shell needs to do its work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from temporal_assets.defs.events import Event
from temporal_assets.engines.base import Engine
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store

INSTALLATION: Final = "installation"
"""Name of the resource, and of the parameter by which shells ask for it."""


def _silent(_: Event) -> None:
    """Nobody is watching."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One state folder with its settings, store and engine. Making it touches no file."""

    settings: Settings
    store: Store
    engine: Engine
    report: Callable[[Event], None] = _silent
    """Told what happens. Called from several threads while log files are read."""

    @classmethod
    def of(cls, settings: Settings, report: Callable[[Event], None] = _silent) -> Installation:
        """The installation the settings describe."""
        return cls(settings, Store.open(settings), DuckDBEngine(settings), report)
