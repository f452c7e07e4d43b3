"""Reads, shuffles and seconds of each step on a Spark cluster, and the sums for a billion requests.

    python -m benchmarks.scaling [--requests 300000 1200000] [--rows FILE] [--only hub_seeds]

Makes every asset by Spark's own statements (`spark_or_duckdb --one-task 0`) from logs of each
number of requests, and prints two tables for docs/scaling.md: the slopes, and the sums that follow
for a billion requests a day. Of two numbers of requests, what a statement costs however little it
reads drops out. With `--rows`, finished sizes are kept in a file of JSON lines and not made again.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.spark_or_duckdb import _SHUFFLED as SHUFFLED
from benchmarks.spark_or_duckdb import measured
from benchmarks.spark_traffic import write_traffic
from temporal_assets.logs.privacy.pseudonyms import KeyRing

READ_AT_A_BILLION: Final = {
    "reading logs": 72,
    "requests, rejects": 72,
    "page_views": 72,
    "transits": 72,
    "page_totals": 170,
    "page_histories": 200,
    "interest_curves": 6,
    "page_traffic": 2_700,
    "hub_seeds": 2_700,
    "prefix_trees": 2_700,
    "url_patterns": 400,
    "pattern_ranks": 400,
    "hub_evaluation": 2_700,
    "evaluation_report": 700,
}
"""Gigabytes that a step reads when a day has a billion requests (docs/scaling.md)."""

Rows = dict[str, dict[str, Any]]
"""The measured row of each asset."""


def main() -> None:
    """Measure both sizes, then print the slopes and what follows from them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, nargs=2, default=(300_000, 1_200_000))
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=14_400, help="a size has, then it ends")
    parser.add_argument("--only", nargs="*", default=(), help="assets; DuckDB makes the others")
    parser.add_argument("--rows", type=Path, help="a file of JSON lines to keep sizes in")
    arguments = parser.parse_args()
    small, large = (rows_of(requests, arguments) for requests in sorted(arguments.requests))
    print(slopes(small, large))
    print(at_a_billion(small, large))


def rows_of(requests: int, arguments: argparse.Namespace) -> Rows:
    """Return the rows of one number of requests, measured or kept."""
    if arguments.rows and arguments.rows.exists():
        for line in arguments.rows.read_text("utf-8").splitlines():
            if (kept := json.loads(line))["requests"] == requests:
                return kept["rows"]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        write_traffic(state := Path(folder) / "state", requests, arguments.days)
        KeyRing(state / "secrets", 0).key(0)
        arguments.one_task = 0
        measured_rows = measured(state, "spark", arguments)
    only = set(arguments.only)
    rows = {row["asset"]: row for row in measured_rows if not only or row["asset"] in only}
    if arguments.rows:
        with arguments.rows.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"requests": requests, "rows": rows}) + "\n")
    return rows


def slopes(small: Rows, large: Rows) -> str:
    """Return a Markdown table of bytes shuffled and processor time by byte read."""
    lines = [
        "| step | MB read | | shuffled for a byte read | | processor s | |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for asset in large:
        pair = [size[asset] for size in (small, large) if asset in size]
        cells = [f"{row['read'] / 1e6:,.1f}" for row in pair]
        cells += [f"{shuffled_for_a_byte(row):.1f}" for row in pair]
        cells += [f"{row['processor']:,.0f}" for row in pair]
        lines.append(f"| `{asset}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def at_a_billion(small: Rows, large: Rows) -> str:
    """Return a Markdown table of bytes shuffled and core hours, by the larger slope of two."""
    lines = [
        "| step | reads | shuffles | core hours |",
        "|---|---:|---:|---:|",
    ]
    total = [0.0, 0.0]
    for asset, read in READ_AT_A_BILLION.items():
        if asset not in small or asset not in large:
            continue
        shuffled = read * max(map(shuffled_for_a_byte, (small[asset], large[asset])))
        hours = read * seconds_for_a_gigabyte(small[asset], large[asset]) / 3600
        total = [total[0] + shuffled, total[1] + hours]
        lines.append(f"| `{asset}` | {read:,} GB | {shuffled:,.0f} GB | {hours:,.0f} |")
    return "\n".join([*lines, f"| **all** | | {total[0]:,.0f} GB | {total[1]:,.0f} |"])


def shuffled_for_a_byte(row: dict[str, Any]) -> float:
    """Return the bytes that a step shuffles for each byte that it reads."""
    return row[SHUFFLED] / row["read"] if row["read"] else 0.0


def seconds_for_a_gigabyte(small: dict[str, Any], large: dict[str, Any]) -> float:
    """Return processor seconds of a further gigabyte, without what a step costs that reads none."""
    further = (large["read"] - small["read"]) / 1e9
    return max(0.0, large["processor"] - small["processor"]) / further if further > 0 else 0.0


if __name__ == "__main__":
    main()
