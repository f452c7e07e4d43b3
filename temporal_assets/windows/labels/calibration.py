"""`calibration`: thresholds of labels against annotated pages (TW 4.2, 5.2; NP 6.1).

Here: which pages, which grids, and the table. Not here: the grid's outcomes and the choice
(`core.labels.calibration`), the scores (`core.labels.score_grid`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets import contracts
from temporal_assets.core.labels.calibration import (
    Calibration,
    Weights,
    calibrate,
    calibrate_groups,
)
from temporal_assets.core.labels.score_grid import concentrations, interest
from temporal_assets.logs.tables.annotations import Annotations, read_annotations
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.settings import Settings
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.days import observed_days
from temporal_assets.windows.frame.given_files import content_of_file, file_in
from temporal_assets.windows.labels.annotated_pages import Found, look_up
from temporal_assets.windows.labels.interest_curves import INTEREST_CURVES
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS

Score = Literal["interest", "concentration"]
Scope = Literal["all", "site", "section"]
Floats = NDArray[np.float64]

_N_DAYS: Final = (1, 2, 3, 4, 5, 7, 10, 14)
"""Numbers of days tried for `labels.n`, besides itself: the papers' range, denser where news is."""

_M_DAYS: Final = _N_DAYS
"""Numbers of days tried for `labels.m`, besides itself; the same idea as `labels.n`."""

_Q_LEVELS: Final = (0.05, 0.95, 0.05)
"""First, last and step of the shares tried for `labels.q`: all there are, as finely as some hundred
annotated pages can tell apart."""

_P_LEVELS: Final = (1.0, 15.0, 0.2)
"""First, last and step of the concentrations tried for `labels.p`: 1 is even spread, and above 15
hardly a page is news (NP 6.1 chooses 1.91)."""

ALL: Final = ""
"""Name of the scope of all pages."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice of thresholds for one score, for all annotated pages, a site or a section."""

    score: Score
    scope: Scope
    name: str
    best: Calibration
    """Thresholds with the best outcome over the whole grid."""
    used: Calibration | None
    """Thresholds that labels may use; of interest only thresholds at `labels.n` days are tried.
    None if too few pages, or pages of one kind only, are annotated."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Scores of the annotated pages for each candidate number of days."""

    score: Score
    scores: Floats
    days: tuple[float, ...]
    thresholds: Floats
    used_days: tuple[int, ...]
    """Indices into `days` of those that labels may use."""


def annotated(settings: Settings) -> Annotations | None:
    """Return the annotations of the configured file, or None if none is configured.

    Raises `OSError` if the file cannot be read.
    """
    file = file_in(settings.state, settings.calibration.annotated)
    if file is None:
        return None
    return read_annotations(file.read_bytes(), UrlRules.from_settings(settings.cleaning))


def choose(job: Job, looked_up: Found) -> list[Choice]:
    """Choose thresholds for all annotated pages, and for sites and sections with enough of them."""
    if not looked_up.urls:
        return []
    grids = [_by_interest(job.settings, looked_up), _by_concentration(job, looked_up)]
    return [choice for grid in grids for choice in _choices(job.settings, looked_up, grid)]


def _by_interest(settings: Settings, looked_up: Found) -> _Grid:
    """Return the grid of thresholds for the share of interest in the first days."""
    n = settings.labels.n
    days = tuple(sorted({*map(float, _N_DAYS), n}))
    return _Grid(
        "interest",
        interest(looked_up.curves, days),
        days,
        _levels(_Q_LEVELS, settings.labels.q),
        (days.index(n),),
    )


def _by_concentration(job: Job, looked_up: Found) -> _Grid:
    """Return the grid of thresholds for the concentration of views."""
    settings = job.settings
    days = tuple(sorted({*_M_DAYS, settings.labels.m}))
    return _Grid(
        "concentration",
        concentrations(looked_up.views, days, observed=observed_days(job)),
        tuple(map(float, days)),
        _levels(_P_LEVELS, settings.labels.p),
        tuple(range(len(days))),
    )


def _levels(tried: tuple[float, float, float], own: float) -> Floats:
    first, last, step = tried
    steps = round((last - first) / step)
    # Rounded, so that 0.1 + 0.2 is the 0.3 that is shown.
    return np.unique(np.append(np.round(first + step * np.arange(steps + 1), 9), own))


def _choices(settings: Settings, looked_up: Found, grid: _Grid) -> Iterator[Choice]:
    """Yield the best thresholds of all pages, then of each site or section."""
    chosen = settings.calibration
    weights = Weights(1, chosen.miss_weight, chosen.false_alarm_weight)
    truth, least = looked_up.is_temporal, chosen.min_pages
    some = list(grid.used_days)
    parts = ((grid.scores, grid.days), (grid.scores[:, some], [grid.days[k] for k in some]))
    best, used = (
        calibrate(truth, scores, days, grid.thresholds, weights) for scores, days in parts
    )
    enough = len(truth) >= least and 0 < truth.sum() < len(truth)
    yield Choice(grid.score, "all", ALL, best, used if enough else None)
    if chosen.by == "none":
        return
    names = looked_up.sites if chosen.by == "site" else looked_up.sections
    bests, useds = (
        calibrate_groups(truth, scores, days, grid.thresholds, names, weights, least=least)
        for scores, days in parts
    )
    for name in sorted(map(str, bests)):
        yield Choice(grid.score, chosen.by, name, bests[name], useds[name])


def rows_of(job: Job, choices: Sequence[Choice]) -> pa.Table:
    """Return the rows of `calibration`."""
    schema = contracts.CALIBRATION.arrow_schema
    parts = [_cells(job, choice, schema) for choice in choices]
    return pa.concat_tables(parts) if parts else schema.empty_table()


def _cells(job: Job, choice: Choice, schema: pa.Schema) -> pa.Table:
    """Return the rows of `calibration` of one choice: a cell per pair of thresholds."""
    table = choice.best.table
    cells = len(table.days) * len(table.thresholds)
    is_best, is_used = _marks(choice.best, choice.best), _marks(choice.best, choice.used)
    columns: dict[str, Any] = {
        "day": pa.repeat(pa.scalar(job.day, pa.date32()), cells),
        **{
            name: pa.repeat(pa.scalar(getattr(choice, name)), cells)
            for name in ("score", "scope", "name")
        },
        "days": np.repeat(np.array(table.days), len(table.thresholds)),
        "threshold": np.tile(table.thresholds, len(table.days)),
        "pages": np.full(cells, choice.best.in_sample.pages, np.int64),
        "temporal": np.full(cells, choice.best.in_sample.positive, np.int64),
        "hit": table.hit.ravel(),
        "miss": table.miss.ravel(),
        "false_alarm": table.false_alarm.ravel(),
        "performance": table.performance.ravel().astype(np.float64),
        "is_best": is_best,
        "is_used": is_used,
    }
    for name in ("hit", "miss", "false_alarm"):
        value = np.zeros(cells, np.int64)
        if choice.used is not None:
            value[is_used] = getattr(choice.used.cross_validated, name)
        value[is_best] = getattr(choice.best.cross_validated, name)
        columns[f"cross_validated_{name}"] = pa.array(value, mask=~(is_best | is_used))
    return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def _marks(grid: Calibration, chosen: Calibration | None) -> NDArray[np.bool_]:
    """Return flags over the cells of a grid: True for the chosen cell."""
    days, thresholds = np.array(grid.table.days), grid.table.thresholds
    if chosen is None:
        return np.zeros(len(days) * len(thresholds), np.bool_)
    marks = (days == chosen.days)[:, None] & (thresholds == chosen.threshold)
    return np.asarray(marks.ravel())


def _make(job: Job) -> Sequence[Path]:
    annotations = annotated(job.settings)
    choices = choose(job, look_up(job, annotations.pages)) if annotations is not None else []
    path = job.out / "calibration.parquet"
    pq.write_table(rows_of(job, choices), path, compression="zstd", store_schema=False)
    return [path]


CALIBRATION: Final = WindowAsset(
    "calibration",
    _make,
    days=("page_views",),
    tables=(PAGE_TOTALS, PAGE_HISTORIES, INTEREST_CURVES),
    sql=("annotated_pages",),
    settings=lambda settings: [
        content_of_file(file_in(settings.state, settings.calibration.annotated)),
        settings.calibration.model_dump(mode="json", exclude={"annotated"}),
        settings.cleaning.model_dump(mode="json"),
        settings.labels.n,
        settings.labels.q,
        settings.labels.m,
        settings.labels.p,
        settings.window.days,
    ],
)
