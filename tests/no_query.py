"""An engine for ways that work without statements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from temporal_assets.engines.base import Engine


class NoQuery:
    """An engine that may write, and is not to be asked."""

    spread = None

    def __init__(self, engine: Engine) -> None:
        self.write = engine.write

    def query(self, *_: Any) -> list[Path]:
        raise AssertionError("what fits is not the database's")
