"""Early labels out of time, beside the curve, concentration and the history of sites alone.

    python -m benchmarks.early_labels [--seed 12] [--globo FILE]

A window of 60 days of a demo corpus is learned from as `early_labels` learns; pages born in the 32
days after it are judged after 1 to 7 days, and scored by what their own curves say. Half of them
have fewer than ten views in the end, so every table is given twice. `--globo` does the same on the
public clicks of a news portal (eight days, so the window has four of them, and a page is temporal
if more than 70 % of the views of its first three days fall on the first). Real sets whose truth is
what pages did, beside other models, are in `benchmarks.real_predictions`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.demo_views import DemoViews, draw
from temporal_assets.core.labels.early import AGES, Score, learn
from temporal_assets.core.labels.early_comparison import ANSWERS, compare
from temporal_assets.core.labels.labels import PAPERS, Thresholds
from temporal_assets.windows.labels.first_days import LEAST_VIEWS

_WINDOW: Final = 60
_FOLLOWED: Final = 28
LIVED: Final = 7
UNSEEN: Final = 7


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages and their first days."""

    first_views: NDArray[np.float64]
    is_temporal: NDArray[np.bool_]
    sites: NDArray[Any]
    sections: NDArray[Any]
    total: NDArray[np.int64]


def first_days(views: NDArray[np.int64], born: NDArray[np.int64], days: int) -> NDArray[Any]:
    """Views from the day of birth on."""
    padded = np.pad(views, ((0, 0), (0, days)))
    return padded[np.arange(len(views))[:, None], born[:, None] + np.arange(days)].astype(float)


def known_pages(demo: DemoViews) -> Pages:
    """Pages of the first window as `early_labels` knows them: by what they did until its end."""
    window, born = demo.views[:, :_WINDOW], demo.born
    total = window.sum(axis=1)
    rows = np.flatnonzero((total >= LEAST_VIEWS) & (born >= UNSEEN) & (born <= _WINDOW - LIVED))
    first = first_days(window[rows], born[rows], max(AGES))
    share = first[:, : round(PAPERS.n)].sum(axis=1) / total[rows]
    return Pages(first, share > PAPERS.q, demo.sites[rows], demo.sections[rows], total[rows])


def new_pages(demo: DemoViews) -> Pages:
    """Pages first seen after the window and for at least four weeks; the truth is their curve."""
    born = demo.born
    rows = np.flatnonzero((born >= _WINDOW) & (born <= demo.views.shape[1] - _FOLLOWED))
    return Pages(
        first_days(demo.views[rows], born[rows], max(AGES)),
        demo.is_temporal[rows],
        demo.sites[rows],
        demo.sections[rows],
        demo.views[rows].sum(axis=1),
    )


def scores(
    known: Pages,
    new: Pages,
    ages: Sequence[int] = AGES,
    thresholds: Thresholds = PAPERS,
) -> list[Score]:
    """Learn from one, score on the other."""
    model = learn(
        *(known.first_views, known.is_temporal, known.sites, known.sections, ages),
        n_days=round(thresholds.n),
    )
    return compare(
        model, new.first_views, new.is_temporal, new.sites, new.sections, ages, thresholds
    )


def at_least(pages: Pages, views: int) -> Pages:
    """Those that were read so often in the end."""
    rows = pages.total >= views
    return Pages(
        *(getattr(pages, name)[rows] for name in ("first_views", "is_temporal")),
        *(getattr(pages, name)[rows] for name in ("sites", "sections", "total")),
    )


def show(title: str, found: list[Score]) -> None:
    """A Markdown table."""
    print(f"\n{title}: {found[0].pages:,} pages\n")
    print("| days seen | answer | accuracy | F | Brier | log loss | calibration error |")
    print("|---|---|---|---|---|---|---|")
    for one in sorted(found, key=lambda s: (s.age, ANSWERS.index(s.answer))):
        error = one.reliability.error if one.reliability else None
        numbers = (one.accuracy, one.f_measure, one.brier, one.log_loss, error)
        cells = " | ".join("" if n is None else f"{n:.3f}" for n in numbers)
        print(f"| {one.age} | {one.answer} | {cells} |")


def globo(file: Path) -> tuple[Pages, Pages]:
    """Articles of the portal: born on days 2 to 4 (known), and on days 5 to 6 (new)."""
    clicks = pq.read_table(file, columns=["ts", "article", "client"])
    article, client = (clicks.column(name).to_numpy() for name in ("article", "client"))
    # The first click is at midnight in Brazil, where the portal's readers are.
    hours = clicks.column("ts").to_numpy().astype("datetime64[h]").astype(np.int64)
    day = (hours - hours.min()) // 24
    inside = day < 8
    seen = np.unique(np.column_stack([article, day, client])[inside], axis=0)
    pages, row = np.unique(seen[:, 0], return_inverse=True)
    views = np.zeros((len(pages), 8), np.int64)
    np.add.at(views, (row, seen[:, 1]), 1)
    born = (views > 0).argmax(axis=1)
    first = first_days(views, born, 3)
    total = first.sum(axis=1).astype(np.int64)
    truth = first[:, 0] > 0.7 * total
    parts = []
    for low, high in ((1, 2), (3, 5)):
        rows = np.flatnonzero((born >= low) & (born <= high) & (total >= 10))
        names = np.full(len(rows), "portal")
        parts.append(Pages(first[rows], truth[rows], names, names, total[rows]))
    return parts[0], parts[1]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--globo", type=Path, help="clicks_2017-10-01_to_08.parquet")
    arguments = parser.parse_args()
    if arguments.globo:
        known, new = globo(arguments.globo)
        print(f"learned from {len(known.total):,} articles")
        show("clicks of a news portal", scores(known, new, (1, 2), Thresholds(n=1.0, m=1)))
        return
    demo = draw(arguments.seed, 120, 40, 40_000, 3_000_000)
    known, new = known_pages(demo), new_pages(demo)
    print(f"learned from {len(known.total):,} pages of {_WINDOW} days")
    for least in (1, 10, 60):
        show(f"at least {least} views in the end", scores(known, at_least(new, least)))


if __name__ == "__main__":
    main()
