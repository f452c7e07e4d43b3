"""Dagster's entry point: the definitions are made by `build`; nothing happens at import."""

from __future__ import annotations

import dagster as dg

from temporal_assets.machine.memory import keep_memory


@dg.definitions
def defs() -> dg.Definitions:
    """Return the code location, with the settings of $TEMPORAL_ASSETS_STATE."""
    keep_memory()
    from temporal_assets.build import build_defs

    # A run is a few steps that each use all cores: processes would only cost start-up time.
    return dg.Definitions.merge(build_defs(), dg.Definitions(executor=dg.in_process_executor))
