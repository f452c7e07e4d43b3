"""Renumbered and changed links, against dictionaries."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.traffic.moved_links import LinkLists, moved_links

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
