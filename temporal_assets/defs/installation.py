"""The installation that a run works on: settings, store and engine of a state folder.

Not here: the resources that hand it to assets (`resources`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from temporal_assets.defs.events import Event
from temporal_assets.defs.publications import Attempts
from temporal_assets.engines.base import Engine
from temporal_assets.engines.engine_choice import engine_of
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store

INSTALLATION: Final = "installation"
"""Name of the resource, and of the parameter by which assets and sensors ask for it."""


def _silent(_: Event) -> None:
    """Ignore an event: nobody is watching."""


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation as a run sees it: a state folder with its settings, store and engine.

    Making it touches no file.
    """

    settings: Settings
    store: Store
    engine: Engine
    report: Callable[[Event], None] = _silent
    """Function that receives progress events; it is called from several threads."""
    attempts: dict[str, Attempts] = field(default_factory=dict)
    """Attempts so far, by asset, of steps that wait for a retry. Other executors retry in another
    process without them: every day is built again then, which is slower, with the same result."""
    refreshes_catalogue: bool = True
    """False if whoever started the run rebuilds the catalogue at its end: it takes as long as
    building a small table, and a run has dozens of these."""

    @classmethod
    def of(
        cls,
        settings: Settings,
        report: Callable[[Event], None] = _silent,
        *,
        refreshes_catalogue: bool = True,
    ) -> Installation:
        """Return the installation that the settings describe."""
        return cls(
            settings,
            Store.open(settings),
            engine_of(settings),
            report,
            refreshes_catalogue=refreshes_catalogue,
        )
