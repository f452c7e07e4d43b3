"""Endings of commands by signals."""

from __future__ import annotations

import ctypes
import signal
import sys
import time
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from temporal_assets.cli.shared.exits import INTERRUPTED, command, interruptions
from temporal_assets.cli.understand import explore


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_was_pressed_and_swallowed_ends_what_begins_later(number: signal.Signals) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with interruptions() as outer:
            with interruptions() as inner:
                assert not inner()
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)
            with interruptions() as inner:
                assert inner()
            assert outer()
        with interruptions() as later:
            assert not later()
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_a_handler_interrupts_while_it_is_asked_for_is_still_known() -> None:
    """A handler that raises when the note has just been read, as Dagster's may."""

    class Raised(BaseException):
        pass

    def raising(_frame: Any, event: str, called: Any) -> None:
        if event == "c_return" and called.__name__ in ("read", "recv"):
            sys.setprofile(None)
            raise Raised

    with interruptions() as interrupted:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        sys.setprofile(raising)
        with pytest.raises(Raised):
            interrupted()
        assert interrupted()


def test_what_is_no_exception_is_an_interruption_where_one_was_asked_for() -> None:
    class Interrupted(BaseException):
        """Exception like Dagster's own."""

    @command
    def body(*, told: bool) -> None:
        if told:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
        raise Interrupted

    with pytest.raises(typer.Exit) as ended:
        body(told=True)
    assert ended.value.exit_code == INTERRUPTED
    with pytest.raises(Interrupted):
        body(told=False)


def test_an_end_in_a_callback_of_a_library_ends_the_command_without_a_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    @ctypes.CFUNCTYPE(None)
    def callback() -> None:
        signal.raise_signal(signal.SIGTERM)

    @command
    def run() -> None:
        callback()
        time.sleep(30)

    with pytest.raises(typer.Exit) as ended:
        run()
    assert ended.value.exit_code == INTERRUPTED
    output = capfd.readouterr()
    assert "Traceback" not in output.out + output.err


def test_a_server_that_somebody_ends_ends_with_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Server:
        server_port = 3002

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

        def serve_forever(self) -> None:
            raise KeyboardInterrupt

    window = SimpleNamespace(day="2026-03-01", decision=lambda _url: None)
    monkeypatch.setattr(explore, "existing_settings", lambda _state: None)
    monkeypatch.setattr("temporal_assets.cli.explorer.rows.Window", lambda *_: window)
    monkeypatch.setattr("temporal_assets.cli.explorer.server.serve", lambda *_: Server())
    monkeypatch.setattr("temporal_assets.cli.shared.precompile.precompiling", nullcontext)
    explore.run()
    assert "the explorer has ended" in capsys.readouterr().err
