"""The arrows of docs/architecture.md: who may import whom."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import FLOORS, PAGE, drawn, imported, modules, rooms

ROOM_SIZE = 15
"""Modules in a room at most, besides its `__init__`; a room that grows past that is two rooms."""

NUMERICAL = {"numpy", "scipy", "numba", "llvmlite"}
"""Packages that `core` may import besides the standard library."""


def test_arrows_point_down(repository: Path) -> None:
    floor = {room: number for number, names in enumerate(FLOORS) for room in names}
    wrong = [
        f"{path.relative_to(repository)} imports {room}"
        for own, path in modules(repository)
        for room in sorted(rooms(path) - {own})
        if floor[room] <= floor[own]
    ]
    assert wrong == []


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return groups of names that import each other in a circle, found by depth-first search."""
    finished: set[str] = set()
    rings: list[list[str]] = []

    def visit(name: str, above: list[str]) -> None:
        if name in above:
            rings.append(above[above.index(name) :])
        elif name not in finished:
            for other in sorted(arrows.get(name, ())):
                visit(other, [*above, name])
            finished.add(name)

    for name in sorted(arrows):
        visit(name, [])
    return rings


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}}) == []


@pytest.mark.parametrize("depth", [2, 9], ids=["rooms", "modules"])
def test_nothing_imports_itself_in_a_circle(repository: Path, depth: int) -> None:
    package = repository / "temporal_assets"
    names = {
        ".".join(path.relative_to(repository).with_suffix("").parts): path
        for path in package.rglob("*.py")
    }
    arrows: dict[str, set[str]] = {}
    for name, path in names.items():
        if path.stem == "__init__":
            continue  # a room's front door may name what is inside
        own = ".".join(name.split(".")[: depth + 1])
        for whole in imported(path):
            target = whole if whole in names else whole.rpartition(".")[0]
            other = ".".join(target.split(".")[: depth + 1])
            if target in names and other != own:
                arrows.setdefault(own, set()).add(other)
    assert circles(arrows) == []


def test_no_room_is_crowded(repository: Path) -> None:
    sizes = {
        str(folder.relative_to(repository)): sum(
            path.stem != "__init__" for path in folder.glob("*.py")
        )
        for folder in (repository / "temporal_assets").rglob("*")
        if folder.is_dir()
    }
    assert {room: size for room, size in sizes.items() if size > ROOM_SIZE} == {}


def test_the_drawing_is_of_now(repository: Path) -> None:
    page = (repository / PAGE).read_text("utf-8")
    assert page == drawn(page, repository), "python -m tests.house"
    assert len(page.splitlines()) < 140, "the page fits on two screens"


def test_every_room_is_in_the_picture(repository: Path) -> None:
    picture = (repository / "docs" / "architecture.md").read_text("utf-8")
    missing = sorted(
        {room for room, _ in modules(repository) if not room.startswith("__")}
        - {
            room
            for names in FLOORS
            for room in names
            if f"{room}/" in picture or f"{room}.py" in picture
        }
    )
    assert missing == []


ELSEWHERE = re.compile(r"(?:Not here:|one module each) .*?(?:\.(?= |$)|$)")
"""Parts of a module's docstring that send its reader to other modules."""


def test_modules_that_docstrings_send_to_are_there(repository: Path) -> None:
    package = repository / "temporal_assets"
    there = {path.stem for path in package.rglob("*") if path.is_dir() or path.suffix == ".py"}
    message = {
        path: " ".join((ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split())
        for _, path in modules(repository)
    }
    gone = {
        f"{path.relative_to(repository)}: {name}"
        for path, text in message.items()
        for sentence in ELSEWHERE.findall(text)
        for name in re.findall(r"`([a-z_]+)`", sentence)
        if name not in there
    }
    assert gone == set()


PROMISES = {"faults.md": 10, "security.md": 20, "command-line.md": 15, "running-daily.md": 15}
"""Pages that promise how the product behaves -> the rows of promises that each has at least."""


@pytest.mark.parametrize("page", PROMISES)
def test_every_promise_names_the_test_that_holds_it(repository: Path, page: str) -> None:
    from tests.faults.__main__ import ALL

    text = (repository / "docs" / page).read_text("utf-8")
    tests = {
        name
        for path in (repository / "tests").rglob("test_*.py")
        for name in (path.stem, f"{path.parent.name}/{path.stem}")
    }
    rows = list(promises(text))
    assert len(rows) >= PROMISES[page]
    for promise, held in rows:
        named = set(re.findall(r"`((?:\w+/)?test_\w+)`", held))
        kinds = set(re.findall(r"`(\w+)`", held.partition("kind")[2]))
        assert named | kinds or held == "all kinds", promise
        assert kinds <= ALL.keys(), promise
    assert set(re.findall(r"`((?:\w+/)?test_\w+)`", text)) <= tests


def promises(text: str) -> Iterator[tuple[str, str]]:
    """First and last cells of tables whose last column says what holds the first."""
    is_wanted = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            is_wanted = False
        elif is_wanted and set(line) - set("|-: "):
            yield cells[0], cells[-1]
        is_wanted |= cells[-1] in ("test", "shown by")


def test_every_window_asset_is_a_module_of_its_name(repository: Path) -> None:
    from temporal_assets.windows.registry import WINDOW_NAMES

    folder = repository / "temporal_assets" / "windows"
    assert set(WINDOW_NAMES) <= {path.stem for path in folder.rglob("*.py")}


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


def test_core_holds_nothing_that_the_package_does_not_use(repository: Path) -> None:
    texts = {path: path.read_text("utf-8") for _, path in modules(repository)}
    times = Counter(name for text in texts.values() for name in re.findall(r"\w+", text))
    unused = {
        f"{path.stem}.{name}"
        for path, text in texts.items()
        if "core" in path.parts
        for name in re.findall(r"^(?:(?:def|class) )?(\w+)(?:\(|: Final)", text, re.MULTILINE)
        if times[name] == 1
    }
    assert unused == set()


@pytest.mark.parametrize(
    "room",
    [
        "logs",
        "storage",
        "engines",
        "days",
        "landing",
        "ops",
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
    assert users <= {"check.py"}
