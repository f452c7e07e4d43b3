"""Shares of the flow, shrunk, and the share from which a section is worth a place in a list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.lists.flow import (
    BASES,
    LEAST_WORTH,
    Evidence,
    FlowPrior,
    fit_prior,
    flow_shares,
    stock_weight,
    worth,
)


def evidence(*rows: tuple[float, float, float, float]) -> Evidence:
    table = np.array(rows, np.float64).reshape(-1, 4)
    return Evidence(*table.T)


def learned(roots: Evidence) -> FlowPrior:
    total = Evidence(*(np.array([getattr(roots, name).sum()]) for name in Evidence.__slots__))
    return fit_prior(roots, evidence(), evidence(), total)


def test_much_flow_speaks_for_itself_and_little_is_drawn_to_what_lies_above() -> None:
    parent = np.array([-1, 0, 0, 0], np.int32)
    rows = evidence((1000, 500, 0, 0), (900, 450, 0, 0), (1, 1, 0, 0), (0, 0, 0, 0))
    shares = flow_shares(parent, rows, FlowPrior(0.9), 0.95)
    assert shares.score[1] == pytest.approx(0.5, abs=0.01)
    # One temporal page is no section of temporal pages: (1 + 4 * 0.5) / 5.
    assert shares.score[2] == pytest.approx(0.6, abs=0.01)
    assert shares.score[3] == pytest.approx(shares.score[0])
    assert [BASES[one] for one in shares.basis] == ["flow", "flow", "above", "above"]


def test_a_share_moves_without_a_jump_as_pages_come() -> None:
    parent = np.zeros(40, np.int32)
    parent[0] = -1
    pages = np.arange(40.0)
    rows = Evidence(pages, pages, np.full(40, 5.0), np.zeros(40))
    score = flow_shares(parent, rows, FlowPrior(0.2, stock_weight=0.1), 0.95).score
    steps = np.diff(score[1:])
    assert (steps > 0).all()
    assert steps.max() < 0.2


def test_old_pages_count_for_what_they_tell_about_new_ones() -> None:
    dice = np.random.default_rng(1)
    rate = dice.beta(0.5, 0.5, 200)
    flow, stock = np.full(200, 4.0), np.full(200, 40.0)
    answer = Evidence(flow, dice.binomial(4, rate), stock, dice.binomial(40, rate))
    assert learned(answer).stock_weight >= 0.1
    # Old pages of all sites are evergreen, whatever the new ones are.
    other = Evidence(flow, dice.binomial(4, rate), stock, np.zeros(200))
    assert learned(other).stock_weight == pytest.approx(stock_weight(800, 8000))


def test_without_flow_the_stock_decides_and_without_pages_nothing() -> None:
    parent = np.array([-1, -1], np.int32)
    rows = evidence((0, 0, 50, 40), (0, 0, 10, 0))
    prior = learned(rows)
    shares = flow_shares(parent, rows, prior, 0.95)
    assert prior.stock_weight == 1.0
    assert prior.everywhere == pytest.approx(40.5 / 61)
    assert {BASES[one] for one in shares.basis} == {"stock"}
    nothing = flow_shares(parent, evidence((0, 0, 0, 0), (0, 0, 0, 0)), learned(evidence()), 0.95)
    assert nothing.score.tolist() == [0, 0]
    assert {BASES[one] for one in nothing.basis} == {"nothing"}


def test_all_pages_of_one_kind_give_no_nan() -> None:
    for temporal in (0.0, 30.0):
        rows = evidence((30, temporal, 100, 100 * temporal / 30))
        prior = learned(rows)
        shares = flow_shares(np.array([-1], np.int32), rows, prior, 0.95)
        assert np.isfinite([shares.score, shares.bound]).all()
        assert shares.score[0] == pytest.approx(temporal / 30, abs=0.05)


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 50)), min_size=1, max_size=8))
def test_what_is_worth_it_makes_the_best_f_of_all_lists(parts: list[tuple[int, int]]) -> None:
    share = np.array([one / 1000 for one, _ in parts])
    pages = np.array([float(count) for _, count in parts])
    limit = worth(share, pages)
    wanted = float(share @ pages)

    def f_of(taken: np.ndarray) -> float:
        actual = float((share * pages)[taken].sum())
        return 2 * actual / (pages[taken].sum() + wanted) if wanted else 0.0

    subsets = (
        np.array([bool(number >> place & 1) for place in range(len(parts))])
        for number in range(2 ** len(parts))
    )
    best = max(map(f_of, subsets))
    assert limit == pytest.approx(max(best / 2, LEAST_WORTH))
    if limit > LEAST_WORTH:
        assert f_of(share > limit - 1e-12) == pytest.approx(best)


def test_everything_is_worth_it_where_nothing_can_be_told_apart() -> None:
    assert worth(np.array([0.2]), np.array([100.0])) < 0.2


def test_nothing_is_worth_it_where_hardly_a_page_is_temporal() -> None:
    """F alone would list everything where one page in two hundred is temporal."""
    assert worth(np.array([0.005]), np.array([4000.0])) == LEAST_WORTH
    assert worth(np.array([]), np.array([])) == LEAST_WORTH
