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

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.real_judged import site_of
from benchmarks.real_sets import RealSet
from benchmarks.real_visits import some_clients

Change = Callable[[pa.Table], pa.Table]

_FEW_CLIENTS: Final = 0.1
_LEAST_DAYS: Final = 5
_DECISIONS: Final = 3


def _without_referrers(visits: pa.Table) -> pa.Table:
    nobody = pa.nulls(len(visits), visits.schema.field("referrer").type)
    return visits.set_column(visits.schema.get_field_index("referrer"), "referrer", nobody)


def _of_sites(visits: pa.Table, sites: int) -> pa.Table:
    """Keep the visits to the sites that are visited most."""
    encoded = visits["url"].combine_chunks().dictionary_encode()
    host = [site_of(url) for url in encoded.dictionary.to_pylist()]
    visited: Counter[str] = Counter()
    for entry in pc.value_counts(encoded.indices).to_pylist():
        visited[host[entry["values"]]] += entry["counts"]
    kept = {name for name, _ in visited.most_common(sites)}
    is_kept = pa.array([name in kept for name in host])
    return visits.filter(is_kept.take(encoded.indices))


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
    "five_sites": lambda real: _changed(real, "five_sites", lambda one: _of_sites(one, 5)),
    "one_site": lambda real: _changed(real, "one_site", lambda one: _of_sites(one, 1)),
    "7_days": lambda real: _shorter(real, 7),
    "14_days": lambda real: _shorter(real, 14),
}
"""By name, what is made of a set."""
