"""Names of tags and pools, and what runs say about their days in Dagster's own tags."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Final

from temporal_assets.defs.partitions import days_between

LANDING_POOL: Final = "landing"
"""Pool that lets one run at a time read log files; a second one would only wait for the first."""

PRIORITY: Final = "dagster/priority"
"""Tag of a step's priority: of the steps that can run, one with a higher number runs first."""

EXPECTED_DAY: Final = "expected_day"
"""Tag with the day that the logs should reach, for a nightly run that has no partition to build."""

OF_LOCATION: Final = {".dagster/repository": "__repository__@temporal_assets.definitions"}
"""Tag of the runs of our code location, by the name that Dagster gives it: *Jobs* of the UI shows
only runs with it. Dagster puts it on runs that it starts by itself."""

_DAY: Final = "dagster/partition"
_FIRST: Final = "dagster/asset_partition_range_start"
_LAST: Final = "dagster/asset_partition_range_end"


def of_range(days: Sequence[dt.date]) -> dict[str, str]:
    """Return the tags of a run over contiguous, ascending days."""
    return {_FIRST: days[0].isoformat(), _LAST: days[-1].isoformat()}


def days_of_run(tags: Mapping[str, str]) -> list[dt.date]:
    """Return the days of a run, from its tags for one partition or for a range.

    There are none for a run without such tags, or for another asset's partition that is no day.
    """
    first, last = tags.get(_FIRST, tags.get(_DAY)), tags.get(_LAST, tags.get(_DAY))
    if first is None or last is None:
        return []
    try:
        return days_between(dt.date.fromisoformat(first), dt.date.fromisoformat(last))
    except ValueError:
        return []
