"""Settings of allocators by `temporal_assets.machine.memory`, and their effect."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from temporal_assets.machine import memory


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Environment of a process which keeps its memory."""
    for name in memory._KEPT:
        monkeypatch.delenv(name, raising=False)
    memory.keep_memory()
    return dict(os.environ)


def said_by(program: str, environment: dict[str, str]) -> str:
    """Return what a process writes to its error stream."""
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stderr


def test_arrow_keeps_its_memory(environment: dict[str, str]) -> None:
    environment["MIMALLOC_VERBOSE"] = "1"
    message = said_by("import pyarrow; pyarrow.allocate_buffer(1)", environment)
    assert "'purge_delay': -1" in message


@pytest.mark.skipif(sys.platform != "linux", reason="DuckDB brings its allocator on Linux only")
def test_duckdb_keeps_its_memory_for_a_while(environment: dict[str, str]) -> None:
    name = "DUCKDB_JE_MALLOC_CONF"
    environment[name] += ",confirm_conf:true"
    message = said_by("import duckdb", environment)
    assert "Set conf value: dirty_decay_ms:30000" in message
    assert "Invalid" not in message


def test_what_is_said_already_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIMALLOC_PURGE_DELAY", "7")
    monkeypatch.setenv("DUCKDB_JE_MALLOC_CONF", "")
    memory.keep_memory()
    assert os.environ["MIMALLOC_PURGE_DELAY"] == "7"
    assert os.environ["DUCKDB_JE_MALLOC_CONF"] == ""
