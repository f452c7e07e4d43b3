"""The benchmark suite: every line beside what a user would pick, JSON and Markdown.

    python -m benchmarks.suite --size small            prints the table
    python -m benchmarks.suite --size small --write    and docs/performance.{md,json}
    python -m benchmarks.suite --line totals           one line

Every way of a line is a process of its own and runs several times (`suite_lines` has the jobs).
Shown are items a second from the median, the spread (largest less smallest, over the median), the
ratio to ours, the same in processor time (on which other work on the machine tells less), and the
peak memory of the process. What is not installed is said to be missing:
`pip install .[bench]`, and `apt-get install goaccess`.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from benchmarks.paper_scale import machine
from benchmarks.suite_lines import LINES, SIZES

_DOCS: Final = Path(__file__).parents[1] / "docs"
_BEGIN: Final = "<!-- written by python -m benchmarks.suite -->\n"
_END: Final = "<!-- end -->\n"
_PACKAGES: Final = (
    "duckdb", "numba", "numpy", "pyarrow", "pandas", "polars", "scipy", "lmfit", "networkx",
    "igraph", "scikit-network",
)  # fmt: skip


def main() -> None:
    """Run the lines, show them, and publish them if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--line", choices=list(LINES), nargs="+", default=list(LINES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keeps the inputs for the next time")
    parser.add_argument("--write", action="store_true", help="into docs/performance.{md,json}")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)) / arguments.size
        call("prepare", "", folder, arguments.size, 0)
        rows = [
            row
            for name in arguments.line
            for row in line(name, folder, arguments.size, arguments.repeats)
        ]
    facts = {**machine(), "size": arguments.size, "packages": versions()}
    text = markdown(facts, rows)
    print(text)
    if arguments.write:
        publish(text, {"machine": facts, "lines": rows})


def line(name: str, folder: Path, size: str, repeats: int) -> list[dict[str, Any]]:
    """All ways of one line; ours is the first."""
    rows: list[dict[str, Any]] = []
    for way in LINES[name].ways:
        row: dict[str, Any] = {"line": name, "way": way}
        rows.append(row)
        if not is_there(LINES[name].module.get(way)):
            row["missing"] = True
            continue
        print(f"{name}: {way}", file=sys.stderr, flush=True)
        found = json.loads(call(name, way, folder, size, repeats))
        median = statistics.median(found["seconds"])
        row |= found | {
            "median": median,
            "spread": (max(found["seconds"]) - min(found["seconds"])) / median,
            "per_second": found["items"] / median,
        }
        row["ratio"] = rows[0]["per_second"] / row["per_second"]
        if found["processor_seconds"]:  # not where only a part of the job counts
            worked = statistics.median(found["processor_seconds"])
            row["per_processor_second"] = found["items"] / worked
            row["processor_ratio"] = rows[0]["per_processor_second"] / row["per_processor_second"]
    answers = [row["answer"] for row in rows if row.get("answer") is not None]
    if any(abs(one - answers[0]) > 1e-4 * abs(answers[0]) for one in answers):
        sys.exit(f"{name}: the ways differ: {[(row['way'], row.get('answer')) for row in rows]}")
    return rows


def is_there(need: str | None) -> bool:
    """Whether a module or, after `!`, a program is installed."""
    if need is None:
        return True
    return shutil.which(need[1:]) is not None if need[0] == "!" else find_spec(need) is not None


def call(name: str, way: str, folder: Path, size: str, repeats: int) -> str:
    """One way in a process of its own; what it printed last."""
    command = [sys.executable, "-m", "benchmarks.suite_lines", name, way, str(folder), size]
    said = subprocess.run([*command, str(repeats)], check=True, stdout=subprocess.PIPE, text=True)
    return said.stdout.strip().rpartition("\n")[2]


def versions() -> dict[str, str]:
    """Of the packages that do the work, ours and others, as far as they are installed."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def markdown(facts: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The table, and what it was made on."""
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    lines = [
        f"Size `{facts['size']}`; {facts['cores']} cores ({facts['processor']}),"
        f" {facts['memory_gib']} GiB; Python {facts['python']}, {packages}.",
        "",
        "| job | way | items a second | spread | ours is faster by | in processor time"
        " | peak memory |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        of = LINES[row["line"]]
        job = f"{of.title} (`{row['line']}`)" if row["way"] == "ours" else ""
        if row.get("missing"):
            lines.append(f"| {job} | {row['way']} | not installed | | | | |")
            continue
        ratios = ["", ""]
        if row["way"] != "ours":
            ratios = [f"{row[of]:,.1f}" if of in row else "" for of in ("ratio", "processor_ratio")]
        lines.append(
            f"| {job} | {row['way']} | {row['per_second']:,.0f} {of.items} | {row['spread']:.0%} |"
            f" {' | '.join(ratios)} | {row['peak_mib']:,.0f} MiB |"
        )
    return "\n".join(lines) + "\n"


def publish(text: str, found: dict[str, Any]) -> None:
    """Replace the table in docs/performance.md, and the numbers beside it."""
    page = _DOCS / "performance.md"
    before, _, rest = page.read_text("utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    page.write_text(f"{before}{_BEGIN}\n{text}\n{_END}{after}", "utf-8")
    (_DOCS / "performance.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
