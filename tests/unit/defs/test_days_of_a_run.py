"""Days of a run: batches of small ones are built side by side."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from temporal_assets import contracts
from temporal_assets.defs.days import _attempts
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.publications import Publication, Publications
from temporal_assets.engines import batches
from temporal_assets.engines.batches import SMALL_ROWS, write_empty
from temporal_assets.engines.statements import Steps
from temporal_assets.settings import load_settings

DAYS = [dt.date(2026, 3, n) for n in range(1, 8)]
FIRST, LARGE, BROKEN = DAYS[0], DAYS[4], DAYS[5]


def test_batches_are_built_side_by_side_and_come_in_the_order_of_their_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_MOST_DAYS", 2)
    installation = Installation.of(load_settings(tmp_path, engine={"threads": 2}))
    later_batch = Event()

    def make(installation: Installation, day: dt.date) -> Steps[Publications]:
        yield from ()
        if day == FIRST:
            assert later_batch.wait(60), "the second batch waits for the first"
        elif day == DAYS[2]:
            later_batch.set()
        elif day == BROKEN:
            raise OSError("this day cannot be read")
        store = installation.store
        with store.scratch() as scratch:
            rows = write_empty(contracts.REJECTS.arrow_schema, scratch / "rejects.parquet")
            manifest = store.publish("rejects", day, [rows], inputs=(), settings_digest="")
        return {"rejects": Publication(manifest, {})}

    outcomes: list[Any] = [
        *_attempts(installation, make, DAYS, lambda day: SMALL_ROWS + 1 if day == LARGE else 1)
    ]
    assert str(outcomes.pop(DAYS.index(BROKEN))) == "this day cannot be read"
    whole = [day for day in DAYS if day != BROKEN]
    assert [outcome["rejects"].manifest.day for outcome in outcomes] == whole
    assert installation.store.days("rejects") == whole
