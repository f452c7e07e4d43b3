"""How commands end when they are told to."""

from __future__ import annotations

import signal

import pytest

from temporal_assets.cli.exits import interruptions


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
