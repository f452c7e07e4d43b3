"""A log of ten lines, and ways to run commands on it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.windows.registry import WAITING_NAMES, WINDOW_NAMES

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
ROBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
HOME = "https://a.example/"
EARLY_NAMES = set(WINDOW_NAMES) - WAITING_NAMES
"""Window assets that are made from the first day."""


def line(
    address: str,
    time: str,
    request: str,
    referrer: str = "-",
    status: int = 200,
    agent: str = BROWSER,
) -> str:
    day, clock = time.split(" ")
    return (
        f'{address} - - [{day}/Jan/2026:{clock} +0000] "{request} HTTP/1.1" {status} 512 '
        f'"{referrer}" "{agent}"'
    )


LOG = [
    line("192.0.2.1", "30 10:00:00", "GET /"),
    line("192.0.2.1", "30 10:01:00", "GET /news/1", HOME),
    line("192.0.2.1", "30 10:02:00", "GET /news/1", HOME),  # again: the same view and transit
    line("192.0.2.2", "30 10:03:00", "GET /news/1", HOME),
    line("192.0.2.2", "30 10:03:01", "GET /style.css", HOME),
    line("192.0.2.3", "30 10:04:00", "POST /form", HOME),
    line("192.0.2.3", "30 10:05:00", "GET /gone", HOME, status=404),
    line("192.0.2.4", "30 10:06:00", "GET /", agent=ROBOT),
    "no log line at all",
    line("192.0.2.1", "31 09:00:00", "GET /news/2", "https://a.example/news/1"),
]


def call(*arguments: str | Path, stdin: str | None = None) -> Any:
    """Run a command in this process; a fault of the program fails the test with its traceback."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def spawn(
    *arguments: str | Path, on_ctrl_c: Any = signal.default_int_handler, **options: Any
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "temporal_assets", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that a shell started in the background ignore interrupts, and so do their children.
        preexec_fn=partial(signal.signal, signal.SIGINT, on_ctrl_c),
        **options,
    )


def answer(state: Path, sql: str) -> Any:
    return json.loads(call("query", sql, "--json", "--state", state).stdout)
