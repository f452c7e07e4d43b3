"""Thinned copies, and what learning from them does to pages with few views."""

from __future__ import annotations

import numpy as np
import pytest

from temporal_assets.core.early import learn, score_probability
from temporal_assets.core.early_comparison import ANSWERS, CONCENTRATION, CURVE, EARLY, compare
from temporal_assets.core.thinning import thinned


def drawn(count: int, seed: int, readers: float):
    """Fourteen days of pages that fall by half a day, or hardly; those kept have 60 views."""
    rng = np.random.default_rng(seed)
    truth = rng.random(count) < 0.5
    fall = np.where(truth, 0.5, 0.97)[:, None] ** np.arange(14)
    share = fall / fall.sum(axis=1, keepdims=True)
    views = rng.poisson(readers * np.exp(rng.normal(0, 0.5, count))[:, None] * share)
    return views, truth


def test_a_copy_has_no_more_views_than_its_page_and_begins_with_one() -> None:
    views, _ = drawn(500, 1, 100.0)
    copies = thinned(views.astype(float), 7, seed=3)
    assert len(copies.page) > 300
    assert (copies.views[:, 0] > 0).all()
    for row, page in zip(copies.views, copies.page, strict=True):
        later = range(14 - 7 + 1)
        assert any((row <= views[page, k : k + 7]).all() for k in later)
    again = thinned(views.astype(float), 7, seed=3)
    np.testing.assert_array_equal(copies.views, again.views)


def test_copies_are_few_and_many() -> None:
    views = np.zeros((3000, 14))
    views[:, 0] = 1000
    total = thinned(views, 7, seed=1).views.sum(axis=1)
    # Evenly on the logarithmic scale from 1 to 1,000: a third of the copies for each power of ten.
    for low, high in ((1, 10), (10, 100), (100, 1001)):
        assert ((total >= low) & (total < high)).sum() / 3000 == pytest.approx(1 / 3, abs=0.06)


def test_copies_teach_what_few_views_mean() -> None:
    """Learned from pages with 100 views, asked about pages with four."""
    names = np.full(4000, "s")
    views, truth = drawn(4000, 1, 100.0)
    few, kinds = drawn(4000, 2, 4.0)
    born = few[:, 0] > 0
    loss = []
    for copies in (0, 2):
        model = learn(views, truth, names, names, copies=copies)
        seen = few[born][:, :7].astype(float)
        p = model.probability(
            seen, np.full(born.sum(), 3), names[: born.sum()], names[: born.sum()]
        )
        loss.append(score_probability(3, "", kinds[born], p).log_loss or 0.0)
    assert loss[1] < loss[0] - 0.05


def test_copies_are_no_evidence_for_their_own_site() -> None:
    """Every page is a site of its own: nothing is to be learned from sites, copies or not."""
    views, truth = drawn(1000, 1, 100.0)
    names = np.array([f"s{n}" for n in range(1000)])
    model = learn(np.ones_like(views), truth, names, names, copies=2)
    p = model.probability(np.ones((1000, 7)), np.full(1000, 3), names, names)
    # Shares of other folds differ by a page.
    assert np.ptp(p) < 0.05
    unknown = model.probability(np.ones((1, 7)), [3], ["new"], ["new"])
    assert 0.3 < unknown[0] < 0.7


def test_every_answer_is_scored_at_every_age_and_curves_only_from_the_fifth_day() -> None:
    names = np.full(800, "s")
    views, truth = drawn(800, 1, 100.0)
    model = learn(views, truth, names, names, copies=1)
    new, kinds = drawn(800, 2, 100.0)
    found = {(one.age, one.answer): one for one in compare(model, new, kinds, names, names)}
    assert set(found) == {(age, answer) for age in (1, 2, 3, 5, 7) for answer in ANSWERS}
    nothing = (~kinds).mean()
    assert found[3, CURVE].accuracy == found[3, CONCENTRATION].accuracy == nothing
    assert found[7, CURVE].accuracy > 0.8
    assert found[7, EARLY].accuracy > 0.95
