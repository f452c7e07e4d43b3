"""Compiling the loops of the window assets while logs are still being read.

Here: when a process does so. Not here: what it runs (`machine.compile_ahead`), and how loops are
compiled and kept on disk (`core.numerics.compiled`).

An installation with pip brings its loops compiled. Otherwise, and after a change of the processor
or of numba, each is compiled at its first call, which takes longer than a small corpus takes in
all. The loops of windows are needed last and cost most; a second process compiles them meanwhile.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from temporal_assets.cli.shared import console
from temporal_assets.machine import child_process

_DEAREST: Final = "temporal_assets.core.curves.curves"
"""Module whose loops take longest to compile: if they are compiled, so are the others."""


@contextmanager
def precompiling() -> Iterator[None]:
    """Compile in another process while the body runs; do nothing where loops are compiled."""
    from temporal_assets.machine import compile_ahead

    if compile_ahead.is_compiled(_DEAREST):
        yield
        return
    console.say("Compiling numerical loops meanwhile, once for this installation")
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(  # noqa: S603 - a module of ours
        child_process.command("temporal_assets.machine.compile_ahead"),
        stdout=quiet,
        stderr=quiet,
        env=child_process.environment(),
    )
    try:
        yield
    finally:
        # Whatever it has not come to by now was not needed, or is compiled already.
        child.terminate()
        child.wait()
