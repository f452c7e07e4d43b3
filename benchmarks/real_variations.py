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
_LEAST_DAYS: Final = 5
_DECISIONS: Final = 3
_LATER: Final = 3
"""Days that are left out at the beginning, so that windows begin and end on other weekdays."""
_LOST: Final = 6
"""Days among which one is lost."""


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


VARIATIONS: Final[Mapping[str, Callable[[RealSet], RealSet]]] = {
    "thin": lambda real: _changed(real, "thin", lambda one: some_clients(one, _FEW_CLIENTS)),
    "no_referrers": lambda real: _changed(real, "no_referrers", _without_referrers),
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
}
"""By name, what is made of a set."""
