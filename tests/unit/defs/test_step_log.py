"""Lines of the package in the log of a step."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from temporal_assets.defs.runs.step_log import step_log

ENGINE = logging.getLogger("temporal_assets.engines.spark.spark_session")


def fail(context: Any) -> None:
    with step_log(context):
        ENGINE.info("UI at %s", "http://127.0.0.1:4040")
        ENGINE.debug("too much")
        logging.getLogger("temporal_assets.machine.locks").warning("waiting")
        logging.getLogger("something.else").warning("of something else")
        raise ValueError("the step fails")


def test_what_the_package_says_is_in_the_log_of_its_step_and_of_no_other() -> None:
    lines: list[tuple[int, str]] = []
    context: Any = SimpleNamespace(log=SimpleNamespace(log=lambda *said: lines.append(said)))
    ENGINE.info("before")
    with pytest.raises(ValueError, match="the step fails"):
        fail(context)
    ENGINE.info("after")
    assert lines == [(logging.INFO, "UI at http://127.0.0.1:4040"), (logging.WARNING, "waiting")]
