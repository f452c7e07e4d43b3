"""The arrows of docs/architecture.md: who may import whom."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

BASE = {"settings"}
PURE = BASE | {"core", "contracts", "logs"}
MIDDLE = PURE | {"engines", "storage", "quality", "reports"}

ALLOWED = {
    "__init__": {"notebook"},
    "__main__": {"cli"},
    "settings": set(),
    "settings_page": {"settings"},
    "same_python": set(),
    "guard": set(),
    "memory": set(),
    "core": set(),
    "contracts": set(),
    "logs": BASE | {"core", "contracts"},
    "demo": BASE | {"core", "logs"},
    "reports": PURE,
    # Engines spill into scratch folders of the state, and the catalogue is made by an engine.
    "engines": PURE | {"storage", "same_python"},
    "storage": PURE | {"engines", "same_python", "memory"},
    "quality": MIDDLE,
    "policy": MIDDLE | {"memory"},
    "alerts": PURE | {"reports"},
    "crawl": MIDDLE | {"policy"},
    "notebook": MIDDLE,
    "daily_tables": PURE | {"engines", "storage"},
    "daily": MIDDLE | {"daily_tables"},
    "windows": MIDDLE | {"daily", "policy", "crawl"},
    "defs": MIDDLE | {"daily", "windows", "policy", "crawl", "what_if", "alerts"},
    "build": MIDDLE | {"daily", "windows", "defs", "policy", "crawl"},
    "definitions": {"build", "memory"},
    "operate": MIDDLE | {"daily", "windows", "build", "defs"},
    "what_if": MIDDLE | {"windows", "daily", "crawl"},
    "upgrade": MIDDLE | {"daily", "windows"},
    "contents": MIDDLE | {"crawl", "policy", "windows"},
    "retention": MIDDLE | {"daily", "windows", "policy"},
    "cli": MIDDLE
    | {
        "daily",
        "windows",
        "demo",
        "notebook",
        "operate",
        "policy",
        "crawl",
        "retention",
        "what_if",
        "alerts",
        "same_python",
        "memory",
        "upgrade",
        "contents",
    },
}

NUMERICAL = {"numpy", "scipy", "numba", "llvmlite"}
"""What `core` may import besides the standard library."""


def modules(repository: Path) -> Iterator[tuple[str, Path]]:
    """(room, file) of every module; a room is a package or a module beside the packages."""
    package = repository / "temporal_assets"
    for path in sorted(package.rglob("*.py")):
        yield path.relative_to(package).parts[0].removesuffix(".py"), path


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms(path: Path) -> set[str]:
    names = (name.split(".") for name in imported(path))
    return {
        parts[1]
        for parts in names
        if parts[0] == "temporal_assets" and len(parts) > 1 and parts[1] != "__version__"
    }


def test_arrows_point_one_way(repository: Path) -> None:
    wrong = [
        f"{path.relative_to(repository)} imports {room}"
        for own, path in modules(repository)
        for room in sorted(rooms(path) - ALLOWED[own] - {own})
    ]
    assert wrong == []


def test_every_room_is_in_the_picture(repository: Path) -> None:
    picture = (repository / "docs" / "architecture.md").read_text("utf-8")
    missing = sorted(
        {room for room, _ in modules(repository) if not room.startswith("__")}
        - {room for room in ALLOWED if f"{room}/" in picture or f"{room}.py" in picture}
    )
    assert missing == []


ELSEWHERE = re.compile(r"(?:Not here:|one module each) .*?(?:\.(?= |$)|$)")
"""Where the docstring of a module sends its reader."""


def test_modules_that_docstrings_send_to_are_there(repository: Path) -> None:
    package = repository / "temporal_assets"
    there = {path.stem for path in package.rglob("*") if path.is_dir() or path.suffix == ".py"}
    said = {
        path: " ".join((ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split())
        for _, path in modules(repository)
    }
    gone = {
        f"{path.relative_to(repository)}: {name}"
        for path, text in said.items()
        for sentence in ELSEWHERE.findall(text)
        for name in re.findall(r"`([a-z_]+)`", sentence)
        if name not in there
    }
    assert gone == set()


def test_every_promise_about_faults_names_what_holds_it(repository: Path) -> None:
    from tests.faults.__main__ import ALL

    page = (repository / "docs" / "faults.md").read_text("utf-8")
    promises = page.partition("## What holds")[2].partition("\n\nWhat cannot")[0]
    rows = [line.split("|") for line in promises.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 9
    tests = {path.stem for path in (repository / "tests").rglob("test_*.py")}
    for _, promise, held, _ in rows:
        named = re.findall(r"`(\w+)`", held)
        assert named or held.strip() == "all kinds", promise
        assert set(named) <= tests | ALL.keys(), promise


def test_every_window_asset_is_a_module_of_its_name(repository: Path) -> None:
    from temporal_assets.windows.registry import WINDOW_NAMES

    folder = repository / "temporal_assets" / "windows"
    assert set(WINDOW_NAMES) <= {path.stem for path in folder.glob("*.py")}


def test_core_is_pure(repository: Path) -> None:
    import sys

    outside = {
        f"{path.name}: {name}"
        for room, path in modules(repository)
        if room == "core"
        for name in imported(path)
        if name.split(".")[0] not in {*sys.stdlib_module_names, *NUMERICAL, "temporal_assets"}
    }
    assert outside == set()


@pytest.mark.parametrize(
    "room",
    [
        "logs",
        "storage",
        "engines",
        "daily",
        "daily_tables",
        "windows",
        "notebook",
        "cli",
        "demo",
        "alerts",
    ],
)
def test_dagster_stays_in_its_shells(repository: Path, room: str) -> None:
    users = {
        path.name
        for own, path in modules(repository)
        if own == room and any(name.split(".")[0] == "dagster" for name in imported(path))
    }
    # The doctor opens the Dagster home to see whether it can be opened.
    assert users <= {"doctor.py"}
