"""Build hook that puts compiled loops into the wheel, so that no first run waits for the compiler.

Hatchling runs it when pip installs from a checkout. The code is for the processor and the Python
that build the wheel. On others it is ignored, and loops are compiled at their first call.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NEEDED = (
    "blake3",
    "can-ada",
    "fsspec",
    "isal",
    "llvmlite",
    "numba",
    "numpy",
    "orjson",
    "pyarrow",
    "pydantic",
    "pydantic-settings",
    "scipy",
    "zstandard",
)
"""Packages that modules of loops import, beside modules of our own."""

_MOST_WORKERS = 4
"""Processes that compile at once, however many processors there are: each has memory of its own."""


class CompileLoops(BuildHookInterface):  # type: ignore[type-arg]
    """Adds compiled loops to a wheel, or to the checkout that is installed to be edited."""

    def dependencies(self) -> list[str]:
        """Return the packages to compile with, as locked: code of another numba is of no use."""
        lock = Path(self.root, "requirements.lock")
        if not lock.exists():
            return list(NEEDED)
        pinned = re.compile(rf"^({'|'.join(NEEDED)})==", re.MULTILINE)
        return [line for line in lock.read_text("utf-8").splitlines() if pinned.match(line)]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the loops. If that fails, warn, and build a wheel without them."""
        if version == "editable":
            self._compile(Path(self.root))
            return
        # In a copy: a wheel is not to change the checkout, nor to hold what lies in its caches.
        self.copy = tempfile.TemporaryDirectory()
        root, package = Path(self.copy.name), "temporal_assets"
        caches = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(self.root, package), root / package, ignore=caches)
        self._compile(root)
        for path in root.rglob("*.nb[ic]"):
            build_data["force_include"][str(path)] = str(path.relative_to(root))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copy in which the loops were compiled."""
        del build_data, artifact_path
        if version != "editable":
            self.copy.cleanup()

    def _compile(self, root: Path) -> None:
        workers = str(min(os.cpu_count() or 1, _MOST_WORKERS))
        # Of the folder that the variable names, nothing would come into the wheel.
        environment = {name: os.environ[name] for name in os.environ if name != "NUMBA_CACHE_DIR"}
        process = subprocess.run(  # noqa: S603 - a module of ours
            [sys.executable, "-m", "temporal_assets.machine.compile_ahead", "--workers", workers],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
        )
        if process.returncode:
            reason = process.stderr.strip().rpartition("\n")[2]
            self.app.display_warning(f"Loops are compiled at the first run instead: {reason}")
