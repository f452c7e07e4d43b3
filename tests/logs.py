"""Small access logs in the combined format, written line by line."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Sequence
from pathlib import Path

BROWSER = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0"


def line(
    when: dt.datetime,
    path: str,
    address: str = "192.0.2.1",
    referrer: str = "-",
    status: int = 200,
    agent: str = BROWSER,
) -> str:
    """Return a request in the combined format, at a time in UTC."""
    stamp = when.strftime("%d/%b/%Y:%H:%M:%S +0000")
    return f'{address} - - [{stamp}] "GET {path} HTTP/1.1" {status} 512 "{referrer}" "{agent}"'


def common_line(when: dt.datetime, path: str, address: str = "192.0.2.1") -> str:
    """Return a request in the common format, which has neither referrer nor agent."""
    stamp = when.strftime("%d/%b/%Y:%H:%M:%S +0000")
    return f'{address} - - [{stamp}] "GET {path} HTTP/1.1" 200 512'


def day_of_lines(day: dt.date, clients: int = 3) -> list[str]:
    """Every client opens `/` and goes on from there to `/news/<day>`: two requests each."""
    noon = dt.datetime.combine(day, dt.time(12))
    lines = []
    for n in range(clients):
        address = f"192.0.2.{n + 1}"
        when = noon + dt.timedelta(minutes=n)
        lines.append(line(when, "/", address))
        lines.append(line(when, f"/news/{day}", address, "https://example.com/"))
    return lines


def write(path: Path, lines: Sequence[str], minutes_old: float = 10) -> Path:
    """Write a log that was last changed some minutes ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{log_line}\n" for log_line in lines), encoding="utf-8")
    then = dt.datetime.now(dt.UTC).timestamp() - 60 * minutes_old
    os.utime(path, (then, then))
    return path


def write_days(folder: Path, first: dt.date, days: int, clients: int = 3) -> list[dt.date]:
    """Write a log file per day, `access-<day>.log`. Returns the days."""
    actual = [first + dt.timedelta(days=n) for n in range(days)]
    for day in actual:
        write(folder / f"access-{day}.log", day_of_lines(day, clients))
    return actual
