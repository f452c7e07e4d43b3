"""`ui`: the servers that it starts."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from temporal_assets.cli.operate import ui
from tests.command_line import call


def test_the_ui_is_bound_to_this_machine(
    built: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    state, _ = built
    started: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(os, "execve", lambda _path, args, env: started.append((args, env)))
    monkeypatch.setattr(
        ui, "_run_together", lambda both, env: started.extend((args, env) for args in both)
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert call("ui", "--port", str(port), "--state", state).exit_code == 0
    server, daemon = started
    assert "-h" not in daemon[0]  # it listens to nobody
    started.clear()
    monkeypatch.setattr(os, "execve", lambda _path, args, env: started.append((args, env)))
    monkeypatch.setattr(ui, "_run_together", lambda *_: None)
    assert call("ui", "--port", str(port), "--read-only", "--state", state).exit_code == 0
    started = [server, *started]
    for arguments, environment in started:
        assert "temporal_assets.guard" in arguments
        assert arguments[arguments.index("-h") + 1] == "127.0.0.1"
        assert environment["TEMPORAL_ASSETS_STATE"] == str(state)
        assert environment["DAGSTER_HOME"] == str(state / "dagster")
    assert ["--read-only" in arguments for arguments, _ in started] == [False, True]


def test_the_ui_says_when_its_port_is_taken(built: tuple[Path, Any]) -> None:
    state, _ = built
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = call("ui", "--port", str(taken.getsockname()[1]), "--state", state)
    assert result.exit_code == 1
    assert "choose another with --port" in result.stderr
