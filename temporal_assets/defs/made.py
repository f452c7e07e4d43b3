"""The partitions that a step has published, and its attempts at those that failed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from temporal_assets.storage.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Made:
    """A partition that was published, and what to say about it."""

    manifest: Manifest
    metadata: Mapping[str, Any]


Parts = Mapping[str, Made]
"""Asset name -> what was published for it."""


@dataclass(slots=True)
class Attempts:
    """The attempts of a step so far. `failed` holds the reasons."""

    made: dict[dt.date, Parts] = field(default_factory=dict)
    failed: dict[dt.date, str] = field(default_factory=dict)
    waiting: dict[dt.date, str] = field(default_factory=dict)
    """Days whose fault may pass; empty at the beginning of an attempt."""
