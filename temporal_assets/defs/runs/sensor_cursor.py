"""The cursor of the sensor: the requests it has made, and in which state of the inputs.

Dagster starts nothing for a run key that it has used, and does not say so. A key made of the state
alone would be an old one whenever a state comes back: a setting is changed and changed back, a file
is lost and made again as it was. So the state in which something was requested is remembered here
for as long as the thing is out of date, and keys are new each time. Not here: what is out of date,
and what its state is (`sensors`).
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class PastRequests:
    """Requests made so far, which one tick of the sensor leaves to the next."""

    files: str = ""
    """Digest of the log files that were last requested to be read."""
    days: Mapping[dt.date, str] = field(default_factory=dict)
    """For each day that is out of date, the state in which it was requested."""
    window: str = ""
    """State in which the latest window was requested; empty if nothing is to be built."""

    @classmethod
    def from_cursor(cls, cursor: str | None) -> PastRequests:
        """Return the requests in a cursor; cursors of older versions have no days.

        A cursor that a person set in the UI is ignored: everything is requested once more.
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

    def asked_before(self, states: Mapping[dt.date, str]) -> set[dt.date]:
        """Return days already requested in their present state: they failed or are under way."""
        return {day for day, state in states.items() if self.days.get(day) == state}

    def with_days(self, states: Mapping[dt.date, str], new: Collection[dt.date]) -> PastRequests:
        """Return the memory after new days were requested; `states` has all that are stale now."""
        requested = {day: state for day, state in self.days.items() if day in states}
        return replace(self, days=requested | {day: states[day] for day in new})
