"""Worth of our decisions on real data, out of time, beside the simple ones.

    python -m benchmarks.real_predictions [--only SET ...] [--part PART ...] [--chosen]
        [--vary CHANGE ...]
    python -m benchmarks.real_predictions --results FOLDER --write

Every real set that results are reported on (`--chosen`: those that parameters are chosen on) goes
through the product's own windows; what is published on a day is judged by what came after it. All
baselines are computed in the same run, from the same past. With `--vary` each set is made poorer
first (`real_variations`: fewer clients, no referrers, fewer sites, shorter windows). Square
brackets are 95 % intervals of a paired bootstrap over sites or, where there are few, over what was
born on a site on a day; `win`, `level` and `loss` say whether the interval of the difference to the
best baseline holds 0, and in the column `by pages` the same over single pages. Takes some minutes a
set.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.real_early import early
from benchmarks.real_first_days import first_days
from benchmarks.real_hubs import hubs
from benchmarks.real_judged import Judged, judged
from benchmarks.real_judging import Table
from benchmarks.real_labels import labels
from benchmarks.real_lists import lists
from benchmarks.real_page import VARIED, VARIED_PARTS, write
from benchmarks.real_results import file_of, read, save
from benchmarks.real_revisits import revisits
from benchmarks.real_sets import DATA, SETS, RealSet
from benchmarks.real_variations import VARIATIONS

PARTS: Final[Mapping[str, Callable[[Judged], list[Table]]]] = {
    "hubs": hubs,
    "lists": lists,
    "early": early,
    "labels": labels,
    "visits": revisits,
    "first": first_days,
}


def predictions(
    real: RealSet, data: Path, parts: Iterable[str], keep: Path | None = None
) -> Iterator[Table]:
    """Judge a set by some parts, one after the other."""
    with judged(real, data, keep) as judged_set:
        for part in parts:
            yield from PARTS[part](judged_set)


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="+", choices=SETS, help="some of the sets")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--chosen", action="store_true", help="sets that parameters are chosen on")
    parser.add_argument("--vary", nargs="+", choices=VARIATIONS, help="poorer sets instead")
    parser.add_argument("--keep", type=Path, help="a folder for daily tables, made once")
    parser.add_argument("--results", type=Path, help="a folder for results, for --write")
    parser.add_argument("--write", action="store_true", help="into docs/evidence.md")
    given = parser.parse_args()
    if given.write:
        if given.results is None:
            parser.error("--write needs --results FOLDER")
        write_page(given.data, given.results, given.keep)
        return
    role = "chosen on" if given.chosen else "reported on"
    names = given.only or [name for name, real in SETS.items() if real.role == role]
    sets = [SETS[name] for name in names]
    if given.vary:
        sets = [VARIATIONS[change](real) for real in sets for change in given.vary]
    tables: list[Table] = []
    for real in sets:
        started = time.monotonic()
        print(f"\n## {real.name}", flush=True)
        for table in predictions(real, given.data, given.part, given.keep):
            print(f"\n{table.text()}\n\n{counted(table)}", flush=True)
            tables.append(table)
        print(f"{real.name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    print(f"\n{summary(tables)}")


def write_page(data: Path, folder: Path, keep: Path | None = None) -> None:
    """Judge what docs/evidence.md shows and `folder` has no result of, and write its tables."""
    sets: list[tuple[RealSet, Sequence[str]]] = [
        (real, tuple(PARTS)) for real in SETS.values() if real.role == "reported on"
    ]
    sets += [
        (VARIATIONS[change](SETS[name]), VARIED_PARTS[name])
        for name, changes in VARIED.items()
        for change in changes
    ]
    for real, parts in sets:
        if not file_of(folder, real.name).exists():
            print(real.name, file=sys.stderr, flush=True)
            save(folder, real.name, predictions(real, data, parts, keep))
    write(read(folder, [real.name for real, _ in sets]))


def counted(table: Table) -> str:
    """Count the marks of a table in a sentence."""
    marks = _sentence(verdict.mark for verdict in table.verdicts)
    return f"{marks}; by pages: {_sentence(verdict.mark_of_pages for verdict in table.verdicts)}"


def _sentence(marks: Iterable[str]) -> str:
    counts = Counter(mark.strip("*") for mark in marks)
    return ", ".join(f"{counts[name]} {name}" for name in ("win", "level", "loss"))


def summary(tables: Iterable[Table]) -> str:
    """Count the marks of every table by set."""
    lines = ["### Summary", "", "| table | set | win | level | loss |", "|---|---|---:|---:|---:|"]
    for table in tables:
        marks: dict[str, Counter[str]] = {}
        for (cells, _, _), one in zip(table.rows, table.verdicts, strict=True):
            marks.setdefault(cells[0], Counter())[one.mark.strip("*")] += 1
        for name, counter in marks.items():
            counts = " | ".join(str(counter[mark]) for mark in ("win", "level", "loss"))
            lines.append(f"| {table.title} | {name} | {counts} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
