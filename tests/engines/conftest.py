"""The engines under test. A new engine is added here and passes the same suite.

Spark takes a second for what DuckDB does in a hundredth: its part is asked for by name,
`pytest -m spark -n 0 tests/engines`, and hypothesis tries few examples there (tests/conftest.py).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from temporal_assets.engines.base import Engine
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import Spark, load_settings

SPARK = {
    "master": "local[2]",
    # Two tasks are enough for rows to be in different ones.
    "config": {"spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false"},
}


@pytest.fixture(scope="session")
def duckdb(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The engine that goes on from windows before, and reads tables in step."""
    return DuckDBEngine(load_settings(tmp_path_factory.mktemp("engine")))


@pytest.fixture(scope="session", params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Every engine in turn."""
    name = "spark_engine" if request.param == "spark" else "duckdb"
    actual: Engine = request.getfixturevalue(name)
    return actual


@pytest.fixture(scope="session")
def spark_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Spark, of which a process has one session."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java")
    from temporal_assets.engines.spark import spark

    with pytest.MonkeyPatch.context() as patch:
        # Kernels of tests are found by workers where tests find each other.
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        # Every question goes to it, however small the files.
        patch.setattr(spark, "LOCAL_MEGABYTES", 0)
        state = tmp_path_factory.mktemp("engine")
        patch.setattr(Spark, "one_task_megabytes", 0)  # nor does DuckDB run it as one task
        engine = spark.SparkEngine(load_settings(state, engine={"name": "spark"}, spark=SPARK))
        yield engine
        engine.close()


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
