"""The part of building a wheel that compiles loops, so that nobody's first run has to wait for it.

Hatchling runs it when pip installs from a checkout. It compiles for the processor and the Python
that build. What another one finds of it in a wheel it passes over, and compiles when needed.
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
"""Packages that modules of loops import; what else is imported is a module of ours."""


class CompileLoops(BuildHookInterface):  # type: ignore[type-arg]
    """Adds compiled loops to a wheel, or to the checkout that is installed to be edited."""

    def dependencies(self) -> list[str]:
        """Name what compiles, in the versions of the lock: another numba cannot use its code."""
        lock = Path(self.root, "requirements.lock")
        if not lock.exists():
            return list(NEEDED)
        pinned = re.compile(rf"^({'|'.join(NEEDED)})==", re.MULTILINE)
        return [line for line in lock.read_text("utf-8").splitlines() if pinned.match(line)]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; where that fails, say so and go on without."""
        if version == "editable":
            self._compile(Path(self.root))
            return
        self.copy = tempfile.TemporaryDirectory()
        root = Path(self.copy.name)
        cached = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(self.root, "temporal_assets"), root / "temporal_assets", ignore=cached)
        self._compile(root)
        for path in root.rglob("*.nb[ic]"):
            build_data["force_include"][str(path)] = str(path.relative_to(root))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copy in which was compiled."""
        del build_data, artifact_path
        if version != "editable":
            self.copy.cleanup()

    def _compile(self, root: Path) -> None:
        workers = str(min(os.cpu_count() or 1, 4))
        environment = {name: os.environ[name] for name in os.environ if name != "NUMBA_CACHE_DIR"}
        done = subprocess.run(  # noqa: S603 - a module of ours
            [sys.executable, "-m", "temporal_assets.machine.compile_ahead", "--workers", workers],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            reason = done.stderr.strip().rpartition("\n")[2]
            self.app.display_warning(f"Loops are compiled at the first run instead: {reason}")
