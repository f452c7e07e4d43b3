"""Records of a step: the partitions it has published, and its attempts at those that failed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from temporal_assets.storage.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Made:
    """A published partition, and its metadata."""

    manifest: Manifest
    metadata: Mapping[str, Any]


Parts = Mapping[str, Made]
"""Published partitions of one day by asset name."""


@dataclass(slots=True)
class Attempts:
    """Attempts of a step so far; `failed` holds the reasons."""

    made: dict[dt.date, Parts] = field(default_factory=dict)
    failed: dict[dt.date, str] = field(default_factory=dict)
    waiting: dict[dt.date, str] = field(default_factory=dict)
    """Days that failed for a transient reason; empty at the beginning of an attempt."""
