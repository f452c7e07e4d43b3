"""Scores of sites by hand and as the papers compute them; bounds; the ranked list; tuning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.lists.list_tuning import (
    best_prefixes,
    best_sites,
    learn_flow,
    page_share_effect,
    tune_prefixes,
    tune_sites,
)
from temporal_assets.core.lists.prefix_tree import PAPER_RULE, PrefixRule
from temporal_assets.core.lists.site_scores import (
    PAPER,
    Counts,
    Scoring,
    count,
    list_curve,
    ranking,
    score,
)
from temporal_assets.core.numerics.metrics import f_measure, precision, recall
from temporal_assets.core.numerics.proportions import effective_count, lower_bound, share
from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_sections import section_trees


def counts(*rows: tuple[int, int, int, int, float]) -> Counts:
    table = np.array(rows)
    return Counts(*(table[:, n].astype(np.int64) for n in range(4)), table[:, 4])


def test_scores_by_hand() -> None:
    # Views 60, 40 (temporal) and 300 (not).
    actual = count([0, 0, 0], [True, True, False], [60, 40, 300], 2)
    assert [actual.pages.tolist(), actual.temporal_pages.tolist()] == [[3, 0], [2, 0]]
    assert [actual.views.tolist(), actual.temporal_views.tolist()] == [[400, 0], [100, 0]]
    assert actual.view_squares.tolist() == [95_200.0, 0.0]
    scores = score(actual, PAPER)
    assert scores.score_1.tolist() == pytest.approx([2 / 3, 0])
    assert scores.score_2.tolist() == pytest.approx([0.25, 0])
    assert scores.score.tolist() == pytest.approx([(3 * 2 / 3 + 2 * 0.25) / 5, 0])
    assert scores.bound.tolist() == scores.score.tolist()


def test_additional_weight_of_the_page_share() -> None:
    """TW 5.2."""
    lone_site = counts((10, 9, 1000, 100, 1e5))
    assert Scoring(page_share_weight=2).page_share == 0.75
    assert score(lone_site, Scoring()).score[0] == pytest.approx(0.6 * 0.9 + 0.4 * 0.1)
    assert score(lone_site, Scoring(page_share_weight=2)).score[0] == pytest.approx(
        0.75 * 0.9 + 0.25 * 0.1
    )


def test_the_bound_by_hand() -> None:
    # All of two pages: 1 / (1 + z^2 / 2) with z = 1.6449.
    assert lower_bound(1.0, 2, 0.95) == pytest.approx(1 / (1 + 1.6448536**2 / 2))
    # Wilson (1927) for 81 of 263 at z = 1.96: 0.2553 (Newcombe 1998, table I).
    assert lower_bound(81 / 263, 263, 0.975) == pytest.approx(0.2553, abs=5e-5)
    assert lower_bound([0.0, 0.3], [5, 0], 0.95).tolist() == [0.0, 0.0]
    assert lower_bound(0.3, 7, 0.5) == pytest.approx(0.3)
    for wrong in (0.4, 1.0):
        with pytest.raises(ValueError, match="confidence"):
            lower_bound(0.3, 7, wrong)


def test_views_are_worth_as_many_pages_as_share_them() -> None:
    assert effective_count([40.0, 40.0, 0.0], [400.0, 1600.0, 0.0]).tolist() == [4.0, 1.0, 0.0]


@given(st.integers(0, 1000), st.integers(0, 1000), st.floats(0.5, 0.999))
def test_bounds_are_bounds(part: int, rest: int, confidence: float) -> None:
    share_of_part = float(share(part, part + rest))
    bound = float(lower_bound(share_of_part, part + rest, confidence))
    assert 0 <= bound <= share_of_part <= 1
    more = float(lower_bound(share_of_part, 2 * (part + rest), confidence))
    assert more >= bound - 1e-12


def test_a_site_with_two_pages_does_not_win() -> None:
    few, many = (2, 2, 200, 200, 2e4), (100, 97, 10_000, 9_800, 1e6)
    both = counts(few, many)
    assert ranking(both, ["few", "many"], PAPER).tolist() == [0, 1]
    assert ranking(both, ["few", "many"], Scoring(min_pages=1)).tolist() == [1, 0]
    assert ranking(both, ["few", "many"], Scoring()).tolist() == [1]
    assert ranking(both, ["few", "many"], PAPER, among=[True, False]).tolist() == [0]


def test_ties_go_by_temporal_pages_then_name() -> None:
    same = counts((4, 2, 8, 4, 16.0), (2, 1, 4, 2, 8.0), (2, 1, 4, 2, 8.0), (0, 0, 0, 0, 0.0))
    assert ranking(same, ["c", "b", "a", "d"], PAPER).tolist() == [0, 2, 1]


def test_scores_that_are_equal_but_for_rounding_are_ties() -> None:
    equal = counts((4, 2, 6, 0, 36.0), (9, 1, 12, 7, 144.0))  # 3/10 of both
    assert len(set(score(equal, PAPER).bound.tolist())) == 1
    assert ranking(equal, ["a", "b"], PAPER).tolist() == [0, 1]


def test_the_papers_own_arithmetic() -> None:
    """TW table 1 from its counts; 135,939 temporal pages in all."""
    for temporal, total, p, r, f in (
        (59_113, 108_237, 0.546, 0.435, 0.484),
        (70_110, 91_996, 0.762, 0.516, 0.615),
    ):
        actual = counts((total, temporal, total, temporal, float(total)))
        curve = list_curve(np.array([0]), actual, 135_939)
        assert curve.precision[0] == pytest.approx(p, abs=5e-4)
        assert curve.recall[0] == pytest.approx(r, abs=5e-4)
        assert curve.f[0] == pytest.approx(f, abs=1.1e-3)  # the paper computes F from rounded ones


def test_the_curve_of_the_list() -> None:
    judged = counts((4, 4, 4, 4, 4.0), (4, 1, 4, 1, 4.0), (10, 0, 10, 0, 10.0))
    curve = list_curve(np.array([0, 1, 2]), judged, 5)
    assert curve.temporal.tolist() == [4, 5, 5]
    assert curve.total.tolist() == [4, 8, 18]
    assert curve.f.tolist() == pytest.approx([8 / 9, 10 / 13, 10 / 23])
    assert curve.best() == 1
    assert list_curve(np.array([], np.int64), judged, 5).best() == 0


def test_tuned_sites_are_judged_by_other_pages() -> None:
    # By pages, `a` is better; by views, `b` is. What comes later is `b`.
    learned = counts((10, 9, 1000, 100, 1e5), (10, 1, 1000, 900, 1e5))
    judged = counts((10, 0, 10, 0, 10.0), (10, 10, 10, 10, 10.0))
    trials = tune_sites(learned, judged, ["a", "b"], PAPER, 2, np.array([1.0, -1.0]))
    best = best_sites(trials)
    assert best.scoring is not None
    assert (best.scoring.alpha, best.scoring.beta) == (2.0, 3.0)
    assert (best.top_k, best.precision, best.recall, best.f) == (1, 1.0, 1.0, 1.0)
    by_pages = trials[-1]
    assert by_pages.scoring is not None
    assert (by_pages.scoring.beta, by_pages.top_k, by_pages.f) == (0.0, 2, pytest.approx(2 / 3))
    in_use = trials[0]
    assert (in_use.scoring, in_use.top_k, in_use.f) == (PAPER, 2, pytest.approx(2 / 3))
    by_flow = trials[1]
    assert (by_flow.scoring, by_flow.recall) == (None, 0.0)


def test_the_flow_is_tuned_beside_the_stock() -> None:
    """Only the flow finds a folder whose old pages last and whose new ones do not."""
    urls = [f"https://a.example/{f}/{n}" for f in ("news", "guide") for n in range(60)]
    trees, number = section_trees(texts(urls)), np.arange(120) % 60
    is_news = np.arange(120) < 60
    old, born, judged = number < 40, (number >= 40) & (number < 50), number >= 50
    label = is_news & ~old
    flow = learn_flow(trees, label, born, old)
    rule = PrefixRule(0.4, 3, 0.8)
    trials = tune_prefixes(trees, label, ~judged, judged, ("confident", rule), flow)
    best = best_prefixes(trials)
    assert (best.kind, best.outcome.f_measure) == ("flow", 1.0)
    assert trials[0].outcome.f_measure < 1.0
    assert 0 < flow.worth <= 0.5
    merit = flow.merit[trees.find(["a.example/news/", "a.example/guide/"])]
    assert sorted(merit > 0) == [False, True]


def test_what_is_in_use_is_left_where_nothing_is_better() -> None:
    """The same site leads whatever the weights and the length: no reason for a list of one."""
    lone_site = counts((10, 9, 1000, 100, 1e5))
    trials = tune_sites(lone_site, lone_site, ["a"], PAPER, 100, np.array([0.5]))
    assert {trial.top_k for trial in trials} == {100}
    assert [trial.f for trial in trials] == pytest.approx([18 / 19] * len(trials))
    assert best_sites(trials) is trials[0]
    trees = section_trees(texts([f"https://a.example/news/{n}" for n in range(30)]))
    learned, rule = np.arange(30) < 20, PrefixRule(0.35, 4)
    every = np.ones(30, np.bool_)
    flow = learn_flow(trees, every, learned, np.zeros(30, np.bool_))
    rules = tune_prefixes(trees, every, learned, ~learned, ("confident", rule), flow)
    assert rules[0].rule is rule
    assert best_prefixes(rules) is rules[0]
    none = tune_sites(lone_site, lone_site, ["a"], Scoring(min_pages=11), 100, np.array([-0.5]))
    assert {(trial.top_k, trial.f) for trial in none} == {(100, 0.0)}


def test_what_the_weight_of_the_page_share_does() -> None:
    """TW 5.2: the site of the hot event gives way to the one whose pages nobody else has."""
    learned = counts((10, 4, 1000, 990, 1e5), (10, 9, 1000, 100, 1e5))
    judged = counts((4, 1, 40, 10, 400.0), (4, 4, 8, 8, 16.0))
    plain, heavy = page_share_effect(learned, judged, ["hot", "rare"], PAPER, 1, weights=(1.0, 4.0))
    # 0.6 * 0.4 + 0.4 * 0.99 = 0.636 beside 0.58; and with 12 : 2 it is 0.484 beside 0.786.
    assert (plain.weight, plain.changed, plain.views) == (1.0, 0, 40)
    assert (plain.precision, plain.recall) == (0.25, 0.2)
    assert (heavy.weight, heavy.changed, heavy.views) == (4.0, 1, 8)
    assert (heavy.precision, heavy.recall, heavy.f) == (1.0, 0.8, pytest.approx(8 / 9))
    none = page_share_effect(learned, judged, ["hot", "rare"], Scoring(min_pages=11), 1)
    assert [one.f for one in none] == [0.0] * 4


def test_tuned_prefixes_are_judged_by_other_pages() -> None:
    # Learned: 9 of 10 pages of a folder are news, and ten folders of one news page lead nowhere.
    news = [f"https://a.example/news/{n}" for n in range(10)]
    chance = [f"https://a.example/x{n}/1" for n in range(10)]
    care = [f"https://a.example/care/{n}" for n in range(20)]
    later = [f"https://a.example/news/{n}" for n in range(10, 14)]
    lasting = [f"https://a.example/x{n}/{k}" for n in range(10) for k in (2, 3)]
    trees = section_trees(texts([*news, *chance, *care, *later, *lasting]))
    is_news = np.array([1] * 9 + [0] + [1] * 10 + [0] * 20 + [1] * 4 + [0] * 20, np.bool_)
    learned = np.arange(64) < 40
    flow = learn_flow(trees, is_news, np.zeros(64, np.bool_), learned)
    trials = tune_prefixes(trees, is_news, learned, ~learned, ("paper", PAPER_RULE), flow)
    best = best_prefixes(trials)
    assert best.outcome.f_measure == 1.0
    assert best.prefixes == 1
    # The paper's rule takes the ten folders as well, and what they publish later.
    plain = next(trial for trial in trials if trial.rule == PAPER_RULE)
    assert plain.prefixes == 11
    assert plain.outcome.f_measure == f_measure(precision(4, 24), recall(4, 4))
