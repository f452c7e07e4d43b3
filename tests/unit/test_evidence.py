"""The evidence on real data: its page says what results say, of one state of the code."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import real_page, real_results
from benchmarks.real_judging import Table, Value

PARTS = ("printed", "ahead", "hubs", "lists", "early", "boosting", "labels", "visits")
MORE = ("first", "first hubs", "variations", "losses")


def part(page: str, name: str) -> str:
    """What stands between the markers of a part."""
    (found,) = re.findall(f"<!-- table: {name} -->\n(.*?)<!-- end of {name} -->", page, re.DOTALL)
    return str(found)


def rows(table: str) -> list[list[str]]:
    """Cells of the rows of a Markdown table, without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_first_table_counts_the_marks_of_those_below(repository: Path) -> None:
    page = (repository / "docs" / "evidence.md").read_text("utf-8")
    assert all(part(page, name).strip() for name in (*PARTS, *MORE))
    ahead = {
        cells[0].partition("](")[0].strip("["): cells[1:5] for cells in rows(part(page, "ahead"))
    }
    for counts in ahead.values():
        assert int(counts[0]) == sum(map(int, counts[1:]))
    tables = {"early labels": "early", "hubs": "hubs", "hubs of the first days": "first hubs"}
    for decision, name in tables.items():
        marks = Counter(cells[-1].strip("*") for cells in rows(part(page, name)))
        assert [marks[mark] for mark in ("win", "level", "loss")] == [
            *map(int, ahead[decision][1:])
        ]


def results(folder: Path, name: str, better: float) -> None:
    """A table with one row, ours better than the baseline or worse."""
    table = Table("hubs", ["set", "K", "wanted"])
    draws = np.full((2, 400), 0.5)
    table.add([name, 5, 1200], Value(0.5 + better, draws + better), {"clicks": Value(0.5, draws)})
    real_results.save(folder, name, [table])


def test_results_of_different_code_are_not_mixed(tmp_path: Path) -> None:
    for name, better in (("globo_6h", 0.1), ("mix_b", -0.1)):
        results(tmp_path, name, better)
    both = real_results.read(tmp_path, ["globo_6h", "mix_b"])
    assert [row.mark for row in both.rows] == ["win", "loss"]
    assert both.rows[0].difference == pytest.approx((0.1, 0.1, 0.1))
    file = real_results.file_of(tmp_path, "mix_b")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"code": "other"}))
    with pytest.raises(SystemExit, match="judged by different code"):
        real_results.read(tmp_path, ["globo_6h", "mix_b"])


def test_what_stands_around_the_tables_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "evidence.md"
    page.write_text("before\n<!-- table: hubs -->\nold\n<!-- end of hubs -->\nafter\n")
    monkeypatch.setattr(real_page, "_PAGE", page)
    monkeypatch.setattr(real_page, "_PARTS", {"hubs": lambda _: "new"})
    nothing = real_results.Results("2026-11-29", "code", [])
    real_page.write(nothing)
    real_page.write(nothing)
    assert page.read_text() == (
        "before\n<!-- table: hubs -->\n\nnew\n\n<!-- end of hubs -->\nafter\n"
    )
    page.write_text("no place\n")
    with pytest.raises(SystemExit, match="no place for hubs"):
        real_page.write(nothing)
