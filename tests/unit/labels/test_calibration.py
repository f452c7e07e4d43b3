"""Calibration: grids of thresholds and their scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.synthetic import draw
from temporal_assets.core.curves.curves import Options, fit
from temporal_assets.core.labels.calibration import Weights, calibrate, calibrate_groups, tabulate
from temporal_assets.core.labels.concentration import concentration
from temporal_assets.core.labels.score_grid import FittedCurves, concentrations, interest
from temporal_assets.core.numerics.metrics import outcome
from temporal_assets.core.text.page_section import section_of, sections_of
from temporal_assets.core.text.texts import texts

TRUTH = [True, True, True, False, False]
SCORES = [[0.9, 0.9], [0.8, 0.2], [0.4, 0.8], [0.3, 0.7], [0.1, 0.95]]


def test_the_table_by_hand() -> None:
    table = tabulate(TRUTH, SCORES, (1, 3), [0.35, 0.6])
    # First column: all three temporal above 0.35, none of the others; at 0.6 one is missed.
    assert table.hit.tolist() == [[5, 4], [2, 2]]
    assert table.miss.tolist() == [[0, 1], [1, 1]]
    assert table.false_alarm.tolist() == [[0, 0], [2, 2]]
    weighted = tabulate(TRUTH, SCORES, (1, 3), [0.35, 0.6], Weights(1, 2, 3))
    assert weighted.performance.tolist() == [[5, 2], [-6, -6]]


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])),
        min_size=1,
        max_size=30,
    )
)
def test_every_cell_is_the_outcome_of_its_threshold(pages: list[tuple[bool, float]]) -> None:
    truth, score = [t for t, _ in pages], np.array([s for _, s in pages])
    levels = [0.0, 0.25, 0.4, 0.75]
    table = tabulate(truth, score[:, None], (3,), levels)
    for k, level in enumerate(levels):
        expected = outcome(truth, score > level)
        got = (table.hit[0, k], table.miss[0, k], table.false_alarm[0, k])
        assert got == (expected.hit, expected.miss, expected.false_alarm)


def test_the_choice_is_the_middle_of_the_best_run() -> None:
    chosen = calibrate(TRUTH, SCORES, (1, 3), [0.2, 0.31, 0.33, 0.35, 0.38, 0.5], folds=2)
    assert (chosen.days, chosen.threshold) == (1, 0.33)
    assert chosen.in_sample.hit == 5
    assert chosen.performance == 5


def test_of_several_best_runs_the_longest_counts() -> None:
    truth, scores = [True, True, False, False], [[0.35], [0.9], [0.05], [0.55]]
    # Three of four are right below 0.35 and from 0.55 to 0.9, two in between.
    levels = [0.1, 0.2, 0.4, 0.6, 0.65, 0.7, 0.75, 0.8]
    chosen = calibrate(truth, scores, (3,), levels, folds=2)
    assert (chosen.performance, chosen.threshold) == (3, 0.7)


def test_a_day_with_a_run_is_chosen_before_one_whose_best_thresholds_stand_alone() -> None:
    truth = [True, True, False, False]
    scores = [[0.35, 0.7], [0.9, 0.05], [0.05, 0.05], [0.55, 0.3]]
    # Right at 0.1, 0.4, 0.6 and 0.95: 3, 2, 3 and 2 by the first day; 2, 3, 3 and 2 by the other.
    chosen = calibrate(truth, scores, (1, 5), [0.1, 0.4, 0.6, 0.95], folds=2)
    assert (chosen.performance, chosen.days, chosen.threshold) == (3, 5, 0.4)


def test_cross_validation_is_harder_than_the_sample_where_there_is_nothing_to_learn() -> None:
    rng = np.random.default_rng(1)
    truth, scores = rng.random(300) < 0.5, rng.random((300, 8))
    chosen = calibrate(truth, scores, range(1, 9), np.linspace(0.05, 0.95, 19))
    assert chosen.in_sample.accuracy > 0.53
    assert chosen.cross_validated.accuracy < chosen.in_sample.accuracy - 0.02
    assert chosen.cross_validated.pages == 300


def test_costly_false_alarms_raise_the_threshold() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random(500) < 0.5
    score = np.clip(rng.normal(np.where(truth, 0.6, 0.4), 0.15), 0, 1)[:, None]
    levels = np.linspace(0.05, 0.95, 91)
    plain = calibrate(truth, score, (3,), levels)
    careful = calibrate(truth, score, (3,), levels, Weights(1, 0, 5))
    eager = calibrate(truth, score, (3,), levels, Weights(1, 5, 0))
    assert eager.threshold < plain.threshold < careful.threshold


def test_groups_of_other_speed_get_other_thresholds() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.5
    fast = np.arange(400) < 200
    score = np.where(truth, 0.8, 0.6) - np.where(fast, 0.0, 0.4) + rng.normal(0, 0.02, 400)
    groups = ["fast" if f else "slow" for f in fast]
    groups[:3] = ["rare"] * 3
    chosen = calibrate_groups(truth, score[:, None], (3,), np.linspace(0.05, 0.95, 91), groups)
    assert set(chosen) == {"fast", "slow"}
    assert chosen["fast"].threshold == pytest.approx(0.7, abs=0.05)
    assert chosen["slow"].threshold == pytest.approx(0.3, abs=0.05)
    assert chosen["slow"].cross_validated.accuracy > 0.97


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match="no annotated pages"):
        calibrate([], np.empty((0, 1)), (3,), [0.5])
    with pytest.raises(ValueError, match="2 pages x 1 days"):
        calibrate([True, False], [[0.1, 0.2]], (3,), [0.5])


PIECES = (
    *("http", "https://", "http://", "://", "s", "a.example", "/", "//", "?", "x", "\u00e9", "\n"),
    *("y" * 199, "y" * 200, "\u00e9" * 200, "\u00e9" * 201),
)


def test_interest_is_that_of_the_fitter_at_every_n() -> None:
    views = draw(150, 30, seed=3).views
    fitted = fit(views, Options(n=3.0))
    curves = FittedCurves(fitted.mu, fitted.sigma, np.zeros(len(views), np.bool_))
    table = interest(curves, (1.0, 3.0))
    np.testing.assert_allclose(table[:, 0], fitted.phi_1, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(table[:, 1], fitted.phi_n, rtol=1e-9, atol=1e-12)


def test_a_page_without_a_curve_is_never_temporal_unless_all_views_are_on_one_day() -> None:
    nothing = np.full(2, np.nan)
    curves = FittedCurves(nothing, nothing, np.array([False, True]))
    assert interest(curves, (1.0, 3.0)).tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_concentrations_are_those_of_one_m_and_0_where_undefined() -> None:
    views = np.array([[6, 2, 1, 1], [0, 0, 0, 9]])
    # 6 of 10 views on 1 of 4 days; 8 of 10 on 2. The second page was seen for a day only.
    assert concentrations(views, (1, 2)) == pytest.approx(np.array([[2.4, 1.6], [0, 0]]))
    observed = np.array([True, False, True, True])
    alone = concentration(views, 2, observed=observed)
    assert concentrations(views, (2,), observed=observed)[0, 0] == alone.value[0]


@pytest.mark.parametrize(
    ("url", "section"),
    [
        ("https://a.example/news/2025/1.html", "a.example/news/"),
        ("https://a.example/news/", "a.example/news/"),
        ("https://a.example/1.html", "a.example/"),
        ("https://a.example/", "a.example/"),
        ("https://a.example/news.php?id=1/2", "a.example/news.php?"),
        ("https://a.example/x/news.php?id=1&u=?", "a.example/x/news.php?"),
        ("http://a.example:8080/x/y", "a.example:8080/x/"),
        ("https://a.example/x/" + "y" * 300 + "?z", "a.example/x/"),
        ("https://a.example/" + "y" * 300 + "/z", "a.example/"),
        ("nonsense", ""),
    ],
)
def test_a_page_has_one_section(url: str, section: str) -> None:
    assert section_of(url) == section


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=20))
def test_sections_of_many_pages_are_those_of_each(urls: list[str]) -> None:
    sections = sections_of(texts(urls))
    assert [sections[i] for i in range(len(urls))] == [section_of(url) for url in urls]
