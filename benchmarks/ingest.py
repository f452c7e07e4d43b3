"""Speed from combined logs to published requests, page_views and transits, beside GoAccess.

    python benchmarks/ingest.py                  2 million lines, both tools on the same file
    python benchmarks/ingest.py --linear         1 to 20 million lines, ours alone: time per line
    python benchmarks/ingest.py --lines 5000000  another size

Both run as fresh processes, one after the other. Ours does much more: canonical URLs,
pseudonyms, distinct visitors per page and the graph of transits, all published as Parquet. Three
times are taken of ours: the pipeline's plain functions, and the two commands a user types, which
run the same under Dagster, with all checks. GoAccess (Debian package `goaccess`) writes its JSON
report. Kernels are compiled beforehand, as after any earlier use.

The log is the demo corpus: its combined logs, joined by day into one file of one site.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from temporal_assets.demo import DemoOptions, generate

DAYS = 3
LINEAR = (1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000)
SHARE = 0.45
"""Share of a corpus's lines in the two combined formats, less some to be sure."""

PIPELINE = """
import sys
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.storage.store import Store

settings = load_settings(sys.argv[1], sources=[{"path": sys.argv[2], "host": "example.com"}])
refresh(settings)
store, engine, inventory = Store.open(settings), DuckDBEngine(settings), Inventory.load(settings)
for day in inventory.days():
    build_requests(store, engine, settings, day, inventory)
    for asset in DERIVED:
        build_derived(store, engine, asset, day)
"""


@dataclass(frozen=True, slots=True)
class Run:
    """Process from start to end."""

    seconds: float
    peak_mib: float


def main() -> None:
    """Print lines per second, the ratio and the peak memory."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", type=int, default=2_000_000)
    parser.add_argument("--linear", action="store_true")
    parser.add_argument("--only-write", type=Path, help="write the log to this file and stop")
    arguments = parser.parse_args()
    if arguments.only_write:
        with tempfile.TemporaryDirectory() as name:
            print(write_log(Path(name), arguments.lines, arguments.only_write))
        return
    print(f"{os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes = LINEAR if arguments.linear else (arguments.lines,)
        whole = folder / "whole.log"
        # By another process: the peak memory of a child is never below that of its parent.
        writing = [sys.executable, __file__, "--lines", str(max(sizes)), "--only-write", str(whole)]
        made = int(subprocess.run(writing, check=True, capture_output=True).stdout)
        print(f"log: {made:,} lines, {whole.stat().st_size / 1e6:,.0f} MB, {DAYS} days")
        pipeline(folder, cut(whole, 20_000, folder / "warm.log"))
        if arguments.linear:
            linear(folder, whole, sizes)
        else:
            against_goaccess(folder, whole, made)


def write_log(folder: Path, lines: int, target: Path) -> int:
    """Write a combined log of about `lines` lines (never fewer). Returns how many."""
    requests = int(lines / SHARE)
    generate(
        DemoOptions(
            days=DAYS,
            sites=40,
            pages=max(1_600, min(requests // 60, 400_000)),
            requests=requests,
            clients=max(requests // 12, 1_000),
            daily_truth=False,
            mirror=False,
        ),
        folder / "corpus",
    )
    logs = folder / "corpus" / "logs"
    written = 0
    with target.open("wb") as out:
        for path in sorted(logs.glob("combined*/*/*"), key=lambda path: path.name[:21]):
            has_host = path.parent.parent.name == "combined_vhost"
            raw = _content(path)
            for line in raw.splitlines(keepends=True):
                out.write(line.split(b" ", 1)[-1] if has_host else line)
                written += 1
                if written == lines:
                    break
            if written == lines:
                break
    shutil.rmtree(folder / "corpus")
    return written


def _content(path: Path) -> bytes:
    command = {".gz": ["gzip", "-dc"], ".zst": ["zstd", "-dc"], ".bz2": ["bzip2", "-dc"]}
    if path.suffix in command:
        return subprocess.run([*command[path.suffix], path], capture_output=True, check=True).stdout
    return path.read_bytes()


def cut(log: Path, lines: int, target: Path) -> Path:
    """The first lines of a log."""
    with log.open("rb") as source, target.open("wb") as out:
        for _, line in zip(range(lines), source, strict=False):
            out.write(line)
    return target


def pipeline(folder: Path, log: Path) -> Run:
    """The plain functions, from nothing to published."""
    state = folder / "state"
    shutil.rmtree(state, ignore_errors=True)
    return run([sys.executable, "-c", PIPELINE, str(state), str(log)])


def commands(folder: Path, log: Path) -> tuple[Run, Run]:
    """Return the commands that a user types: `ingest`, then `materialize`."""
    state = folder / "state"
    shutil.rmtree(state, ignore_errors=True)
    tool = [sys.executable, "-m", "temporal_assets"]
    chosen = ["--state", str(state)]
    return (
        run([*tool, "ingest", str(log), "--host", "example.com", *chosen]),
        run([*tool, "materialize", *chosen]),
    )


def run(command: list[str]) -> Run:
    """Run to the end; time and peak memory of the process."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed: {messages.decode(errors='replace')[-2000:]}")
    return Run(time.perf_counter() - started, usage.ru_maxrss / 1024)


def against_goaccess(folder: Path, log: Path, lines: int) -> None:
    """Ours and GoAccess on the same file."""
    ours = pipeline(folder, log)
    report("pipeline", ours, lines)
    ingest, materialize = commands(folder, log)
    typed = Run(ingest.seconds + materialize.seconds, max(ingest.peak_mib, materialize.peak_mib))
    report("ingest + materialize", typed, lines)
    goaccess = shutil.which("goaccess")
    if goaccess is None:
        sys.exit("GoAccess is not installed: apt-get install goaccess")
    theirs = run(
        [goaccess, str(log), "--log-format=COMBINED", "--no-global-config", "--no-progress",
         "-o", str(folder / "report.json")]
    )  # fmt: skip
    report("GoAccess", theirs, lines)
    print(f"pipeline / GoAccess              {theirs.seconds / ours.seconds:6.1f} times as fast")
    print(f"ingest + materialize / GoAccess  {theirs.seconds / typed.seconds:6.1f} times as fast")


def linear(folder: Path, whole: Path, sizes: tuple[int, ...]) -> None:
    """Time per line as the log grows. Every size spans the same days."""
    base = 0.0
    for size in sizes:
        log = thin(whole, sizes[-1] // size, folder / "part.log")
        took = pipeline(folder, log)
        each = took.seconds / size
        base = base or each
        report(f"pipeline, {each / base:.2f} of the first's time per line", took, size)


def thin(log: Path, every: int, target: Path) -> Path:
    """Every n-th line of a log, so that a smaller log spans the same days."""
    if every == 1:
        return log
    with log.open("rb") as source, target.open("wb") as out:
        for number, line in enumerate(source):
            if number % every == 0:
                out.write(line)
    return target


def report(name: str, took: Run, lines: int) -> None:
    """Return a line of the result."""
    speed = lines / took.seconds
    print(
        f"{name:<45} {lines:>12,} lines {took.seconds:>8.1f} s {speed:>12,.0f} lines/s "
        f"{took.peak_mib:>7,.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    main()
