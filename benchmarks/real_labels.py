"""Labels of pages as published, judged by what the pages really did.

Pages are judged by the age that they had on the day of decision, if a week of their lives at least
was still to come: 5 to 7 and 8 to 14 days, and those that begin with the window. Nobody can tell
which of the last were born on its first day and which it cuts on the left: those that it cuts are a
row of their own as well. A label is right if it agrees with the whole life, by calendar days and by
exactly 72 hours.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import numpy as np

from benchmarks.real_judged import Flags, Judged
from benchmarks.real_judging import LEAST, Draws, Table
from benchmarks.real_lives import LEAST_DAYS, N, Q
from temporal_assets.core.labels.concentration import concentration

GROUPS: Final = ("5 to 7 days", "8 to 14 days", "from the first day", "of these, older")

_OURS: Final = "ours"
_PAPER_P: Final = 1.91


def labels(judged: Judged) -> list[Table]:
    """Judge labels against both truths."""
    parts = [
        _of_day(judged, day)
        for day in judged.decisions(judged.real.most)
        if len(judged.table("page_labels", day))
    ]
    if not parts:  # no page has the views of a reliable one
        return []
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    page, groups = columns.pop("page"), columns.pop("groups")
    tables = []
    for title, truth in (
        ("calendar days", judged.lives.by_days[page]),
        ("72 hours", judged.lives.by_hours[page]),
    ):
        table = Table(f"labels, truth by {title}: accuracy", ["set", "life", "pages", "temporal"])
        for number, name in enumerate(GROUPS):
            rows = groups[:, number]
            if rows.sum() >= LEAST:
                draws = Draws(judged.units(page[rows]), page[rows])
                shares = {name: draws.share(x[rows] == truth[rows]) for name, x in columns.items()}
                ours = shares.pop(_OURS)
                cells = [judged.real.name, name, int(rows.sum()), int(truth[rows].sum())]
                table.add(cells, ours, shares)
        tables.append(table)
    return [table for table in tables if table.rows]


def _of_day(judged: Judged, day: dt.date) -> dict[str, Any]:
    """Every answer for the labelled pages of a day."""
    rows, lives, number = judged.table("page_labels", day), judged.lives, judged.day(day)
    page = lives.find(rows["url"].to_pylist())
    first, age = judged.first(day), number - lives.birth[page] + 1
    is_judged = (lives.days - number > LEAST_DAYS) & lives.is_known[page] & (page >= 0)
    is_judged &= lives.birth[page] > 0  # pages of the set's first day may be older than it
    older, seen_first = lives.birth[page] < first, lives.birth[page] <= first
    is_young, is_middling = (age >= 5) & (age <= 7), (age >= 8) & (age <= 14)
    inside = np.stack([is_young & ~older, is_middling & ~older, seen_first, older], axis=1)
    groups = inside & is_judged[:, None] & (age >= 5)[:, None]
    chosen = groups.any(axis=1)
    answers = {
        _OURS: _flags(rows, "is_temporal"),
        "curve": np.nan_to_num(_numbers(rows, "phi_n")) > _numbers(rows, "q"),
        **_from_views(judged, day, rows["url"].to_pylist()),
        "always temporal": np.ones(len(page), np.bool_),
        "always untemporal": np.zeros(len(page), np.bool_),
    }
    return {
        "page": page[chosen],
        "groups": groups[chosen],
        **{name: answer[chosen] for name, answer in answers.items()},
    }


def _flags(rows: Any, name: str) -> Flags:
    return np.asarray(rows[name].to_numpy(zero_copy_only=False), np.bool_)


def _numbers(rows: Any, name: str) -> Any:
    return np.asarray(rows[name].to_numpy(zero_copy_only=False), np.float64)


def _from_views(judged: Judged, day: dt.date, urls: list[str]) -> dict[str, Flags]:
    """Judge pages by ten lines of code over the views in the window."""
    histories = judged.table("page_histories", day)
    place = {url: row for row, url in enumerate(histories["url"].to_pylist())}
    views = np.array(histories["views"].to_pylist(), np.int64)[[place[url] for url in urls]]
    observed = views[:, judged.first(day) - judged.day(day) - 1 :]
    concentrations = concentration(observed, N)
    return {
        "raw share so far": concentrations.first_share > Q,
        "concentration": concentrations.is_defined & (concentrations.value > _PAPER_P),
    }
