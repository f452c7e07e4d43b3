"""Compiling the loops of the window assets while logs are still being read.

Here: when a process does so. Not here: what it runs (`machine.compile_ahead`), and how loops are
compiled and kept on disk (`core.numerics.compiled`).

An installation with pip brings its loops compiled. For another processor, another version of numba,
or where nothing was compiled, each is compiled when it is first called, which takes longer than a
small corpus takes in all. The loops of curves, patterns and simulations are needed last and cost
most: they are first in the list of a process that compiles them meanwhile.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from temporal_assets.cli.shared import console
from temporal_assets.machine import same_python

_DEAREST: Final = "temporal_assets.core.curves.curves"
"""The module whose loops take longest."""


@contextmanager
def precompiling() -> Iterator[None]:
    """Compile beside what is done inside; says so, and does nothing where all is compiled."""
    from temporal_assets.machine import compile_ahead

    if compile_ahead.is_compiled(_DEAREST):
        yield
        return
    console.say("Compiling numerical loops meanwhile, once for this installation")
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(  # noqa: S603 - a module of ours
        same_python.command("temporal_assets.machine.compile_ahead"),
        stdout=quiet,
        stderr=quiet,
        env=same_python.environment(),
    )
    try:
        yield
    finally:
        # Whatever it has not come to by now was not needed, or is compiled already.
        child.terminate()
        child.wait()
