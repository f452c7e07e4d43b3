"""Timely crawls: births by the hour, and what visits of hubs find."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.timely_crawl import hub_intervals
from temporal_assets.core.crawls.timely_simulation import (
    NEVER,
    Strategy,
    TimelyWorld,
    lead_of,
    median_bounds,
    simulate_timely,
)
from temporal_assets.core.crawls.timely_strategies import HubFacts, Knowledge, strategies, stretched
from temporal_assets.core.graph.link_graph import link_graph
from temporal_assets.core.hubs.revisits import intervals
from temporal_assets.windows.crawls.timely_simulation import birth_hours

# Page 0 is a hub that shows its newest two; 1 to 4 are born at hours 1, 1.5, 3 and 50.
BIRTH = np.array([-1.0, 1.0, 1.5, 3.0, 50.0])


def world(shown=2):
    source, target = np.zeros(4, np.int32), np.arange(1, 5, dtype=np.int32)
    return TimelyWorld(
        link_graph(5, source, target),
        np.array([shown, 0, 0, 0, 0]),
        BIRTH,
        np.zeros(5),
        np.ones(5),
        np.array([0.0, 10, 20, 30, 40]),
        np.array([False, True, True, False, True]),
    )


def strategy(interval, **changes):
    every = np.full(5, NEVER)
    every[0] = interval
    return replace(Strategy(every, np.arange(5.0), True, False, np.ones(5, np.bool_)), **changes)


def test_a_hub_every_two_hours():
    result = simulate_timely(world(), strategy(2.0), budget=2.0, hours=10.0)
    # The hub at 0 and 2; then 2 (the higher score) at 2.5, 1 at 3; the hub at 4, and 3 at 4.5.
    assert result.first_fetch.tolist()[1:4] == [3.0, 2.5, 4.5]
    assert np.isnan(result.first_fetch[4])
    # After 24 hours half of the interest is over (mu = 0); of 1 two hours are.
    from scipy.special import ndtr

    over = ndtr(np.log(np.array([2.0, 1.0, 1.5]) / 24))
    expected = ((1 - over) * [10, 20, 30]).sum() / 60  # 4 is born after the end
    assert result.remaining == pytest.approx(expected)
    assert (result.temporal_fetched, result.median_delay) == (1.0, 1.5)
    # Hub at 0, 2, 4, 6, 8: 0 finds nothing new, and neither do 6 and 8.
    assert (result.fetches, result.wasted) == (8, 3)


def test_what_is_born_at_the_first_hour_is_new():
    # 1 is born at hour 0 and found at the first fetch: it is a change like others.
    early = replace(world(), birth=np.array([-1.0, 0.0, 1.5, 3.0, 50.0]))
    result = simulate_timely(early, strategy(2.0), budget=2.0, hours=10.0)
    assert result.first_fetch[1] == 0.5
    assert (result.fetches, result.wasted) == (8, 2)  # the hub at 6 and 8


@pytest.mark.parametrize("budget", [0.7, 1.622, 6.07, 16.22, 60.7])
@pytest.mark.parametrize("interval", [1.0, 1.07, 1.5, 3.0])
def test_a_hub_is_fetched_when_it_is_due(budget, interval):
    """Fetches at even hours would halve the visits of a hub that is due just behind one."""
    result = simulate_timely(world(), strategy(interval / budget), budget, 720.0)
    others = np.isfinite(result.first_fetch).sum()  # each keeps the hub waiting once at most
    assert 0 <= int(budget * 720 / interval) + 1 - (result.fetches - others) <= others + 1


def test_what_a_hub_no_longer_shows_is_missed():
    result = simulate_timely(world(shown=1), strategy(4.0), budget=2.0, hours=10.0)
    assert np.isnan(result.first_fetch[1:3]).all()
    assert result.first_fetch[3] == 4.5
    assert result.temporal_fetched == 0.0
    assert np.isnan(result.median_delay)


def test_what_is_not_allowed_is_not_followed():
    allowed = np.array([True, False, True, True, True])
    result = simulate_timely(world(), strategy(2.0, is_allowed=allowed), 2.0, 10.0)
    assert np.isnan(result.first_fetch[1])
    assert result.first_fetch[2] == 2.5


def test_adaptive_intervals_grow_when_nothing_is_new():
    fixed = simulate_timely(world(shown=3), strategy(2.0), 2.0, 48.0)
    grown = simulate_timely(world(shown=3), strategy(2.0, is_adaptive=True), 2.0, 48.0)
    assert grown.wasted < fixed.wasted == 22
    assert grown.temporal_fetched == 1.0


def test_one_queue_is_first_come_first_served():
    result = simulate_timely(world(), strategy(2.0, new_first=False), 2.0, 10.0)
    # The hub links are read from the newest: 2 is seen before 1.
    assert result.first_fetch.tolist()[1:3] == [3.0, 2.5]


def test_intervals_of_hubs():
    # Four times the value, twice as often; 2/3 and 1/3 of three visits an hour.
    assert hub_intervals(np.array([4.0, 1.0, 0.0]), 3.0).tolist() == [0.5, 1.0, NEVER]
    assert hub_intervals(np.zeros(2), 3.0).tolist() == [NEVER, NEVER]


def test_no_fetch_is_lost_to_rounding():
    """15 days with 0.175 fetches an hour have 63 fetches, though floats make it less."""
    assert 0.175 * 360.0 < 63
    assert simulate_timely(world(), strategy(0.1), budget=0.175, hours=360.0).fetches == 63


def test_impossible_crawls_are_refused():
    with pytest.raises(ValueError, match="budget"):
        simulate_timely(world(), strategy(2.0), 0.0, 10.0)
    with pytest.raises(ValueError, match="sigma"):
        simulate_timely(replace(world(), sigma=np.zeros(5)), strategy(2.0), 1.0, 10.0)


def test_every_strategy_keeps_to_the_budget():
    knowledge = Knowledge(
        hub_hours=np.array([1.0, NEVER, 3.0, NEVER, NEVER]),
        expected=np.array([0.0, 1, 2, 3, 4]),
        new_per_hour=0.5,
        fronts=np.array([True, False, False, False, False]),
        listed=np.array([True, True, False, False, True]),
    )
    actual = strategies(world(), knowledge, 4.0)
    assert list(actual) == ["baseline", "breadth_first", "page_rank", "nutch", "ours"]
    # 3.5 of 4 fetches an hour are left for hubs: 2.625 for the first, 0.875 for the other.
    assert actual["ours"].interval.tolist() == pytest.approx([8 / 21, NEVER, 8 / 7, NEVER, NEVER])
    assert actual["baseline"].interval.tolist() == [0.25, *[NEVER] * 4]
    assert actual["baseline"].is_allowed.tolist() == [True, True, False, False, True]
    assert (1 / actual["page_rank"].interval).sum() == pytest.approx(4.0)
    assert actual["nutch"].interval.tolist() == [24.0] * 5


def test_the_lead_of_a_crawl_is_judged_on_the_same_pages():
    often, seldom = (
        simulate_timely(world(), strategy(every), budget=2.0, hours=10.0) for every in (2.0, 5.0)
    )
    lead = lead_of(world(), often, seldom, 10.0)
    assert lead.share == pytest.approx(often.remaining - seldom.remaining)
    assert lead.low <= lead.share <= lead.high
    # The interval is of the difference, which a crawl has not to itself.
    assert lead.high - lead.low < seldom.remaining_high - seldom.remaining_low
    same = lead_of(world(), often, often, 10.0)
    assert (same.share, same.low, same.high) == (0.0, 0.0, 0.0)


def test_links_that_have_left_are_not_found():
    left = replace(world(), stay=np.array([0.5, np.inf, 0.5, np.inf]))
    result = simulate_timely(left, strategy(2.0), budget=2.0, hours=10.0)
    # The hub at 2 shows page 2 alone, at 4 nothing: 1 left at 1.5, and 3 at 3.5.
    assert np.isfinite(result.first_fetch).tolist()[1:] == [False, True, False, False]
    assert result.remaining_low <= result.remaining <= result.remaining_high


def test_ours_visits_hubs_at_the_best_intervals_for_what_is_left_of_the_budget():
    rates, views, half_lives, leave = np.array([9.0, 1.0]), np.full(2, 5.0), np.full(2, 0.5), 0.1
    facts = HubFacts(np.array([0, 2]), rates, views, half_lives, np.full(2, leave))
    # The suggested intervals were for another number of visits: their ratios are not the best.
    knowledge = Knowledge(np.array([1.0, NEVER, 1.0, NEVER, NEVER]), np.ones(5), 0.5, hubs=facts)
    actual = strategies(world(), knowledge, 1.0)["ours"].interval
    best = intervals(rates, views, half_lives, 0.5 * 24, 1 / 60 / 24, 7.0, leave) * 24
    np.testing.assert_allclose(actual[[0, 2]], best)
    assert (1 / actual[[0, 2]]).sum() == pytest.approx(0.5)
    assert np.isinf(actual[[1, 3, 4]]).all()


def test_the_split_visits_hubs_and_leaves_pages_that_are_not_worth_it():
    facts = HubFacts(np.array([0]), *(np.array([one]) for one in (24.0, 10.0, 0.5, 0.1)))
    knowledge = Knowledge(
        np.full(5, NEVER), np.array([0.0, 10, 10, 0.001, 10]), 1.0, None, None, facts
    )
    actual = strategies(world(), knowledge, 2.0)["split"]
    assert actual.is_allowed.tolist() == [True, True, True, False, True]
    # Two fetches an hour: one for the page that is born in each, and less than one for the hub.
    assert 0.95 < actual.interval[0] < 2.0
    assert np.isinf(actual.interval[1:]).all()


def test_what_is_not_known_is_not_used():
    knowledge = Knowledge(np.full(5, NEVER), np.zeros(5), 100.0)
    actual = strategies(world(), knowledge, 1.0)
    assert "baseline" not in actual
    assert simulate_timely(world(), actual["ours"], 1.0, 10.0).fetches == 0
    # However many pages are born, a fifth of the budget is for hubs.
    assert stretched(np.array([2.0, 2.0]), 0.2).tolist() == [10.0, 10.0]


def slowly(the: TimelyWorld, plan: Strategy, budget: float, hours: float):
    """Every list is looked through at every fetch; sorted lists in place of heaps."""
    lists = [
        the.links.target[the.links.first[page] : the.links.first[page + 1]].tolist()
        for page in range(len(the.birth))
    ]
    seen = {page for page, born in enumerate(the.birth) if born < 0}
    # All that was born before hour 0 has been seen; what is born at 0 has not.
    every, last = plan.interval.copy(), np.full(len(the.birth), -1e-300)
    first_fetch = np.full(len(the.birth), np.nan)
    watched = [page for page in sorted(seen) if plan.is_allowed[page] and every[page] < np.inf]
    golden = 0.6180339887498949
    again = [(every[page] * ((page * golden) % 1.0), n, page) for n, page in enumerate(watched)]
    new, ticket, fetches, wasted = [], len(again), 0, 0
    now = 0.0
    while fetches < int(budget * hours):
        if not new and again:
            now = max(now, min(again)[0])
        queue = new or again
        if not queue or now >= hours:
            break
        page = queue.pop(queue.index(min(queue)))[2]
        fetches += 1
        listed = [goal for goal in reversed(lists[page]) if the.birth[goal] <= now]
        listed = listed[: the.shown[page] or len(listed)]
        changed = any(the.birth[goal] > last[page] for goal in listed)
        for goal in listed:
            if goal not in seen and plan.is_allowed[goal]:
                seen.add(goal)
                queue = new if plan.new_first else again
                queue.append((-plan.score[goal] if plan.new_first else now, ticket, goal))
                ticket += 1
        last[page] = now
        if the.birth[page] >= 0 and np.isnan(first_fetch[page]):
            first_fetch[page] = now
        else:
            wasted += not changed
            if plan.is_adaptive:
                every[page] = min(max(every[page] * (0.8 if changed else 1.4), 1 / 60), 8760.0)
        if every[page] < np.inf:
            again.append((now + every[page], ticket, page))
            ticket += 1
        now += 1.0 / budget
    return first_fetch, fetches, wasted


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_looking_at_what_is_new_finds_what_looking_at_everything_finds(seed, new_first, adaptive):
    dice = np.random.default_rng(seed)
    pages, links = 12, 40
    # On half hours, so that pages are born when they are fetched.
    birth = np.where(dice.random(pages) < 0.4, -1.0, dice.integers(0, 30, pages) / 2)
    source = dice.integers(0, pages, links).astype(np.int32)
    target = dice.integers(0, pages, links).astype(np.int32)
    order = np.argsort(birth[target], kind="stable")
    the = TimelyWorld(
        link_graph(pages, source[order], target[order]),
        dice.integers(0, 4, pages),
        birth,
        np.zeros(pages),
        np.ones(pages),
        np.ones(pages),
        np.ones(pages, np.bool_),
    )
    interval = np.where(dice.random(pages) < 0.7, dice.integers(1, 9, pages) / 2, NEVER)
    allowed = dice.random(pages) < 0.8
    plan = Strategy(interval, dice.integers(0, 3, pages) * 1.0, new_first, adaptive, allowed)
    simulation = simulate_timely(the, plan, budget=2.0, hours=20.0)
    first_fetch, fetches, wasted = slowly(the, plan, budget=2.0, hours=20.0)
    assert simulation.first_fetch.tolist() == pytest.approx(first_fetch.tolist(), nan_ok=True)
    assert (simulation.fetches, simulation.wasted) == (fetches, wasted)


def test_links_out_of_order_are_refused():
    links = link_graph(5, np.zeros(2, np.int32), np.array([3, 1], np.int32))
    with pytest.raises(ValueError, match="order of birth"):
        simulate_timely(replace(world(), links=links), strategy(2.0), 1.0, 1.0)


def test_bounds_of_a_median_hold_it_in_95_of_100_samples():
    dice = np.random.default_rng(1)
    samples = dice.exponential(1.0, (2_000, 41))
    bounds = np.array([median_bounds(sample) for sample in samples])
    held = (bounds[:, 0] <= np.log(2)) & (np.log(2) <= bounds[:, 1])
    assert 0.95 <= held.mean() <= 0.98
    assert median_bounds(np.array([3.0, 1.0, 2.0])) == (1.0, 3.0)
    assert np.isnan(median_bounds(np.empty(0))).all()


FIRST = dt.date(2026, 3, 1)


def test_births_are_where_the_curve_says_on_the_day_of_the_first_views():
    day = FIRST + dt.timedelta(days=2)
    # Day 3 of the window is from 2 to 3: within it, before it, behind it, at its end.
    b = [2.25, 1.0, 4.0, 3.0]
    born = pa.table({"birth": pa.array([day] * len(b)), "b": pa.array(b, pa.float64())})
    hours = birth_hours(FIRST, FIRST + dt.timedelta(days=1), born)
    assert hours.tolist() == pytest.approx([30.0, 24.0, 48.0, 48.0])
    assert (hours < 48.0).all()  # so that a page of the last day is born during the crawl


def test_pages_without_a_curve_are_born_at_any_moment_of_their_day():
    day = FIRST + dt.timedelta(days=2)
    few = pa.table({"birth": pa.array([day] * 5), "b": pa.array([None] * 5, pa.float64())})
    hours = birth_hours(FIRST, FIRST + dt.timedelta(days=1), few)
    # Fractions of multiples of the golden ratio: 0, 0.618, 0.236, 0.854, 0.472 of 24 hours.
    assert hours.tolist() == pytest.approx([24.0, 38.83, 29.67, 44.50, 35.33], abs=0.01)
    # As `hub_seeds` takes them to be: all moments are equally likely, so half are born by noon.
    many = pa.table({"birth": pa.array([day] * 1_000), "b": pa.nulls(1_000, pa.float64())})
    hours = birth_hours(FIRST, FIRST + dt.timedelta(days=1), many)
    assert ((hours >= 24.0) & (hours < 48.0)).all()
    assert (hours < 36.0).mean() == pytest.approx(0.5, abs=0.005)
