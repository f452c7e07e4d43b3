"""Links, hub orders and revisit intervals: by hand and against slow witnesses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import t

from temporal_assets.core.curves.histories import births_a_day
from temporal_assets.core.graph.link_graph import LinkGraph, links_of_rows
from temporal_assets.core.graph.reach import groups_of, lead, reach
from temporal_assets.core.hubs.coverage import first_shares, greedy_order, paper_order
from temporal_assets.core.hubs.interest import half_lives, interest_of, share_of_day
from temporal_assets.core.hubs.revisits import found_share, intervals, priced_intervals, split
from temporal_assets.core.hubs.yields import UNIT, NewLinks, day_weights, known_births, learn
from temporal_assets.core.numerics.arrays import Floats

Graph = dict[int, set[int]]

graphs = st.dictionaries(
    st.integers(0, 11), st.sets(st.integers(0, 11), max_size=6), min_size=1, max_size=12
)


def links(graph: Graph, pages: int = 12) -> LinkGraph:
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


def slow_greedy(graph: Graph) -> list[int]:
    """Every candidate counted again in every round."""
    taken: list[int] = []
    left = dict(graph)
    while left:
        covered = set().union(*(graph[hub] for hub in taken))
        adds = {hub: len(pages - covered) for hub, pages in left.items()}
        hub = min(left, key=lambda one: (-adds[one], -len(left[one]), one))
        if adds[hub] == 0:
            break
        left.pop(hub)
        taken.append(hub)
    return taken


@given(graph=graphs)
def test_greedy_is_what_counting_everything_says(graph: Graph) -> None:
    assert greedy_order(links(graph), range(12)).hub.tolist() == slow_greedy(graph)


@given(graph=graphs, k=st.integers(1, 4))
def test_greedy_reaches_its_share_of_the_best(graph: Graph, k: int) -> None:
    best = max(
        len(set().union(*(graph[hub] for hub in chosen)))
        for chosen in itertools.combinations(sorted(graph), min(k, len(graph)))
    )
    actual = int(greedy_order(links(graph), range(12), k).gain.sum())
    assert actual >= (1 - 1 / math.e) * best


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
    """Greedy promises no optimum: its second hub cuts what the paper's three share out whole."""
    graph: Graph = {
        0: set(range(10, 20)),
        1: {10, 11, 12, 13, 14, 20, 21, 22, 23},
        2: {15, 16, 17, 18, 19, 24, 25, 26, 27},
        3: {20, 21, 22, 24, 25},
    }
    actual = links(graph, 30)
    assert paper_order(actual, range(4), 3).covered.tolist() == [10, 14, 18]
    assert greedy_order(actual, range(4), 3).covered.tolist() == [10, 15, 17]


def test_reach_by_hand() -> None:
    graph: Graph = {0: {1, 4}, 1: {5, 6}, 2: {0, 5}, 4: {4, 7}}
    wanted = np.isin(np.arange(12), [4, 5, 6, 7])
    reached = reach(links(graph), wanted, [2, 0, 0])
    # 2 leads to 5, and over 0 to 4; 0 to 4, and over 1 and 4 to 6 and 7.
    assert reached.one_hop.tolist() == [1, 2, 2]
    assert reached.two_hops.tolist() == [2, 4, 4]
    assert reached.linked_by.tolist() == [1, 2, 0, 0, 2, 1, *[0] * 6]


@given(
    places=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 7)), min_size=1, max_size=40
    ),
    longest=st.integers(1, 6),
)
def test_a_lead_is_what_counting_says(places: list[tuple[int, int, int]], longest: int) -> None:
    ours, theirs, named = np.array(places, np.int64).T
    group = np.unique(named, return_inverse=True)[1]
    leading = lead(ours, theirs, group, longest)
    groups = int(group.max()) + 1
    quantile = t.ppf(0.975, max(groups - 1, 1))
    for n in range(longest):
        first = [(0 < a <= n + 1, 0 < b <= n + 1) for a, b, _ in places]
        more, fewer = first.count((True, False)), first.count((False, True))
        of_pages = more + fewer + 1 - (more - fewer) ** 2 / (len(places) + 2)
        own = [np.array(first, float)[group == one] for one in range(groups)]
        share = (more - fewer) / len(places)
        rest = [(rows[:, 0] - rows[:, 1]).sum() - share * len(rows) for rows in own]
        of_groups = np.square(rest).sum() * groups / max(groups - 1, 1)
        spread = quantile * max(of_pages, of_groups) ** 0.5
        assert leading.pages[n] == more - fewer
        assert leading.low[n] == pytest.approx(more - fewer - spread)
        assert leading.high[n] == pytest.approx(more - fewer + spread)


def test_a_lead_of_one_site_among_many_may_be_chance() -> None:
    """One of eight sites has all that ours alone leads to; over its pages the lead is sure."""
    site = np.repeat(np.arange(8), 20)
    ours, theirs = (site == 0).astype(np.int64), np.zeros(160, np.int64)
    by_site, by_page = (lead(ours, theirs, group, 1) for group in (site, np.arange(160)))
    assert by_site.pages == by_page.pages == 20
    assert by_site.low[0] < 0 < by_page.low[0]


def test_pages_stand_or_fall_by_the_largest_groups_of_which_there_are_enough() -> None:
    site, birth = np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6)
    unit, group = groups_of(site, birth)
    assert (unit, group.tolist()) == ("sites", site.tolist())
    unit, group = groups_of(site[:12], birth[:12])
    assert (unit, len(set(group.tolist()))) == ("days of sites", 12)
    unit, group = groups_of(site[:12], np.zeros(12, np.int64))
    assert (unit, group.tolist()) == ("pages", list(range(12)))


@given(
    graph=graphs, seeds=st.lists(st.integers(0, 11), max_size=5), wanted=st.sets(st.integers(0, 11))
)
def test_reach_is_what_walking_says(graph: Graph, seeds: list[int], wanted: set[int]) -> None:
    reached = reach(links(graph), np.isin(np.arange(12), sorted(wanted)), seeds)
    for n in range(len(seeds)):
        one = set().union(*(graph.get(seed, set()) for seed in seeds[: n + 1]))
        two = one.union(*(graph.get(page, set()) for page in one))
        assert reached.one_hop[n] == len(one & wanted)
        assert reached.two_hops[n] == len(two & wanted)


def new_links(table: np.ndarray) -> NewLinks:
    """Rows of a table of pages by hub and day; days without any have none."""
    hub, day = np.nonzero(table)
    return NewLinks(hub, day, (table[hub, day] * UNIT).astype(np.int64))


def slow_fit(table: np.ndarray, half_life: float, prior: float) -> tuple[float, float, float]:
    """Log-likelihood, new pages of known hubs and scatter, hub by hub and day by day, of days all
    of which are there but the first: of the last half of them, 14 at most."""
    days = table.shape[1]
    logs = []
    for day in range(days - min(14, (days - 1) // 2), days):
        age = day - 1 - np.arange(day)
        weight = 2.0 ** (-age / half_life)
        evidence = weight[1:].sum()
        for row in table:
            if row[:day].any():
                mean = (prior + (row[:day] * weight).sum()) / evidence
                logs.append((row[day], mean))
    seen, means = np.array(logs).T
    level = seen.sum() / means.sum()
    likelihood = (seen * np.log(level * means)).sum() - seen.sum()
    scatter = ((seen - level * means) ** 2).sum() / seen.sum()
    return likelihood, seen.sum(), max(scatter, 1.0)


@pytest.mark.parametrize("days", [7, 30])
def test_yields_are_those_of_a_slow_witness(days: int) -> None:
    dice = np.random.default_rng(days)
    table = dice.poisson(dice.gamma(0.5, 2.0, (40, 1)) * np.ones(days))
    table[:, 0] = 0  # what is seen on the first day may be older
    actual = learn(new_links(table), np.ones(days, bool))
    fits = {
        half_life: slow_fit(table, half_life, 0.1)[0]
        for half_life in (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 7.0, 14.0, 28.0)
    }
    assert fits[actual.half_life] == pytest.approx(max(fits.values()))
    _, followed, scatter = slow_fit(table, actual.half_life, actual.prior)
    assert actual.scatter == pytest.approx(scatter)
    assert actual.outcomes == min(14, (days - 1) // 2)
    counts = ((table * UNIT) @ actual.weights)[table.any(axis=1)]
    share = followed / table[:, -actual.outcomes :].sum()
    week = table[:, 1:][:, -7:].sum() / min(7, days - 1)
    assert actual.expected(counts).sum() == pytest.approx(share * week)


def test_half_lives_follow_the_hubs() -> None:
    """Front pages that lead to as many every day, and articles that do for a day."""
    dice = np.random.default_rng(1)
    steady = dice.poisson(dice.gamma(1.0, 5.0, (30, 1)) * np.ones(40))
    assert learn(new_links(steady), np.ones(40, bool)).half_life >= 7
    brief = np.zeros((400, 40), np.int64)
    for hub, row in enumerate(brief):
        row[hub // 10 :][:2] = dice.poisson(dice.gamma(1.0, 5.0), 2)[: 40 - hub // 10]
    actual = learn(new_links(brief), np.ones(40, bool))
    assert actual.half_life <= 1
    counts = (brief * UNIT) @ actual.weights
    new = brief[:, -7:].sum() / 7
    assert actual.expected(counts).sum() < 0.7 * new  # half of those of today are not known yet


def test_expected_numbers_come_true_and_their_intervals_hold() -> None:
    """Hubs with rates of their own: tomorrow's mean is expected, and the rate is within bounds."""
    dice = np.random.default_rng(2)
    rate = dice.gamma(0.7, 3.0, 500)
    table = dice.poisson(rate[:, None] * np.ones(40))
    table[:, 0] = 0
    model = learn(new_links(table), np.ones(40, bool))
    counts = (table * UNIT) @ model.weights
    expected = model.expected(counts)
    low, high = model.interval(expected)
    assert expected.mean() == pytest.approx(rate.mean(), rel=0.05)
    assert np.corrcoef(expected, rate)[0, 1] > 0.95
    assert ((low <= rate) & (rate <= high)).mean() > 0.85
    assert (low <= expected).all()
    assert (expected <= high).all()


def test_a_friday_does_not_stand_for_the_week() -> None:
    """Hubs that lead to three times as much on working days: on every day the mean is expected."""
    dice = np.random.default_rng(3)
    share = np.tile([1.5, 1.5, 1.5, 1.5, 1.5, 0.5, 0.5], 6)
    rate = dice.gamma(2.0, 4.0, 60)
    pages = dice.poisson(rate[:, None] * np.cumprod(dice.normal(1, 0.2, (60, 42)), axis=1) * share)
    pages[:, 0] = 0
    for end in range(35, 42):
        table = pages[:, :end]
        model = learn(new_links(table), np.ones(end, bool))
        expected = model.expected((table * UNIT) @ model.weights).sum()
        assert expected == pytest.approx(table[:, -7:].sum() / 7, rel=0.05)


def test_a_last_day_without_data_is_no_cliff() -> None:
    """The last known day counts in full: evidence of hours does not fade to nothing meanwhile."""
    table = np.random.default_rng(4).poisson(3.0, (40, 30))
    table[:, [0, 28, 29]] = 0
    observed = np.arange(30) < 28
    whole, known = (learn(new_links(table[:, :days]), observed[:days]) for days in (30, 28))
    assert whole.weights[:28].tolist() == known.weights.tolist()
    counts = (table * UNIT) @ whole.weights
    assert whole.expected(counts).tolist() == known.expected(counts).tolist()


@pytest.mark.parametrize("days", [1, 2, 3])
def test_too_few_days_to_learn_from(days: int) -> None:
    actual = learn(new_links(np.ones((3, days))), np.ones(days, bool))
    assert (actual.outcomes, actual.half_life) == (0, 1.0)
    expected = actual.expected(np.array([0, UNIT * UNIT]))
    assert (expected > 0).all()
    assert np.isfinite(expected).all()
    assert expected[1] > expected[0]
    assert all(np.isfinite(bound).all() for bound in actual.interval(expected))


def test_nothing_new_on_any_day() -> None:
    empty = NewLinks(*(np.zeros(0, np.int64),) * 3)
    assert learn(empty, np.ones(20, bool)).outcomes == 0
    table = np.zeros((2, 20))
    table[:, 2] = 3
    assert np.isfinite(learn(new_links(table), np.ones(20, bool)).expected(np.zeros(1, np.int64)))


def test_weights_of_days_and_days_with_known_births() -> None:
    assert day_weights(3, 1.0).tolist() == [250_000, 500_000, 1_000_000]
    assert known_births(np.array([True, True, False, True, True])).tolist() == [
        *(False, True, False, True, True)
    ]
    assert known_births(np.array([False, True, False])).tolist() == [False, True, False]


def test_births_a_day_by_hand() -> None:
    assert births_a_day([90, 2, 4], [True, True, True]) == 3.0
    assert births_a_day([0, 90, 2, 0, 90, 4], [False, True, True, False, True, True]) == 3.0
    assert births_a_day([90, 0, 2], [True, False, True]) == 0.0


def test_equal_hubs_share_equally() -> None:
    actual = intervals([5, 5, 5, 5], [10] * 4, [1.0] * 4, visits=8, shortest=0.01, longest=7)
    assert actual == pytest.approx([0.5] * 4)


def test_intervals_are_those_of_a_general_optimiser() -> None:
    rate, views, life = np.array([40.0, 5, 5, 1]), np.array([80.0, 80, 400, 80]), [0.5, 0.5, 0.5, 3]
    actual = intervals(rate, views, life, visits=30, shortest=0.01, longest=7)
    assert np.sum(1 / actual) == pytest.approx(30)
    assert actual[0] < actual[2] < actual[1] < actual[3]

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
    assert 1 / actual == pytest.approx(best.x, rel=1e-3)


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
    actual = intervals(rate, views, life, visits, 1 / 144, 7)
    assert ((actual >= 1 / 144) & (actual <= 7)).all()
    assert np.sum(1 / actual) <= max(visits, len(hubs) / 7) * (1 + 1e-6)


@pytest.mark.parametrize("more", [3e-16, 1e-12, 1e-6])
def test_a_budget_a_hair_above_the_least(more: float) -> None:
    """The first visit that is not the least goes to the hub that is worth most, if at all."""
    dice = np.random.default_rng(1)
    for hubs in range(1, 40):
        rate, life = dice.lognormal(0, 3, hubs), dice.uniform(0.04, 0.2, hubs)
        actual = intervals(rate, np.ones(hubs), life, hubs / 7 * (1 + more), 1 / 144, 7)
        assert actual == pytest.approx(np.full(hubs, 7.0), rel=1e-4)
        assert np.sum(1 / actual) <= hubs / 7 * (1 + 2 * more)


def test_every_visit_is_worth_its_price() -> None:
    """Differences of caught interest show that one more visit a day gains its price."""
    rate, views, half_life = np.array([40.0, 3.0, 0.4]), np.array([9.0, 20.0, 5.0]), 0.7
    price, decay = 0.02, np.log(2) / half_life
    days = priced_intervals(rate, views, half_life, price, 1 / 144, 30.0)

    def caught(visits: Floats) -> Floats:
        x = decay / visits
        return np.asarray(rate * views * -np.expm1(-x) / x)

    more = 1e-4
    gain = (caught(1 / days + more) - caught(1 / days)) / more
    assert gain == pytest.approx(price * (rate @ views) / rate.sum(), rel=1e-3)
    assert list(np.argsort(days)) == [0, 1, 2]
    assert list(priced_intervals([0.0, 0.0], 1.0, 1.0, price, 1 / 144, 7.0)) == [7.0, 7.0]
    assert len(priced_intervals([], [], [], price, 1 / 144, 7.0)) == 0


def test_what_a_better_hub_leads_to_counts_a_tenth() -> None:
    links = links_of_rows(np.array([0, 1, 2]), np.array([2, 2, 1]), np.array([3, 4, 4, 5, 3]), 6)
    shares = first_shares(links, np.array([10, 10, 10, 30, 10]), 4)
    assert shares == pytest.approx([1.0, (30 + 1) / 40, 0.1, 1.0])


def test_links_that_leave_are_visited_more_often_and_found_less() -> None:
    rate, views, life = [5.0] * 2, [10.0] * 2, [1.0] * 2
    actual = intervals(rate, views, life, visits=8, shortest=0.01, longest=7, leave=[0.0, 1.0])
    assert np.sum(1 / actual) == pytest.approx(8)
    assert actual[1] < actual[0]
    assert found_share([0.0, 1.0], [0.5, 0.5]) == pytest.approx([1.0, (1 - np.exp(-0.5)) / 0.5])


def profit(
    days: float, price: float, rate: float, views: float, fade: float, leave: float
) -> float:
    """Return the daily gain of visits every so many days, less all fetches, by a fine sum."""
    age = (np.arange(20_000) + 0.5) / 20_000 * days
    left = np.exp(-leave * age)
    worth = np.maximum(views * np.exp(-fade * age) - price, 0.0)
    return float(rate * np.mean(worth * left) - price / days)


def test_the_split_is_that_of_brute_force() -> None:
    rate, views = np.array([40.0, 5.0, 2.0, 0.01]), np.array([80.0, 20.0, 400.0, 3.0])
    life, leave = np.array([0.5, 0.2, 1.0, 1.0]), np.array([0.3, 2.0, 0.0, 0.5])
    actual = split(rate, views, life, leave, fetches=60.0, shortest=0.01, longest=7)
    fade = np.log(2) / life
    tried = np.exp(np.linspace(np.log(0.01), np.log(7), 400))
    for hub in range(3):
        facts = (actual.price, rate[hub], views[hub], fade[hub], leave[hub])
        best = max(profit(days, *facts) for days in tried)
        assert profit(actual.interval[hub], *facts) == pytest.approx(best, rel=2e-3)
    assert actual.interval[3] == pytest.approx(7)  # no visit is worth its price
    until = np.minimum(actual.interval, np.log(np.maximum(views / actual.price, 1)) / fade)
    fetched = rate * until * found_share(leave, until) / actual.interval
    assert np.sum(1 / actual.interval + fetched) == pytest.approx(60.0, rel=1e-3)


def test_a_split_without_anything_to_fetch() -> None:
    assert split([0.0], [0.0], [1.0], [0.0], 5.0, 0.1, 7.0).interval.tolist() == [7.0]
    assert split([], [], [], [], 5.0, 0.1, 7.0).interval.tolist() == []


@given(mu=st.floats(-2.5, 1.5), sigma=st.floats(0.4, 2.0))
@example(mu=1.5, sigma=0.40625)  # the share of three days alone is also that of 60 days and more
@example(mu=1.25, sigma=0.404)
def test_half_lives_are_found_again(mu: float, sigma: float) -> None:
    day_one, three = (share_of_day(k, np.array([mu]), sigma) for k in (1, 3))
    actual = half_lives(day_one, three)[0]
    assert actual == pytest.approx(np.clip(np.exp(mu), 1 / 24, 60), rel=0.1)


def test_shares_of_days_are_those_of_drawn_ages() -> None:
    dice = np.random.default_rng(3)
    age = dice.uniform(0, 1, 200_000) + dice.lognormal(-0.5, 1.2, 200_000)
    for days in (1, 2, 3):
        share = share_of_day(days, np.array([-0.5]), 1.2)[0]
        assert share == pytest.approx((age < days).mean(), abs=0.005)


def sums(**columns: list[int]) -> dict[str, np.ndarray]:
    names = ("temporal_pages", "views", "one_day", "three_days", "all_days", "shown", "missed")
    size = len(columns["views"])
    return {name: np.array(columns.get(name, [0] * size), np.int64) for name in names}


def test_pages_of_one_day_have_a_half_life() -> None:
    brief = sums(
        temporal_pages=[500, 500],
        views=[50_000, 50_000],
        one_day=[49_500, 10_000],
        three_days=[50_000, 30_000],
        all_days=[50_000, 50_000],
        shown=[50_000, 50_000],
        missed=[0, 20_000],
    )
    interest = interest_of(brief)
    assert interest.half_life[0] < 0.1
    assert interest.half_life[1] > 1
    assert interest.missed == pytest.approx([0.0, 0.4], abs=0.01)
    # Half of what is left at rate d leaves at rate s: L = s / (d + s).
    fade = np.log(2) / interest.half_life
    assert interest.leave / (fade + interest.leave) == pytest.approx(interest.missed)


def test_hubs_with_little_are_drawn_to_the_others_and_nothing_is_not_a_number() -> None:
    few = sums(
        temporal_pages=[1, 500],
        views=[10, 50_000],
        one_day=[10, 10_000],
        three_days=[10, 30_000],
        all_days=[10, 50_000],
        shown=[10, 50_000],
        missed=[10, 0],
    )
    interest = interest_of(few)
    assert interest.half_life[0] == pytest.approx(interest.half_life[1], rel=0.2)
    assert interest.missed[0] < 0.1
    for nothing in (sums(views=[0, 0]), sums(views=[])):
        empty = interest_of(nothing)
        assert np.isfinite(empty.half_life).all()
        assert np.isfinite(empty.leave).all()
        assert (empty.views > 0).all()
