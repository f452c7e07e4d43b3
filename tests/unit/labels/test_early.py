"""Early labels: the prior of sites, the regression, and probabilities that mean what they say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from temporal_assets.core.labels.early import filled, learn, score_label, score_probability
from temporal_assets.core.labels.priors import Prior
from temporal_assets.core.numerics.logistic import fit_logistic, row_products
from temporal_assets.core.numerics.metrics import brier, reliability


def pages(count: int, seed: int):
    """First ten days of pages of 20 sites: temporal ones fall fast, others hardly."""
    rng = np.random.default_rng(seed)
    site = rng.integers(0, 20, count)
    truth = rng.random(count) < np.linspace(0.05, 0.95, 20)[site]
    speed = np.where(truth, rng.normal(0.9, 0.4, count), rng.normal(0.15, 0.2, count))
    level = np.exp(rng.normal(2.5, 1.0, count))
    views = rng.poisson(level[:, None] * np.exp(-np.maximum(speed, 0)[:, None] * np.arange(10)))
    sites = np.array([f"site{s:02d}" for s in site])
    sections = np.array(
        [f"site{s:02d}/{k}" for s, k in zip(site, rng.integers(0, 3, count), strict=True)]
    )
    return views, truth, sites, sections


def test_a_small_section_is_drawn_to_its_site() -> None:
    truth = [True] * 90 + [False] * 10 + [False] * 100 + [True] * 2
    sites = ["news"] * 100 + ["shop"] * 100 + ["shop"] * 2
    sections = ["news/a"] * 100 + ["shop/b"] * 100 + ["shop/new"] * 2
    prior = Prior.learn(truth, sites, sections)
    news, shop, new, unknown_section, unknown = prior.of(
        ["news", "shop", "shop", "news", "nobody"],
        ["news/a", "shop/b", "shop/new", "news/z", "nobody/"],
    )
    assert news == pytest.approx(0.9, abs=0.02)
    assert shop < 0.05
    assert shop < new < 0.9
    assert unknown_section == pytest.approx(0.9, abs=0.03)
    assert unknown == prior.rate


def test_a_page_is_no_evidence_for_itself() -> None:
    """The history of a single section says nothing, and views that tell nothing leave the share.

    Were each page left out of its section's history, that would tell its label: all temporal ones
    would have one prior, all others another.
    """
    rng = np.random.default_rng(5)
    truth = rng.random(600) < 0.4
    views = rng.poisson(9, (600, 7))
    names = np.full(600, "news.example/a/")
    actual = learn(views, truth, names, names).probability(views, np.full(600, 7), names, names)
    assert actual.mean() == pytest.approx(truth.mean(), abs=0.05)
    assert np.abs(actual - truth.mean()).mean() < 0.1
    # What is known of a page's views is used: those of temporal ones fall.
    views[truth] = rng.poisson([30, 15, 8, 4, 2, 1, 1], (truth.sum(), 7))
    taught = learn(views, truth, names, names)
    answer = taught.probability(views, np.full(600, 3), names, names)
    assert brier(truth, answer) < 0.05


def test_logistic_regression_finds_the_odds() -> None:
    # 30 of 40 and 10 of 40: log-odds ln 3 and -ln 3.
    features = np.repeat([[0.0], [1.0]], 40, axis=0)
    truth = np.concatenate([np.arange(40) < 30, np.arange(40) < 10])
    odds = fit_logistic(features, truth).log_odds(np.array([[0.0], [1.0]]))
    # Drawn together by the prior of the coefficient.
    np.testing.assert_allclose(odds, [np.log(3), -np.log(3)], atol=0.2)


def test_what_a_row_gets_does_not_depend_on_the_others() -> None:
    """To the last digit, however many there are: threads would divide them."""
    rng = np.random.default_rng(4)
    for columns in (1, 5, 13):
        rows, weights = rng.normal(size=(5_003, columns)), rng.normal(size=columns)
        together = row_products(rows, weights)
        assert together == pytest.approx(rows @ weights)
        for some in (slice(1), slice(4_096, None), slice(17, 117)):
            assert np.array_equal(together[some], row_products(rows[some], weights))


def test_separable_pages_have_finite_odds() -> None:
    model = fit_logistic(np.linspace(-1, 1, 100)[:, None], np.arange(100) >= 50)
    assert np.isfinite(model.coefficients).all()


def test_probabilities_out_of_sample_are_better_with_age_and_mean_what_they_say() -> None:
    model = learn(*pages(6000, seed=1))
    views, truth, sites, sections = pages(6000, seed=2)
    losses = []
    for age in (0, 1, 2, 3, 5, 7):
        p = model.probability(views, np.full(6000, age), sites, sections)
        assert reliability(truth, p).error < 0.03
        losses.append(score_probability(age, "model", truth, p).log_loss)
    assert losses[0] > losses[2] > losses[3] > losses[5]
    late = model.probability(views, np.full(6000, 7), sites, sections)
    assert score_label(7, "model", truth, late > 0.5).accuracy > 0.9


def test_days_beyond_the_age_are_not_looked_at() -> None:
    model = learn(*pages(1000, seed=1))
    views, _, sites, sections = pages(50, seed=3)
    age = np.full(50, 2)
    changed = views.copy()
    changed[:, 2:] = 12345
    np.testing.assert_array_equal(
        model.probability(views, age, sites, sections),
        model.probability(changed, age, sites, sections),
    )
    # Every age has a model of its own; pages that are older are judged by their first seven days.
    by_age = [model.probability(views, np.full(50, k), sites, sections) for k in range(1, 9)]
    assert all((one != other).any() for one, other in pairwise(by_age[:7]))
    np.testing.assert_array_equal(by_age[6], by_age[7])


def test_there_is_no_number_of_pages_at_which_learning_begins() -> None:
    """Each page more says a little more; a few say little beyond the history."""
    views, truth, sites, sections = pages(2000, seed=2)
    losses = []
    for count in (4, 8, 16, 40, 60, 200, 1000):
        model = learn(*(page[:count] for page in pages(2000, seed=1)))
        p = model.probability(views, np.full(2000, 7), sites, sections)
        losses.append(score_probability(7, "model", truth, p).log_loss or 0.0)
        assert np.isfinite(p).all()
        assert p.min() >= 1 / (count + 2)
        assert p.max() <= 1 - 1 / (count + 2)
    assert losses[0] < 0.75
    assert losses[-1] < 0.3
    assert all(later < earlier + 0.1 for earlier, later in pairwise(losses))


def test_pages_of_one_kind_leave_a_chance_to_the_other() -> None:
    views, _, sites, sections = pages(30, seed=1)
    model = learn(views, np.ones(30, bool), sites, sections)
    assert not model.knows_views
    p = model.probability(views, np.full(30, 3), sites, sections)
    assert (p <= 1 - 1 / 32).all()
    assert (p > 0.9).all()


def test_nothing_is_learned_from_no_page() -> None:
    model = learn(np.empty((0, 7)), np.empty(0, bool), np.empty(0, str), np.empty(0, str))
    assert model.learned_from == 0
    assert model.probability([[3.0] * 7], [2], ["a"], ["a/b"]).tolist() == [0.5]


def test_all_views_on_one_day_are_an_answer() -> None:
    rng = np.random.default_rng(3)
    views = np.zeros((300, 7))
    views[:, 0] = rng.integers(3, 50, 300)
    views[150:] = rng.integers(1, 9, (150, 7))
    names = np.full(300, "a")
    model = learn(views, np.arange(300) < 150, names, names)
    for age in range(1, 8):
        p = model.probability(views, np.full(300, age), names, names)
        assert np.isfinite(p).all()
    assert p[:150].mean() > 0.9
    assert p[150:].mean() < 0.1


def test_a_page_whose_share_has_fallen_to_the_cut_is_untemporal_for_good() -> None:
    """Seven of ten views are no more than 70 %; later ones make the share smaller."""
    rng = np.random.default_rng(8)
    views = np.column_stack([rng.poisson(9, (1000, 3)), rng.poisson(3, (1000, 4))])
    truth = views[:, :3].sum(axis=1) / views.sum(axis=1) > 0.7
    names = np.full(1000, "a")
    model = learn(views, truth, names, names)
    fallen = np.array([[7, 0, 0, 3, 0, 0, 0], [700, 0, 0, 0, 0, 0, 300]], float)
    asked = fallen, [7, 7], names[:2], names[:2]
    assert (model.probability(*asked) == 1 / 1002).all()
    # On its third day a page can still be either.
    assert (model.probability(fallen, [3, 3], *asked[2:]) > 1 / 1002).all()
    # Where a known page says otherwise, other cuts were used: nothing is final.
    other = learn(views, truth | (rng.random(1000) < 0.2), names, names)
    assert (other.probability(*asked) > 1 / 1002).all()


def test_what_pages_will_do_is_learned_once_more_from_those_seen_for_longer() -> None:
    """The truth of a page of exactly seven days is its share so far, which knows no later views."""
    rng = np.random.default_rng(6)
    views = np.column_stack([rng.poisson(20, (2000, 3)), rng.poisson(2, (2000, 4))])
    seen = np.where(np.arange(2000) % 2 == 0, 7, 20)
    later = np.where(seen == 20, rng.poisson(30, 2000), 0)
    truth = views[:, :3].sum(axis=1) / (views.sum(axis=1) + later) > 0.7
    names = np.full(2000, "a")
    share = truth[seen == 20].mean()
    young, asked = views[:200], (np.full(200, 7), names[:200], names[:200])
    by_all = learn(views, truth, names, names).probability(young, *asked)
    by_longer = learn(views, truth, names, names, seen_days=seen).probability(young, *asked)
    assert 2 * by_longer.mean() - by_all.mean() == pytest.approx(share, abs=0.06)
    assert by_all.mean() > share + 0.15


def test_an_age_beyond_which_nobody_was_seen_has_the_answer_of_the_age_before() -> None:
    views, truth, sites, sections = pages(400, seed=1)
    model = learn(views, truth, sites, sections, seen_days=np.full(400, 7))
    assert model.ages == (1, 2, 3, 4, 5, 6)
    asked = views[:50], np.full(50, 7), sites[:50], sections[:50]
    assert model.probability(*asked).tolist() == (
        model.probability(views[:50], np.full(50, 6), *asked[2:]).tolist()
    )
    assert learn(views, truth, sites, sections, seen_days=np.full(400, 8)).ages[-1] == 7


def test_too_few_days_are_refused() -> None:
    views, truth, sites, sections = pages(100, seed=1)
    with pytest.raises(ValueError, match="7 first days"):
        learn(views[:, :5], truth, sites, sections)


def test_missing_days_get_what_the_days_around_them_suggest() -> None:
    views = np.array([[7.5, 9, 9, 0.5, 3], [1, 0, 0, 2, 0]])
    whole = filled(views, np.array([True, False, False, True, False]))
    # 8 and 1 with a half more: a half at each step, and after the last observed day the same again.
    np.testing.assert_allclose(whole[0], [7.5, 3.5, 1.5, 0.5, 0.5])
    np.testing.assert_allclose(whole[1, [0, 3, 4]], [1, 2, 2])
    assert filled(views, np.ones(5, bool)).tolist() == views.tolist()
