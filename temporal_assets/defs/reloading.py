"""Reloading the code location of a web server when the days of the logs have changed.

Dagster's web server keeps the span of the partitions that it read when it started. Here: looking
whether the span has changed, and reloading. Not here: the span (`partitions`).
"""

from __future__ import annotations

import datetime as dt
import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from temporal_assets.defs.partitions import end_of_days, first_day, first_window
from temporal_assets.settings import Settings

_INTERVAL_SECONDS: Final = 30.0
"""Seconds between two looks; a look reads the inventory and lists the folders of the logs, which
takes some milliseconds."""

_LOG: Final = logging.getLogger(__name__)


def follow_days(context: Any, settings: Settings) -> threading.Thread:
    """Reload the workspace of a web server (`context`) whenever the span of the days changes."""
    thread = threading.Thread(
        target=follow,
        args=(context.reload_workspace, lambda: span(settings), time.sleep),
        name="follow-days",
        daemon=True,
    )
    thread.start()
    return thread


def span(settings: Settings) -> tuple[dt.date, dt.date, dt.date | None, bool]:
    """Return what decides the partitions of a code location, for comparison.

    The first day, the first window, the last day (None where each new day is one by itself), and
    whether the day that is not over belongs to them.
    """
    end = end_of_days(settings, dt.datetime.now(dt.UTC))
    last = None if end.is_open else end.day
    return first_day(settings), first_window(settings, end.day), last, end.has_today


def follow(
    reload: Callable[[], object], look: Callable[[], object], wait: Callable[[float], object]
) -> None:
    """Reload whenever the result of `look` changes, for as long as the process lives."""
    loaded = None
    while True:
        try:
            seen = look()
            if loaded not in (None, seen):
                reload()
            loaded = seen
        except Exception:
            # The state folder may be away for a while; the server goes on with what it has.
            _LOG.warning("the days of the logs could not be looked up", exc_info=True)
        wait(_INTERVAL_SECONDS)
