"""`page_labels` where histories and curves are read in step: curves lie in the order of histories.

Nothing is joined or sorted then, and no statement is planned, which takes longer than to label the
pages of a small log. The rows are those of sql/page_labels.sql, which a cluster runs.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import PAGE_LABELS
from temporal_assets.core.page_section import sections_of
from temporal_assets.core.texts import Flags, Floats, Int64s
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow, with_encoded
from temporal_assets.engines.base import Inputs
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.page_rows import SITES, OutOfStep, out_of_step

_HISTORIES: Final = ("site", "url", "birth", "total", "views")
_CURVES: Final = ("url", "phi_n", "phi_n_low", "phi_n_high")
_CALIBRATION: Final = ("score", "scope", "name", "days", "threshold", "is_used")

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


class LabelsInStep:
    """Rows of `page_labels` from `page_histories`, `interest_curves` and `calibration`."""

    def __init__(self, inputs: Inputs, parameters: Mapping[str, Any]) -> None:
        """`parameters` are those of sql/page_labels.sql."""
        self.problem: OutOfStep | None = None
        """Why the rows ended early."""
        self._inputs = inputs
        self._settings = _Settings(
            **{name: parameters[name] for name in ("day", "first", "n", "q", "m", "p")},
            before=np.array([*map(int, parameters["seen_before"].split(","))], np.int64),
            rules=_rules(inputs["calibration"]) if parameters["calibrated"] else {},
        )

    def reader(self) -> pa.RecordBatchReader:
        """All of them, some at a time."""
        return pa.RecordBatchReader.from_batches(_ROWS, self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for lives, curves in _in_step(self._inputs, self._settings):
                yield from _labelled(lives, curves, self._settings).to_batches()
        except OutOfStep as problem:
            self.problem = problem
            raise


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


# Histories -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Lives:
    """What histories and thresholds say of pages."""

    site: pa.Array
    url: pa.Array
    q: pa.Array
    m: pa.Array
    p: pa.Array
    thresholds: pa.Array
    concentration: Floats
    is_defined: Flags


def _in_step(inputs: Inputs, settings: _Settings) -> Iterator[tuple[_Lives, pa.Table]]:
    """Some pages at a time, with the rows of their curves."""
    histories = ParquetRows(inputs["page_histories"], SITES)
    curves = ParquetRows(inputs["interest_curves"])
    if len(histories) != len(curves):
        raise out_of_step("page_histories", "interest_curves")
    waiting: deque[_Lives] = deque()

    def ranges() -> Iterator[tuple[int, int]]:
        first = 0
        for lives in histories.blocks(_HISTORIES, partial(_lives, settings=settings)):
            waiting.append(lives)
            yield first, first + len(lives.url)
            first += len(lives.url)

    for rows in curves.in_ranges(ranges(), _CURVES):
        lives = waiting.popleft()
        if not rows["url"].combine_chunks().equals(lives.url):
            raise out_of_step("page_histories", "interest_curves")
        yield lives, rows


def _lives(block: pa.Table, settings: _Settings) -> _Lives:
    site, url = (block[name].combine_chunks() for name in ("site", "url"))
    q, m, p, thresholds = _thresholds(site, url, settings)
    born = (block["birth"].to_numpy() - np.datetime64(settings.first)).astype(np.int64)
    total = block["total"].to_numpy()
    views = block["views"].combine_chunks().flatten().to_numpy()
    concentration, is_defined = _concentration(
        views.reshape(len(block), len(settings.before) - 1), born, total, m.to_numpy(), settings
    )
    return _Lives(site, url, q, m, p, thresholds, concentration, is_defined)


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


def _concentration(
    views: Int64s, born: Int64s, total: Int64s, m: Int64s, settings: _Settings
) -> tuple[Floats, Flags]:
    """NP 4.1, equation 1, of the days that are there; 1 where it is undefined."""
    pages, days = views.shape
    first_views = np.zeros(pages, np.int64)
    rows = np.arange(pages)
    for later in range(int(m.max(initial=0))):
        day = born + later
        counts = (later < m) & (day < days)
        first_views += np.where(counts, views[rows, np.minimum(day, days - 1)], 0)
    before = settings.before
    first_days = before[np.minimum(born + m, days)] - before[born]
    life = before[-1] - before[born]
    is_defined = life > first_days
    share = first_views / total
    even = np.divide(first_days, life, out=np.ones(pages), where=is_defined)
    return np.divide(share, even, out=np.ones(pages), where=is_defined), is_defined


# Labels --------------------------------------------------------------------------------------


def _labelled(lives: _Lives, curves: pa.Table, settings: _Settings) -> pa.Table:
    phi, low, high = (curves[name].combine_chunks() for name in _CURVES[1:])
    above, below = pc.greater(low, lives.q), pc.less_equal(high, lives.q)
    is_news = pc.greater(pa.array(lives.concentration), lives.p)
    columns = {
        "day": pa.repeat(pa.scalar(settings.day, pa.date32()), len(phi)),
        "site": lives.site,
        "url": lives.url,
        "is_temporal": pc.fill_null(pc.greater(phi, lives.q), fill_value=False),
        "is_sure": pc.fill_null(pc.or_kleene(above, below), fill_value=False),
        "is_news": pc.and_(is_news, pa.array(lives.is_defined)),
        "phi_n": phi,
        "concentration": pa.array(lives.concentration),
        "has_concentration": pa.array(lives.is_defined),
        "n": pa.repeat(float(settings.n), len(phi)),
        "q": lives.q,
        "m": lives.m,
        "p": lives.p,
        "thresholds": lives.thresholds,
    }
    return pa.table([columns[name] for name in _ROWS.names], _ROWS)
