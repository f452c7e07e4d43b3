"""Requests of a day: what is left of its log files when they are seen together.

Here: which of two ways sorts them out, and what both give. Not here: the ways
(`requests_by_numbers`, `requests_by_statements`), publishing (`daily`), lines that show by
themselves that they are no request (`logs.clean.cleaning`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from temporal_assets.core.traffic.daily_cleaning import RobotLimits
from temporal_assets.days.requests_by_numbers import requests_by_numbers
from temporal_assets.days.requests_by_statements import requests_by_statements
from temporal_assets.engines.base import Engine


class DayRequests(Protocol):
    """Known, and not written yet: first it may be found that logs were read wrongly."""

    @property
    def repeated(self) -> int:
        """Records left out, which another log has as well."""

    @property
    def robots(self) -> Mapping[str, int]:
        """Pages left out, by reason; in the order of reasons."""

    def write(self, out: Path) -> list[Path]:
        """Files of the contract, by time, client, url and referrer."""


def sort_out(
    engine: Engine,
    day: dt.date,
    groups: Sequence[Sequence[str]],
    limits: RobotLimits,
    scratch: Path,
) -> DayRequests:
    """The requests among the records of a day.

    `groups` are segments, of which only those of one group overlap in time. Without any there is a
    table without rows.
    """
    # A cluster shares the rows out among its machines.
    if groups and engine.spread is None:
        segments = [path for group in groups for path in group]
        found = requests_by_numbers(engine, day, segments, limits)
        if found is not None:
            return found
    return requests_by_statements(engine, groups, limits, scratch)
