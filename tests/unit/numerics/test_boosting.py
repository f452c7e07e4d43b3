"""Boosted trees: what they learn, by hand and against chance."""

from __future__ import annotations

import numpy as np
import pytest

from temporal_assets.core.numerics.boosting import fit_trees


def test_a_step_is_found_where_no_line_is() -> None:
    """Temporal in the middle only, which no linear model can say."""
    rng = np.random.default_rng(1)
    rows = rng.uniform(-1, 1, (2000, 3))
    truth = np.abs(rows[:, 1]) < 0.4
    trees = fit_trees(rows, truth, 0.0)
    asked = np.array([[0.9, 0.0, 0.1], [0.9, 0.8, 0.1], [-0.9, -0.8, 0.1]])
    middle, right, left = trees.log_odds(asked)
    assert middle > 2
    assert max(left, right) < -2
    assert set(np.unique(trees.features)) <= {-1, 0, 1, 2}


def test_a_leaf_takes_newtons_step() -> None:
    """Ten of twelve, and two of twelve, beside one cut: the first tree, by hand."""
    rows = np.repeat([[0.0], [1.0]], 12, axis=0)
    truth = np.concatenate([np.arange(12) < 10, np.arange(12) < 2])
    trees = fit_trees(rows, truth, 0.0)
    # Slope (10 - 6), curvature 12 / 4, drawn by 1: 4 / 4, of which 0.06 is taken.
    assert trees.features[0].tolist() == [0, -1, -1, -1, -1, -1, -1]
    assert trees.values[0, 0] == pytest.approx(0.06)
    assert trees.values[0, 4] == pytest.approx(-0.06)
    odds = trees.log_odds(np.array([[0.0], [1.0]]))
    assert odds[0] == pytest.approx(-odds[1])
    assert 1.0 < odds[0] < np.log(5)


def test_few_rows_leave_the_share_of_all() -> None:
    for rows in (np.zeros((13, 2)), np.random.default_rng(2).random((15, 2))):
        truth = np.arange(len(rows)) % 3 == 0
        trees = fit_trees(rows, truth, 0.3)
        assert (trees.features == -1).all()
        odds = trees.log_odds(rows)
        assert np.ptp(odds) == 0
        assert odds[0] == pytest.approx(np.log(truth.mean() / (1 - truth.mean())), abs=0.15)


def test_the_same_rows_give_the_same_trees_and_rows_are_asked_alone() -> None:
    rng = np.random.default_rng(4)
    rows, truth = rng.normal(size=(500, 5)), rng.random(500) < 0.4
    first, again = fit_trees(rows, truth, 0.0), fit_trees(rows.copy(), truth, 0.0)
    assert np.array_equal(first.values, again.values)
    assert np.array_equal(first.log_odds(rows)[7:8], first.log_odds(rows[7:8]))
