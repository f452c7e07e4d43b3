"""What has changed of pages' traffic, against both windows counted anew with sets."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.traffic.changed_traffic import (
    ChangedPages,
    Transits,
    changed_traffic,
)
from temporal_assets.core.traffic.traffic import NOWHERE

Triple = tuple[int, int, int]
"""Target, client, referrer."""

SITE = [0, 0, 1, 1]
LEAST = 3
LOST = -7
"""What is no changed page."""

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


@given(
    earlier=some_triples,
    later=some_triples,
    unknown=st.sets(st.integers(0, 3)),
    days=st.data(),
)
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
    """One of two comes no more; of the other, only the rows of before know."""
    pages = ChangedPages(
        np.zeros(1, np.int32), np.zeros(1, np.bool_), numbers([2]), numbers([0]), numbers([0]),
        numbers([2]), numbers([0, 2]), numbers([5, 9]),
    )  # fmt: skip
    gone = Transits(numbers([0]), numbers([5]), numbers([NOWHERE]), numbers([2]))
    actual = changed_traffic(gone, pages, LEAST)
    assert (actual.clients.tolist(), actual.few.tolist()) == ([1], [9])
