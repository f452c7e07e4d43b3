"""The engines under test. A new engine is added here and passes the same suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from temporal_assets.engines.base import Engine
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings


@pytest.fixture(scope="session", params=["duckdb"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Every engine in turn."""
    assert request.param == "duckdb"
    return DuckDBEngine(load_settings(tmp_path_factory.mktemp("engine")))


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    """Where results are written."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
