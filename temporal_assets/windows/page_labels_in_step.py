"""`page_labels` where histories and curves are read in step: curves lie in the order of histories.

Nothing is joined or sorted then, and no statement is planned, which takes longer than to label the
pages of a small log. The rows are those of sql/page_labels.sql, which a cluster runs.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import PAGE_LABELS
from temporal_assets.core.concentration import of_lives
from temporal_assets.core.page_section import sections_of
from temporal_assets.core.texts import Int64s
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow, with_encoded
from temporal_assets.engines.base import Inputs
from temporal_assets.engines.batches import in_order
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.days import seen_before
from temporal_assets.windows.page_rows import SITES, read_in_step

_READ: Final = {
    "page_histories": ("site", "url", "birth", "total", "views"),
    "interest_curves": ("url", "phi_n", "phi_n_low", "phi_n_high"),
}
_CALIBRATION: Final = ("score", "scope", "name", "days", "threshold", "is_used")

_ROWS_AT_ONCE: Final = 30_720
"""As many as a group of rows of histories has."""

_THREADS: Final = 1
"""Rows are labelled while the next are read."""

_SCOPES: Final = ("all", "site", "section")
"""Of thresholds, the weakest first."""

_ROWS: Final = with_encoded(PAGE_LABELS.arrow_schema, "site")


class _Rules(NamedTuple):
    """Thresholds of the sites, or of the sections, that have some of their own; NULL if not."""

    names: pa.Array
    q: pa.Array
    m: pa.Array
    p: pa.Array


@dataclass(frozen=True, slots=True)
class _Settings:
    """What all pages share."""

    day: dt.date
    first: dt.date
    before: Int64s
    """Shape (days + 1): days of the window that are there before each, and in all."""
    n: float
    q: float
    m: int
    p: float
    rules: Mapping[str, _Rules]
    """By scope."""


def labels_in_step(inputs: Inputs, parameters: Mapping[str, Any]) -> pa.RecordBatchReader:
    """Rows of `page_labels` from `page_histories`, `interest_curves` and `calibration`.

    `parameters` are those of sql/page_labels.sql.
    """
    settings = _Settings(
        **{name: parameters[name] for name in ("day", "first", "n", "q", "m", "p")},
        before=seen_before(parameters),
        rules=_rules(inputs["calibration"]) if parameters["calibrated"] else {},
    )
    tables = read_in_step(inputs, _READ, _ROWS_AT_ONCE, SITES)
    labelled = in_order(partial(_labelled, settings=settings), tables, _THREADS)
    return pa.RecordBatchReader.from_batches(
        _ROWS, (batch for table in labelled for batch in table.to_batches())
    )


def _rules(calibration: Sequence[str]) -> dict[str, _Rules]:
    chosen: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    rows = ParquetRows(calibration).blocks(_CALIBRATION, pa.Table.to_pylist)
    for row in filter(itemgetter("is_used"), chain.from_iterable(rows)):
        its = chosen[row["scope"]][row["name"]]
        if row["score"] == "interest":
            its["q"] = row["threshold"]
        else:
            its["m"], its["p"] = row["days"], row["threshold"]
    return {
        scope: _Rules(
            pa.array(of, pa.string()),
            *(pa.array([its.get(one) for its in of.values()], pa.float64()) for one in "qmp"),
        )
        for scope, of in chosen.items()
    }


def _thresholds(
    site: pa.DictionaryArray, url: pa.Array, settings: _Settings
) -> tuple[pa.Array, pa.Array, pa.Array, pa.Array]:
    """q, m and p of each page, and the narrowest scope that any of them is of."""
    q, m, p, found = (
        pa.repeat(value, len(url))
        for value in (settings.q, float(settings.m), settings.p, "settings")
    )
    for scope in _SCOPES:
        if scope not in settings.rules:
            continue
        rules = settings.rules[scope]
        place = pc.index_in(_names(scope, site, url), value_set=rules.names)
        q, m, p = (
            pc.coalesce(own.take(place), wider)
            for own, wider in zip(rules[1:], (q, m, p), strict=True)
        )
        found = pc.if_else(place.is_valid(), scope, found)
    return q, pc.round(m).cast(pa.int64()), p, found


def _names(scope: str, site: pa.DictionaryArray, url: pa.Array) -> pa.Array:
    """What rules of a scope call each page."""
    if scope == "section":
        return to_arrow(sections_of(from_arrow(url)))
    return site.cast(pa.string()) if scope == "site" else pa.repeat("", len(url))


def _labelled(tables: tuple[pa.Table, ...], settings: _Settings) -> pa.Table:
    histories, curves = tables
    site, url = (histories[name].combine_chunks() for name in ("site", "url"))
    q, m, p, thresholds = _thresholds(site, url, settings)
    born = (histories["birth"].to_numpy() - np.datetime64(settings.first)).astype(np.int64)
    views = histories["views"].combine_chunks().flatten().to_numpy()
    found = of_lives(
        views.reshape(len(url), len(settings.before) - 1),
        born,
        histories["total"].to_numpy(),
        m.to_numpy(),
        settings.before,
    )
    phi, low, high = (
        curves[name].combine_chunks() for name in ("phi_n", "phi_n_low", "phi_n_high")
    )
    above, below = pc.greater(low, q), pc.less_equal(high, q)
    concentration, has_concentration = pa.array(found.value), pa.array(found.is_defined)
    columns = {
        "day": pa.repeat(pa.scalar(settings.day, pa.date32()), len(url)),
        "site": site,
        "url": url,
        "is_temporal": pc.fill_null(pc.greater(phi, q), fill_value=False),
        "is_sure": pc.fill_null(pc.or_kleene(above, below), fill_value=False),
        "is_news": pc.and_(pc.greater(concentration, p), has_concentration),
        "phi_n": phi,
        "concentration": concentration,
        "has_concentration": has_concentration,
        "n": pa.repeat(float(settings.n), len(url)),
        "q": q,
        "m": m,
        "p": p,
        "thresholds": thresholds,
    }
    return pa.table([columns[name] for name in _ROWS.names], _ROWS)
