"""Expected traffic: planted sites whose weights are known, and properties for any evidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.crawls.expected_traffic import (
    PageEvidence,
    expected_traffic,
    with_random_readers,
)

PAGES = 400


def evidence(count, pattern=None, rank=None):
    count = np.asarray(count, np.float64)
    pages = len(count)
    return PageEvidence(
        count=count,
        pattern_average=np.zeros(pages) if pattern is None else np.asarray(pattern, np.float64),
        page_rank=np.full(pages, 1 / pages) if rank is None else np.asarray(rank, np.float64),
    )


def order(scores):
    return np.argsort(-scores, kind="stable")


def test_without_a_past_the_prior_decides():
    shares = evidence([4.0, 0.0, 2.0], pattern=[0.0, 6.0, 0.0])
    assert expected_traffic(shares).tolist() == [2.0, 3.0, 1.0]
    assert expected_traffic(shares, shares, np.zeros(3)).tolist() == [2.0, 3.0, 1.0]


def test_where_links_tell_the_future_links_decide():
    """Earlier pages are not read any more; the traffic of later days follows PageRank."""
    rng = np.random.default_rng(1)
    rank = rng.pareto(1.5, PAGES) + 0.1
    rank /= rank.sum()
    before, now = (rng.poisson(5, PAGES).astype(np.float64) for _ in range(2))
    later = rng.poisson(2000 * rank).astype(np.float64)
    traffic = expected_traffic(evidence(now, rank=rank), evidence(before, rank=rank), later)
    best = set(order(rank)[:40].tolist())
    assert len(best & set(order(traffic)[:40].tolist())) >= 36
    by_prior = expected_traffic(evidence(now, rank=rank))
    assert len(best & set(order(by_prior)[:40].tolist())) < 15


def test_where_counts_tell_the_future_counts_decide():
    rng = np.random.default_rng(2)
    interest = rng.pareto(1.2, PAGES)
    before, later, now = (rng.poisson(20 * interest).astype(np.float64) for _ in range(3))
    pattern = rng.permutation(interest) * 20  # says nothing
    traffic = expected_traffic(evidence(now, pattern), evidence(before, pattern), later)
    best = set(order(interest)[:40].tolist())
    by_prior = expected_traffic(evidence(now, pattern))
    shared = [len(best & set(order(scores)[:40].tolist())) for scores in (traffic, by_prior)]
    assert shared[0] >= 32 > shared[1]


def test_little_traffic_keeps_the_prior():
    """Three visits teach no weights: the order stays that of the prior."""
    rng = np.random.default_rng(3)
    before, now = (rng.poisson(3, PAGES).astype(np.float64) for _ in range(2))
    pattern = rng.gamma(2, 2, PAGES)
    later = np.zeros(PAGES)
    later[:3] = 1
    given_ = evidence(now, pattern)
    traffic = expected_traffic(given_, evidence(before, pattern), later)
    agreement = np.corrcoef(np.argsort(order(traffic)), np.argsort(order(given_.prior())))[0, 1]
    assert agreement > 0.9


@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(0.01, 1e6))
def test_every_page_gets_a_number(pages, seed, scale):
    rng = np.random.default_rng(seed)

    def some():
        values = np.round(scale * rng.pareto(1, pages)) * rng.integers(0, 2, pages)
        return evidence(values, rng.pareto(1, pages), rng.dirichlet(np.ones(pages)))

    later = np.round(scale * rng.pareto(1, pages))
    traffic = expected_traffic(some(), some(), later)
    assert np.isfinite(traffic).all()
    assert (traffic >= 0).all()


def test_expected_traffic_is_in_the_unit_of_the_counts():
    """Sites that are crawled together compare what they expect."""
    rng = np.random.default_rng(4)
    interest = rng.gamma(2, 2, PAGES)
    before, later, now = (rng.poisson(interest).astype(np.float64) for _ in range(3))
    traffic = expected_traffic(evidence(now), evidence(before), later)
    assert traffic.mean() == pytest.approx(now.mean() / 2, rel=0.5)


def test_readers_who_follow_links_at_random_tell_unopened_pages_apart() -> None:
    actual = with_random_readers(np.array([8.0, 0.0, 0.0]), np.array([0.2, 0.5, 0.3]))
    # As many readers as half of those expected, where the links lead them.
    assert actual == pytest.approx([8.8, 2.0, 1.2])
