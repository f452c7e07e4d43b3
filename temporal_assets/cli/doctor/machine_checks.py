"""Checks of the machine and the installation: Python, packages, disk, and the engine.

Each returns a status and a sentence. Not here: the state folder (`data_checks`), Dagster and alerts
(`service_checks`).
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from temporal_assets.cli.doctor.findings import BROKEN, OK, WARNING, existing

if TYPE_CHECKING:
    from temporal_assets.settings import Settings

_PACKAGES: Final = ("dagster", "duckdb", "great-expectations", "numba", "pyarrow")
_PYTHON: Final = ((3, 11), (3, 14))
"""Oldest and newest version that the tests run on."""

_LOW_DISK: Final = 1 << 30
"""Bytes free below which even a day of a middling site may not fit."""

_SCARCE_DISK: Final = 10 << 30
"""Bytes free below which a backfill of large logs may spill more than there is."""

_UNITS: Final = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def check_python() -> tuple[str, str]:
    """Check that the tests run on this version of Python."""
    oldest, newest = _PYTHON
    detail = f"{platform.python_version()} at {sys.executable}"
    if oldest <= sys.version_info[:2] <= newest:
        return OK, detail
    return BROKEN, f"{detail}; {oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]} is needed"


def check_packages() -> tuple[str, str]:
    """Check that every package is installed; the detail has their versions."""
    from importlib.metadata import PackageNotFoundError, version  # a tenth of `--help`

    installed, missing = [], []
    for name in _PACKAGES:
        try:
            installed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return BROKEN, f"not installed: {', '.join(missing)}"
    return OK, ", ".join(installed)


def check_sql_files() -> tuple[str, str]:
    """Check that the files of `sql/` are installed."""
    from temporal_assets.engines.sql import sql_file, sql_names

    names = [sql_file(name).name for name in sql_names()]
    return (OK, f"{len(names)} transformations") if names else (BROKEN, "none were installed")


def check_disk(state: Path) -> tuple[str, str]:
    """Check the free space of the state folder's disk."""
    free = shutil.disk_usage(existing(state)).free
    detail = f"{free / (1 << 30):.1f} GiB free at {existing(state)}"
    if free < _LOW_DISK:
        return BROKEN, detail
    return (WARNING if free < _SCARCE_DISK else OK), detail


def check_engine(settings: Settings) -> tuple[str, str]:
    """Check that DuckDB starts, and that its memory limit is within the memory of the machine."""
    from temporal_assets.engines.duckdb import opened

    wanted = settings.engine
    options: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": wanted.memory_limit,
        "threads": str(wanted.used_threads),
    }
    with opened(":memory:", options) as connection:
        query = "SELECT current_setting('memory_limit'), current_setting('threads')"
        row = connection.execute(query).fetchone()
    limit, threads = row or ("", 0)
    machine = _machine_memory()
    detail = f"DuckDB, {limit} and {threads} threads of {machine / (1 << 30):.1f} GiB"
    number, unit = str(limit).split(" ")
    if float(number) * _UNITS.get(unit, 1) > machine:
        return WARNING, f"{detail}: engine.memory_limit is more than there is"
    return OK, detail


def _machine_memory() -> int:
    """Return bytes this process may use: of the machine, or of its container if that is less."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text("ascii").strip()
    except OSError:
        return machine
    return min(machine, int(limit)) if limit.isdigit() else machine
