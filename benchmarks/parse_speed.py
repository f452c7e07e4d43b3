"""Lines a second from bytes to records, against DuckDB's CSV reader and a Python loop.

Run `python benchmarks/parse_speed.py`. All ways read the same lines in the same process, one after
the other, each on one core; the last lines are the ratios. The work is not quite the same, and the
differences favour the others: DuckDB splits at blanks and quotes and counts, so it neither reads
times, requests or statuses nor says which lines were bad and why (with `ignore_errors` it drops
them silently); the Python loop matches one regular expression and converts the status.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import duckdb

from temporal_assets.logs.formats.detect import resolve
from temporal_assets.logs.formats.formats import FORMATS, State, advance, parse
from temporal_assets.logs.read.records import Block, Reject
from temporal_assets.logs.read.streams import open_stream
from temporal_assets.settings import LogSource, Reading

_LINES: Final = 1_000_000
_DISTINCT: Final = 50_000
"""Lines that are generated; the file repeats them. No reader here remembers lines."""
_BAD_SHARE: Final = 0.001
_ROUNDS: Final = 3
_SEED: Final = 20130101
_AGENTS: Final = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/120.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148",
)

_COMBINED: Final = re.compile(
    r'(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+)(?: [^"]*)?" (\d{3}) \S+ "([^"]*)" "([^"]*)"'
)


def _line(generator: random.Random, style: str) -> str:
    """One request in a format."""
    address = ".".join(str(generator.randrange(1, 255)) for _ in range(4))
    section, story = generator.randrange(40), generator.randrange(9**6)
    path = f"/section-{section}/2024/05/a-headline-of-some-words-{story}.html"
    clock = (
        f"{generator.randrange(24):02}:{generator.randrange(60):02}:{generator.randrange(60):02}"
    )
    agent = generator.choice(_AGENTS)
    referrer = generator.choice(("-", f"https://www.news.example{path[:12]}/"))
    status = generator.choice((200, 200, 200, 304, 404))
    if style == "nginx_json":
        return (
            f'{{"time_iso8601":"2024-05-06T{clock}+00:00","remote_addr":"{address}",'
            f'"host":"www.news.example","request":"GET {path} HTTP/1.1","status":{status},'
            f'"http_referer":"{referrer}","http_user_agent":"{agent}"}}\n'
        )
    if style == "w3c":
        return (
            f"2024-05-06 {clock} 10.0.0.1 GET {path} - 80 - {address} "
            f"{agent.replace(' ', '+')} {referrer} {status} 0 0 31\n"
        )
    if style == "csv":
        return f'2024-05-06T{clock}Z,{address},GET,{path},{referrer},"{agent}",{status}\n'
    if generator.random() < _BAD_SHARE:
        return f'{address} - - [06/May/2024:{clock} +0000] "\\x16\\x03\\x01" 400 0 "-" "-"\n'
    return (
        f'{address} - - [06/May/2024:{clock} +0000] "GET {path} HTTP/1.1" {status} 5120 '
        f'"{referrer}" "{agent}"\n'
    )


_HEADERS: Final = {
    "w3c": "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip "
    "cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\n",
    "csv": "time,address,method,target,referrer,agent,status\n",
}


def write_log(path: Path, style: str, lines: int) -> None:
    """A log of so many lines."""
    generator = random.Random(_SEED)
    distinct = [_line(generator, style) for _ in range(min(lines, _DISTINCT))]
    with path.open("w") as file:
        file.write(_HEADERS.get(style, ""))
        for start in range(0, lines, len(distinct)):
            file.writelines(distinct[: lines - start])


def ours(path: Path) -> Counter[str]:
    """Lines by reason, as the product reads them, without threads."""
    source, reading = LogSource(path=str(path)), Reading()
    reasons: Counter[str] = Counter()
    state: State = None
    with open_stream(path, reading) as stream:
        fmt = resolve(source, stream.head)
        for block in stream:
            records = parse(block, fmt, source, reading, state)
            state = advance(block, fmt, state, source)
            for reason in Reject:
                reasons[reason.label] += int((records.reason == reason).sum())
    return +reasons


def parse_only(blocks: list[Block]) -> int:
    """Records of combined lines that are in memory: without the file, its digest and its lines."""
    source, reading = LogSource(path="memory"), Reading()
    return sum(len(parse(block, FORMATS["combined"], source, reading)) for block in blocks)


def with_duckdb(path: Path) -> int:
    """Lines whose blanks and quotes make ten fields."""
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(10))
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        row = connection.execute(
            f"SELECT count(*), max(c5), max(c8) FROM read_csv($1, delim=' ', quote='\"', "  # noqa: S608
            f"escape='\\', header=false, columns={{{names}}}, ignore_errors=true, "
            "auto_detect=false)",
            [str(path)],
        ).fetchall()
    return int(row[0][0])


def with_python(path: Path) -> int:
    """Lines that match a regular expression."""
    good = 0
    with path.open() as file:
        for line in file:
            match = _COMBINED.match(line)
            good += match is not None and int(match[5]) > 0
    return good


def seconds(work: Callable[[], object]) -> float:
    """Median processor time of some rounds: other work on the machine is no matter."""
    times = []
    for _ in range(_ROUNDS):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def compare(folder: Path, lines: int) -> None:
    """Combined lines by all three ways."""
    path = folder / "access.log"
    write_log(path, "combined", lines)
    reasons = ours(path)  # compiles the kernels, too
    good = (with_duckdb(path), with_python(path))
    size = path.stat().st_size
    with open_stream(path, Reading()) as stream:
        blocks = list(stream)
    print(f"{lines:,} combined lines, {size / lines:.0f} bytes each, one core, median of {_ROUNDS}")
    print(f"read by us {dict(reasons)}, by DuckDB {good[0]:,}, by Python {good[1]:,}")
    spent = {
        "temporal_assets": seconds(lambda: ours(path)),
        "  parsing alone": seconds(lambda: parse_only(blocks)),
        "DuckDB read_csv": seconds(lambda: with_duckdb(path)),
        "Python re loop": seconds(lambda: with_python(path)),
    }
    for name, took in spent.items():
        print(
            f"{name:<18}{took:8.3f} s {lines / took:12,.0f} lines/s {size / took / 1e6:8.0f} MB/s"
        )
    for name in list(spent)[2:]:
        print(f"ratio to {name}: {spent[name] / spent['temporal_assets']:.1f}")


def others(folder: Path, lines: int) -> None:
    """Other formats, read by us."""
    for style in ("w3c", "csv", "nginx_json"):
        path = folder / f"{style}.log"
        write_log(path, style, lines)
        ours(path)
        took = seconds(lambda path=path: ours(path))
        print(f"{style:<18}{took:8.3f} s {lines / took:12,.0f} lines/s")


def main() -> None:
    """Print speeds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=_LINES, help="lines of the log")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), arguments.lines)
        others(Path(folder), arguments.lines // 4)


if __name__ == "__main__":
    main()
