"""The record `kept.json` of the state folder: from which day on tables are kept.

Earlier days were removed; later days may be missing. The record is written before anything is
removed, so that no run builds a removed day again. Not here: which days to remove (`retention`).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from temporal_assets.machine.durable import replace_text
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.storage.integrity import DamagedFile
from temporal_assets.storage.sealed import sealed, unsealed


@dataclass(frozen=True, slots=True)
class RetainedDays:
    """First days that are kept; None if nothing was ever removed."""

    requests: dt.date | None = None
    """First kept day of log lines and of what is computed from them alone."""
    daily: dt.date | None = None
    """First kept day of views and transits."""

    @classmethod
    def load(cls, state: Path) -> RetainedDays:
        """Read the record of a state folder."""
        try:
            fields = unsealed(_file(state).read_text("utf-8"))
            return cls(**{name: day and dt.date.fromisoformat(day) for name, day in fields.items()})
        except FileNotFoundError:
            return cls()
        except (TypeError, ValueError):
            raise DamagedFile(
                f"{_file(state)} cannot be read: restore it from a backup. It says before which day"
                " `temporal-assets doctor clean` removed everything; without it those days seem to"
                " be missing"
            ) from None

    def has_requests(self, day: dt.date) -> bool:
        """Return True if the lines of a day have not been removed."""
        return self.requests is None or day >= self.requests

    def has_daily(self, day: dt.date) -> bool:
        """Return True if the views and transits of a day have not been removed."""
        return self.daily is None or day >= self.daily


def keep(state: Path, requests: dt.date | None, daily: dt.date | None) -> RetainedDays:
    """Record that days before these are removed; the recorded days never go back."""
    (state / "locks").mkdir(parents=True, exist_ok=True)
    with FileLock(state / "locks" / "kept.lock"), scratch_folder(state / "tmp") as scratch:
        before = RetainedDays.load(state)
        after = RetainedDays(_later(before.requests, requests), _later(before.daily, daily))
        fields = {"requests": _text(after.requests), "daily": _text(after.daily)}
        replace_text(_file(state), sealed(fields), scratch)
    return after


def _later(first: dt.date | None, other: dt.date | None) -> dt.date | None:
    return max((day for day in (first, other) if day), default=None)


def _text(day: dt.date | None) -> str | None:
    return day.isoformat() if day else None


def _file(state: Path) -> Path:
    return state / "kept.json"
