"""The reader that all traps are laid for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.log_traps import Reader


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return Reader(tmp_path)
