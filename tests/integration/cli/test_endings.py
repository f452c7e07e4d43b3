"""Commands that are ended say so with 130, and the next call goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import answer, call, line, spawn

ENDINGS = {
    "ctrl-c": (signal.SIGINT, signal.default_int_handler),
    "sigterm": (signal.SIGTERM, signal.default_int_handler),
    "sigterm in the background": (signal.SIGTERM, signal.SIG_IGN),
}
"""Ways of ending a command: a signal, and its handler of Ctrl-C (ignored in the background)."""

MORE_ENDINGS = [pytest.param(name, marks=pytest.mark.slow) for name in [*ENDINGS][1:]]


@pytest.mark.parametrize("ending", ["ctrl-c", *MORE_ENDINGS])
def test_a_command_that_is_ended_says_so_with_130(state: Path, ending: str) -> None:
    number, on_ctrl_c = ENDINGS[ending]
    process = spawn(
        "demo", "--size", "medium", "--state", state, on_ctrl_c=on_ctrl_c, start_new_session=True
    )
    assert process.stderr
    assert process.stderr.readline().startswith("Writing 60 days")
    _end(process, number)


def test_a_command_ends_after_what_was_left_to_do_at_its_end() -> None:
    """Objects are not freed one by one, but output is written and exit functions are called."""
    program = (
        "import atexit, sys\n"
        "from temporal_assets.cli import app, main\n"
        "app.app = lambda: (atexit.register(print, 'last words'), sys.exit(3))\n"
        "main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("last words\n", "", 3)


@pytest.mark.slow
def test_a_build_that_is_ended_says_so_and_the_next_goes_on(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends it here; `test_materialize` has SIGTERM."""
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    log = tmp_path / "access.log"
    log.write_text(
        "".join(
            line("192.0.2.1", f"{day:02} 10:00:00", f"GET /{day}") + "\n" for day in range(1, 9)
        )
    )
    call("ingest", log, "--host", "a.example", "--state", state)
    number, on_ctrl_c = ENDINGS["ctrl-c"]
    build = ("materialize", "requests", "page_views", "--state", state)
    process = spawn(*build, on_ctrl_c=on_ctrl_c, start_new_session=True)
    published = state / "tables" / "requests"
    while process.poll() is None and not list(published.glob("*/manifest.json")):
        time.sleep(0.01)
    _end(process, number)
    before = len(list(published.glob("*/manifest.json")))
    assert call(*build).exit_code == 0
    assert 1 <= before <= 8
    assert answer(state, "SELECT count(*) AS views FROM page_views") == [{"views": 8}]


@pytest.mark.parametrize("ending", ["ctrl-c", MORE_ENDINGS[-1]])
def test_a_query_that_takes_long_is_ended_at_once(built: tuple[Path, Any], ending: str) -> None:
    """DuckDB does not look for signals while it works."""
    number, on_ctrl_c = ENDINGS[ending]
    sql = "SELECT count(*) FROM range(30000000) a, range(1000) b WHERE a.range * b.range % 7 = 3"
    process = spawn("query", sql, "--state", built[0], on_ctrl_c=on_ctrl_c, start_new_session=True)
    time.sleep(3)
    assert process.poll() is None
    started = time.monotonic()
    _end(process, number)
    assert time.monotonic() - started < 20


def _end(process: subprocess.Popen[str], number: signal.Signals) -> None:
    # As terminals and service managers do it: all processes of the command are told.
    os.killpg(process.pid, number)
    _, output = process.communicate(timeout=120)
    assert process.returncode == 130, output
    assert "Stopped." in output
    assert "Traceback" not in output
