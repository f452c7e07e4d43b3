"""Retrying a step after a transient fault, and after no other.

Dagster restarts the step after a wait of `WAITS`, each longer than the one before, and shows it in
the run. What was published meanwhile stays published.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import dagster as dg

from temporal_assets.defs.events import Event
from temporal_assets.defs.installation import Installation
from temporal_assets.machine.transient_errors import is_transient
from temporal_assets.reports.text import shown

__all__ = ["can_retry", "is_transient", "retry"]

WAITS: Final = (10.0, 60.0, 300.0)
"""Seconds before each retry: for a disk or a server that did not answer. A run that waits longer
holds up the queue; the sensor requests it again."""

_MESSAGE_CHARACTERS: Final = 500


class StepContext(Protocol):
    """Protocol of what contexts of assets and checks have in common."""

    @property
    def retry_number(self) -> int:
        """Return how often the step was tried before."""

    @property
    def log(self) -> Any:
        """The log of the run."""


def can_retry(context: StepContext) -> bool:
    """Return True if there is an attempt left."""
    return context.retry_number < len(WAITS)


def retry(
    context: StepContext, installation: Installation, asset: str, why: str
) -> dg.RetryRequested:
    """Return the exception that requests another attempt; only while one `can_retry`."""
    seconds = WAITS[context.retry_number]
    message = (
        f"{shown(why, _MESSAGE_CHARACTERS)}. This may pass: trying again in {seconds:g} seconds"
        f" ({context.retry_number + 1} of {len(WAITS)})"
    )
    context.log.warning(message)
    installation.report(Event("waiting", asset, message=message))
    return dg.RetryRequested(max_retries=len(WAITS), seconds_to_wait=seconds)
