"""Simulated crawls, step by step as a slow one, and OPIC."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.crawls.crawl_curves import curve_of, fetch_bound, mean_curve, seen_bound
from temporal_assets.core.crawls.crawl_simulation import HostLimit, crawl, levels_of, reachable
from temporal_assets.core.crawls.opic import opic_scores
from temporal_assets.core.graph.link_graph import link_graph, part, reverse
from temporal_assets.core.graph.page_rank import page_rank, page_rank_run


def graph_of(pages, links):
    source, target = zip(*links, strict=True) if links else ((), ())
    return link_graph(pages, np.array(source, np.int32), np.array(target, np.int32))


def slow_crawl(pages, links, start, score, host=None, most=None, fetches=None):
    """Crawl as `crawl` does, with one list and one minimum at a time."""
    of = {u: [v for s, v in links if s == u] for u in range(pages)}
    queue, seen, fetched, seen_after = [], [], [], []
    ticket = 0

    def see(page):
        nonlocal ticket
        if page not in seen:
            seen.append(page)
            queue.append((-score[page], ticket, page))
            ticket += 1

    for page in start:
        see(page)
    seen_after.append(len(seen))
    waiting, used, left = [], {}, fetches
    while queue or waiting:
        if not queue or left == 0:
            queue += waiting
            waiting, used, left = [], {}, fetches
        best = min(queue)
        queue.remove(best)
        page = best[2]
        if host is not None:
            if used.get(host[page], 0) == most:
                waiting.append(best)
                continue
            used[host[page]] = used.get(host[page], 0) + 1
            left -= 1
        fetched.append(page)
        for target in of[page]:
            see(target)
        seen_after.append(len(seen))
    return fetched, seen, seen_after


@st.composite
def worlds(draw):
    pages = draw(st.integers(1, 90))  # more than 64 levels reach the second layer of bits
    page = st.integers(0, pages - 1)
    links = draw(st.lists(st.tuples(page, page), max_size=250))
    start = draw(st.lists(page, min_size=1, max_size=3))
    values = st.integers(0, draw(st.sampled_from((0, 3, 1000))))
    score = draw(st.lists(values, min_size=pages, max_size=pages))
    return pages, links, start, score


@given(worlds())
def test_a_crawl_is_the_slow_crawl(world):
    pages, links, start, score = world
    order = crawl(graph_of(pages, links), start, score)
    fetched, seen, seen_after = slow_crawl(pages, links, start, score)
    assert order.fetched.tolist() == fetched
    assert order.seen.tolist() == seen
    assert order.seen_after.tolist() == seen_after


@given(worlds(), st.integers(1, 4), st.integers(1, 3), st.integers(1, 12))
def test_limits_of_hosts_are_those_of_the_slow_crawl(world, hosts, most, fetches):
    pages, links, start, score = world
    host = np.arange(pages, dtype=np.int32) % hosts
    order = crawl(graph_of(pages, links), start, score, HostLimit(host, most, fetches))
    slow = slow_crawl(pages, links, start, score, host, most, fetches)
    assert (order.fetched.tolist(), order.seen.tolist(), order.seen_after.tolist()) == slow


@given(worlds(), st.randoms())
def test_no_order_exceeds_the_bounds(world, random):
    pages, links, start, score = world
    traffic = np.array([random.randrange(10) for _ in range(pages)], np.float64)
    graph = graph_of(pages, links)
    order = crawl(graph, start[:1], score)
    assert (order.fetched_traffic(traffic) <= fetch_bound(graph, start[:1], traffic) + 1e-9).all()
    assert (order.seen_traffic(traffic) <= seen_bound(graph, start[:1], traffic) + 1e-9).all()
    both = crawl(graph, start, score)
    assert (both.seen_traffic(traffic) <= seen_bound(graph, start, traffic) + 1e-9).all()
    assert sorted(order.fetched) == sorted(reachable(graph, start[:1]))


def test_a_crawl_by_hand():
    #      0 -> 1, 2, 3;  2 -> 4;  4 -> 0;  5 is not reachable
    graph = graph_of(6, [(0, 1), (0, 2), (0, 3), (2, 4), (4, 0)])
    traffic = np.array([10.0, 1, 2, 3, 40, 44])
    broad = crawl(graph, [0], np.zeros(6))
    assert broad.fetched.tolist() == [0, 1, 2, 3, 4]
    assert broad.fetched_traffic(traffic).tolist() == [0, 10, 11, 13, 16, 56]
    assert broad.seen_traffic(traffic).tolist() == [10, 16, 16, 56, 56, 56]
    # 4 has the best score, but has to be seen first; equal scores in the order seen.
    deep = crawl(graph, [0], [0, 1, 2, 1, 9, 9])
    assert deep.fetched.tolist() == [0, 2, 4, 1, 3]
    assert crawl(graph, [0], [0, 1, 2, 1, 9, 9], most=2).fetched.tolist() == [0, 2]
    assert fetch_bound(graph, [0], traffic).tolist() == [0, 40, 50, 53, 55, 56]
    assert seen_bound(graph, [0], traffic).tolist() == [10, 16, 56, 56, 56, 56]


def test_pages_about_which_nothing_is_known_come_last():
    level, levels = levels_of([1.0, np.nan, -5.0, 1.0, np.nan])
    assert (level.tolist(), levels) == ([0, 2, 1, 0, 2], 3)


def test_curves_by_hand():
    # Four pages, 10 of traffic in all: one of the pages is never fetched.
    curve = curve_of(np.array([0.0, 5, 8, 9]), 4, 10.0, points=5)
    assert curve.share.tolist() == [0, 0.5, 0.8, 0.9, 0.9]
    assert curve.area == pytest.approx((0.25 + 0.65 + 0.85 + 0.9) / 4)
    assert curve.pages_for(0.5) == 0.25
    assert curve.pages_for(0.65) == pytest.approx(0.375)
    assert curve.pages_for(0.95) is None
    assert curve.at([0.0, 0.125, 1.0]).tolist() == [0, 0.25, 0.9]
    none = curve_of(np.zeros(3), 2, 0.0, points=5)
    assert mean_curve([curve, none]).share.tolist() == [0, 0.25, 0.4, 0.45, 0.45]


def test_what_cannot_be_crawled_is_refused():
    graph = graph_of(2, [(0, 1)])
    for start, score in (([], [1, 1]), ([2], [1, 1]), ([-1], [1, 1]), ([0], [1])):
        with pytest.raises(ValueError, match="needs"):
            crawl(graph, start, score)
    with pytest.raises(ValueError, match="limit"):
        crawl(graph, [0], [1, 1], HostLimit(np.zeros(2, np.int32), 0, 5))
    with pytest.raises(ValueError, match="between"):
        graph_of(2, [(0, 2)])


@given(worlds(), st.integers(0, 90), st.integers(0, 90))
def test_graphs_are_their_links(world, a, b):
    pages, links, _, _ = world
    graph = graph_of(pages, links)
    start, stop = sorted((min(a, pages), min(b, pages)))
    inside = part(graph, start, stop)
    for page in range(pages):
        assert graph.of(page).tolist() == [v for u, v in links if u == page]
    for page in range(start, stop):
        expected = [v - start for u, v in links if u == page and start <= v < stop]
        assert inside.of(page - start).tolist() == expected
    assert sorted(zip(*_pairs(reverse(graph)), strict=True)) == sorted((v, u) for u, v in links)


def _pairs(graph):
    return np.repeat(np.arange(len(graph)), np.diff(graph.first)).tolist(), graph.target.tolist()


def test_page_rank_says_whether_it_has_converged():
    graph = graph_of(3, [(0, 1), (1, 0), (2, 0)])
    hasty = page_rank_run(graph, tolerance=1e-12, rounds=2)
    assert (hasty.rounds, hasty.is_converged) == (2, False)
    patient = page_rank_run(graph, tolerance=1e-12)
    assert patient.is_converged
    assert 2 < patient.rounds < 400
    assert patient.movement < 1e-12 < hasty.movement


@given(st.integers(2, 30), st.integers(1, 5))
def test_pages_that_are_linked_alike_have_one_page_rank(rays, depth):
    """A star of chains: what differs between chains is residue of the solver."""
    links, layers = [], []
    before = [0] * rays
    for layer in range(depth):
        here = [1 + layer * rays + ray for ray in range(rays)]
        links += zip(before, here, strict=True)
        before = here
        layers.append(here)
    links += [(page, 0) for page in before]
    score = page_rank(graph_of(1 + depth * rays, links))
    assert [len(set(score[layer].tolist())) for layer in layers] == [1] * depth


def test_page_rank_by_hand():
    # Two pages that link each other and one without links, damping one half: by symmetry
    # x = 1/6 + z/6 + x/2 and z = 1/6 + z/6, so z = 1/5 and x = 2/5.
    graph = graph_of(3, [(0, 1), (1, 0)])
    assert page_rank(graph, damping=0.5, tolerance=1e-12) == pytest.approx([0.4, 0.4, 0.2])


@given(worlds())
def test_page_rank_solves_its_equations(world):
    pages, links, _, _ = world
    score = page_rank(graph_of(pages, links), tolerance=1e-13, rounds=1000)
    matrix = np.zeros((pages, pages))
    for u, v in links:
        matrix[v, u] += 1
    out = matrix.sum(axis=0)
    matrix = np.where(out > 0, matrix / np.maximum(out, 1), 1 / pages)
    exact = np.linalg.solve(np.eye(pages) - 0.85 * matrix, np.full(pages, 0.15 / pages))
    assert score == pytest.approx(exact, abs=1e-9)


def slow_opic(pages, links, start):
    of = {u: [v for s, v in links if s == u] for u in range(pages)}
    seen, cash, fetched = list(dict.fromkeys(start)), {}, []
    for page in seen:
        cash[page] = 1.0
    while len(fetched) < len(seen):
        waiting = [page for page in seen if page not in fetched]
        page = max(
            waiting, key=lambda waiting_page: (cash[waiting_page], -seen.index(waiting_page))
        )
        fetched.append(page)
        for goal in of[page]:
            if goal in fetched:
                continue
            if goal not in cash:
                seen.append(goal)
                cash[goal] = 1.0
            cash[goal] += cash[page] / len(of[page])
    return fetched


@st.composite
def opic_worlds(draw):
    pages = draw(st.integers(1, 25))
    page = st.integers(0, pages - 1)
    links = draw(st.lists(st.tuples(page, page), max_size=80))
    return pages, links, draw(st.lists(page, min_size=1, max_size=3))


@given(opic_worlds())
def test_a_crawl_by_the_scores_is_the_crawl_of_opic(world):
    pages, links, start = world
    graph = graph_of(pages, links)
    fetched = crawl(graph, start, opic_scores(graph, start)).fetched.tolist()
    assert fetched == slow_opic(pages, links, start)


def test_cash_decides_by_hand():
    """Page 3 gets all the cash of page 1, and comes before page 2, which was seen earlier."""
    graph = graph_of(5, [(0, 1), (0, 2), (0, 4), (1, 3)])
    scores = opic_scores(graph, [0])
    assert np.argsort(-scores, kind="stable").tolist() == [0, 1, 3, 2, 4]
    shared = 1 + Fraction(1, 3)
    assert 1 + shared > shared  # what page 3 has, and page 2


def test_pages_that_cannot_be_reached_have_no_score():
    assert opic_scores(graph_of(3, [(1, 2)]), [0]).tolist() == [1.0, 0.0, 0.0]
