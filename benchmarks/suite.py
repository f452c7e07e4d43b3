"""The benchmark suite: every line beside what a user would pick, JSON and Markdown.

    python -m benchmarks.suite --size small            prints the table
    python -m benchmarks.suite --size small --write    and docs/performance.{md,json}
    python -m benchmarks.suite --line totals           one line; with --write, only this is replaced

Every way of a line is a process of its own and runs several times (`suite_lines` has the jobs),
until it has taken two seconds, but not again after a minute; all of that three times where a run
takes less than a second, the ways in turns. Shown are items a second from the median, the spread
(of the middle half of the runs, over the median), the ratio to ours (of ways that do a part of the
job, to our way of that part), the same in processor time (on which other work on the machine tells
less), and the peak memory of the process. What is not installed is said to be
missing: `pip install .[bench]`, `apt-get install goaccess`, and on the PATH `pattern-make` of
os-urlpattern and `import_logs.py` of Matomo.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from benchmarks.paper_scale import machine
from benchmarks.suite_job import SIZES, spread
from benchmarks.suite_lines import LINES
from temporal_assets.machine.memory import keep_memory

_DOCS: Final = Path(__file__).parents[1] / "docs"
_SHOWN: Final = ("small", "paper")
"""Sizes on the page; `performance.json` has all."""
_BEGIN: Final = "<!-- written by python -m benchmarks.suite -->\n"
_END: Final = "<!-- end -->\n"
_TURNS: Final = 3
"""Turns of the ways of a line, one after the other: a machine that is shared is faster and slower
from one minute to the next, and a ratio of two ways should not be of two such minutes."""

_SHORT: Final = 1.0
"""Seconds of a run. What takes longer is measured over more than a moment as it is."""

_PACKAGES: Final = (
    "duckdb", "numba", "numpy", "pyarrow", "pandas", "polars", "scipy", "lmfit", "networkx",
    "igraph", "scikit-network", "url-matcher", "faker", "matplotlib",
)  # fmt: skip


Found = dict[str, dict[str, Any]]
"""Results by line: the machine and its load before, how to repeat it, and a row for every way."""


def main() -> None:
    """Run the lines, show them, and publish them if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--line", choices=list(LINES), nargs="+", default=list(LINES))
    parser.add_argument("--repeats", type=int, default=3, help="of every way, at least")
    parser.add_argument("--folder", type=Path, help="keeps the inputs for the next time")
    parser.add_argument("--write", action="store_true", help="into docs/performance.{md,json}")
    arguments = parser.parse_args()
    keep_memory()  # as our entry points do; every way hears it, and pandas has Arrow's, too
    facts = {**machine(), "packages": versions()}
    results: Found = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)) / arguments.size
        for name in arguments.line:
            repeat = f"python -m benchmarks.suite --size {arguments.size} --line {name}"
            load = round(os.getloadavg()[0], 1)
            rows = line(name, folder, arguments.size, arguments.repeats)
            results[name] = {"repeat": repeat, "machine": facts, "load": load, "ways": rows}
            if arguments.write:  # at once: a long run may be interrupted
                publish(arguments.size, {name: results[name]})
    print(markdown({arguments.size: results}))


def line(name: str, folder: Path, size: str, repeats: int) -> list[dict[str, Any]]:
    """All ways of one line; ours is the first."""
    call(name, "prepare", folder, size, 0)
    ways = LINES[name].ways
    rows: dict[str, dict[str, Any]] = {way: {"way": way} for way in ways}
    there = [way for way in ways if is_there(LINES[name].needs.get(way))]
    for way in ways.keys() - there:
        rows[way]["missing"] = True
    for turn in range(_TURNS):
        for way in there:
            if not turn or rows[way]["median"] < _SHORT:
                print(f"{name}: {way}", file=sys.stderr, flush=True)
                _add(rows[way], json.loads(call(name, way, folder, size, repeats)))
    for way in there:
        _compare(rows[way], rows[LINES[name].parts.get(way, "ours")])
    compared = LINES[name].compared or ways
    if LINES[name].check is not None and set(compared) <= {"ours", *there}:
        call(name, "check", folder, size, 0)
    answers = {way: rows[way]["answer"] for way in there if rows[way]["answer"] is not None}
    expected = next(iter(answers.values()), 0)
    if any(abs(answer - expected) > 1e-4 * abs(expected) for answer in answers.values()):
        sys.exit(f"{name}: the ways differ: {answers}")
    return list(rows.values())


def _add(row: dict[str, Any], results: dict[str, Any]) -> None:
    """Runs of one more process."""
    for times in ("seconds", "processor_seconds"):
        results[times] = row.get(times, []) + results[times]
    results["peak_mib"] = max(results["peak_mib"], row.get("peak_mib", 0))
    row |= results
    row["median"] = statistics.median(row["seconds"])
    row["per_second"] = row["items"] / row["median"]
    if row["processor_seconds"]:  # not where only a part of the job counts
        row["per_processor_second"] = row["items"] / statistics.median(row["processor_seconds"])


def _compare(row: dict[str, Any], ours: dict[str, Any]) -> None:
    row["ratio"] = ours["per_second"] / row["per_second"]
    if "per_processor_second" in row:
        row["processor_ratio"] = ours["per_processor_second"] / row["per_processor_second"]


def is_there(need: str | None) -> bool:
    """Return whether a module or, after `!`, a program is installed."""
    if need is None:
        return True
    return shutil.which(need[1:]) is not None if need[0] == "!" else find_spec(need) is not None


def call(name: str, way: str, folder: Path, size: str, repeats: int) -> str:
    """Run a way in a process of its own. Returns what it printed last."""
    command = [sys.executable, "-m", "benchmarks.suite_lines", name, way, str(folder), size]
    result = subprocess.run([*command, str(repeats)], check=True, stdout=subprocess.PIPE, text=True)
    return result.stdout.strip().rpartition("\n")[2]


def versions() -> dict[str, str]:
    """Return versions of the packages that do the work, as far as they are installed."""
    versions_by_name = {}
    for name in _PACKAGES:
        try:
            versions_by_name[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions_by_name


def markdown(sizes: dict[str, Found]) -> str:
    """Return a table of all sizes beside each other, and what they were measured on."""
    head = []
    for size, results in sizes.items():
        machines = dict.fromkeys(
            _machine_in_words(result["machine"]) for result in results.values()
        )
        loads = [result["load"] for result in results.values()]
        head.append(
            f"Size `{size}`: {'; others '.join(machines)}. Processes that wanted a core before a"
            f" line began: {min(loads)} to {max(loads)}.\n"
        )
    packages = dict.fromkeys(
        f"{name} {version}"
        for results in sizes.values()
        for result in results.values()
        for name, version in result["machine"]["packages"].items()
    )
    head.append(f"Packages: {', '.join(packages)}.\n")
    columns = [f"`{size}`: a second (spread) | ours is faster by" for size in sizes]
    table = [
        f"| job | way | {' | '.join(columns)} | peak memory, MiB |",
        f"|---|---|{'---:|' * (2 * len(sizes) + 1)}",
    ]
    for name, of in LINES.items():
        rows = {
            size: {row["way"]: row for row in results[name]["ways"]}
            for size, results in sizes.items()
            if name in results
        }
        for way in dict.fromkeys(way for ways in rows.values() for way in ways):
            job = f"{of.title} (`{name}`), {of.items}" if way == "ours" else ""
            beside = [rows.get(size, {}).get(way, {"missing": True}) for size in sizes]
            peaks = [f"{row['peak_mib']:,.0f}" for row in beside if not row.get("missing")]
            cells = [_cells(row, of.parts.values()) for row in beside]
            table.append(f"| {job} | {way} | {' | '.join(cells)} | {'; '.join(peaks)} |")
    return "\n".join([*head, *table]) + "\n"


def _machine_in_words(facts: dict[str, Any]) -> str:
    return (
        f"{facts['cores']} cores ({facts['processor']}), {facts['memory_gib']} GiB,"
        f" Python {facts['python']}"
    )


def _cells(row: dict[str, Any], parts: Collection[str]) -> str:
    """Return the speed of a way with its spread, and how much faster ours is."""
    if row.get("missing"):
        return "not measured |"
    apart = f"{spread(row['seconds']):.0%}" if len(row["seconds"]) > 1 else "one run"
    faster = ""
    if row["way"] not in ("ours", *parts):
        faster = f" {row['ratio']:,.1f}"
        if "processor_ratio" in row:
            faster += f" ({row['processor_ratio']:,.1f})"
    return f"{row['per_second']:,.0f} ({apart}) |{faster}"


def publish(size: str, results: Found) -> None:
    """Replace these lines in docs/performance.json, and the table in docs/performance.md."""
    numbers = _DOCS / "performance.json"
    stored: dict[str, Found] = json.loads(numbers.read_text("utf-8")) if numbers.exists() else {}
    stored[size] = stored.get(size, {}) | results
    stored = {shown_size: stored[shown_size] for shown_size in SIZES if shown_size in stored}
    numbers.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    page = _DOCS / "performance.md"
    before, _, rest = page.read_text("utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    table = markdown({shown: stored[shown] for shown in stored if shown in _SHOWN})
    page.write_text(f"{before}{_BEGIN}\n{table}\n{_END}{after}", "utf-8")


if __name__ == "__main__":
    main()
