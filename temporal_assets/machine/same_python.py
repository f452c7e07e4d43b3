"""Starting a module in another process that is to find what this process finds.

Here: the command and the environment of such a process. Not here: what it does.

`python -m` looks into the working folder first. There may be a checkout while this process runs
what is installed: other code then, and every loop compiled once more.
"""

from __future__ import annotations

import os
import sys


def command(module: str) -> list[str]:
    """Return the command that runs a module; its arguments may follow."""
    return [sys.executable, "-P", "-m", module]


def environment() -> dict[str, str]:
    """Return the environment in which modules are found where this process finds them."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
