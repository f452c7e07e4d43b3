"""Command and environment for starting a module in another process with the same imports.

`python -m` looks into the working folder first. There may be a checkout while this process runs
what is installed: other code then, and every loop compiled once more. Not here: what the process
does.
"""

from __future__ import annotations

import os
import sys


def command(module: str) -> list[str]:
    """Return the command that runs a module; its arguments may follow."""
    return [sys.executable, "-P", "-m", module]


def environment() -> dict[str, str]:
    """Return the environment in which a new process imports modules from the same places."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
