"""Tests with the oldest and the newest versions that pyproject.toml allows.

    python -m tests.versions lowest        every direct dependency in its oldest version
    python -m tests.versions highest       everything in its newest version
    python -m tests.versions resolve       only ask which versions fit, for Python 3.11 to 3.14

`requirements.lock` is one set of versions that the whole suite runs on. Here: both ends of the
ranges, with tests of some minutes that touch every library. It needs uv (`pip install uv`), because
pip cannot choose the oldest versions, and a package index.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[1]

RESOLUTIONS: Final = {"lowest": "lowest-direct", "highest": "highest"}

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")

EXTRAS: Final = ("azure", "dev", "gcs", "kubernetes", "postgres", "s3", "scrapy", "spark", "warc")

TESTS: Final = (
    "tests/unit/contracts",
    "tests/unit/defs",
    "tests/unit/machine",
    "tests/unit/settings",
    "tests/unit/storage",
    "tests/engines/test_daily_sql.py",
    "tests/orchestration/test_definitions.py",
    "tests/orchestration/test_lost_runs.py",
    "tests/orchestration/test_checks.py",
    "tests/integration/test_packaging.py",
)
"""Tests that read a log, run Dagster, DuckDB, numba and Great Expectations, and take minutes."""


def uv() -> str:
    """Return the program."""
    actual = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if actual is None:
        sys.exit("uv is needed: pip install uv")
    return actual


def compiled(resolution: str, python: str, extras: tuple[str, ...], file: Path) -> None:
    """Write the versions of a resolution to a file."""
    wanted = [word for extra in extras for word in ("--extra", extra)]
    # pyspark comes as a source archive, and nothing else may.
    only = ("--only-binary", ":all:", "--no-binary", "pyspark")
    command = [uv(), "pip", "compile", "-q", "--resolution", RESOLUTIONS[resolution], *only]
    place = ["--python-version", python, "--no-annotate", "-o", str(file), "pyproject.toml"]
    subprocess.run([*command, *wanted, *place], cwd=REPOSITORY, check=True)


def resolve(folder: Path) -> None:
    """Say how many distributions fit together at both ends, on every Python."""
    for python in PYTHONS:
        for resolution in RESOLUTIONS:
            file = folder / f"{resolution}-{python}.txt"
            compiled(resolution, python, EXTRAS, file)
            count = sum("==" in line for line in file.read_text("utf-8").splitlines())
            print(f"Python {python}, {resolution} versions: {count} distributions", flush=True)


def test(resolution: str, folder: Path) -> int:
    """Make an environment, and run the tests there. Returns the exit code of pytest."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    versions, environment = folder / "versions.txt", folder / "environment"
    compiled(resolution, python, ("dev",), versions)
    print(versions.read_text("utf-8"), flush=True)
    subprocess.run([uv(), "venv", "-q", "--python", sys.executable, environment], check=True)
    program = environment / "bin" / "python"
    install = [uv(), "pip", "install", "-q", "--python", program]
    subprocess.run([*install, "-r", versions], check=True)
    subprocess.run([*install, "--no-deps", "-e", str(REPOSITORY)], check=True)
    # Loops that this environment compiles are of no use to another one.
    variables = os.environ | {"NUMBA_CACHE_DIR": str(folder / "numba")}
    command = [program, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    return subprocess.run(command, cwd=REPOSITORY, env=variables).returncode


def main() -> None:
    """Do what is asked for, in a folder that is removed afterwards."""
    parser = argparse.ArgumentParser(prog="python -m tests.versions")
    parser.add_argument("what", choices=[*RESOLUTIONS, "resolve"])
    what = parser.parse_args().what
    with tempfile.TemporaryDirectory(prefix="temporal-assets-versions.") as folder:
        if what == "resolve":
            resolve(Path(folder))
        else:
            sys.exit(test(what, Path(folder)))


if __name__ == "__main__":
    main()
