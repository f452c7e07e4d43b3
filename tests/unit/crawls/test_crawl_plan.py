"""Planned crawls: the best order of a tree by brute force, greedy discovery by a slow one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.crawl_orders import Set, site, wikipedia
from temporal_assets.core.crawls.crawl_curves import THROUGHPUTS
from temporal_assets.core.crawls.crawl_plan import discovery_plan, fetch_plan, greedy_discovery
from temporal_assets.core.crawls.crawl_policies import PLANNED_SHARE, SCENARIOS, _by_links_at_last
from temporal_assets.core.crawls.crawl_simulation import crawl
from temporal_assets.core.graph.link_graph import LinkGraph, link_graph
from temporal_assets.crawl.evaluation import evaluate


def graph(pages: int, links: list[tuple[int, int]]) -> LinkGraph:
    source, target = np.array(links, np.int32).reshape(-1, 2).T
    return link_graph(pages, source, target)


@st.composite
def trees(draw):
    pages = draw(st.integers(1, 6))
    parent = [draw(st.integers(0, page - 1)) for page in range(1, pages)]
    value = np.array(draw(st.lists(st.integers(0, 6), min_size=pages, max_size=pages)), float)
    return [(above, page) for page, above in enumerate(parent, 1)], value


@st.composite
def webs(draw):
    pages = draw(st.integers(1, 12))
    ends = st.integers(0, pages - 1)
    links = sorted(draw(st.sets(st.tuples(ends, ends), max_size=40)))
    value = np.array(draw(st.lists(st.integers(0, 9), min_size=pages, max_size=pages)), float)
    return graph(pages, links), links, value


def area(gained) -> float:
    """Value at hand after each fetch, summed."""
    return float(np.sum(gained))


@given(trees())
def test_no_order_of_a_tree_fetches_more_at_every_moment(tree) -> None:
    links, value = tree
    site = graph(len(value), links)
    planned = area(crawl(site, [0], fetch_plan(site, [0], value)).fetched_traffic(value))
    above = {page: parent for parent, page in links}
    for order in permutations(range(1, len(value))):
        place = {page: i for i, page in enumerate((0, *order))}
        if all(place[above[page]] < place[page] for page in order):
            assert planned >= area(np.cumsum(np.concatenate(([0.0], value[[0, *order]]))))


@given(trees())
def test_no_order_of_a_tree_shows_more_at_every_moment(tree) -> None:
    links, value = tree
    site = graph(len(value), links)
    planned = area(crawl(site, [0], discovery_plan(site, [0], value)).seen_traffic(value))
    above = {page: parent for parent, page in links}
    for order in permutations(range(1, len(value))):
        place = {page: i for i, page in enumerate((0, *order))}
        if all(place[above[page]] < place[page] for page in order):
            score = np.array([-place[page] for page in range(len(value))], float)
            assert planned >= area(crawl(site, [0], score).seen_traffic(value))


@given(webs())
@settings(deadline=None)
def test_greedy_discovery_is_that_of_a_slow_one(web) -> None:
    site, links, value = web
    fetched = crawl(site, [0], greedy_discovery(site, [0], value)).fetched.tolist()
    goals = {page: {b for a, b in links if a == page} for page in range(len(value))}
    seen, waiting = {0}, [0]
    for page in fetched:
        gain = {
            waiting_page: sum(value[goal] for goal in goals[waiting_page] - seen)
            for waiting_page in waiting
        }
        assert gain[page] == max(gain.values())
        waiting.remove(page)
        new = goals[page] - seen
        seen |= new
        waiting += sorted(new)
    assert not waiting


@given(webs())
@settings(deadline=None)
def test_every_page_has_a_score_and_those_that_nothing_leads_to_are_last(web) -> None:
    site, _, value = web
    reached = set(crawl(site, [0], np.zeros(len(value))).fetched.tolist())
    for plan in (fetch_plan, discovery_plan):
        score = plan(site, [0], value)
        assert np.isfinite(score).all()
        assert {page for page in range(len(value)) if score[page] >= 0} == reached


@given(webs(), st.integers(0, 9))
@settings(deadline=None)
def test_what_comes_last_is_left_to_the_links(web, seed) -> None:
    site, _, value = web
    score = fetch_plan(site, [0], value)
    rank = np.random.default_rng(seed).integers(0, 4, len(value)).astype(float)
    planned = crawl(site, [0], score).fetched[: int(PLANNED_SHARE * len(value))]
    hedged = crawl(site, [0], _by_links_at_last(score, site, rank, [0])).fetched
    if len(planned):
        # As a crawl that fetches the planned pages whatever happens, and then goes by rank.
        forced = rank.copy()
        forced[planned] = 10.0 + np.arange(len(planned), 0, -1)
        assert hedged.tolist() == crawl(site, [0], forced).fetched.tolist()


def test_a_page_that_nobody_opens_comes_first_where_it_leads_to_those_that_all_open() -> None:
    """The front page links a page with 3 visits, and an unopened archive of two with 9."""
    site = graph(5, [(0, 1), (0, 2), (2, 3), (2, 4)])
    value = np.array([1.0, 3.0, 0.0, 9.0, 9.0])
    by_count = crawl(site, [0], value).fetched.tolist()
    assert by_count == [0, 1, 2, 3, 4]
    assert crawl(site, [0], fetch_plan(site, [0], value)).fetched.tolist() == [0, 2, 3, 4, 1]


def test_a_way_through_pages_that_are_fetched_anyway_is_cheap() -> None:
    """Page 4 is two links away over page 1, which nobody opens, and three over 2 and 3."""
    site = graph(45, [(0, 1), (0, 2), (2, 3), (3, 4), (1, 4)])
    value = np.zeros(45)
    value[[2, 3, 4]] = 9.0, 9.0, 5.0
    assert crawl(site, [0], fetch_plan(site, [0], value)).fetched.tolist() == [0, 2, 3, 4, 1]


@pytest.mark.parametrize("real", [site, wikipedia], ids=["a web site's log", "Wikipedia"])
def test_combined_is_level_with_the_best_simple_order_or_ahead(
    shared_data: Path, real: Callable[[Path], Set]
) -> None:
    """Out of time, at every share of the pages, against the best order in hindsight."""
    given_ = real(shared_data)
    result = evaluate(given_.mirror, given_.learned, given_.scored.pages)
    shares = np.array(THROUGHPUTS)
    for scenario in SCENARIOS:
        best = result.best_baseline(scenario, shares)
        assert (result.gain(scenario, "combined", best, shares).mean > -0.001).all()
