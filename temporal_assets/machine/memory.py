"""How a command holds memory: Arrow and DuckDB keep it, and Python seldom looks for garbage.

A page of memory that is given back has to be cleared when it is asked for again, and under a
virtual machine to be found by the host: a quarter of the processor time of a window. By default
Arrow and DuckDB give back within a second. There is no other way to set this, and child processes
inherit it. Not here: limits of memory (`settings.Engine.memory_limit`).
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from typing import Final

_KEPT: Final[Mapping[str, str]] = {
    # Of Arrow, for good: it holds a few groups of rows at a time, and soon again as many.
    "MIMALLOC_PURGE_DELAY": "-1",
    # Of DuckDB, for half a minute: the next statement asks sooner, and what one took that needed
    # more than all others does not stay.
    "DUCKDB_JE_MALLOC_CONF": "dirty_decay_ms:30000,muzzy_decay_ms:0",
}

_OBJECTS_BETWEEN: Final = 10_000
"""New objects between two searches for cycles of garbage; 700 by default."""


def keep_memory() -> None:
    """Set the environment variables; call before importing Arrow or DuckDB. Existing ones stay."""
    for name, value in _KEPT.items():
        os.environ.setdefault(name, value)


def collect_seldom() -> None:
    """Search seldom for cycles of garbage: most objects of a command live until it ends.

    Modules alone are a quarter of a million objects, each looked at many times while they load.
    """
    gc.set_threshold(_OBJECTS_BETWEEN)
