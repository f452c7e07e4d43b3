"""The papers' size at a fraction, in stages that can be resumed: logs to a crawl policy.

    python -m benchmarks.paper_scale --fraction 0.005 0.01 --days 60 --folder FOLDER

TW and NP saw 75 million pages in 60 days; with ten million requests a day that is 600 million
requests. A corpus with a fraction of both (the demo's model of interest, whose tail is heavy) is
backfilled, each stage by a process of its own, and then one later day arrives, all of it in one
process, as every night's run is one: wall and processor seconds, peak memory, what it published.
What is done is not done again: run the same command after an interruption, or with `--only` for
some stages more. Several fractions show how the work grows. Without Dagster and checks; kernels
are compiled beforehand.

Numbers are measured, but for the table that says it is extrapolated. Results lie in
FOLDER/*/stages.json and, for all fractions, in `--json`.

Nothing large is imported: a child's peak memory is never below that of its parent.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from temporal_assets.machine.memory import keep_memory

Facts = dict[str, Any]

DAILY: Final = ("ingest", "requests", "page_views", "transits")
WINDOWS: Final = (
    "page_totals",
    "page_histories",
    "interest_curves",
    "calibration",
    "page_labels",
    "early_labels",
    "page_flow",
    "page_traffic",
    "hub_seeds",
    "prefix_trees",
    "site_scores",
    "section_scores",
    "news_prefixes",
    "site_changes",
    "url_patterns",
    "behaviour_graph",
    "pattern_ranks",
    "provisional_lists",
    "fetches",
    "sources",
    "crawl_policy",
)
"""Up to the policy; what judges it afterwards is no part of a day's work."""

BACKFILL: Final = (*DAILY, *WINDOWS)
LATER: Final = tuple(f"later {name}" for name in BACKFILL)
PAPER_DAYS: Final = 60


def main() -> None:
    """Run the stages that are not done, and show all numbers there are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--fraction", type=float, nargs="+", default=[1 / 200])
    parser.add_argument("--days", type=int, default=PAPER_DAYS, help="days of the backfill")
    parser.add_argument("--folder", type=Path, required=True, help="takes corpora and states")
    parser.add_argument("--only", nargs="*", help="stages to run, of those that are not done")
    parser.add_argument("--packed", action="store_true", help="all logs in gzip: a fifth on disk")
    parser.add_argument("--memory-limit", help="of DuckDB, as `engine.memory_limit` takes it")
    parser.add_argument("--json", type=Path, help="write all numbers to this file")
    arguments = parser.parse_args()
    keep_memory()  # as the command line and Dagster's entry point do
    runs = []
    for fraction in sorted(arguments.fraction):
        run = _Run(arguments, fraction)
        wanted = set(arguments.only or ("generate", *BACKFILL, *LATER))
        for stage in ("generate", *BACKFILL):
            run.do(*wanted & {stage})
        run.do(*(stage for stage in LATER if stage in wanted))
        runs.append(run.summary())
        _show(runs[-1])
    _show_growth(runs)
    if len(runs) > 1:
        _show_extrapolated(runs)
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "runs": runs}, indent=2) + "\n")


def machine() -> Facts:
    """Return facts of this machine that the numbers depend on."""
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "processor": _processor(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "unknown")


class _Run:
    """Measurements of a corpus so far."""

    def __init__(self, asked: argparse.Namespace, fraction: float) -> None:
        self.folder: Path = asked.folder / f"{fraction:g}-of-paper-{asked.days}-days"
        self.fraction = fraction
        self.days: int = asked.days
        self.options: list[str] = ["--packed"] * asked.packed
        if asked.memory_limit:
            self.options += ["--memory-limit", asked.memory_limit]
        self.file = self.folder / "stages.json"
        self.done: dict[str, Facts] = (
            json.loads(self.file.read_text()) if self.file.exists() else {}
        )

    def do(self, *stages: str) -> None:
        """Run those that are not done in one process, and keep what it says of each."""
        left = [stage for stage in stages if stage not in self.done]
        if not left:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.paper_stages", str(self.folder), *left]
        size = ["--fraction", str(self.fraction), "--days", str(self.days)]
        with subprocess.Popen(
            [*command, *size, *self.options], stdout=subprocess.PIPE, text=True
        ) as process:
            for stage in left:
                print(f"{self.folder.name}: {stage}", file=sys.stderr, flush=True)
                line = process.stdout.readline() if process.stdout else ""
                if not line:
                    sys.exit(f"{stage} failed; the stages before it are kept in {self.file}")
                facts = json.loads(line)
                self.done[facts.pop("stage")] = facts
                self._keep()
        self.done[left[-1]]["disk"] = _disk(self.folder / "state")
        self._keep()

    def _keep(self) -> None:
        self.file.write_text(json.dumps(self.done, indent=2) + "\n")

    def summary(self) -> Facts:
        """All that is known of the run, and what follows for the papers' size if all is linear."""
        scale = PAPER_DAYS / self.days / self.fraction
        extrapolated = {
            "backfill_minutes": scale * _seconds(self.done, BACKFILL) / 60,
            # A later day's windows look back on all days; its logs are those of a day.
            "later_day_minutes": _seconds(self.done, LATER) / self.fraction / 60,
        }
        return {
            "fraction": self.fraction,
            "days": self.days,
            "options": self.options,
            "measured": self.done,
            "extrapolated": extrapolated,
        }


def _disk(state: Path) -> dict[str, int]:
    """Bytes of the state by folder."""
    return {
        folder.name: sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        for folder in sorted(state.iterdir())
        if folder.is_dir()
    }


def _seconds(done: dict[str, Facts], stages: Iterable[str]) -> float:
    return sum(float(done[stage]["seconds"]) for stage in stages if stage in done)


def _show(run: Facts) -> None:
    done = run["measured"]
    print(f"\nMeasured: {run['fraction']:g} of the papers' size, {run['days']} days")
    print(f"{'stage':24}{'seconds':>9}{'processor':>11}{'peak MiB':>10}{'rows':>14}{'MB':>9}")
    for stage, facts in done.items():
        rows = facts.get("rows", facts.get("lines", 0))
        print(
            f"{stage:24}{facts['seconds']:>9.1f}{facts['processor_seconds']:>11.1f}"
            f"{facts['peak_mib']:>10,.0f}{rows:>14,}{facts.get('bytes', 0) / 1e6:>9.1f}"
        )
    for name, stages in (("backfill", BACKFILL), ("later day", LATER)):
        print(f"{name:24}{_seconds(done, stages):>9.1f}")
    if "generate" in done and "crawl_policy" in done:
        packed, disk = done["generate"]["gzip"], sum(done["crawl_policy"]["disk"].values())
        print(f"state {disk / 1e6:,.0f} MB, {disk / packed:.2f} times the gzipped logs")
    print("Extrapolated to the papers' size, every second times the size:")
    print(", ".join(f"{name} {value:.0f}" for name, value in run["extrapolated"].items()))


def _line(small: Facts, large: Facts, stages: Iterable[str], fact: str) -> tuple[float, list[str]]:
    """Minutes at the papers' size by a line through two sizes, and the stages that ran at both."""
    before, after = small["measured"], large["measured"]
    both = [stage for stage in stages if stage in before and stage in after]
    low, high = (sum(float(done[stage][fact]) for stage in both) for done in (before, after))
    slope = (high - low) / (large["fraction"] - small["fraction"])
    return (low + slope * (1 - small["fraction"])) / 60, both


def _show_extrapolated(runs: list[Facts]) -> None:
    """Starting costs are paid once, costs of a request as often as there are some."""
    small, large = runs[0], runs[-1]
    print(f"\nExtrapolated to the papers' size, a line through {small['fraction']:g} and", end=" ")
    print(f"{large['fraction']:g}; not measured:")
    for name, stages in (("backfill", BACKFILL), ("later day", LATER)):
        wall, both = _line(small, large, stages, "seconds")
        work, _ = _line(small, large, stages, "processor_seconds")
        print(f"{name:12}{wall:>7.1f} min wall{work:>8.1f} min processor, {len(both)} stages")


def _show_growth(runs: list[Facts]) -> None:
    for small, large in itertools.pairwise(runs):
        print(f"\nGrowth from {small['fraction']:g} to {large['fraction']:g}:")
        for name, stages in (*((stage, (stage,)) for stage in BACKFILL), ("backfill", BACKFILL)):
            before, after = _seconds(small["measured"], stages), _seconds(large["measured"], stages)
            if before and after:
                print(f"{name:24}{after / before:>8.2f}")


if __name__ == "__main__":
    main()
