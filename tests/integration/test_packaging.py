"""Declared dependencies, locked versions, and the content of the wheel."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYTHONS = ("3.11", "3.12", "3.13", "3.14")


@pytest.fixture(scope="module")
def project(repository: Path) -> dict[str, Any]:
    return tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def direct(project: dict[str, Any]) -> list[Requirement]:
    declared = project["project"]
    extras = (line for extra in declared["optional-dependencies"].values() for line in extra)
    return [Requirement(line) for line in (*declared["dependencies"], *extras)]


@pytest.fixture(scope="module")
def locked(repository: Path) -> list[Requirement]:
    lines = (repository / "requirements.lock").read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_pins_every_direct_dependency_once(
    direct: list[Requirement], locked: list[Requirement], python: str
) -> None:
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }
    pins: dict[str, list[str]] = {}
    for pin in locked:
        if pin.marker is None or pin.marker.evaluate(environment):
            (specifier,) = pin.specifier
            assert specifier.operator == "=="
            pins.setdefault(canonicalize_name(pin.name), []).append(specifier.version)
    for wanted in direct:
        versions = pins.get(canonicalize_name(wanted.name), [])
        assert len(versions) == 1, f"{wanted.name} is locked as {versions}"
        assert wanted.specifier.contains(versions[0]), f"{wanted} is locked as {versions[0]}"


def test_the_lock_names_no_place(repository: Path) -> None:
    """Neither an index nor a folder of the machine it was made on, so it works with any."""
    lines = (repository / "requirements.lock").read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [line for line in pins if "/" in line or "@" in line or line.startswith("-")] == []


def test_every_dependency_has_its_reason(repository: Path, direct: list[Requirement]) -> None:
    page = (repository / "docs" / "dependencies.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", page, re.MULTILINE)
    assert [name for name, _ in rows] == [wanted.name for wanted in direct]
    assert all(len(reason) > 10 for _, reason in rows)


def test_the_page_says_what_every_dependency_and_extra_costs(
    repository: Path, project: dict[str, Any]
) -> None:
    page = (repository / "docs" / "installation.md").read_text("utf-8")
    costs = page.partition("## What each package costs")[2].partition("\n## ")[0]
    named = [
        name
        for row in re.findall(r"^\| (`.+`) \|", costs, re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", row)
    ]
    always = [Requirement(line).name for line in project["project"]["dependencies"]]
    extras = project["project"]["optional-dependencies"]
    assert sorted(named) == sorted([*always, *extras])
    for name in set(extras) - {"bench", "dev"}:
        assert re.search(rf"-c requirements\.lock '\.\[\w*,?{name}\]'", page), name


INDIRECT = {
    "antlr4-python3-runtime",  # keeps Dagster's own dependency from being too old
    "gcsfs",  # opened by fsspec
    "s3fs",  # opened by fsspec
    "tzdata",  # read by zoneinfo
}
"""Dependencies that no module of ours imports."""


def test_what_is_imported_is_declared_and_the_other_way_round(
    repository: Path, project: dict[str, Any]
) -> None:
    # These are extras; what else we import is there wherever we are.
    extras = project["project"]["optional-dependencies"]
    lines = project["project"]["dependencies"] + extras["scrapy"] + extras["spark"]
    lines += extras["warc"] + extras["gcs"] + extras["s3"]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    imported = set()
    for path in (repository / "temporal_assets").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).split(".")[0])
    owners = packages_distributions()
    outside = imported - {*sys.stdlib_module_names, "temporal_assets"}
    used = {canonicalize_name(owners.get(name, [name])[0]) for name in outside}
    assert used - declared == set()
    assert declared - used == INDIRECT


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("hatchling", reason="the dev extra builds wheels")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=repository,
        env=os.environ | {"HATCH_BUILD_NO_HOOKS": "true"},  # compiling takes a minute
        check=True,
        capture_output=True,
    )
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_all_sql_travels_in_the_wheel(repository: Path, wheel: zipfile.ZipFile) -> None:
    there = {name for name in wheel.namelist() if name.startswith("temporal_assets/_sql/")}
    sql = repository / "sql"
    assert there == {f"temporal_assets/_sql/{path.relative_to(sql)}" for path in sql.rglob("*.sql")}
    assert there


def test_the_dagster_configuration_travels_in_the_wheel(
    repository: Path, wheel: zipfile.ZipFile
) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("dagster.yaml"))
    assert wheel.read(name) == (repository / "dagster.yaml").read_bytes()


def test_the_wheel_holds_the_package_and_nothing_else(
    repository: Path, wheel: zipfile.ZipFile
) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"temporal_assets"}
    modules = {
        str(path.relative_to(repository)) for path in (repository / "temporal_assets").rglob("*.py")
    }
    assert modules <= set(wheel.namelist())
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


def test_the_names_of_the_code_location_agree(repository: Path, project: dict[str, Any]) -> None:
    """`dg`, `dagster` and `workspace.yaml` show one code location, not three."""
    import yaml

    workspace = yaml.safe_load((repository / "workspace.yaml").read_text("utf-8"))
    (entry,) = (one["python_module"] for one in workspace["load_from"])
    tool = project["tool"]
    assert entry["location_name"] == tool["dagster"]["code_location_name"]
    assert entry["location_name"] == tool["dg"]["project"]["code_location_name"]
    assert entry["module_name"] == tool["dagster"]["module_name"]
    assert entry["module_name"] == tool["dg"]["project"]["code_location_target_module"]


def test_what_the_image_installs_is_locked_with_hashes(repository: Path) -> None:
    """The same versions as everywhere, and every one with the hashes of its files."""
    pinned = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
    everywhere = dict(pinned.findall((repository / "requirements.lock").read_text("utf-8")))
    text = (repository / "requirements-hashed.lock").read_text("utf-8")
    image = dict(pinned.findall(text))
    assert {name: everywhere.get(name) for name in image} == image
    assert {"dagster", "duckdb", "hatchling", "pyarrow"} <= set(image)
    assert {"adlfs", "dagster-k8s", "gcsfs", "psycopg2-binary", "s3fs"} <= set(image)
    for entry in re.split(r"\n(?=\S)", text.partition("\n")[2]):
        assert "--hash=sha256:" in entry, entry
    docker = (repository / "deploy" / "Dockerfile").read_text("utf-8")
    assert "--require-hashes -r requirements-hashed.lock" in docker
    assert "--no-build-isolation" in docker
    assert re.search(r"^ARG BASE=python:3\.11\.\d+\S*@sha256:[0-9a-f]{64}$", docker, re.MULTILINE)
