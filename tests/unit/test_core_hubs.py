"""Links, hub orders and revisit intervals: by hand and against slow witnesses."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from temporal_assets.core.histories import births_a_day
from temporal_assets.core.hub_coverage import (
    WHOLE,
    Greedy,
    HubPart,
    greedy_order,
    paper_order,
)
from temporal_assets.core.links import Links, links_of_rows, reach
from temporal_assets.core.revisits import day_weights, intervals

Graph = dict[int, set[int]]

graphs = st.dictionaries(
    st.integers(0, 11), st.sets(st.integers(0, 11), max_size=6), min_size=1, max_size=12
)


def links(graph: Graph, pages: int = 12) -> Links:
    rows = sorted((hub, sorted(found)) for hub, found in graph.items() if found)
    return links_of_rows(
        [hub for hub, _ in rows],
        [len(found) for _, found in rows],
        list(itertools.chain.from_iterable(found for _, found in rows)),
        pages,
    )


# Front page 0 lists everything new; 1 and 2 are indexes; 3 is a far-away page with two of its own.
SITE: Graph = {0: {4, 5, 6, 7}, 1: {4, 5, 6}, 2: {6, 7, 8}, 3: {9, 10}}


def test_the_paper_ranks_by_pages_linked() -> None:
    order = paper_order(links(SITE), range(12))
    assert order.hub.tolist() == [0, 1, 2, 3]
    assert order.gain.tolist() == [4, 0, 1, 2]
    assert order.covered.tolist() == [4, 4, 5, 7]


def test_greedy_takes_what_adds_most() -> None:
    order = greedy_order(links(SITE), range(12))
    assert order.hub.tolist() == [0, 3, 2]  # 1 adds nothing
    assert order.gain.tolist() == [4, 2, 1]
    assert greedy_order(links(SITE), range(12), 2).hub.tolist() == [0, 3]
    assert paper_order(links(SITE), range(12), 2).hub.tolist() == [0, 1]


def test_only_candidates_are_taken_and_each_once() -> None:
    assert greedy_order(links(SITE), [2, 1, 2, 11]).hub.tolist() == [1, 2]
    assert paper_order(links(SITE), [3, 3, 11]).hub.tolist() == [3]
    for candidates in ([], [11]):
        assert len(greedy_order(links(SITE), candidates)) == 0
        assert len(paper_order(links(SITE), candidates)) == 0
    assert len(greedy_order(links({}), range(12))) == 0


def test_ties_go_to_the_better_linked_and_then_to_the_lower_number() -> None:
    graph: Graph = {0: {5}, 1: {4, 6, 7}, 2: {4, 5}, 3: {8}}
    # After 1 the hubs 0, 2 and 3 add one page each; 2 links to two.
    assert greedy_order(links(graph), range(12)).hub.tolist() == [1, 2, 3]
    assert paper_order(links(graph), range(12)).hub.tolist() == [1, 2, 0, 3]


def test_pages_of_hubs_before_can_count_again() -> None:
    # After 0 and 3: hub 1 has three pages of 0 left, hub 2 one new page and two of 0.
    order = greedy_order(links(SITE), range(12), again=0.5)
    assert order.hub.tolist() == [0, 2, 3, 1]  # 2 and 3 are worth 2 each; 2 leads to more
    assert order.gain.tolist() == [4, 1, 2, 0]
    assert greedy_order(links(SITE), range(12), again=0.1).hub.tolist() == [0, 3, 2, 1]
    with pytest.raises(ValueError, match="below 1, not 1"):
        greedy_order(links(SITE), range(12), again=1.0)


def slow_greedy(graph: Graph, again: float) -> list[int]:
    """Every candidate counted again in every round, in thousandths."""
    taken: list[int] = []
    times: Counter[int] = Counter()
    left = dict(graph)

    def adds(hub: int) -> int:
        return sum(round(1000 * again ** times[page]) for page in left[hub])

    while left:
        hub = min(left, key=lambda one: (-adds(one), -len(left[one]), one))
        if adds(hub) == 0:
            break
        times.update(left.pop(hub))
        taken.append(hub)
    return taken


@given(graph=graphs, again=st.sampled_from([0.0, 0.1, 0.5, 0.9]))
def test_greedy_is_what_counting_everything_says(graph: Graph, again: float) -> None:
    order = greedy_order(links(graph), range(12), again=again)
    assert order.hub.tolist() == slow_greedy(graph, again)


def best_left(graph: Graph, greedy: Greedy, at_once: int) -> HubPart | None:
    """The first hubs of what is left, whose links are `at_once` or a few more."""
    ranked = sorted(graph, key=lambda hub: (-len(graph[hub]), hub))
    worth = dict(zip(greedy.pages.tolist(), greedy.worth.tolist(), strict=True))
    bound = {hub: sum(worth.get(page, WHOLE) for page in graph[hub]) for hub in graph}
    taken = set(greedy.order.hub.tolist())
    left = [hub for hub in ranked if hub not in taken and bound[hub]]
    left.sort(key=lambda hub: -bound[hub])
    before = np.cumsum([0] + [len(graph[hub]) for hub in left])
    part = [hub for hub, links_before in zip(left, before, strict=False) if links_before < at_once]
    if not part:
        return None
    return HubPart(
        np.array(part),
        np.array([ranked.index(hub) for hub in part]),
        np.array([bound[hub] for hub in part]),
        np.array([len(graph[hub]) for hub in part]),
        np.array([page for hub in part for page in sorted(graph[hub])]),
        len(part) == len(left),
    )


@given(
    graph=graphs,
    again=st.sampled_from([0.0, 0.1, 0.5, 0.9]),
    limit=st.integers(1, 12),
    at_once=st.integers(1, 20),
)
def test_greedy_in_parts_is_greedy(graph: Graph, again: float, limit: int, at_once: int) -> None:
    greedy = Greedy(limit, again)
    while not greedy.is_full and (part := best_left(graph, greedy, at_once)):
        before = len(greedy.order)
        greedy.extend(part)
        assert len(greedy.order) > before
    wanted = greedy_order(links(graph), range(12), limit, again)
    assert greedy.order.hub.tolist() == wanted.hub.tolist()
    assert greedy.order.gain.tolist() == wanted.gain.tolist()


@given(graph=graphs, k=st.integers(1, 4))
def test_greedy_reaches_its_share_of_the_best(graph: Graph, k: int) -> None:
    best = max(
        len(set().union(*(graph[hub] for hub in chosen)))
        for chosen in itertools.combinations(sorted(graph), min(k, len(graph)))
    )
    found = int(greedy_order(links(graph), range(12), k).gain.sum())
    assert found >= (1 - 1 / math.e) * best


@given(graph=graphs)
def test_what_greedy_promises_beside_the_papers_order(graph: Graph) -> None:
    greedy = greedy_order(links(graph), range(12)).covered
    paper = paper_order(links(graph), range(12)).covered
    reached = np.pad(greedy, (0, len(paper) - len(greedy)), "edge")
    assert (reached[:2] >= paper[:2]).all()
    k = np.arange(1, len(paper) + 1)
    assert (reached >= (1 - (1 - 1 / k) ** k) * paper - 1e-9).all()
    assert reached[-1:].tolist() == paper[-1:].tolist()


@given(graph=graphs)
def test_every_page_is_gained_once(graph: Graph) -> None:
    everything = len(set().union(*graph.values()))
    for order in (greedy_order(links(graph), range(12)), paper_order(links(graph), range(12))):
        assert order.gain.sum() == everything
        assert len(set(order.hub.tolist())) == len(order)
    assert (np.diff(greedy_order(links(graph), range(12)).gain) <= 0).all()


def test_the_papers_order_can_be_ahead() -> None:
    """What greedy does not promise: its second hub cuts what the paper's three share out whole."""
    graph: Graph = {
        0: set(range(10, 20)),
        1: {10, 11, 12, 13, 14, 20, 21, 22, 23},
        2: {15, 16, 17, 18, 19, 24, 25, 26, 27},
        3: {20, 21, 22, 24, 25},
    }
    found = links(graph, 30)
    assert paper_order(found, range(4), 3).covered.tolist() == [10, 14, 18]
    assert greedy_order(found, range(4), 3).covered.tolist() == [10, 15, 17]


def test_reach_by_hand() -> None:
    graph: Graph = {0: {1, 4}, 1: {5, 6}, 2: {0, 5}, 4: {4, 7}}
    wanted = np.isin(np.arange(12), [4, 5, 6, 7])
    found = reach(links(graph), wanted, [2, 0, 0])
    # 2 leads to 5, and over 0 to 4; 0 to 4, and over 1 and 4 to 6 and 7.
    assert found.one_hop.tolist() == [1, 2, 2]
    assert found.two_hops.tolist() == [2, 4, 4]


@given(
    graph=graphs, seeds=st.lists(st.integers(0, 11), max_size=5), wanted=st.sets(st.integers(0, 11))
)
def test_reach_is_what_walking_says(graph: Graph, seeds: list[int], wanted: set[int]) -> None:
    found = reach(links(graph), np.isin(np.arange(12), sorted(wanted)), seeds)
    for n in range(len(seeds)):
        one = set().union(*(graph.get(seed, set()) for seed in seeds[: n + 1]))
        two = one.union(*(graph.get(page, set()) for page in one))
        assert found.one_hop[n] == len(one & wanted)
        assert found.two_hops[n] == len(two & wanted)


def test_weights_of_days_by_hand() -> None:
    there = np.ones(8, bool)
    # What is seen on the first day may be older, and the last four days have no labels yet; of the
    # others each counts half as much as the next.
    assert day_weights(there, 1.0) == pytest.approx([0, 1 / 7, 2 / 7, 4 / 7, 0, 0, 0, 0])
    there[1] = False
    # What is first seen on the day after may have been born on the missing one.
    assert day_weights(there, 1.0) == pytest.approx([0, 0, 0, 1, 0, 0, 0, 0])
    # Too short a window for any label: the days whose births are known.
    assert day_weights(np.ones(3, bool), 1.0) == pytest.approx([0, 1 / 3, 2 / 3])
    assert day_weights(np.ones(5, bool), 1.0) == pytest.approx([0, *np.array([1, 2, 4, 8]) / 15])
    # And where none are, all there is.
    assert day_weights(np.array([True, False, True]), 2.0) == pytest.approx([1 / 3, 0, 2 / 3])


@given(
    there=st.lists(st.booleans(), min_size=1, max_size=70).filter(any),
    half_life=st.floats(0.5, 1e6),
    births=st.integers(0, 9),
)
def test_as_many_births_every_day_are_that_many_a_day(
    there: list[bool], half_life: float, births: int
) -> None:
    weight = day_weights(np.array(there), half_life)
    assert (weight * births).sum() == pytest.approx(births)
    assert not weight[~np.array(there)].any()


@given(
    there=st.lists(st.booleans(), min_size=1, max_size=70).filter(
        lambda days: any(one and other for one, other in itertools.pairwise(days))
    ),
    births=st.integers(1, 9),
)
def test_what_is_seen_after_a_missing_day_is_not_the_birth_of_one_day(
    there: list[bool], births: int
) -> None:
    """As many are born on every day, and seen on the next one that is there; older ones, too."""
    observed = np.array(there)
    seen = np.zeros(len(there))
    for day in range(-3, len(there)):
        later = np.flatnonzero(observed[max(day, 0) :])
        if len(later):
            seen[max(day, 0) + later[0]] += births
    assert (day_weights(observed, 14.0) * seen).sum() == pytest.approx(births)
    assert births_a_day(seen, observed) == pytest.approx(births)


def test_births_a_day_by_hand() -> None:
    assert births_a_day([90, 2, 4], [True, True, True]) == 3.0
    assert births_a_day([0, 90, 2, 0, 90, 4], [False, True, True, False, True, True]) == 3.0
    assert births_a_day([90, 0, 2], [True, False, True]) == 0.0


def test_equal_hubs_share_equally() -> None:
    found = intervals([5, 5, 5, 5], [10] * 4, [1.0] * 4, visits=8, shortest=0.01, longest=7)
    assert found == pytest.approx([0.5] * 4)


def test_intervals_are_those_of_a_general_optimiser() -> None:
    rate, views, life = np.array([40.0, 5, 5, 1]), np.array([80.0, 80, 400, 80]), [0.5, 0.5, 0.5, 3]
    found = intervals(rate, views, life, visits=30, shortest=0.01, longest=7)
    assert np.sum(1 / found) == pytest.approx(30)
    assert found[0] < found[2] < found[1] < found[3]

    def lost(visits: np.ndarray) -> float:
        x = np.log(2) / np.array(life) / visits
        return float(np.sum(rate * views * np.expm1(-x) / x))  # less g(x) of each page

    best = minimize(
        lost,
        np.full(4, 7.5),
        bounds=[(1 / 7, 100)] * 4,
        constraints={"type": "eq", "fun": lambda visits: visits.sum() - 30},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert 1 / found == pytest.approx(best.x, rel=1e-3)


def test_bounds_of_intervals() -> None:
    def of(visits: float, rate: list[float]) -> list[float]:
        return intervals(rate, [1] * 2, [1] * 2, visits, 0.25, 5).tolist()

    assert of(0.1, [3, 1]) == [5, 5]  # even the longest takes 0.4 visits a day
    assert of(100, [3, 1]) == [0.25, 0.25]
    assert of(100, [3, 0]) == [0.25, 5]  # nothing new: seldom, whatever is left
    assert of(3, [0, 0]) == [5, 5]
    assert intervals([], [], [], 3, 0.25, 5).tolist() == []


@example(hubs=[(1.0, 5e-324, 1.0)], visits=1.0)
@given(
    hubs=st.lists(
        st.tuples(st.floats(0, 1e4), st.floats(0, 1e5), st.floats(0.04, 60)), min_size=1, max_size=8
    ),
    visits=st.floats(0.1, 1000),
)
def test_the_budget_is_kept(hubs: list[tuple[float, float, float]], visits: float) -> None:
    rate, views, life = (np.array(part) for part in zip(*hubs, strict=True))
    found = intervals(rate, views, life, visits, 1 / 144, 7)
    assert ((found >= 1 / 144) & (found <= 7)).all()
    assert np.sum(1 / found) <= max(visits, len(hubs) / 7) * (1 + 1e-6)


@pytest.mark.parametrize("more", [3e-16, 1e-12, 1e-6])
def test_a_budget_a_hair_above_the_least(more: float) -> None:
    """The first visit that is not the least goes to the hub that is worth most, if at all."""
    dice = np.random.default_rng(1)
    for hubs in range(1, 40):
        rate, life = dice.lognormal(0, 3, hubs), dice.uniform(0.04, 0.2, hubs)
        found = intervals(rate, np.ones(hubs), life, hubs / 7 * (1 + more), 1 / 144, 7)
        assert found == pytest.approx(np.full(hubs, 7.0), rel=1e-4)
        assert np.sum(1 / found) <= hubs / 7 * (1 + 2 * more)
