"""Learns from access logs which sites, hubs, prefixes and patterns a crawler should watch.

Importing the package is cheap: nothing of Dagster, DuckDB or numba is loaded here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from temporal_assets.notebook import Artifacts

__version__ = "0.1.0"


def open(  # noqa: A001 - reads well: temporal_assets.open()
    state: str | os.PathLike[str] | None = None, *, verify: bool = True
) -> Artifacts:
    """Return the published artifacts of a state folder (default: as the command line finds it).

    With `verify=False` queries do not compare the files that they name with what was published.
    """
    from temporal_assets.notebook import Artifacts

    return Artifacts(state, verify=verify)
