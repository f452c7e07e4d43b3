"""Results of real sets, kept in a folder: a file for each set, so that a long run can go on.

Here: what is kept of a table, and whether all of it was judged by the same code. Not here: judging
(`real_predictions`), the tables of docs/evidence.md (`real_page`).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from benchmarks.real_judging import Table, Value

_HOUSE: Final = Path(__file__).parents[1]
_PRINTED_BY: Final = ("real_page.py", "real_predictions.py", "real_results.py")
"""Modules that no number depends on."""

Numbers = tuple[float, float, float]
"""A value and its 95 % interval."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: ours, the baselines, and who is ahead."""

    name: str
    """Name of the set, with its variation."""
    title: str
    cells: Mapping[str, str]
    ours: Numbers
    baselines: Mapping[str, Numbers]
    best: str
    """Name of the best baseline."""
    difference: Numbers
    """Ours less the best baseline."""
    mark: str
    mark_of_pages: str


def save(folder: Path, name: str, tables: Iterable[Table]) -> None:
    """Keep the tables of a set."""
    kept = {"code": code_digest(), "day": str(dt.datetime.now(dt.UTC).date())}
    folder.mkdir(parents=True, exist_ok=True)
    partly = folder / f"{name}.part"
    partly.write_text(json.dumps(kept | {"tables": [_kept(table) for table in tables]}), "utf-8")
    partly.rename(file_of(folder, name))


def file_of(folder: Path, name: str) -> Path:
    """Return the file that keeps the results of a set."""
    return folder / f"{name}.json"


def _kept(table: Table) -> dict[str, Any]:
    rows = [
        {
            "cells": cells,
            "ours": _numbers(ours),
            "baselines": {name: _numbers(value) for name, value in baselines.items()},
            "best": verdict.baseline,
            "difference": _numbers(verdict.difference),
            "mark": verdict.mark.strip("*"),
            "mark_of_pages": verdict.mark_of_pages.strip("*"),
        }
        for (cells, ours, baselines), verdict in zip(table.rows, table.verdicts, strict=True)
    ]
    return {"title": table.title, "head": table.head, "rows": rows}


def _numbers(value: Value) -> Numbers:
    return (value.value, *value.interval)


@dataclass(frozen=True, slots=True)
class Results:
    """Results of some sets, all judged by the same code."""

    day: str
    """Day of the last of them."""
    code: str
    rows: Sequence[Row]


def read(folder: Path, names: Iterable[str]) -> Results:
    """Return what is kept of some sets; refuse those that different code has judged."""
    kept = {name: json.loads(file_of(folder, name).read_text("utf-8")) for name in names}
    codes = {name: entry["code"] for name, entry in kept.items()}
    if len(set(codes.values())) != 1:
        raise SystemExit(f"{folder}: judged by different code, judge them again: {codes}")
    rows = [
        Row(name, table["title"], dict(zip(table["head"], row.pop("cells"), strict=True)), **row)
        for name, entry in kept.items()
        for table in entry["tables"]
        for row in table["rows"]
    ]
    return Results(max(entry["day"] for entry in kept.values()), codes.popitem()[1], rows)


@cache
def code_digest() -> str:
    """Return a digest of all code that a result depends on."""
    files = [
        *_HOUSE.glob("temporal_assets/**/*.py"),
        *_HOUSE.glob("sql/**/*.sql"),
        *_HOUSE.glob("benchmarks/real_*.py"),
    ]
    digest = hashlib.sha256()
    for path in sorted(path for path in files if path.name not in _PRINTED_BY):
        digest.update(path.relative_to(_HOUSE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
