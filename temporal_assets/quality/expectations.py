"""Great Expectations as the judge of the numbers.

The engine has already reduced every day to one number per check, so Great Expectations sees a
frame with a row for each day and a column for each check: its own connection to DuckDB fails on
every expectation (great-expectations 1.24), and no rows should leave the engine anyway. It takes
about 10 ms per expectation whatever the number of rows, so all days of a run are judged at once.

The library and pandas take seconds to import, so they are imported when a check runs, never with
the definitions.
"""

from __future__ import annotations

import datetime as dt
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.quality.evaluate import Expected, Outcome

if TYPE_CHECKING:
    import pandas as pd

Days = Mapping[dt.date, Sequence[Expected]]
"""Numbers and ranges of every day."""

Outcomes = dict[dt.date, dict[str, Outcome]]
"""Outcomes by day and by name of the check."""

_alone: Final = Lock()
"""The library keeps its project for the whole process; days may be judged by several threads."""

_MINIMUM: Final = " minimum"
_MAXIMUM: Final = " maximum"
"""Added to the name of a check for the columns of limits that differ from day to day."""


def judge(name: str, days: Days) -> Outcomes:
    """Compare every number that can be judged with its range. `name` names the suite."""
    judged = {
        day: [outcome for outcome in numbers if outcome.can_be_judged]
        for day, numbers in days.items()
    }
    checks = by_check(judged)
    if not checks:
        return {day: {} for day in days}
    order = sorted(days)
    with _alone:
        result = _batch(frame_of(checks, order)).validate(
            suite(name, checks), result_format={"result_format": "COMPLETE"}
        )
    troubles: dict[str, list[Mapping[dt.date | None, str]]] = {}
    for outcome in result.results:
        kwargs = outcome.expectation_config.kwargs
        check = kwargs["column"] if "column" in kwargs else _check_of_pair(kwargs)
        troubles.setdefault(check, []).append(_troubles(outcome, order))
    return {
        day: {outcome.name: _outcome(day, troubles[outcome.name]) for outcome in numbers}
        for day, numbers in judged.items()
    }


def suite(name: str, checks: Mapping[str, Mapping[dt.date, Expected]]) -> Any:
    """The expectations as a suite: one or two per check, over a frame with a row for each day."""
    package = great_expectations()
    expectations = [
        expectation for check, days in checks.items() for expectation in _expectations(check, days)
    ]
    return package.ExpectationSuite(name=name, expectations=expectations)


def _expectations(check: str, days: Mapping[dt.date, Expected]) -> Iterable[Any]:
    # From their own modules: the package does not declare what it exports.
    from great_expectations.expectations.core.expect_column_pair_values_a_to_be_greater_than_b import (  # noqa: E501
        ExpectColumnPairValuesAToBeGreaterThanB,
    )
    from great_expectations.expectations.core.expect_column_values_to_be_between import (
        ExpectColumnValuesToBeBetween,
    )

    ranges = {(limits.minimum, limits.maximum) for limits in days.values()}
    if len(ranges) == 1:
        ((minimum, maximum),) = ranges
        yield ExpectColumnValuesToBeBetween(column=check, min_value=minimum, max_value=maximum)
        return
    pairs = ((check, check + _MINIMUM), (check + _MAXIMUM, check))
    for larger, smaller in pairs:
        yield ExpectColumnPairValuesAToBeGreaterThanB(
            column_A=larger,
            column_B=smaller,
            or_equal=True,
            ignore_row_if="either_value_is_missing",
        )


def by_check(days: Days) -> dict[str, dict[dt.date, Expected]]:
    """Numbers of each check by day."""
    checks: dict[str, dict[dt.date, Expected]] = {}
    for day, numbers in days.items():
        for expected in numbers:
            checks.setdefault(expected.name, {})[day] = expected
    return checks


def frame_of(
    checks: Mapping[str, Mapping[dt.date, Expected]], order: Sequence[dt.date]
) -> pd.DataFrame:
    """A row for each day; NaN, which Great Expectations leaves out, where nothing is judged."""
    import pandas as pd

    columns: dict[str, list[float | None]] = {}
    for check, days in checks.items():
        day_checks = [days.get(day) for day in order]
        columns[check] = [limits.value if limits else None for limits in day_checks]
        columns[check + _MINIMUM] = [limits.minimum if limits else None for limits in day_checks]
        columns[check + _MAXIMUM] = [limits.maximum if limits else None for limits in day_checks]
    return pd.DataFrame(columns, dtype="float64")


def great_expectations() -> Any:
    """The package: it takes a second to import, and is told not to call home before."""
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
    """Return where the library takes frames from; setting it up takes as long as using it."""
    package = great_expectations()
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = package.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    asset = context.data_sources.add_pandas("numbers").add_dataframe_asset("days")
    return asset.add_batch_definition_whole_dataframe("whole")


def _check_of_pair(kwargs: Mapping[str, Any]) -> str:
    larger: str = kwargs["column_A"]
    return larger.removesuffix(_MAXIMUM)


def _troubles(result: Any, order: Sequence[dt.date]) -> Mapping[dt.date | None, str]:
    """Days outside their range, with an empty text; under None what the expectation raised."""
    # An expectation that raises reports success=False like bad data does; the difference is here.
    info = result.exception_info or {}
    errors = [info] if "raised_exception" in info else list(info.values())
    raised = [str(e.get("exception_message")) for e in errors if e.get("raised_exception")]
    if raised:
        return {None: "; ".join(raised)}
    if result.success:
        return {}
    return {order[row]: "" for row in result.result["unexpected_index_list"]}


def _outcome(day: dt.date, troubles: Sequence[Mapping[dt.date | None, str]]) -> Outcome:
    errors = [trouble[None] for trouble in troubles if None in trouble]
    if errors:
        return Outcome(False, "; ".join(errors))
    return Outcome(not any(day in trouble for trouble in troubles))
