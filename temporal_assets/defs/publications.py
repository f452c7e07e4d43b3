"""Publications of a step, and its attempts at the days that failed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from temporal_assets.storage.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Publication:
    """A published partition of an asset."""

    manifest: Manifest
    """Manifest of the partition in the store."""
    metadata: Mapping[str, Any]
    """Metadata that Dagster shows for the partition, by name."""


Publications = Mapping[str, Publication]
"""Published partitions of one day by asset name."""


@dataclass(slots=True)
class Attempts:
    """Outcome of each day of a step so far."""

    published: dict[dt.date, Publications] = field(default_factory=dict)
    """Publications of the days that succeeded."""
    failed: dict[dt.date, str] = field(default_factory=dict)
    """Reasons of the days that failed for good."""
    waiting: dict[dt.date, str] = field(default_factory=dict)
    """Days that failed for a transient reason; empty at the beginning of an attempt."""
