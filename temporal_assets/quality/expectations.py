"""Great Expectations as the judge of the numbers.

The engine has already reduced a day to one number per check, so Great Expectations sees a frame
of one row: its own connection to DuckDB fails on every expectation (great-expectations 1.24),
and no rows should leave the engine anyway.

The library takes seconds to import, so it is imported when a check runs, never with the
definitions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pandas as pd

from temporal_assets.quality.evaluate import Expected, Outcome


def judge(name: str, expected: Sequence[Expected]) -> dict[str, Outcome]:
    """Compare every number that can be judged with its range. `name` names the suite."""
    judged = [one for one in expected if one.can_be_judged]
    if not judged:
        return {}
    frame = pd.DataFrame({one.name: [one.value] for one in judged}, dtype="float64")
    result = _batch(frame).validate(suite(name, judged))
    return {one.expectation_config.kwargs["column"]: _outcome(one) for one in result.results}


def suite(name: str, expected: Sequence[Expected]) -> Any:
    """The expectations as a suite that people may also use on their own."""
    import great_expectations as gx
    from great_expectations.expectations.core.expect_column_values_to_be_between import (
        ExpectColumnValuesToBeBetween,
    )

    return gx.ExpectationSuite(
        name=name,
        expectations=[
            ExpectColumnValuesToBeBetween(
                column=one.name, min_value=one.minimum, max_value=one.maximum
            )
            for one in expected
        ],
    )


def _batch(frame: pd.DataFrame) -> Any:
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    asset = context.data_sources.add_pandas("numbers").add_dataframe_asset("day")
    definition = asset.add_batch_definition_whole_dataframe("whole")
    return definition.get_batch({"dataframe": frame})


def _outcome(result: Any) -> Outcome:
    # An expectation that raises reports success=False like bad data does; the difference is here.
    info = result.exception_info or {}
    errors = [info] if "raised_exception" in info else list(info.values())
    raised = [str(e.get("exception_message")) for e in errors if e.get("raised_exception")]
    return Outcome(bool(result.success), "; ".join(raised))
