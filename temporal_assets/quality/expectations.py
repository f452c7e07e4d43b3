"""Comparison of numbers with ranges by Great Expectations.

The engine has already reduced every day to one number per check, so Great Expectations sees a frame
with a row for each number: its own connection to DuckDB fails on every expectation
(great-expectations 1.24), and no rows should leave the engine anyway. It takes about 10 ms per
expectation whatever the number of rows, so two expectations, that no number is below its minimum
and none above its maximum, judge all checks and all days of a run at once. A suite with
expectations of their own for each check is written for people (`data_docs`).

The library and pandas take seconds to import: a quarter of the time of a small log. So they are
imported only if a number is outside of its range.
"""

from __future__ import annotations

import datetime as dt
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.quality.evaluate import Expected, Outcome

if TYPE_CHECKING:
    import pandas as pd

Days = Mapping[dt.date, Sequence[Expected]]
"""Numbers and ranges of each day."""

Outcomes = dict[dt.date, dict[str, Outcome]]
"""Outcomes by day and by name of the check."""

_alone: Final = Lock()
"""Lock: the library has one project per process, and several threads may judge days."""

_VALUE: Final = "value"
_MINIMUM: Final = "minimum"
_MAXIMUM: Final = "maximum"
"""Name of the frame's column with upper limits."""


def judge(name: str, days: Days) -> Outcomes:
    """Compare every number that can be judged with its range; `name` names the suite."""
    rows = [
        (day, expected)
        for day, numbers in days.items()
        for expected in numbers
        if expected.can_be_judged and not _is_within(expected)
    ]
    outcomes: Outcomes = {
        day: {e.name: Outcome(True) for e in numbers if e.can_be_judged and _is_within(e)}
        for day, numbers in days.items()
    }
    if not rows:
        return outcomes
    with _alone:
        result = _batch(_frame([expected for _, expected in rows])).validate(
            great_expectations().ExpectationSuite(name=name, expectations=[*_limits()]),
            result_format={"result_format": "COMPLETE"},
        )
    errors = [error for limit in result.results if (error := _error(limit))]
    outside = {row for limit in result.results for row in _rows_outside(limit)}
    for row, (day, expected) in enumerate(rows):
        outcomes[day][expected.name] = Outcome(not errors and row not in outside, "; ".join(errors))
    return outcomes


def _is_within(expected: Expected) -> bool:
    """Return True if a number that can be judged lies within its range, limits included."""
    low, value, high = expected.minimum, expected.value, expected.maximum
    return value is not None and (low is None or low <= value) and (high is None or value <= high)


def _limits() -> Iterator[Any]:
    """Yield the expectations that no value is below its minimum or above its maximum."""
    for larger, smaller in ((_VALUE, _MINIMUM), (_MAXIMUM, _VALUE)):
        yield no_less(larger, smaller)


def no_less(larger: str, smaller: str) -> Any:
    """Return the expectation that each number of a column is at least that of another column."""
    # From its own module: the package does not declare what it exports.
    from great_expectations.expectations.core.expect_column_pair_values_a_to_be_greater_than_b import (  # noqa: E501
        ExpectColumnPairValuesAToBeGreaterThanB,
    )

    return ExpectColumnPairValuesAToBeGreaterThanB(
        column_A=larger,
        column_B=smaller,
        or_equal=True,
        ignore_row_if="either_value_is_missing",
    )


def _frame(numbers: Sequence[Expected]) -> pd.DataFrame:
    """Return a data frame with a row for each number; NaN, which is ignored, for missing limits."""
    import pandas as pd

    columns = {
        _VALUE: [expected.value for expected in numbers],
        _MINIMUM: [expected.minimum for expected in numbers],
        _MAXIMUM: [expected.maximum for expected in numbers],
    }
    return pd.DataFrame(columns, dtype="float64")


def great_expectations() -> Any:
    """Import the package on first use (it takes a second), with its telemetry disabled."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    with warnings.catch_warnings():
        # It imports PySpark where that is installed, which warns of every pandas from 3 on.
        warnings.simplefilter("ignore", FutureWarning)
        import great_expectations
    return great_expectations


def _batch(frame: pd.DataFrame) -> Any:
    return _frames().get_batch({"dataframe": frame})


@cache
def _frames() -> Any:
    """Return the library's data source for frames, made once: it takes as long as using it."""
    package = great_expectations()
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = package.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    asset = context.data_sources.add_pandas("numbers").add_dataframe_asset("days")
    return asset.add_batch_definition_whole_dataframe("whole")


def _error(result: Any) -> str:
    """Return the error that an expectation raised, or nothing.

    One that raises reports success=False, as bad data does; the difference is here.
    """
    info = result.exception_info or {}
    errors = [info] if "raised_exception" in info else list(info.values())
    return "; ".join(str(e.get("exception_message")) for e in errors if e.get("raised_exception"))


def _rows_outside(result: Any) -> Sequence[int]:
    """Return the numbers of the rows for which an expectation does not hold."""
    if result.success or _error(result):
        return ()
    rows: Sequence[int] = result.result["unexpected_index_list"]
    return rows
