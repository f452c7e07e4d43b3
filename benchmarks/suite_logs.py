"""Lines of the benchmark suite about logs: making them, reading them, and what was clicked.

Not here: windows of many days (`suite_windows`).
"""

from __future__ import annotations

import datetime as dt
import http.server
import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.suite_job import Done, Job, Sized, same_rows

LOG_LINES: Final[Sized] = {"small": 100_000, "medium": 2_000_000, "paper": 10_000_000}
_CORPUS: Final[Sized] = {"small": 300_000, "medium": 4_000_000, "paper": 10_000_000}
_PLAIN_LINES: Final = 100_000
_FAKER_LINES: Final = 5_000
_COUNTED: Final = "counts.txt"
_MATOMO_LINES: Final = 100_000
"""Writers and readers that go line by line: a speed that does not depend on how many there are."""


def write_inputs(folder: Path, size: str) -> None:
    """The log, and the requests of its first day."""
    from benchmarks.ingest import write_log
    from temporal_assets.days.daily import build_requests
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.landing.landing import refresh
    from temporal_assets.settings import load_settings
    from temporal_assets.storage.store import Store

    write_log(folder, LOG_LINES[size], folder / "access.log")
    source = {"path": str(folder / "access.log"), "host": "example.com"}
    settings = load_settings(folder / "read", sources=[source])
    refresh(settings)
    inventory = Inventory.load(settings)
    day = inventory.days()[0]
    build_requests(Store.open(settings), DuckDBEngine(settings), settings, day, inventory)


# Making logs ---------------------------------------------------------------------------------


def made_by_us(folder: Path, size: str) -> Job:
    """The demo corpus: pages that live and die, readers with sessions, robots, noise, truth."""
    from temporal_assets.demo import DemoOptions, generate

    def options(requests: int, days: int) -> DemoOptions:
        clients = max(requests // 14, 1_000)
        return DemoOptions(
            days=days, sites=40, pages=max(1_600, requests // 40), requests=requests,
            clients=clients, daily_truth=False, mirror=False, workers=2,
        )  # fmt: skip

    def job() -> Done:
        with tempfile.TemporaryDirectory(dir=folder) as out:
            return generate(options(_CORPUS[size], 20), Path(out) / "corpus").lines, None

    with tempfile.TemporaryDirectory(dir=folder) as out:
        generate(options(5_000, 3), Path(out) / "corpus")  # compiled loops are loaded
    return job


def made_plainly(folder: Path, _: str) -> Job:
    """A loop that draws a page, a reader and a time for every line."""

    def job() -> Done:
        write_plainly(folder / "plain.log", _PLAIN_LINES)
        return _PLAIN_LINES, None

    return job


def made_by_faker(folder: Path, _: str) -> Job:
    """A line from Faker's providers, as the generators of fake access logs have it."""
    from faker import Faker

    fake = Faker()
    Faker.seed(1)
    dice = random.Random(1)

    def job() -> Done:
        with (folder / "faker.log").open("w", encoding="utf-8") as log:
            for _ in range(_FAKER_LINES):
                when = fake.date_time_this_month()
                log.write(
                    f"{fake.ipv4_public()} - - [{when:%d/%b/%Y:%H:%M:%S} +0000] "
                    f'"GET /{fake.uri_path()}.html HTTP/1.1" {dice.choice((200, 200, 304, 404))} '
                    f'{dice.randrange(5_000)} "{fake.uri()}" "{fake.user_agent()}"\n'
                )
        return _FAKER_LINES, None

    return job


# Reading logs --------------------------------------------------------------------------------


def read_by_us(folder: Path, _: str) -> Job:
    """Clean, canonical, pseudonymous, published requests, and distinct clients by page."""

    def read(log: Path) -> int:
        # What was published stays, as what the others count does: removing it is no job of theirs.
        return _published(Path(tempfile.mkdtemp(dir=folder)), log)[0]

    read(_head(folder, 5_000))  # compiled loops are loaded
    return lambda: (read(folder / "access.log"), None)


def _published(state: Path, log: Path) -> tuple[int, list[str]]:
    """Lines that were read, and the files of `page_views`."""
    from temporal_assets.days.daily import build_derived, build_requests
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.landing.landing import refresh
    from temporal_assets.settings import load_settings
    from temporal_assets.storage.store import Store

    settings = load_settings(state, sources=[{"path": str(log), "host": "example.com"}])
    lines = sum(file.lines for file in refresh(settings).landed)
    store, engine = Store.open(settings), DuckDBEngine(settings)
    inventory = Inventory.load(settings)

    def views(day: dt.date) -> list[str]:
        build_requests(store, engine, settings, day, inventory)
        return store.paths(build_derived(store, engine, "page_views", day).manifest)

    return lines, [path for day in inventory.days() for path in views(day)]


def read_by_awk(folder: Path, _: str) -> Job:
    """The same visitors of the same pages, which `visits_are_alike` compares."""
    visits = Path(__file__).with_name("visits.awk")
    # All robots are known when the first line has been sorted.
    people = (
        'NR == 1 { while ((getline robot < "robots.txt") > 0) is_robot[robot] }'
        ' !(($1 " " $3) in is_robot) { print $1, $2 }'
    )
    read = f"awk -v robots=robots.txt -f '{visits}' access.log"
    return _shell(folder, f": > robots.txt; {read} | sort -u | awk '{people}' | uniq -c", _COUNTED)


def read_by_sort(folder: Path, _: str) -> Job:
    """Distinct addresses by day and target of all lines, robots and spellings as they stand."""
    targets = "awk '{print substr($4, 2, 11), $7, $1}' access.log"
    return _shell(folder, f"{targets} | sort -u | awk '{{print $1, $2}}' | uniq -c", "targets.txt")


def _shell(folder: Path, command: str, target: str) -> Job:
    plain = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}

    def job() -> Done:
        with (folder / target).open("wb") as out:
            subprocess.run(["sh", "-c", command], stdout=out, check=True, env=plain, cwd=folder)
        return _lines_of(folder / "access.log"), None

    return job


def visits_are_alike(folder: Path, _: str) -> None:
    """Stop unless awk and we count the same visitors of the same pages, and lines as they stand."""
    import pandas as pd

    from benchmarks.suite_parts import lines_are_alike

    counted = pd.read_csv(
        folder / _COUNTED, sep=" ", skipinitialspace=True, names=["views", "day", "url"]
    )
    counted["url"] = "https://example.com" + counted["url"]
    counted["day"] = pd.to_datetime(counted["day"]).dt.date
    counted.to_parquet(folder / "counted.parquet")
    with tempfile.TemporaryDirectory(dir=folder) as state:
        _, files = _published(Path(state), folder / "access.log")
        same_rows(folder / "counted.parquet", files, ["day", "url"], without=("site",))
    lines_are_alike(folder)


def read_by_goaccess(folder: Path, _: str) -> Job:
    """Its JSON report."""

    def job() -> Done:
        log, report = str(folder / "access.log"), str(folder / "report.json")
        options = ["--log-format=COMBINED", "--no-global-config", "--no-progress", "-o", report]
        subprocess.run(["goaccess", log, *options], check=True, capture_output=True)
        return _lines_of(folder / "access.log"), None

    return job


def read_by_matomo(folder: Path, _: str) -> Job:
    """`import_logs.py --dry-run`: it parses and sorts out, and sends nothing."""
    program = shutil.which("import_logs.py") or ""
    log = _head(folder, _MATOMO_LINES)

    def job() -> Done:
        with _matomo() as url:
            command = [sys.executable, program, f"--url={url}", "--token-auth=none", "--idsite=1"]
            options = ["--dry-run", "--log-format-name=ncsa_extended", str(log)]
            subprocess.run([*command, *options], check=True, capture_output=True)
        return _lines_of(log), None

    return job


@contextmanager
def _matomo() -> Iterator[str]:
    """Stands for the server that the importer asks for the name of its site, and nothing else."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"idsite": "1", "main_url": "https://example.com"}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _head(folder: Path, lines: int) -> Path:
    """The first lines of the log as a file of its own."""
    log = folder / f"first-{lines}.log"
    if not log.exists():
        with (folder / "access.log").open("rb") as whole, log.open("wb") as head:
            head.writelines(line for _, line in zip(range(lines), whole, strict=False))
    return log


def _lines_of(log: Path) -> int:
    with log.open("rb") as lines:
        return sum(1 for _ in lines)


# Distinct transits of a day ------------------------------------------------------------------


def transits_by_us(folder: Path, _: str) -> Job:
    """The file of `transits`."""
    from benchmarks.suite_windows import published_by
    from temporal_assets.days.transits import make_transits
    from temporal_assets.engines.statements import run

    files = [_requests(folder)]
    return published_by(
        folder, files, lambda engine, out: run(engine, make_transits(files, out)).rows
    )


def transits_by_pandas(folder: Path, _: str) -> Job:
    """Without doubles, in the order of ours."""
    import pandas as pd

    columns = ["day", "referrer", "url", "client"]

    def job() -> Done:
        read = pd.read_parquet(_requests(folder))
        kept = read.loc[read.referrer.isna() | (read.referrer != read.url), columns]
        order = ["url", "referrer", "client"]
        out = kept.drop_duplicates().sort_values(order, na_position="first")
        out.to_parquet(folder / "pandas.parquet", compression="zstd")
        return len(read), len(out)

    return job


def transits_by_polars(folder: Path, _: str) -> Job:
    """The same."""
    import polars as pl

    def job() -> Done:
        read = pl.read_parquet(_requests(folder))
        kept = read.filter(pl.col("referrer").is_null() | (pl.col("referrer") != pl.col("url")))
        out = kept.select("day", "referrer", "url", "client").unique()
        out.sort("url", "referrer", "client").write_parquet(folder / "polars.parquet")
        return len(read), len(out)

    return job


def _requests(folder: Path) -> str:
    return str(next((folder / "read" / "tables" / "requests").glob("*/*.parquet")))


def write_plainly(path: Path, lines: int) -> None:
    """Write lines one after the other, each with a page, a reader and a time by chance."""
    from temporal_assets.demo.world.people import READER_AGENTS

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
