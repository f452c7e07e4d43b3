"""The order of OPIC against a slow crawler in plain Python, and by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.crawls.crawl_simulation import crawl
from temporal_assets.core.crawls.opic import opic_scores
from temporal_assets.core.graph.link_graph import link_graph


def graph_of(pages, links):
    source, target = zip(*links, strict=True) if links else ((), ())
    return link_graph(pages, np.array(source, np.int32), np.array(target, np.int32))


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
def worlds(draw):
    pages = draw(st.integers(1, 25))
    page = st.integers(0, pages - 1)
    links = draw(st.lists(st.tuples(page, page), max_size=80))
    return pages, links, draw(st.lists(page, min_size=1, max_size=3))


@given(worlds())
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
