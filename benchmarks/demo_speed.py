"""How fast the demo corpus is written, beside a plain Python loop that writes one line at a time.

    python benchmarks/demo_speed.py [--requests 4000000] [--workers 2]

Both run here, one after the other, into a temporary folder. The loop does far less: it draws a
page, a reader and a time for every line and keeps no truth. Compiling the kernels is not counted:
a small corpus is written first, as after any earlier use (they are cached on disk).
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import random
import resource
import tempfile
import time
from pathlib import Path

from temporal_assets.demo import DemoOptions, generate
from temporal_assets.demo.world.people import READER_AGENTS

_PLAIN_LINES = 400_000
_TARGET = 200_000
_PAGES_PER_SITE = 2_500
_SITES = 40


def main() -> None:
    """Print requests per second of both, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=4_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--daily-truth", action="store_true", help="write views and transits too")
    arguments = parser.parse_args()
    options = DemoOptions(
        days=20,
        sites=_SITES,
        pages=_SITES * _PAGES_PER_SITE,
        requests=arguments.requests,
        clients=max(arguments.requests // 14, 1_000),
        daily_truth=arguments.daily_truth,
        mirror=False,
        workers=arguments.workers,
    )
    print(f"{os.cpu_count()} cores, {options.workers} workers, {options.requests:,} requests")
    with tempfile.TemporaryDirectory() as folder:
        generate(DemoOptions(days=3, pages=1_000, requests=5_000), Path(folder) / "warm")
        started = time.perf_counter()
        summary = generate(options, Path(folder) / "corpus")
        seconds = time.perf_counter() - started
        size = sum(path.stat().st_size for path in (Path(folder) / "corpus").rglob("*.*"))
        fast = summary.lines / seconds
        plain = _plain_speed(Path(folder) / "plain.log")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"demo corpus   {fast:>12,.0f} requests/s  ({summary.lines:,} in {seconds:.1f} s)")
    print(f"plain Python  {plain:>12,.0f} requests/s  ({_PLAIN_LINES:,} lines, combined only)")
    print(f"ratio         {fast / plain:>12.1f}")
    print(f"on disk {size / 1e6:,.0f} MB, peak memory {peak:,.0f} MB")
    print(f"target of {_TARGET:,} requests/s: {'met' if fast >= _TARGET else 'MISSED'}")


def _plain_speed(path: Path) -> float:
    """Lines per second of a loop over lines."""
    started = time.perf_counter()
    write_plainly(path, _PLAIN_LINES)
    return _PLAIN_LINES / (time.perf_counter() - started)


def write_plainly(path: Path, lines: int) -> None:
    """Write lines one after the other, each with a page, a reader and a time by chance."""
    dice = random.Random(1)
    midnight = dt.datetime(2025, 3, 3, tzinfo=dt.UTC)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(lines):
            stamp = midnight + dt.timedelta(seconds=dice.randrange(86_400))
            page = int(dice.lognormvariate(8, 1.8)) % 100_000
            client = dice.randrange(131_072)
            referrer = "https://www.google.com/" if dice.random() < 0.3 else "-"
            file.write(
                f"198.{18 + (client >> 16)}.{client >> 8 & 255}.{client & 255} - - "
                f"[{stamp:%d/%b/%Y:%H:%M:%S %z}] "
                f'"GET /news/2025/03/03/{page}.html HTTP/1.1" 200 {700 + page} '
                f'"{referrer}" "{dice.choice(READER_AGENTS)}"\n'
            )


if __name__ == "__main__":
    main()
