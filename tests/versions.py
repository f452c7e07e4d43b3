"""Tests with the oldest and the newest versions that pyproject.toml allows.

    python -m tests.versions lowest highest   both ends of the ranges, one after the other
    python -m tests.versions lowest           every direct dependency in its oldest version
    python -m tests.versions highest          everything in its newest version
    python -m tests.versions resolve          only ask which versions fit, for Python 3.11 to 3.14

`requirements.lock` is one set of versions that the whole suite runs on. Here: both ends of the
ranges, with tests of some minutes that touch every library. It needs uv (`pip install uv`), because
pip cannot choose the oldest versions, and a package index.

With `--folder DIR` the environments and what has passed are kept there, and the same command goes
on where it was ended. With `--only PATH ...` only these tests run, and the last line says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[1]

RESOLUTIONS: Final = {"lowest": "lowest-direct", "highest": "highest"}

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")

EXTRAS: Final = ("azure", "dev", "gcs", "kubernetes", "postgres", "s3", "scrapy", "spark", "warc")

INSTALLED: Final = tuple(extra for extra in EXTRAS if extra != "spark")
"""Extras of the environments that tests run in: all but Spark, which is 480 MB."""

TESTS: Final = (
    "tests/integration/test_daily.py",  # logs to tables: numba, DuckDB, PyArrow, isal, can-ada
    "tests/unit/contracts",
    "tests/unit/settings",  # pydantic
    "tests/unit/defs",
    "tests/unit/storage",
    "tests/unit/engines",  # SQLGlot, DuckDB
    "tests/unit/crawl",  # Scrapy, feedparser, selectolax, FastWARC
    "tests/unit/reports",  # resvg
    "tests/unit/cli",  # typer, rich, tomlkit
    "tests/engines/test_daily_sql.py",
    "tests/orchestration/test_definitions.py",
    "tests/orchestration/test_checks.py",  # Dagster's runs, Great Expectations
    "tests/integration/test_bucket_tables.py",  # fsspec, s3fs
    "tests/integration/test_kubernetes.py",  # dagster-k8s, dagster-postgres
    "tests/integration/test_packaging.py",
)
"""Tests that together touch every library that is installed, and take minutes."""


def uv() -> str:
    """Return the program."""
    actual = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if actual is None:
        sys.exit("uv is needed: pip install uv")
    return actual


def compiled(resolution: str, python: str, extras: Sequence[str], file: Path) -> None:
    """Write the versions of a resolution to a file."""
    wanted = [word for extra in extras for word in ("--extra", extra)]
    # pyspark comes as a source archive, and nothing else may.
    only = ("--only-binary", ":all:", "--no-binary", "pyspark")
    command = [uv(), "pip", "compile", "-q", "--resolution", RESOLUTIONS[resolution], *only]
    place = ["--python-version", python, "--no-annotate", "-o", str(file), "pyproject.toml"]
    subprocess.run([*command, *wanted, *place], cwd=REPOSITORY, check=True)


def distributions(file: Path) -> int:
    """Return how many distributions a file of versions names."""
    return sum("==" in line for line in file.read_text("utf-8").splitlines())


def resolve(folder: Path) -> None:
    """Say how many distributions fit together at both ends, on every Python."""
    for python in PYTHONS:
        for resolution in RESOLUTIONS:
            file = folder / f"{resolution}-{python}.txt"
            compiled(resolution, python, EXTRAS, file)
            count = distributions(file)
            print(f"Python {python}, {resolution} versions: {count} distributions", flush=True)


def installed(resolution: str, folder: Path) -> Path:
    """Return the Python of an environment with these versions, which is made if it is not there."""
    versions, program = folder / "versions.txt", folder / "environment" / "bin" / "python"
    ready = folder / "installed"
    if not ready.exists():
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        compiled(resolution, python, INSTALLED, versions)
        create = [uv(), "venv", "-q", "--clear", "--python", sys.executable]
        subprocess.run([*create, folder / "environment"], check=True)
        install = [uv(), "pip", "install", "-q", "--python", program]
        subprocess.run([*install, "-r", versions], check=True)
        # Loops compiled for another numba are of no use here.
        variables = os.environ | {"HATCH_BUILD_NO_HOOKS": "true"}
        itself = [*install, "--no-deps", "-e", str(REPOSITORY)]
        subprocess.run(itself, check=True, env=variables)
        ready.touch()
    print(f"{resolution}: {distributions(versions)} distributions ({versions})", flush=True)
    return program


def run_tests(resolution: str, folder: Path, paths: Sequence[str]) -> bool:
    """Run the tests that have not passed in this folder; return True if all of them have."""
    folder.mkdir(parents=True, exist_ok=True)
    program = installed(resolution, folder)
    record = folder / "passed.json"
    passed: dict[str, str] = json.loads(record.read_text("utf-8")) if record.exists() else {}
    variables = os.environ | {"NUMBA_CACHE_DIR": str(folder / "numba")}
    good = True
    for path in paths:
        if path in passed:
            print(f"{resolution} {path}: passed before: {passed[path]}", flush=True)
            continue
        begun = time.monotonic()
        command = [program, "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
        done = subprocess.run(command, cwd=REPOSITORY, env=variables, stdout=subprocess.PIPE)
        text = done.stdout.decode(errors="replace").rstrip()
        last = text.rpartition("\n")[2].strip("= ")
        print(f"{resolution} {path}: {last} ({time.monotonic() - begun:.0f} s)", flush=True)
        if done.returncode:
            print(text, flush=True)
            good = False
        else:
            passed[path] = last
            record.write_text(json.dumps(passed, indent=1), "utf-8")
    return good


def main() -> None:
    """Do what is asked for, in a folder that is removed afterwards if none was named."""
    parser = argparse.ArgumentParser(prog="python -m tests.versions")
    parser.add_argument("what", nargs="+", choices=[*RESOLUTIONS, "resolve"])
    parser.add_argument("--folder", type=Path, help="keeps environments and what has passed")
    parser.add_argument("--only", nargs="+", default=TESTS, metavar="PATH", help="of the tests")
    arguments = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="temporal-assets-versions.") as temporary:
        folder = arguments.folder.absolute() if arguments.folder else Path(temporary)
        for what in arguments.what:
            if what == "resolve":
                resolve(Path(temporary))
            else:
                good &= run_tests(what, folder / what, arguments.only)
    if set(arguments.what) & RESOLUTIONS.keys():
        some = f"{len(arguments.only)} paths of tests" if arguments.only != TESTS else "all tests"
        print(f"{' and '.join(arguments.what)}, {some}: {'passed' if good else 'FAILED'}")
    sys.exit(not good)


if __name__ == "__main__":
    main()
