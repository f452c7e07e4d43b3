"""Having the engine compute numbers: those of a day in one scan, of many days in one statement.

A statement for a small day takes longer to prepare than to run. `measure_days` asks for all of
them at once: every measure is a subquery over the rows of one day, which the engine turns into
joins and groups.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from temporal_assets.contracts import Drift, Rule, Table
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.sql import literal
from temporal_assets.quality.evaluate import whole_of
from temporal_assets.settings import Settings

_PARAMETER: Final = re.compile(r"\$([a-z_]+)")

_ALL: Final = "all_rows"
_DAY: Final = "filed_under"

Parameters = Mapping[str, Any]


def parameters(day: dt.date, settings: Settings) -> Parameters:
    """Values of the parameters that rules may name; times are UTC without a zone."""
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
    """The number of every check. `inputs` are the table and whatever else the rules read."""
    if not checks:
        return {}
    asked = _asked(checks)
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
    inputs: Mapping[dt.date, Inputs],
    values: Mapping[dt.date, Parameters],
) -> dict[dt.date, dict[str, float | None]]:
    """Return the numbers of `measure` for each day, from local files in folders named for days.

    Only for DuckDB, and for days whose rows all fit into memory.
    """
    asked = _asked(checks)
    used = sorted({name for measure in asked.values() for name in _PARAMETER.findall(measure)})
    names = sorted(next(iter(inputs.values())))
    tables = ", ".join(_rows_of_days(name, [of[name] for of in inputs.values()]) for name in names)
    rows = ", ".join(
        f"({', '.join(literal(value) for value in (day, *(values[day][name] for name in used)))})"
        for day in inputs
    )
    columns = ", ".join((_DAY, *(f"parameter_{name}" for name in used)))
    numbers = ", ".join(
        f"({_of_one_day(measure, table.name, names)}) AS {name}" for name, measure in asked.items()
    )
    query = (
        f"WITH {tables}, days ({columns}) AS (VALUES {rows})"  # noqa: S608 - names and measures are the contract's
        f" SELECT {_DAY}, {numbers} FROM days"
    )
    found = {row.pop(_DAY): row for row in engine.rows(query, {}, limit=len(inputs))}
    return {
        day: {name: None if n is None else float(n) for name, n in row.items()}
        for day, row in found.items()
    }


def _asked(checks: Sequence[Rule | Drift]) -> dict[str, str]:
    """Return the measures by name, with the wholes of which drifts are shares."""
    wholes = {
        whole_of(check.name): check.whole
        for check in checks
        if isinstance(check, Drift) and check.whole is not None
    }
    return {check.name: check.measure for check in checks} | wholes


def _rows_of_days(name: str, files: Iterable[Sequence[str | Path]]) -> str:
    """Return a common table expression with the rows of many days, and the day each is filed under.

    The rows have a `day` of their own, which is among what is checked.
    """
    listed = ", ".join(literal(str(path)) for some in files for path in some)
    return (
        f"{name}_of_days AS MATERIALIZED (SELECT *,"  # noqa: S608 - a table's name, and paths as literals
        f" CAST(regexp_extract(filename, '.*/day=([0-9-]+)/', 1) AS DATE) AS {_DAY} FROM"
        f" read_parquet([{listed}], hive_partitioning = false, filename = true))"
    )


def _of_one_day(measure: str, table: str, names: Sequence[str]) -> str:
    """Return a subquery with a measure of the day of the row of `days` around it."""

    def rows(match: re.Match[str]) -> str:
        name = match[1]
        of_day = f"SELECT * FROM {name}_of_days WHERE {name}_of_days.{_DAY} = days.{_DAY}"  # noqa: S608 - a table's name
        return f"FROM ({of_day}) AS {name}"

    text = _PARAMETER.sub(lambda match: f"days.parameter_{match[1]}", measure)
    query = f"SELECT {text} AS number, count(*) AS {_ALL} FROM {table}"  # noqa: S608 - names and measures are the contract's
    found = re.sub(rf"\bFROM ({'|'.join(names)})\b", rows, query)
    return f"SELECT number FROM ({found}) AS measured"  # noqa: S608 - as above


def offenders(
    engine: Engine, rule: Rule, inputs: Inputs, values: Parameters, limit: int
) -> tuple[Mapping[str, Any], ...]:
    """Up to `limit` rows that break a rule; none where the rule is not about rows."""
    if rule.offenders is None:
        return ()
    return tuple(engine.rows(_fill(rule.offenders, values), inputs, limit))


def _fill(text: str, values: Parameters) -> str:
    return _PARAMETER.sub(lambda match: literal(values[match.group(1)]), text)


def _midnight(day: dt.date, zone: ZoneInfo) -> dt.datetime:
    local = dt.datetime.combine(day, dt.time(), zone)
    return local.astimezone(dt.UTC).replace(tzinfo=None)
