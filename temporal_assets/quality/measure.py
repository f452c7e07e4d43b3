"""Measuring the numbers of checks with the engine: of a day in one scan, or of many days.

A statement for a small day takes longer to prepare than to run. `measure_days` asks for all of them
at once: every measure is a subquery over the rows of one day, which the engine turns into joins and
groups.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from zoneinfo import ZoneInfo

from temporal_assets.contracts import Drift, Rule, Table
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.sql import literal
from temporal_assets.engines.sql_each import SET, of_one_set, rows_of_sets
from temporal_assets.quality.evaluate import whole_of
from temporal_assets.settings import Settings

_PARAMETER: Final = re.compile(r"\$([a-z_]+)")

_ALL: Final = "all_rows"

Parameters = Mapping[str, Any]


def parameters(day: dt.date, settings: Settings) -> Parameters:
    """Return values of the parameters that rules may name; times are UTC without a zone."""
    zone = ZoneInfo(settings.orchestration.timezone)
    return {
        "day": day,
        "from": _midnight(day, zone),
        "until": _midnight(day + dt.timedelta(days=1), zone),
        "window_first": day - dt.timedelta(days=settings.window.days - 1),
        "window_days": settings.window.days,
        "max_reject_share": settings.reading.max_reject_share,
        "min_clients": settings.privacy.min_clients,
    }


def measure(
    engine: Engine,
    table: Table,
    checks: Sequence[Rule | Drift],
    inputs: Inputs,
    values: Parameters,
) -> dict[str, float | None]:
    """Return the number of every check by name. `inputs`: the table and others that rules read."""
    if not checks:
        return {}
    asked = _measures_by_name(checks)
    numbers = ", ".join(f"{measure} AS {name}" for name, measure in asked.items())
    # An aggregate of its own makes one row of it, whatever the measures are.
    query = _fill(f"SELECT {numbers}, count(*) AS {_ALL} FROM {table.name}", values)  # noqa: S608 - names and measures are the contract's
    (row,) = engine.rows(query, inputs, limit=1)
    del row[_ALL]
    return {name: None if number is None else float(number) for name, number in row.items()}


def measure_days(
    engine: Engine,
    table: Table,
    checks: Sequence[Rule | Drift],
    inputs: Sequence[Inputs],
    values: Sequence[Parameters],
) -> list[dict[str, float | None]]:
    """Return what `measure` does for each of several days, from local files in one statement.

    Only for DuckDB, and for days whose rows all fit into memory.
    """
    asked = _measures_by_name(checks)
    used = sorted({name for measure in asked.values() for name in _PARAMETER.findall(measure)})
    names = sorted(inputs[0])
    tables = rows_of_sets({name: [of_day[name] for of_day in inputs] for name in names})
    days = ", ".join(
        f"({', '.join(map(literal, (number, *(own[name] for name in used))))})"
        for number, own in enumerate(values)
    )
    columns = ", ".join((SET, *(f"parameter_{name}" for name in used)))
    numbers = ", ".join(
        f"({_measure_of_one_day(measure, table.name, names)}) AS {name}"
        for name, measure in asked.items()
    )
    query = (
        f"WITH {tables}, sets ({columns}) AS (VALUES {days})"  # noqa: S608 - names and measures are the contract's
        f" SELECT {SET}, {numbers} FROM sets"
    )
    rows = {row.pop(SET): row for row in engine.rows(query, {}, limit=len(inputs))}
    return [
        {name: None if number is None else float(number) for name, number in rows[day].items()}
        for day in range(len(inputs))
    ]


def _measure_of_one_day(measure: str, table: str, names: Sequence[str]) -> str:
    """Return SQL of a measure as a subquery over the day of the outer row of `sets`."""
    text = _PARAMETER.sub(lambda match: f"sets.parameter_{match[1]}", measure)
    query = f"SELECT {text} AS number, count(*) AS {_ALL} FROM {table}"  # noqa: S608 - names and measures are the contract's
    return f"SELECT number FROM ({of_one_set(query, names)}) AS measured"  # noqa: S608 - as above


def _measures_by_name(checks: Sequence[Rule | Drift]) -> dict[str, str]:
    """Return the SQL measures by name, including the totals that drifts are shares of."""
    wholes = {
        whole_of(check.name): check.whole
        for check in checks
        if isinstance(check, Drift) and check.whole is not None
    }
    return {check.name: check.measure for check in checks} | wholes


def offenders(
    engine: Engine, rule: Rule, inputs: Inputs, values: Parameters, limit: int
) -> tuple[Mapping[str, Any], ...]:
    """Return up to `limit` rows that break a rule; none if the rule is not about rows."""
    if rule.offenders is None:
        return ()
    return tuple(engine.rows(_fill(rule.offenders, values), inputs, limit))


def _fill(text: str, values: Parameters) -> str:
    return _PARAMETER.sub(lambda match: literal(values[match.group(1)]), text)


def _midnight(day: dt.date, zone: ZoneInfo) -> dt.datetime:
    local = dt.datetime.combine(day, dt.time(), zone)
    return local.astimezone(dt.UTC).replace(tzinfo=None)
