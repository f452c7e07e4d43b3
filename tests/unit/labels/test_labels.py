"""Labels of pages, and signs that interest fades."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.curves.histories import lives
from temporal_assets.core.curves.weekdays import weekday_factors
from temporal_assets.core.labels.concentration import concentration
from temporal_assets.core.labels.fading import fading_evidence, fading_share
from temporal_assets.core.labels.labels import PAPERS, Thresholds, agreement, label
from temporal_assets.core.numerics import metrics


def test_concentration_by_hand() -> None:
    views = [
        [0, 0, 6, 2, 1, 1, 0, 0, 0, 0],  # born on day 3, life 8: (9 / 10) / (3 / 8) = 2.4
        [4, 4, 4, 4, 4, 4, 4, 4, 4, 4],  # even: exactly 1
        [0, 0, 0, 0, 0, 0, 0, 0, 5, 5],  # life 2 <= m
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 9, 0, 0, 0, 0, 0, 0, 0, 0],  # all at once: L / m = 9 / 3
    ]
    result = concentration(views, 3)
    np.testing.assert_allclose(result.value, [2.4, 1, 1, 1, 3])
    np.testing.assert_allclose(result.first_share, [0.9, 0.3, 1, 0, 1])
    assert result.is_defined.tolist() == [True, True, False, False, True]


def test_concentration_is_rounded_once() -> None:
    # (573 / 700) / (3 / 7) is 1.91 exactly, which a threshold of 1.91 does not let pass.
    views = [[0] * 53 + [573, 0, 0, 0, 0, 0, 127]]
    assert concentration(views, 3).value[0] == 1.91


def test_concentration_without_a_missing_day() -> None:
    # Day 2 is missing: 2 of 9 days are the first three, with 6 of 9 views.
    views = [[3, 99, 3, 1, 1, 1, 0, 0, 0, 0]]
    observed = [True, False, *[True] * 8]
    assert concentration(views, 3, observed=observed).value[0] == pytest.approx((6 / 9) / (2 / 9))


def test_concentration_over_days_of_each_page() -> None:
    views = np.array([[6, 3, 1, 0, 0, 0]] * 3)
    days = np.array([1, 2, 3])
    concentrations = concentration(views, days)
    for page, m in enumerate(days.tolist()):
        alone = concentration(views[page : page + 1], m)
        assert (concentrations.value[page], concentrations.first_share[page]) == (
            alone.value[0],
            alone.first_share[0],
        )


def test_concentration_needs_a_day() -> None:
    with pytest.raises(ValueError, match="at least 1 day"):
        concentration([[1, 2]], 0)


@given(st.lists(st.integers(0, 1000), min_size=8, max_size=8), st.integers(1, 7))
def test_concentration_lies_between_0_and_life_by_m(views: list[int], m: int) -> None:
    result = concentration([views], m)
    life = lives(np.array([views])).life[0]
    assert 0 <= result.value[0] <= max(1, life / m) + 1e-9


def test_lives() -> None:
    views = np.array([[0, 2, 0, 3], [1, 0, 0, 0], [0, 0, 0, 0]])
    result = lives(views)
    assert result.birth.tolist() == [2, 1, 0]
    assert result.life.tolist() == [3, 4, 0]
    assert result.total.tolist() == [5, 1, 0]
    assert result.may_be_older.tolist() == [False, True, False]
    holed = lives(views, observed=[False, True, True, True])
    assert holed.birth.tolist() == [2, 0, 0]
    assert holed.may_be_older.tolist() == [True, False, False]


LIVES = {
    "observed": [0, 0, 60, 20, 10, 6, 4, 0, 0, 0],  # 90 of 100 views in three days
    "lasting": [0, 0, 30, 20, 10, 10, 10, 10, 5, 5],  # 60 of 100
    "exactly q": [0, 0, 40, 20, 10, 10, 10, 10, 0, 0],  # 70 of 100
    "cut": [60, 20, 10, 6, 4, 0, 0, 0, 0, 0],  # may be older than the window
    "young": [0, 0, 0, 0, 0, 0, 60, 30, 10, 1],
    "at once": [50, 0, 0, 0, 0, 0, 0, 0, 0, 0],
}


def test_each_rule_decides_by_its_evidence() -> None:
    labels = label(list(LIVES.values()))
    assert labels.basis.tolist() == ["share", "share", "share", "cut_share", "none", "cut_share"]
    np.testing.assert_allclose(labels.first_share[:3], [0.9, 0.6, 0.7])
    assert labels.is_temporal.tolist()[:3] == [True, False, False]
    assert not labels.is_temporal[4]
    assert labels.is_temporal.tolist()[3::2] == [True, True]
    # 73 of 100 views in three days are temporal of a page that was born, not of one that was there.
    born, there = [0, 50, 13, 10, 9, 9, 9, 0, 0, 0], [50, 13, 10, 9, 9, 9, 0, 0, 0, 0]
    assert label([born, there]).is_temporal.tolist() == [True, False]
    # 95 % intervals: 0.83 to 0.94, 0.50 to 0.69, 0.60 to 0.78.
    assert labels.is_sure.tolist()[:3] == [True, True, False]
    by_curve = label(list(LIVES.values()), rule="curve")
    assert set(by_curve.basis) == {"curve", "none", "limit"}
    assert by_curve.is_temporal.tolist() == labels.is_temporal_by_curve.tolist()
    news = label(list(LIVES.values()), Thresholds(m=2), "concentration")
    assert set(news.basis) == {"concentration"}
    assert news.is_temporal.tolist() == news.is_news.tolist()
    assert Thresholds(n=3, q=0.7, m=3, p=1.91) == PAPERS


@pytest.mark.parametrize(
    ("days", "missing", "basis"),
    [
        (10, [1], "share"),
        (10, [3], "share"),
        (10, [3, 4, 5], "share"),
        (7, [5], "share"),  # five days old, four of them observed
        (7, [5, 6], "none"),  # nothing is known of what came after the first days
        (7, [], "share"),
        (6, [], "none"),
    ],
)
def test_the_share_decides_where_days_are_missing(
    days: int, missing: list[int], basis: str
) -> None:
    observed = ~np.isin(np.arange(days), missing)
    labels = label(np.array([LIVES["observed"][:days]]) * observed, observed=observed)
    assert labels.basis.tolist() == [basis]


def test_agreement_by_hand() -> None:
    result = agreement([True, True, True, False, False], [True, True, False, False, True])
    assert (result.both, result.only_first, result.only_second, result.neither) == (2, 1, 1, 1)
    assert result.share == 0.6
    # Chance: 0.6 * 0.6 + 0.4 * 0.4 = 0.52; (0.6 - 0.52) / 0.48 = 1 / 6.
    assert result.kappa == pytest.approx(1 / 6)


def test_table_1_of_the_first_paper() -> None:
    for temporal, pages, precision, recall, f in (
        (70_110, 91_996, 0.762, 0.516, 0.615),
        (59_113, 108_237, 0.546, 0.435, 0.484),
    ):
        p, r = metrics.precision(temporal, pages), metrics.recall(temporal, 135_939)
        assert round(p, 3) == precision
        assert round(r, 3) == recall
        assert round(metrics.f_measure(p, r), 3) == f


def test_table_2_of_the_second_paper() -> None:
    for news, pages, precision, recall in (
        (101_870, 111_934, 0.910, 0.689),
        (86_714, 177_801, 0.488, 0.586),
    ):
        assert round(metrics.precision(news, pages), 3) == precision
        assert round(metrics.recall(news, 147_927), 3) == recall


def test_hits_of_the_papers_experiments_add_up() -> None:
    # TW 4.2: 3,040 pages, miss 141, false alarm 70. NP 6.1 prints hit 2,682, miss 188 and false
    # alarm 177, which is 7 pages too many.
    curve = metrics.Outcome(temporal=2337 - 141, miss=141, false_alarm=70, untemporal=703 - 70)
    assert (curve.hit, curve.pages) == (2829, 3040)
    assert curve.performance() == 2829
    assert curve.performance(1, 2, 3) == 2829 - 282 - 210
    assert 2682 + 188 + 177 == 3040 + 7


def test_measures_of_nothing() -> None:
    assert metrics.precision(0, 0) == metrics.recall(0, 0) == metrics.f_measure(0, 0) == 0
    assert metrics.outcome([], []).accuracy == 0


def test_reliability_by_hand() -> None:
    result = metrics.reliability([True, False, True, True], [0.15, 0.15, 0.95, 1.0], bins=10)
    np.testing.assert_allclose(result.promised, [0.15, 0.975])
    np.testing.assert_allclose(result.observed, [0.5, 1.0])
    assert result.error == pytest.approx((0.35 + 0.025) / 2)
    assert metrics.brier([True, False], [0.8, 0.4]) == pytest.approx((0.04 + 0.16) / 2)


def test_a_difference_is_as_sure_as_its_groups_are_many() -> None:
    first, second = np.ones(100, np.bool_), np.arange(100) % 10 > 0
    alone = metrics.difference(first, second, np.arange(100))
    assert alone.value == pytest.approx(0.1)
    assert 0 < alone.low < alone.value < alone.high < 0.2
    # All that differ are of one group of ten: the next sample may have none of it.
    of_one = metrics.difference(first, np.arange(100) >= 10, np.arange(100) // 10)
    assert of_one.value == pytest.approx(0.1)
    assert of_one.low < 0
    # The same answers are not proven to be the same.
    same = metrics.difference(first, first, np.arange(100))
    assert same.low < same.value == 0 < same.high


def test_one_label_for_all_is_a_baseline() -> None:
    rare = metrics.beside_constant(metrics.Outcome(8, 2, 3, 87))
    assert rare.value == pytest.approx(0.95 - 0.90)
    assert rare.low < 0.05 < rare.high
    common = metrics.beside_constant(metrics.Outcome(87, 3, 2, 8))
    assert (common.value, common.low, common.high) == pytest.approx(
        (rare.value, rare.low, rare.high)
    )
    assert metrics.beside_constant(metrics.Outcome(0, 10, 0, 90)).value == 0


def test_weekdays_are_found() -> None:
    # Four weeks from a Wednesday: 10 views on weekdays, 3 at weekends.
    weekday = (2 + np.arange(28)) % 7
    total = np.where(weekday >= 5, 3.0, 10.0)
    factors = weekday_factors(total, 2)
    np.testing.assert_allclose(factors, np.array([10] * 5 + [3] * 2) / 8)


def test_weekdays_of_a_short_window_are_even() -> None:
    assert weekday_factors([5, 1, 1], 0).tolist() == [1.0] * 7


def test_weekdays_are_not_mistaken_for_growth() -> None:
    growing = 100 * 1.02 ** np.arange(56)
    np.testing.assert_allclose(weekday_factors(growing, 0), 1, atol=0.01)


def test_a_missing_day_says_nothing_of_its_weekday() -> None:
    weekday = np.arange(21) % 7
    total = np.where(weekday >= 5, 3.0, 10.0)
    observed = np.ones(21, bool)
    observed[9] = False  # the second Wednesday
    total[9] = 0.0
    whole = np.where(np.arange(7) >= 5, 3 / 8, 10 / 8)
    np.testing.assert_allclose(weekday_factors(total, 0, observed=observed), whole)
    assert weekday_factors(total, 0)[2] != pytest.approx(10 / 8)


def steady(pages: int, days: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).poisson(6.0, (pages, days)).astype(np.float64) + 1


def news(pages: int, days: int, seed: int = 1) -> np.ndarray:
    """Pages born on any of the days, or just before, most of whose views come at once."""
    random = np.random.default_rng(seed)
    birth = np.arange(pages) % (days + 1) - 1
    age = np.arange(days)[None, :] - birth[:, None]
    rate = np.where(age < 0, 0.0, 30.0 * 0.3 ** np.maximum(age, 0))
    views = random.poisson(rate).astype(np.float64)
    return views[views.sum(axis=1) > 3]


@pytest.mark.parametrize("days", [2, 3, 6, 14])
def test_two_days_tell_news_from_what_lasts(days: int) -> None:
    numbers = np.arange(days)
    lasting, _ = fading_share(fading_evidence(steady(60, days), numbers))
    fading, _ = fading_share(fading_evidence(news(60, days), numbers))
    assert lasting < 0.1
    assert fading > 0.7


def test_of_a_mixed_site_each_page_has_its_own_probability() -> None:
    views = np.vstack([steady(40, 5), news(40, 5)])
    share, probability = fading_share(fading_evidence(views, np.arange(5)))
    assert 0.3 < share < 0.7
    assert probability[:40].mean() < 0.2
    assert probability[40:].mean() > 0.8


def test_one_day_and_no_page_say_nothing() -> None:
    evidence = fading_evidence(steady(9, 1), np.arange(1))
    assert evidence == pytest.approx(np.zeros(9), abs=1e-9)
    assert fading_share(evidence)[0] == pytest.approx(0.5)
    share, probability = fading_share(np.zeros(0))
    assert (share, len(probability)) == (0.5, 0)


def test_a_missing_day_is_no_day_without_readers() -> None:
    views = steady(60, 4)[:, [0, 1, 3]]
    share, _ = fading_share(fading_evidence(views, np.array([0, 1, 3])))
    assert share < 0.1
