"""The SQL files: finding them in `sql/<room>/`, reading their header, filling in parameters.

Every file is one SELECT with a header that declares what it needs:

    -- page_views: distinct clients per page and day
    -- inputs: requests
    -- parameters: day
    -- output: page_views
    -- grain: page, day

A line `-- engine: duckdb` marks a statement that only one machine runs: it has no translation.

Inputs are table names in the query; parameters are written `$name` and are filled with typed
literals, because neither a view nor Spark takes bound values everywhere. A missing or surplus input
or parameter is an error before anything runs.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

_HEADER = re.compile(r"^-- (inputs|parameters|output|grain|engine):\s*(.*)$", re.MULTILINE)
"""Expression for a line of the header of a statement."""
_PARAMETER = re.compile(r"\$([a-z_]+)")
"""Expression for a parameter in a statement."""


class SqlError(ValueError):
    """Error: a file in `sql/` and its caller disagree."""


@dataclass(frozen=True, slots=True)
class SqlFile:
    """A transformation: a statement with its header."""

    name: str
    text: str
    inputs: frozenset[str]
    parameters: frozenset[str]
    is_for_spark: bool = True

    def require(self, inputs: Iterable[str], parameters: Iterable[str]) -> None:
        """Raise `SqlError` unless these are the inputs and parameters of the file."""
        _agree(self.name, "inputs", self.inputs, set(inputs))
        _agree(self.name, "parameters", self.parameters, set(parameters))

    def render(self, inputs: Iterable[str], parameters: Mapping[str, Any]) -> str:
        """Return the query with literals for its parameters."""
        self.require(inputs, parameters)
        body = "\n".join(line for line in self.text.splitlines() if not line.startswith("--"))
        return _PARAMETER.sub(lambda m: literal(parameters[m.group(1)]), body)


@cache
def sql_file(name: str) -> SqlFile:
    """Load `<name>.sql` from its room in `sql/`, of the checkout or the installed package."""
    text = sql_path(name).read_text(encoding="utf-8")
    header = {key: _names(value) for key, value in _HEADER.findall(text)}
    body = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    used = frozenset(_PARAMETER.findall(body))
    declared = header.get("parameters", frozenset())
    _agree(name, "parameters in its header", declared, set(used))
    is_for_spark = "duckdb" not in header.get("engine", ())
    return SqlFile(name, text, header.get("inputs", frozenset()), declared, is_for_spark)


def sql_path(name: str) -> Path:
    """Return the path of the file. Raises `SqlError` where there is none of this name."""
    if name not in _paths():
        raise SqlError(f"there is no {name}.sql in any room of sql/")
    return _paths()[name]


def sql_place(name: str) -> str:
    """Return the place of the file in the repository, for people: `sql/<room>/<name>.sql`."""
    path = _paths().get(name)
    return f"{name}.sql" if path is None else f"sql/{path.parent.name}/{path.name}"


def sql_names() -> list[str]:
    """Return names of all transformations, for tests that must cover each of them."""
    return sorted(_paths())


@cache
def _paths() -> dict[str, Path]:
    """Return the file of every transformation: names are unique over all rooms."""
    return {path.stem: path for path in _folder().rglob("*.sql") if path.parent.name != "spark"}


def translated_path(name: str) -> Path:
    """Return the path of the file's text for Spark (`translation` writes it)."""
    return _folder() / "spark" / f"{name}.sql"


def literal(value: Any) -> str:
    """Return a SQL literal that DuckDB and Spark read alike."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case float():
            return f"CAST({value!r} AS DOUBLE)"
        case dt.datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
    raise SqlError(f"no SQL literal for {type(value).__name__}")


def _folder() -> Path:
    installed = Path(str(files("temporal_assets") / "_sql"))
    return installed if installed.is_dir() else Path(__file__).parents[2] / "sql"


def _names(value: str) -> frozenset[str]:
    return frozenset(name for name in re.split(r"[,\s]+", value) if name and name != "none")


def _agree(name: str, what: str, declared: frozenset[str], provided: set[str]) -> None:
    if declared != provided:
        raise SqlError(
            f"{name}.sql declares {what} {sorted(declared)}, but gets {sorted(provided)}"
        )
