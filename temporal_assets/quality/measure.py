"""Having the engine compute the numbers of a day, in one scan."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from zoneinfo import ZoneInfo

from temporal_assets.contracts import Drift, Rule, Table
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.sql import literal
from temporal_assets.quality.evaluate import whole_of
from temporal_assets.settings import Settings

_PARAMETER: Final = re.compile(r"\$([a-z_]+)")

_ALL: Final = "all_rows"

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


def _asked(checks: Sequence[Rule | Drift]) -> dict[str, str]:
    """Return the measures by name, with the wholes of which drifts are shares."""
    wholes = {
        whole_of(check.name): check.whole
        for check in checks
        if isinstance(check, Drift) and check.whole is not None
    }
    return {check.name: check.measure for check in checks} | wholes


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
