"""The sensor's memory of its requests: one for each state of the inputs.

Dagster starts nothing for a run key that it has used, and does not say so. A key made of the state
alone would be an old one whenever a state comes back: a setting is changed and changed back, a
file is lost and made again as it was. So the state in which something was asked for is remembered
here for as long as the thing is out of date, and keys are new each time. Not here: what is out of
date, and what its state is (`sensors`).
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Asked:
    """The cursor of the sensor, which one tick leaves to the next."""

    files: str = ""
    """Identity of the log files that a run was asked to read last."""
    days: Mapping[dt.date, str] = field(default_factory=dict)
    """Days that are out of date -> the state in which they were asked for."""
    window: str = ""
    """The state in which the latest window was asked for; empty where nothing is to be made."""

    @classmethod
    def from_cursor(cls, cursor: str | None) -> Asked:
        """Return what the tick before has told. Cursors of older versions tell of no days.

        One that a person has set in the UI tells nothing: all is asked for once more.
        """
        try:
            fields = json.loads(cursor) if cursor else {}
            days = {
                dt.date.fromisoformat(day): state for day, state in fields.get("days", {}).items()
            }
            return cls(fields.get("files", ""), days, fields.get("window", ""))
        except (ValueError, AttributeError, TypeError):
            return cls()

    @property
    def cursor(self) -> str:
        """The text that Dagster keeps."""
        days = {day.isoformat(): state for day, state in self.days.items()}
        return json.dumps({"files": self.files, "days": days, "window": self.window})

    def known(self, states: Mapping[dt.date, str]) -> set[dt.date]:
        """Return days that were asked for as they are: it failed, or it is under way."""
        return {day for day, state in states.items() if self.days.get(day) == state}

    def with_days(self, states: Mapping[dt.date, str], new: Collection[dt.date]) -> Asked:
        """Return the same after days were asked for; `states` has all that are out of date now."""
        kept = {day: state for day, state in self.days.items() if day in states}
        return replace(self, days=kept | {day: states[day] for day in new})
