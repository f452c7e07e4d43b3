"""Folders of logs, and what happens while they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from temporal_assets.logs.read import streams
from temporal_assets.logs.read.streams import LogStream
from temporal_assets.settings import Reading


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder into which the web server writes its logs."""
    actual = tmp_path / "logs"
    actual.mkdir()
    return actual


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Lengths of other logs that each opened log is compared with."""
    actual = []
    opened = streams.open_stream

    def noting(
        path: Path, reading: Reading, checkpoints: Sequence[int] = (), **more: Any
    ) -> LogStream:
        actual.append(tuple(checkpoints))
        return opened(path, reading, checkpoints, **more)

    monkeypatch.setattr(streams, "open_stream", noting)
    return actual
