"""Choosing visits by bits, finding pages by numbers, and the order of transits, against Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.numerics.arrays import Flags
from temporal_assets.core.traffic.changed_traffic import Transits
from temporal_assets.core.traffic.moved_visits import (
    Numbered,
    TextPages,
    Visits,
    chosen,
    in_traffic_order,
    visit_filter,
)
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
    """One in a hundred, of a page with many clients as of one with few."""
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
