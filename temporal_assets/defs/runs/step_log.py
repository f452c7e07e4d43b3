"""The package's log lines while a step runs, sent to the log of that step.

Here: taking the lines of our loggers to Dagster's, where the UI shows them. Not here: what they
say: how far a cluster is (`engines.spark.spark_progress`), or whom a step waits for
(`machine.locks`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import dagster as dg

_PACKAGE: Final = "temporal_assets"


@contextmanager
def step_log(context: dg.AssetExecutionContext) -> Iterator[None]:
    """Show the package's log lines, from INFO on, in the log of this step."""
    logger = logging.getLogger(_PACKAGE)
    before, handler = logger.level, _ToStep(context.log)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


class _ToStep(logging.Handler):
    def __init__(self, log: dg.DagsterLogManager) -> None:
        super().__init__(logging.INFO)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a record on unchanged: Dagster adds the step and the run."""
        self._log.log(record.levelno, record.getMessage())
