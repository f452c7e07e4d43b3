"""Traffic of pages in one pass, against sets."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from temporal_assets.core.traffic.traffic import NOWHERE, Transits, count_traffic

Triple = tuple[int, int, int]
"""Target, client, referrer."""

SITES = [0, 1, 3, 6]
"""Three sites, of one, two and three pages."""
LEAST = 3

a_triple = st.tuples(
    st.integers(0, SITES[-1] - 1),
    st.integers(-3, 3),
    st.sampled_from([NOWHERE, -7, -8, *range(SITES[-1])]),
).filter(lambda triple: triple[0] != triple[2])


def site(page: int) -> int:
    return int(np.searchsorted(SITES, page, "right")) - 1


@given(
    transits=st.lists(a_triple, max_size=40),
    bounds=st.tuples(*[st.integers(0, SITES[-1])] * 2).map(sorted),
)
@example(transits=[(5, 1, 3), (5, 1, 3), (5, 2, 3), (5, 3, NOWHERE), (5, 4, -7)], bounds=[3, 6])
@example(transits=[], bounds=[0, 0])
def test_what_is_counted_are_sets(transits: list[Triple], bounds: list[int]) -> None:
    """A transit of several days is there as often, and counts once."""
    first, stop = bounds
    here = sorted(transit for transit in transits if first <= transit[0] < stop)
    columns = list(zip(*here, strict=True)) or [()] * 3
    moved = Transits(*(np.array(column, np.int64) for column in columns))

    traffic = count_traffic(moved, first, stop, np.array(SITES), LEAST)

    distinct = set(here)
    pages = range(first, stop)
    to = {page: [visit for visit in distinct if visit[0] == page] for page in pages}
    came = {page: sorted({client for _, client, _ in to[page]}) for page in pages}
    links = {
        page: Counter(
            referrer - SITES[site(page)]
            for _, _, referrer in to[page]
            if 0 <= referrer < NOWHERE and site(referrer) == site(page)
        )
        for page in pages
    }
    assert traffic.visits.tolist() == [len(to[page]) for page in pages]
    assert traffic.referred.tolist() == [
        sum(referrer != NOWHERE for _, _, referrer in to[page]) for page in pages
    ]
    assert traffic.clients.tolist() == [len(came[page]) for page in pages]
    few = np.split(traffic.few, traffic.few_bounds[1:-1])
    few_wanted = [came[page] if len(came[page]) < LEAST else [] for page in pages]
    assert [clients.tolist() for clients in few][: len(pages)] == few_wanted
    assert traffic.few_bounds[-1] == len(traffic.few)
    for at, page in enumerate(pages):
        own = slice(traffic.link_bounds[at], traffic.link_bounds[at + 1])
        pairs = zip(traffic.page[own].tolist(), traffic.transits[own].tolist(), strict=True)
        assert list(pairs) == sorted(links[page].items())
    assert traffic.link_bounds[-1] == len(traffic.page)
    assert sorted(traffic.referrers.tolist()) == sorted(
        referrer for _, _, referrer in distinct if 0 <= referrer < NOWHERE
    )
