"""Progress events while assets are built, which are not those of Dagster's event log."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from temporal_assets.quality.verdicts import Judgement


@dataclass(frozen=True, slots=True)
class Event:
    """A progress event; `kind` decides which of the fields are set."""

    kind: Literal["reading", "published", "failed", "waiting", "checked"]
    asset: str
    day: dt.date | None = None
    rows: int = 0
    bytes: int = 0
    """Size of the partition that was published."""
    path: str = ""
    done: int = 0
    total: int = 0
    """While reading: the log file, its bytes read so far and its size."""
    message: str = ""
    """Why a day failed, or why a step waits to be tried again."""
    judgement: Judgement | None = None
