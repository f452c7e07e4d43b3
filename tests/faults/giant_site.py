"""A site with ten million URLs in the logs of a day, beside an honest one.

    python -m tests.faults.giant_site [--urls 10000000] [--folder FOLDER]

The kind `poison` asks the same of a hundred thousand. Here the command is that of every night, in
a process of its own, and what it took is printed. The honest site must have the rows that it has
without the other. Not among the trials: it takes minutes and gigabytes.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import temporal_assets
from tests import logs

DAYS: Final = 2
FIRST: Final = dt.date(2026, 1, 1)
ADDRESSES: Final = 120_000
"""Addresses within 198.18.0.0/15: so many that no visitor looks like a robot."""
HONEST: Final = ("page_views", "transits", "page_histories", "page_labels", "site_scores")
SETTINGS: Final = """
[window]
days = 7
min_days = 2
[[sources]]
path = "LOGS/honest-*.log"
host = "honest.example"
[[sources]]
path = "LOGS/giant-*.log"
host = "giant.example"
"""


def main() -> None:
    """Write the logs, make everything of them with and without the giant, compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--urls", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where to work: 5 GB for ten million URLs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="giant-", dir=options.folder) as folder:
        root = Path(folder)
        write_honest(root / "logs")
        alone = made(root / "without")
        write_giant(root / "logs" / "giant-1.log", options.urls)
        beside = made(root / "with")
        for asset in HONEST:
            wanted, actual = rows(alone, asset), rows(beside, asset)
            if not wanted or wanted != actual:
                raise SystemExit(f"{asset} of the honest site: {actual}, not {wanted}"[:2000])
            print(f"{asset} of the honest site: the same {len(actual)} rows")
        tell(beside)


def write_honest(folder: Path) -> None:
    """Two days of a small site."""
    for n in range(DAYS):
        day = FIRST + dt.timedelta(days=n)
        logs.write(folder / f"honest-{day}.log", logs.day_of_lines(day, clients=50))


def write_giant(path: Path, urls: int) -> None:
    """Every URL is opened once, on the last day, coming from the one before."""
    day = (FIRST + dt.timedelta(days=DAYS - 1)).strftime("%d/%b/%Y")
    with path.open("w", encoding="ascii") as file:
        before = "-"
        for n in range(urls):
            second, visitor = n * 86_400 // urls, n % ADDRESSES
            clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
            target = f"/{n % 997}/{n * 7919 % 1_000_003}/page-{n}.html"
            file.write(
                f"198.{18 + visitor // 65_536}.{visitor // 256 % 256}.{visitor % 256} - -"
                f' [{day}:{clock} +0000] "GET {target} HTTP/1.1" 200 512 "{before}"'
                f' "{logs.BROWSER}"\n'
            )
            before = f"https://giant.example{target}"
    then = time.time() - 600
    os.utime(path, (then, then))


def made(state: Path) -> Path:
    """A state folder with everything made of the logs that are there."""
    state.mkdir()
    (state / "settings.toml").write_text(
        SETTINGS.replace("LOGS", str(state.parent / "logs")), "utf-8"
    )
    begun = time.monotonic()
    command = [sys.executable, "-m", "temporal_assets", "materialize", "--state", str(state)]
    ended = subprocess.run(command, capture_output=True, text=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    seconds = time.monotonic() - begun
    print(f"{state.name} the giant: {seconds:.0f} s, at most {peak:,} MiB a process", flush=True)
    if ended.returncode:
        raise SystemExit(ended.stdout[-2000:] + ended.stderr[-2000:])
    return state


def rows(state: Path, asset: str) -> list[str]:
    """Rows of the honest site, without an order and without pseudonyms, which have other keys."""
    column = {"transits": "target", "site_scores": "site"}.get(asset, "url")
    sql = f"SELECT * FROM {asset} WHERE {column} LIKE '%honest.example%'"  # noqa: S608 - our names
    actual = temporal_assets.open(state).query(sql).to_pylist()
    return sorted(
        str({name: one for name, one in row.items() if name != "client"}) for row in actual
    )


def tell(state: Path) -> None:
    """Print what became of the giant."""
    actual = temporal_assets.open(state)
    for sql in (
        "SELECT count(*) AS pages, sum(views)::BIGINT AS views FROM page_views"
        " WHERE url LIKE 'https://giant.example/%'",
        "SELECT status, reason, count(*) AS nodes FROM url_patterns"
        " WHERE site LIKE '%giant.example%' GROUP BY ALL",
    ):
        print(*actual.query(sql).to_pylist())


if __name__ == "__main__":
    main()
