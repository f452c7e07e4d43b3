"""The engine that the settings choose. Spark is imported only if it is chosen."""

from __future__ import annotations

from importlib.metadata import version

from temporal_assets.engines.base import Engine
from temporal_assets.settings import Settings


def engine_of(settings: Settings) -> Engine:
    """Return the engine that the settings choose, not started yet."""
    if settings.engine.name == "spark":
        from temporal_assets.engines.spark.spark import SparkEngine

        return SparkEngine(settings)
    from temporal_assets.engines.duckdb import DuckDBEngine

    return DuckDBEngine(settings)


def engine_version(settings: Settings) -> str:
    """Return the name and version of the engine, for reports."""
    name = settings.engine.name
    return f"{name} {version('pyspark' if name == 'spark' else name)}"
