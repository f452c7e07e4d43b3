"""Whether interest fades, from a few days of views."""

from __future__ import annotations

import numpy as np
import pytest

from temporal_assets.core.labels.fading import fading_evidence, fading_share


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
