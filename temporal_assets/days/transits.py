"""`transits` of a day, and its URLs by number, which lie beside the rows.

A day names a URL many times. Each is compared with others once, when it gets its number
(`sql/days/urls.sql`). Rows are told apart, sorted and stored as integers, on every engine, and
windows read them as integers, too.

Here: making a day, and handing days to an engine. Not here: which days are made (`daily`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from temporal_assets.contracts import TRANSITS, URLS
from temporal_assets.engines.base import Engine
from temporal_assets.logs.urls.urls import SITE
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.store import Store


@dataclass(frozen=True, slots=True)
class DayTransits:
    """The files of a day."""

    rows: list[Path]
    urls: list[Path]


def make_transits(engine: Engine, requests: Sequence[str], out: Path) -> DayTransits:
    """A day's `transits`, in the folder `out`, from its `requests`."""
    inputs = {"requests": requests}
    urls = engine.query(URLS.name, inputs, {"site": SITE}, URLS, out)
    numbered = inputs | {"urls": [str(path) for path in urls]}
    return DayTransits(engine.query(TRANSITS.name, numbered, {}, TRANSITS.stored, out), urls)


def transit_inputs(store: Store, days: Iterable[Manifest]) -> dict[str, list[str]]:
    """Return the tables `transits` and `urls` of some days, as statements read them."""
    inputs: dict[str, list[str]] = {TRANSITS.name: [], URLS.name: []}
    for day in days:
        inputs[TRANSITS.name] += store.paths(day)
        inputs[URLS.name] += store.paths_beside(day)
    return inputs
