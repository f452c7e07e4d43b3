"""Memory that this process has used is kept for what it does next, instead of given back.

A page of memory that is given back has to be cleared when it is asked for again, and under a
virtual machine to be found by the host: a quarter of the processor time of a window. By themselves
Arrow and DuckDB give back within a second.

Here: what both are told when they are loaded. It is said in the environment, because there is no
other way, and so that processes which are started hear it too. And where Python need not look for
memory to free, or not so often. Not here: how much may be taken (`settings.Engine.memory_limit`).
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

_KEPT: Final[Mapping[str, str]] = {
    # Of Arrow, for good: it holds a few groups of rows at a time, and soon again as many.
    "MIMALLOC_PURGE_DELAY": "-1",
    # Of DuckDB, for half a minute: the next statement asks sooner, and what one took that needed
    # more than all others does not stay.
    "DUCKDB_JE_MALLOC_CONF": "dirty_decay_ms:30000,muzzy_decay_ms:0",
}


def keep_memory() -> None:
    """Before Arrow or DuckDB are imported; what the environment says already stays as it is."""
    for name, value in _KEPT.items():
        os.environ.setdefault(name, value)


_OBJECTS_BETWEEN: Final = 10_000
"""New objects after which Python looks for garbage, of which a command makes little; it is told
700. More than this gains nothing that can be measured."""


def collect_seldom() -> None:
    """Look for garbage less often: it was a tenth of the time of a small log."""
    gc.set_threshold(_OBJECTS_BETWEEN)


@contextmanager
def no_collection() -> Iterator[None]:
    """Make many objects that stay without looking for garbage among them: there is none.

    Looking takes a third of the time and more.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
