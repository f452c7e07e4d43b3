"""Real sets made smaller and poorer, as logs of other sites are.

Here: what is taken away of the visits and of the windows. Not here: the sets (`real_sets`), what is
judged (`real_predictions --vary`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks.real_judged import folder_of, site_of
from benchmarks.real_sets import RealSet
from benchmarks.real_visits import some_clients, times_of

Change = Callable[[pa.Table], pa.Table]

_FEW_CLIENTS: Final = 0.1
_FEWER_CLIENTS: Final = 0.05
_FEWEST_CLIENTS: Final = 0.01
_LEAST_DAYS: Final = 5
_DECISIONS: Final = 3
_LATER: Final = 3
"""Days that are left out at the beginning, so that windows begin and end on other weekdays."""
_LOST: Final = 6
"""Days among which one is lost."""
_HOURS_LATER: Final = 9
"""Hours by which all clocks are wrong, so that days begin in the middle of the day."""
_ROBOTS: Final = 5
"""Robots that pass for people: each opens every page on every day from its first visit on."""
_ONCE: Final = 1_000_000
"""Days between two decisions of which there is one."""
_ROBOT_DAYS: Final = 14
"""Days for which they come back to a page."""


def _without_referrers(visits: pa.Table) -> pa.Table:
    nobody = pa.nulls(len(visits), visits.schema.field("referrer").type)
    return visits.set_column(visits.schema.get_field_index("referrer"), "referrer", nobody)


def _most_visited(visits: pa.Table, of: Callable[[str], str], places: slice) -> pa.Table:
    """Keep the visits to some sites or folders, by their place in the order of visits."""
    encoded = visits["url"].combine_chunks().dictionary_encode()
    name_of = [of(url) for url in encoded.dictionary.to_pylist()]
    visited: Counter[str] = Counter()
    for entry in pc.value_counts(encoded.indices).to_pylist():
        visited[name_of[entry["values"]]] += entry["counts"]
    kept = {name for name, _ in visited.most_common()[places]}
    is_kept = pa.array([name in kept for name in name_of])
    return visits.filter(is_kept.take(encoded.indices))


def _by_day(
    visits: pa.Table, is_kept: Callable[[NDArray[np.int64]], NDArray[np.bool_]]
) -> pa.Table:
    """Keep the visits of some days, counted from 0."""
    day = times_of(visits).astype("datetime64[D]")
    return visits.filter(pa.array(is_kept((day - day.min()).astype(np.int64))))


def _referrers_of_one_site(visits: pa.Table) -> pa.Table:
    """Take away where the visitors of the most visited site came from."""
    rest = _most_visited(visits, site_of, slice(1, None))
    silent = _without_referrers(_most_visited(visits, site_of, slice(1)))
    return pa.concat_tables([silent, rest]).sort_by("time")


def _later(visits: pa.Table) -> pa.Table:
    """Let all days begin some hours earlier."""
    time = times_of(visits) + np.timedelta64(_HOURS_LATER, "h")
    return visits.set_column(0, "time", pa.array(time, visits.schema.field("time").type))


def _with_robots(visits: pa.Table) -> pa.Table:
    """Add a visit of each robot to each page on each of the days that follow its first visit."""
    time = times_of(visits)
    url = visits["url"].combine_chunks().dictionary_encode()
    born = np.full(len(url.dictionary), time.max(), time.dtype)
    np.minimum.at(born, url.indices.to_numpy(), time)
    last = time.max().astype("datetime64[D]")
    parts = [visits]
    for age in range(_ROBOT_DAYS):
        for robot in range(_ROBOTS):
            when = born.astype("datetime64[D]") + np.timedelta64(age, "D")
            there = when <= last
            moment = (when + np.timedelta64(robot + 1, "h")).astype(time.dtype)[there]
            moment = np.maximum(moment, born[there])
            columns = {
                "time": pa.array(moment, visits.schema.field("time").type),
                "client": [f"robot-{robot}"] * len(moment),
                "url": url.dictionary.filter(pa.array(there)),
                "referrer": pa.nulls(len(moment), visits.schema.field("referrer").type),
            }
            parts.append(pa.table(columns).cast(visits.schema))
    return pa.concat_tables(parts).sort_by("time")


def _with_twins(visits: pa.Table) -> pa.Table:
    """Add every visit once more by a second client, as of people with two addresses."""
    twins = [f"{client}-again" for client in visits["client"].to_pylist()]
    column = pa.array(twins, visits.schema.field("client").type)
    again = visits.set_column(visits.schema.get_field_index("client"), "client", column)
    return pa.concat_tables([visits, again]).sort_by("time")


def _changed(real: RealSet, name: str, change: Change) -> RealSet:
    def read(data: Path) -> pa.Table:
        return change(real.read(data))

    return replace(real, name=f"{real.name}_{name}", read=read, most=_DECISIONS)


def _shorter(real: RealSet, days: int) -> RealSet:
    """Decide by windows of fewer days, where the first window of the set ends."""
    window: dict[str, Any] = {**real.window, "days": days, "min_days": min(_LEAST_DAYS, days)}
    first = real.first_decision or real.window.get("days")
    changed = {"window": window, "first_decision": first, "most": _DECISIONS}
    return replace(real, name=f"{real.name}_{days}_days", **changed)


def _after(real: RealSet, days: int) -> RealSet:
    """Decide once, when there have been logs for so many days."""
    window: dict[str, Any] = {**real.window, "min_days": min(_LEAST_DAYS, days)}
    changed = {"window": window, "first_decision": days, "step": _ONCE}
    return replace(real, name=f"{real.name}_after_{days}_days", **changed)


def _noisy(real: RealSet, name: str, noise: Change) -> RealSet:
    """Let the product see what baselines and the truth do not."""
    return replace(real, name=f"{real.name}_{name}", noise=noise, most=_DECISIONS)


VARIATIONS: Final[Mapping[str, Callable[[RealSet], RealSet]]] = {
    "thin": lambda real: _changed(real, "thin", lambda one: some_clients(one, _FEW_CLIENTS)),
    "thinner": lambda real: _changed(
        real, "thinner", lambda one: some_clients(one, _FEWER_CLIENTS)
    ),
    "thinnest": lambda real: _changed(
        real, "thinnest", lambda one: some_clients(one, _FEWEST_CLIENTS)
    ),
    "no_referrers": lambda real: _changed(real, "no_referrers", _without_referrers),
    "one_silent_site": lambda real: _changed(real, "one_silent_site", _referrers_of_one_site),
    "later_clocks": lambda real: _changed(real, "later_clocks", _later),
    "robots": lambda real: _noisy(real, "robots", _with_robots),
    "twins": lambda real: _noisy(real, "twins", _with_twins),
    "five_sites": lambda real: _changed(
        real, "five_sites", lambda one: _most_visited(one, site_of, slice(5))
    ),
    "one_site": lambda real: _changed(
        real, "one_site", lambda one: _most_visited(one, site_of, slice(1))
    ),
    "half_of_sites": lambda real: _changed(
        real, "half_of_sites", lambda one: _most_visited(one, site_of, slice(1, None, 2))
    ),
    "one_section": lambda real: _changed(
        real, "one_section", lambda one: _most_visited(one, folder_of, slice(1))
    ),
    "other_weekdays": lambda real: _changed(
        real, "other_weekdays", lambda one: _by_day(one, lambda day: day >= _LATER)
    ),
    "lost_days": lambda real: _changed(
        real, "lost_days", lambda one: _by_day(one, lambda day: day % _LOST != _LOST - 1)
    ),
    "7_days": lambda real: _shorter(real, 7),
    "14_days": lambda real: _shorter(real, 14),
    "after_9_days": lambda real: _after(real, 9),
    "after_13_days": lambda real: _after(real, 13),
    "after_20_days": lambda real: _after(real, 20),
}
"""Functions that vary a set, by name."""
