"""`benchmarks.real_predictions`: a small real set through every part, beside its baselines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is an extra of the benchmarks")

from benchmarks.real_early import BASELINES
from benchmarks.real_judged import Judged, judged
from benchmarks.real_judging import Draws, Table, Value, verdict
from benchmarks.real_lives import lives_of
from benchmarks.real_predictions import PARTS, counted, summary
from benchmarks.real_sets import SETS
from benchmarks.real_visits import visits_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def small(shared_data: Path) -> Iterator[Judged]:
    with judged(SETS["bbc_most_read_spring"], shared_data) as judged_set:
        yield judged_set


@pytest.fixture(scope="module")
def tables(small: Judged) -> dict[str, Table]:
    """Tables of all parts, by title."""
    return {table.title: table for part in PARTS.values() for table in part(small)}


def test_every_part_of_a_set_that_has_it_all_prints_a_table(tables: dict[str, Table]) -> None:
    parts = ("hubs", "lists: F", "labels", "half-lives", "rates", "revisit intervals")
    for begin in parts:
        assert any(title.startswith(begin) for title in tables), begin


def test_every_row_has_an_interval_baselines_and_a_mark(tables: dict[str, Table]) -> None:
    for table in tables.values():
        for (_, ours, rest), against in zip(table.rows, table.verdicts, strict=True):
            low, high = ours.interval
            assert low <= high
            assert rest
            assert against.baseline in rest
            assert against.mark in ("win", "level", "**loss**")
        assert counted(table).count(",") == 4
        assert table.text().splitlines()[2].endswith("| mark |")


def test_the_one_hub_of_the_set_reaches_what_every_order_of_it_reaches(
    tables: dict[str, Table],
) -> None:
    """There is one page with links: whoever lists it cannot lose, whoever does not has nothing."""
    for _, ours, rest in tables["hubs"].rows:
        assert ours.value == max(order.value for order in rest.values()) > 0.5


def test_labels_of_the_set_are_level_with_the_best_baseline(tables: dict[str, Table]) -> None:
    for title, table in tables.items():
        if title.startswith("labels"):
            assert all(one.mark != "**loss**" for one in table.verdicts)


def test_a_set_without_promos_says_nothing_of_visits(shared_data: Path) -> None:
    real = SETS["elastic"]
    visits = real.visits(shared_data)
    assert real.promos is None
    lives = lives_of(visits)
    assert (lives.views.sum(axis=1) <= np.bincount(lives.find(visits["url"].to_pylist()))).all()


def test_the_summary_counts_marks_by_table_and_set() -> None:
    draws = Draws(np.arange(60))
    table = Table("hubs", ["set", "K"])
    for k, right in ((5, np.ones(60)), (20, np.zeros(60))):
        table.add(["portal", k], draws.share(right), {"rest": draws.share(np.arange(60) % 2)})
    assert summary([table]).splitlines()[-1] == "| hubs | portal | 1 | 0 | 1 |"


def test_baselines_of_early_labels_are_those_that_the_documentation_names() -> None:
    assert BASELINES[-2:] == ("logistic regression", "gradient boosting")


def test_measures_agree_with_their_definitions() -> None:
    truth = np.array([True, False, True, False, True])
    p = np.array([0.9, 0.2, 0.6, 0.6, 0.4])
    draws = Draws(np.arange(5))
    assert draws.auc(truth, p).value == pytest.approx(4.5 / 6)
    assert draws.brier(truth, p).value == pytest.approx(np.mean((p - truth) ** 2))
    likelihood = np.where(truth, p, 1 - p)
    assert draws.log_loss(truth, p).value == pytest.approx(-np.log(likelihood).mean())
    assert draws.f_measure(p > 0.5, truth).value == pytest.approx(2 * 2 / (3 + 3))
    assert draws.median([5, 1, 3, 2, 4]).value == 3
    bins = abs(0.1) + abs(-0.2) + abs(1 - 0.6 - 0.6) + abs(0.6)
    assert draws.calibration(truth, p).value == pytest.approx(bins / 5)


def test_rows_of_one_unit_are_drawn_together() -> None:
    apart, together = Draws(np.arange(40)), Draws(np.repeat([0, 1], 20))
    right = np.repeat([1, 0], 20)
    narrow, wide = (one.share(right).interval for one in (apart, together))
    assert wide == (0.0, 1.0)
    assert 0.3 < narrow[0] < 0.5 < narrow[1] < 0.7


def test_a_row_has_a_mark_by_units_and_one_by_pages() -> None:
    """Half of the pages are right, all of one day of two: nobody knows what a third would be."""
    right = np.repeat([1, 0], 20)
    draws = Draws(np.repeat([0, 1], 20), np.arange(40))
    ours, rest = draws.share(right), draws.share(np.zeros(40))
    assert ours.interval == (0.0, 1.0)
    assert ours.interval_of_pages == Draws(np.arange(40)).share(right).interval
    one = verdict(ours, {"rest": rest})
    assert (one.mark, one.mark_of_pages) == ("level", "win")


def test_a_difference_whose_interval_holds_nothing_is_a_win_or_a_loss() -> None:
    better, worse = Value(0.9, np.linspace(0.88, 0.92, 9)), Value(0.5, np.linspace(0.4, 0.6, 9))
    assert verdict(better, {"rest": worse}).mark == "win"
    assert verdict(worse, {"rest": better}).mark == "**loss**"
    assert verdict(better, {"rest": worse}, higher_is_better=False).mark == "**loss**"
    assert verdict(better, {"rest": better, "last": worse}).mark == "level"


def test_a_life_is_judged_by_days_and_by_hours() -> None:
    """Seven of ten views fall in three calendar days, and nine within 72 hours of the first."""
    hours = np.array([0, 1, 2, 3, 20, 21, 22, 70, 71, 100])
    time = np.datetime64("2024-01-01T20:00", "us") + hours * np.timedelta64(3_600_000_000, "us")
    own = visits_of(time, np.arange(10), ["https://a.example/"] * 10)
    last = visits_of(np.array(["2024-01-31"], "M8[us]"), ["x"], ["https://b.example/"])
    lives = lives_of(pa.concat_tables([own, last]))
    page = int(lives.find(["https://a.example/"])[0])
    assert lives.views[page, :6].tolist() == [4, 3, 0, 2, 0, 1]
    assert not lives.by_days[page]
    assert lives.within_hours[page] == 9
    assert lives.by_hours[page]
    assert lives.find(["https://nothing.example/"]).tolist() == [-1]
