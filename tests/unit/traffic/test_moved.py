"""Visits, links and days that differ between two windows."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.numerics.arrays import Flags
from temporal_assets.core.traffic.changed_traffic import ChangedPages, Transits, changed_traffic
from temporal_assets.core.traffic.moved_links import LinkLists, moved_links
from temporal_assets.core.traffic.moved_visits import (
    Numbered,
    TextPages,
    Visits,
    chosen,
    in_traffic_order,
    visit_filter,
)
from temporal_assets.core.traffic.seen_days import pages_by_day, places_by_day
from temporal_assets.core.traffic.traffic import NOWHERE

PAGES = 6
clients = st.sampled_from([-(2**63), -1, 0, 1, 2, 2**40, 2**63 - 1])
visits = st.lists(st.tuples(st.integers(0, PAGES - 1), clients), max_size=30)


def _columns(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    page, client = zip(*rows, strict=True) if rows else ((), ())
    return np.array(page, np.int32), np.array(client, np.int64)


@given(
    moved=st.lists(visits, max_size=2),
    day=visits.map(sorted),
    all_of=st.sets(st.integers(0, PAGES - 1), max_size=2),
    traced=st.sets(st.integers(0, PAGES - 1), max_size=2),
    data=st.data(),
)
def test_what_moved_is_chosen_whatever_else_is(
    moved: list[list[tuple[int, int]]],
    day: list[tuple[int, int]],
    all_of: set[int],
    traced: set[int],
    data: st.DataObject,
) -> None:
    """URLs of the day are the pages backwards, and one more that is none."""
    known = visit_filter(PAGES, map(_columns, moved), np.array(sorted(all_of), np.int64))
    page, client = _columns(day)
    url = (PAGES - 1 - page).astype(np.int32)
    referrer = np.array(
        data.draw(st.lists(st.integers(-1, PAGES), min_size=len(day), max_size=len(day))), np.int32
    )
    is_traced = np.isin(np.arange(PAGES + 1), sorted(traced))
    pages = np.array([*range(PAGES - 1, -1, -1), -1], np.int32)
    rows = chosen(Visits(url, referrer, client), pages, is_traced, known).tolist()
    asked = {visit for moved_visits in moved for visit in moved_visits}
    must = [
        row
        for row, visit in enumerate(day)
        if visit in asked or visit[0] in all_of or referrer[row] in traced
    ]
    assert set(must) <= set(rows)
    assert rows == sorted(set(rows))
    # A page that nobody has moved to or from is passed over.
    busy = {at for at, _ in asked} | all_of
    assert all(day[row][0] in busy or referrer[row] in traced for row in rows)


def test_few_others_are_chosen() -> None:
    """Others are one in a hundred, of a page with many clients as of one with few."""
    random = np.random.default_rng(3)
    page = np.sort(random.zipf(1.5, 200_000) % 5_000).astype(np.int32)
    client = random.integers(-(2**63), 2**63, len(page))
    known = visit_filter(5_000, [(page, client)], np.empty(0, np.int64))
    nowhere = np.full(len(page), -1, np.int32)
    same = np.arange(5_000, dtype=np.int32)
    none = np.zeros(5_000, np.bool_)
    assert len(chosen(Visits(page, nowhere, client), same, none, known)) == len(page)
    others = random.integers(-(2**63), 2**63, len(page))
    assert len(chosen(Visits(page, nowhere, others), same, none, known)) < len(page) / 40


@given(
    known=st.dictionaries(st.integers(1, 2**62 - 1), st.integers(0, 2**31 - 1), max_size=40),
    asked=st.lists(st.integers(1, 2**62 - 1), max_size=10),
)
def test_pages_are_found_by_the_numbers_of_their_texts(
    known: dict[int, int], asked: list[int]
) -> None:
    pages = TextPages(np.array([*known], np.int64), np.array([*known.values()], np.int32))
    wanted = [*known, *asked]
    places = pages.find(np.array(wanted, np.int64)).tolist()
    assert places == [known.get(number, -1) for number in wanted]


moved_rows = st.lists(
    st.tuples(
        st.integers(0, 4),
        clients,
        st.sampled_from([NOWHERE, 3, 0, -1, -(2**62)]),
        st.integers(1, 3),
    ),
    max_size=60,
)


def _numbered(moved: Transits, chosen_rows: Flags, windows: int) -> Numbered:
    """Some rows, as they are told by the places of their targets and referrers."""
    targets, to = np.unique(moved.target[chosen_rows], return_inverse=True)
    referrers, came_from = np.unique(moved.referrer[chosen_rows], return_inverse=True)
    of_last = len(referrers) - 1
    at = np.where(came_from == of_last, -1, came_from).astype(np.int32)
    visits = Visits(to.astype(np.int32), at, moved.client[chosen_rows])
    return Numbered(visits, targets, referrers, windows)


@pytest.mark.parametrize("threads", [1, 2, 3])
@given(rows=moved_rows)
def test_transits_are_ordered(threads: int, rows: list[tuple[int, int, int, int]]) -> None:
    columns = zip(*rows, strict=True) if rows else ((), (), (), ())
    target, client, referrer, windows = (np.array(column, np.int64) for column in columns)
    parts = [
        _numbered(Transits(target, client, referrer, windows), windows == bits, bits)
        for bits in (1, 2, 3)
    ]
    ordered = list(zip(*in_traffic_order(parts, 5, threads), strict=True))
    assert sorted(ordered) == sorted(rows)
    assert [row[:3] for row in ordered] == sorted(row[:3] for row in rows)


def test_a_page_with_very_many_transits_is_ordered() -> None:
    random = np.random.default_rng(5)
    client = random.integers(0, 1_000, 100_000)
    referrer = random.integers(-5, 5, len(client))
    same = np.zeros(len(client), np.int64)
    moved = Transits(same, client, referrer, same + 3)
    ordered = in_traffic_order([_numbered(moved, same == 0, 3)], 1, 2)
    order = np.lexsort((referrer, client))
    assert np.array_equal(ordered.client, client[order])
    assert np.array_equal(ordered.referrer, referrer[order])


OLD, NEW = 4, 6
links = st.dictionaries(st.integers(0, OLD - 1), st.integers(1, 3), max_size=OLD)
changes = st.dictionaries(st.integers(0, NEW - 1), st.integers(-3, 3), max_size=NEW)


def lists(rows: list[dict[int, int]], kind: Any) -> LinkLists:
    ordered = [sorted(row.items()) for row in rows]
    flat = [pair for row in ordered for pair in row]
    bounds = np.cumsum([0, *map(len, rows)])
    page, transits = (np.array([pair[n] for pair in flat], np.int64) for n in (0, 1))
    return LinkLists(bounds, page.astype(kind), transits)


@given(
    before=st.lists(links, min_size=1, max_size=4),
    change=st.lists(changes, min_size=1, max_size=5),
    data=st.data(),
)
def test_links_are_those_of_before_by_their_new_numbers_and_the_changes(
    before: list[dict[int, int]], change: list[dict[int, int]], data: st.DataObject
) -> None:
    """Two sites of as many pages; some pages are gone, and one number is that of no old page."""
    order = data.draw(st.permutations([*range(len(before)), *[-1] * len(change)]))
    row = order[: len(change)]
    site = [data.draw(st.integers(0, 1)) for _ in change]
    kept = [data.draw(st.sets(st.integers(0, NEW - 1), max_size=OLD)) for _ in range(2)]
    renumbered = [
        number
        for at in range(2)
        for number in [*(number + NEW * at for number in sorted(kept[at])), *[-1] * OLD][:OLD]
    ]
    # Pages that are gone may stand anywhere; those that stay keep their order.
    wanted = []
    for i in range(len(change)):
        actual = {number + NEW * site[i]: count for number, count in change[i].items()}
        for old, count in (before[row[i]] if row[i] >= 0 else {}).items():
            number = renumbered[OLD * site[i] + old]
            if number >= 0:
                actual[number] = actual.get(number, 0) + count
        wanted.append([(at - NEW * site[i], n) for at, n in sorted(actual.items()) if n])
    moved = [
        {number + NEW * at: n for number, n in one.items()}
        for one, at in zip(change, site, strict=True)
    ]
    merged = moved_links(
        lists(before, np.int32),
        np.array(row),
        np.array([OLD * at for at in site]),
        np.array(renumbered),
        lists(moved, np.int64),
        np.array([NEW * at for at in site]),
    )
    pairs = list(zip(merged.page.tolist(), merged.transits.tolist(), strict=True))
    bounds = merged.bounds.tolist()
    assert [pairs[a:b] for a, b in itertools.pairwise(bounds)] == wanted


BITS = 63

pages = st.lists(st.tuples(st.integers(0, 2**BITS - 1), st.booleans()), max_size=20)


@given(pages=pages, bits=st.lists(st.integers(0, BITS - 1), unique=True, max_size=5))
def test_a_place_is_that_among_the_pages_of_the_day(
    pages: list[tuple[int, bool]], bits: list[int]
) -> None:
    seen = np.array([days for days, _ in pages], np.int64)
    wanted = np.array([asked for _, asked in pages], np.bool_)
    places, rows = places_by_day(seen, np.array(bits, np.int64), wanted)
    days = [[n for n, (days, _) in enumerate(pages) if days >> bit & 1] for bit in bits]
    assert rows.tolist() == list(map(len, days))
    assert places.tolist() == [
        [day.index(n) if n in day else -1 for day in days]
        for n, (_, asked) in enumerate(pages)
        if asked
    ]


@given(pages=pages, bits=st.lists(st.integers(0, BITS - 1), unique=True, max_size=5))
def test_the_pages_of_a_day_are_those_with_its_bit(
    pages: list[tuple[int, bool]], bits: list[int]
) -> None:
    seen = np.array([days for days, _ in pages], np.int64)
    listed = [day.tolist() for day in pages_by_day(seen, bits)]
    assert listed == [[n for n, (days, _) in enumerate(pages) if days >> bit & 1] for bit in bits]


Triple = tuple[int, int, int]
"""Target, client, referrer."""

SITE = [0, 0, 1, 1]
LEAST = 3
LOST = -7
"""Number of a page that did not change."""

a_triple = st.tuples(
    st.sampled_from([LOST, 0, 1, 2, 3]),
    st.integers(-2, 3),
    st.sampled_from([NOWHERE, LOST, LOST - 1, 0, 1, 2, 3]),
).filter(lambda triple: triple[0] != triple[2])
some_triples = st.sets(a_triple, max_size=25)


class Window:
    """Everything that is counted of a window; of pages that are not known, nothing."""

    def __init__(self, triples: set[Triple], unknown: set[int]) -> None:
        of_page = [
            [triple for triple in triples if triple[0] == page and page not in unknown]
            for page in range(len(SITE))
        ]
        from_page = [
            [triple for triple in triples if triple[2] == page and page not in unknown]
            for page in range(len(SITE))
        ]
        self.visits = [len(visits) for visits in of_page]
        self.referred = [sum(visit[2] != NOWHERE for visit in visits) for visits in of_page]
        self.referrals = [len(visits) for visits in from_page]
        clients = [{visit[1] for visit in visits} for visits in of_page]
        self.clients = [len(client) for client in clients]
        self.few = [sorted(client) if len(client) < LEAST else [] for client in clients]
        self.links = Counter(
            (target, referrer)
            for target, _, referrer in triples
            if min(target, referrer) >= 0 and referrer != NOWHERE
            if SITE[target] == SITE[referrer] and not {target, referrer} & unknown
        )


def numbers(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


@given(earlier=some_triples, later=some_triples, unknown=st.sets(st.integers(0, 3)), days=st.data())
def test_changes_lead_from_one_window_to_the_other(
    earlier: set[Triple], later: set[Triple], unknown: set[int], days: st.DataObject
) -> None:
    """A transit of both windows may have days in either, or in both at once."""
    before, after = Window(earlier, unknown), Window(later, set())
    moved = [(*visit, 1) for visit in later - earlier] + [(*visit, 2) for visit in earlier - later]
    for visit in sorted(earlier & later):
        bits = days.draw(st.sampled_from([[3], [1, 2], [3, 3, 1]]))
        moved += [(*visit, windows) for windows in bits]
    columns = list(zip(*sorted(moved), strict=True)) or [()] * 4
    target, client, referrer, windows = (numbers(list(column)) for column in columns)
    pages = ChangedPages(
        np.array(SITE, np.int32),
        np.isin(np.arange(len(SITE)), sorted(unknown)),
        numbers(before.visits),
        numbers(before.referred),
        numbers(before.referrals),
        numbers(before.clients),
        np.cumsum([0, *map(len, before.few)]),
        numbers([clients for few in before.few for clients in few]),
    )
    actual = changed_traffic(Transits(target, client, referrer, windows), pages, LEAST)
    assert actual.visits.tolist() == after.visits
    assert actual.referred.tolist() == after.referred
    assert actual.referrals.tolist() == after.referrals
    assert actual.clients.tolist() == after.clients
    named = np.split(actual.few, actual.few_bounds[1:-1])
    assert [part.tolist() for part in named] == after.few
    changes = list(zip(actual.target.tolist(), actual.referrer.tolist(), strict=True))
    assert changes == sorted(set(changes))
    assert 0 not in actual.transits
    links = before.links.copy()
    links.update(dict(zip(changes, actual.transits.tolist(), strict=True)))
    assert {link: count for link, count in links.items() if count} == after.links


def test_clients_of_whom_nothing_moved_are_named_on() -> None:
    """The first of two clients comes no more; only the rows of before know the other."""
    pages = ChangedPages(
        np.zeros(1, np.int32), np.zeros(1, np.bool_), numbers([2]), numbers([0]), numbers([0]),
        numbers([2]), numbers([0, 2]), numbers([5, 9]),
    )  # fmt: skip
    gone = Transits(numbers([0]), numbers([5]), numbers([NOWHERE]), numbers([2]))
    actual = changed_traffic(gone, pages, LEAST)
    assert (actual.clients.tolist(), actual.few.tolist()) == ([1], [9])
