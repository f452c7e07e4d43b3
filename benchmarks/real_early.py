"""Early labels at ages 1 to 7, as published, judged by what the pages really did.

On some days `early_labels` is published as it would be then. Every baseline learns from the same
past: pages born in the window after its first week (or its first quarter, if that is shorter),
followed for a week at least, with what they had really done by then as their truth. Pages of which
we publish no probability count as one half.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.real_judged import Flags, Int64s, Judged, folder_of
from benchmarks.real_judging import LEAST, Draws, Table
from benchmarks.real_lives import FEW, LEAST_DAYS, N, Q

Floats = NDArray[np.float64]

AGES: Final = tuple(range(1, 8))

_UNSEEN: Final = 7
_FOLDS: Final = 5
_WEIGHT: Final = 4.0
"""Pages that the prior of a section weighs as much as."""

_LEAST_LEARNED: Final = 20
"""With fewer pages a baseline says the share of temporal ones."""

_OURS: Final = "ours"


@dataclass(frozen=True, slots=True)
class _Past:
    """Pages that can be learned from on a day."""

    views: Int64s
    truth: Flags
    folders: NDArray[Any]
    weekday: Int64s


def early(judged: Judged) -> list[Table]:
    """Judge early labels by log loss, AUC, Brier score and calibration, at every age."""
    parts = [part for day in judged.decisions(judged.real.most) if (part := _of_day(judged, day))]
    if not parts:
        return []
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    page, age = columns.pop("page").astype(np.int64), columns.pop("age").astype(np.int64)
    truth, many = judged.lives.by_days[page], judged.lives.has_many[page]
    tables = []
    for title, chosen in (("", many), (", pages with few views", ~many)):
        tables += _tables(judged, title, columns, (page, age, truth), chosen)
    return tables


_MEASURES: Final = (
    ("log loss", Draws.log_loss, False),
    ("AUC", Draws.auc, True),
    ("Brier score", Draws.brier, False),
    ("calibration error", Draws.calibration, False),
)


def _tables(
    judged: Judged,
    title: str,
    columns: Mapping[str, Floats],
    pages: tuple[Int64s, Int64s, Flags],
    chosen: Flags,
) -> list[Table]:
    page, age, truth = pages
    head = ["set", "age", "pages", "temporal"]
    tables = [
        Table(f"early labels{title}: {what}", head, higher_is_better=higher)
        for what, _, higher in _MEASURES
    ]
    for k in AGES:
        rows = chosen & (age == k)
        if rows.sum() < LEAST:
            continue
        draws = Draws(judged.units(page[rows]), page[rows])
        cells = [judged.real.name, k, int(rows.sum()), int(truth[rows].sum())]
        for table, (_, measure, _) in zip(tables, _MEASURES, strict=True):
            values = {name: measure(draws, truth[rows], p[rows]) for name, p in columns.items()}
            ours = values.pop(_OURS)
            if not np.isnan(ours.value):  # where all are of one kind, nothing can be ranked
                table.add(cells, ours, values)
    return [table for table in tables if table.rows]


def _of_day(judged: Judged, day: dt.date) -> dict[str, Floats] | None:
    """Probabilities of every answer for pages that are young on a day and whose truth is known."""
    rows, lives = judged.table("early_labels", day), judged.lives
    page = lives.find(rows["url"].to_pylist())
    age = judged.day(day) - lives.birth[page] + 1
    judgeable = (page >= 0) & lives.is_known[page] & (age >= 1) & (age <= AGES[-1])
    judgeable &= lives.birth[page] >= judged.first(day)
    if not judgeable.any():
        return None
    given = rows["probability"].to_numpy(zero_copy_only=False)[judgeable]
    page, age = page[judgeable], age[judgeable]
    result = {"page": page, "age": age, _OURS: np.where(np.isnan(given), 0.5, given)}
    past = _past(judged, day)
    result |= {name: np.full(len(page), np.nan) for name in BASELINES}
    for k in AGES:
        own = age == k
        if own.any():
            for name, answer in _answers(judged, past, page[own], k).items():
                result[name][own] = answer
    return result


def _past(judged: Judged, day: dt.date) -> _Past:
    lives, number, first = judged.lives, judged.day(day), judged.first(day)
    unseen = min(_UNSEEN, (number - first + 1) // 4)
    lived = number - lives.birth + 1
    views = _so_far(lives.views, lived)
    is_usable = (lives.birth >= first + unseen) & (lived >= LEAST_DAYS) & (views.sum(axis=1) >= FEW)
    views = views[is_usable]
    truth = views[:, :N].sum(axis=1) > Q * views.sum(axis=1)
    folders = np.array([folder_of(url) for url in lives.urls[is_usable].tolist()], np.str_)
    return _Past(views, truth, folders, lives.birth[is_usable] % 7)


def _so_far(views: Int64s, lived: Int64s) -> Int64s:
    return np.where(np.arange(views.shape[1]) < lived[:, None], views, 0)


BASELINES: Final = (
    "prior",
    "section prior",
    "raw share so far",
    "logistic regression",
    "gradient boosting",
)


def _answers(judged: Judged, past: _Past, page: Int64s, age: int) -> dict[str, Floats]:
    lives, learned = judged.lives, len(past.truth)
    base = float((past.truth.sum() + 1) / (learned + 2))
    folders = np.array([folder_of(url) for url in lives.urls[page].tolist()], np.str_)
    section = _section_prior(past.folders, past.truth, folders, base)
    answers = {"prior": np.full(len(page), base), "section prior": section}
    names = ("raw share so far", "logistic regression", "gradient boosting")
    if learned < _LEAST_LEARNED or not 0 < past.truth.sum() < learned:
        return answers | dict.fromkeys(names, section)
    own = _unseen_prior(past, base)
    known = past.views[:, :age], own, past.weekday
    new = lives.views[page, :age], section, lives.birth[page] % 7
    few, wide = _six(*known[:2]), _wide(*known)
    share = few[:, 4:5]
    # A share of views is a probability only once it has been learned what follows from it.
    models = {
        "raw share so far": (LogisticRegression(), share, _six(*new[:2])[:, 4:5]),
        "logistic regression": (
            make_pipeline(StandardScaler(), LogisticRegression()),
            few,
            _six(*new[:2]),
        ),
        "gradient boosting": (
            HistGradientBoostingClassifier(
                learning_rate=0.06,
                max_iter=100,
                max_leaf_nodes=15,
                min_samples_leaf=10,
                early_stopping=False,
                random_state=1,
            ),
            wide,
            _wide(*new),
        ),
    }
    # On a busy machine several threads wait for each other longer than one takes.
    with threadpool_limits(1):
        for name, (model, learn, ask) in models.items():
            answers[name] = model.fit(learn, past.truth).predict_proba(ask)[:, 1]
    return answers


def _section_prior(folders: NDArray[Any], truth: Flags, asked: NDArray[Any], base: float) -> Floats:
    """Share of temporal pages of each folder, shrunk to that of all."""
    names, which = np.unique(folders, return_inverse=True)
    pages = np.bincount(which, minlength=len(names))
    share = (np.bincount(which, truth, len(names)) + _WEIGHT * base) / (pages + _WEIGHT)
    if not len(names):
        return np.full(len(asked), base)
    place = np.minimum(np.searchsorted(names, asked), len(names) - 1)
    return np.where(names[place] == asked, share[place], base)


def _unseen_prior(past: _Past, base: float) -> Floats:
    """The same for the pages that are learned from, by pages of other folds."""
    fold = np.arange(len(past.truth)) % _FOLDS
    prior = np.empty(len(past.truth))
    for part in range(_FOLDS):
        held = fold == part
        prior[held] = _section_prior(
            past.folders[~held], past.truth[~held], past.folders[held], base
        )
    return prior


def _six(views: Int64s, prior: Floats) -> Floats:
    """Six features that anybody would think of."""
    total = views.sum(axis=1) + 0.5
    first, last = views[:, 0] + 0.5, views[:, -1] + 0.5
    share = (views[:, :N].sum(axis=1) + 0.5) / (total + 0.5)
    odds = np.log(prior / (1 - prior))
    columns = [np.log(total), np.log(first / total), np.log(last / total), np.log(last / first)]
    return np.column_stack([*columns, share, odds])


def _wide(views: Int64s, prior: Floats, weekday: Int64s) -> Floats:
    """The six, every day by itself, and the weekday of birth."""
    days = np.log1p(views)
    peak = views.argmax(axis=1)
    return np.column_stack([_six(views, prior), days, peak, weekday])
