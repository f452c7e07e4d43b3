"""The house: its floors, which room imports which, and the drawing of both in the documentation.

`python -m tests.house` draws docs/architecture.md anew; `test_house` compares, and holds the rules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

FLOORS: tuple[tuple[str, ...], ...] = (
    ("__main__",),
    ("cli",),
    ("operate", "definitions", "guard"),
    ("build",),
    ("defs",),
    ("__init__",),
    ("notebook",),
    ("ops",),
    ("windows",),
    ("days",),
    ("crawl",),
    ("policy",),
    ("alerts", "demo"),
    ("quality",),
    ("landing",),
    ("reports",),
    ("engines", "storage"),
    ("logs",),
    ("contracts", "core"),
    ("settings", "machine"),
)
"""The rooms from top to bottom: a room imports rooms of lower floors only."""

BEGIN = "<!-- drawn by `python -m tests.house` -->\n"
END = "<!-- end of the drawing -->\n"
PAGE = Path("docs", "architecture.md")


def modules(repository: Path) -> Iterator[tuple[str, Path]]:
    """Yield (room, file) of every module; a room is a package, or a module beside the packages."""
    package = repository / "temporal_assets"
    for path in sorted(package.rglob("*.py")):
        yield path.relative_to(package).parts[0].removesuffix(".py"), path


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted names that a module imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms(path: Path) -> set[str]:
    """Return the rooms that a module imports; the package's version belongs to no room."""
    names = (name.split(".") for name in imported(path))
    return {
        parts[1]
        for parts in names
        if parts[0] == "temporal_assets" and len(parts) > 1 and parts[1] != "__version__"
    }


def arrows(repository: Path) -> dict[str, set[str]]:
    """Return, for every room, the rooms that its modules import."""
    actual: dict[str, set[str]] = {}
    for own, path in modules(repository):
        actual.setdefault(own, set()).update(rooms(path) - {own})
    return actual


def drawing(repository: Path) -> str:
    """Return the house as a Mermaid diagram, without arrows where a longer way leads there."""
    actual = {
        room: {other for other in others if not other.startswith("__")}
        for room, others in arrows(repository).items()
        if not room.startswith("__")
    }

    def below(room: str) -> set[str]:
        return {further for other in actual[room] for further in {other} | below(other)}

    lines = ["```mermaid", "flowchart TB"]
    for floor in FLOORS:
        for room in floor:
            further = {end for other in actual.get(room, ()) for end in below(other)}
            lines += [
                f"  {room} --> {other}" for other in sorted(actual.get(room, set()) - further)
            ]
    return "\n".join([*lines, "```", ""])


def drawn(page: str, repository: Path) -> str:
    """Return the page with the drawing of now."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + drawing(repository) + END + rest.partition(END)[2]


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    PAGE.write_text(drawn(page, Path()), encoding="utf-8")
