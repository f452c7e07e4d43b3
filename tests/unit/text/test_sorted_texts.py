"""Places of pairs of strings among others, against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.text.sorted_texts import (
    Keys,
    Seeker,
    count_up_to,
    in_step,
    merged,
)
from temporal_assets.core.text.texts import texts

a_text = st.text("ab/\0ü", max_size=12) | st.sampled_from(["aaaaaaaab", "aaaaaaaa", "aaaaaaaaba"])
a_pair = st.tuples(a_text, a_text)
some_pairs = st.sets(a_pair, max_size=20).map(lambda found: sorted(found, key=encoded))


def encoded(pair: tuple[str, str]) -> tuple[bytes, bytes]:
    return pair[0].encode(), pair[1].encode()


def keys(pairs: list[tuple[str, str]]) -> Keys:
    firsts = list({one for one, _ in pairs})  # in any order
    first = np.array([firsts.index(one) for one, _ in pairs], np.int32)
    return Keys(texts(firsts), first, texts([two for _, two in pairs]))


def blocks(pairs: list[tuple[str, str]], size: int) -> list[list[tuple[str, str]]]:
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]


@given(shown=some_pairs, wanted=some_pairs, sizes=st.tuples(st.integers(1, 5), st.integers(1, 5)))
def test_every_pair_is_found_where_it_stands(
    shown: list[tuple[str, str]], wanted: list[tuple[str, str]], sizes: tuple[int, int]
) -> None:
    """However both are cut into blocks, empty ones among them."""
    cut = [keys(block) for block in [*blocks(wanted, sizes[0]), []]]
    seeker = Seeker([keys([]), *cut], len(wanted))
    first = 0
    for block in [[], *blocks(shown, sizes[1])]:
        seeker.look(keys(block), first)
        first += len(block)
    place = {pair: at for at, pair in enumerate(shown)}
    assert seeker.places.tolist() == [place.get(pair, -1) for pair in wanted]


@given(one=some_pairs, other=some_pairs)
def test_pairs_of_both_in_order_with_their_places(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    places, others = merged(keys(one), keys(other))
    both = sorted({*one, *other}, key=encoded)
    assert places.tolist() == [one.index(pair) if pair in one else -1 for pair in both]
    assert others.tolist() == [other.index(pair) if pair in other else -1 for pair in both]


@given(pairs=some_pairs, last=a_pair, start=st.integers(0, 20))
def test_how_many_pairs_are_not_beyond_one(
    pairs: list[tuple[str, str]], last: tuple[str, str], start: int
) -> None:
    count = sum(encoded(pair) <= encoded(last) for pair in pairs)
    assert count_up_to(keys(pairs), min(start, count), keys([last])) == count


@given(rows=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=20))
def test_marked_rows_are_the_same_one_after_the_other(rows: list[tuple[bool, bool]]) -> None:
    kept, stays = (np.array([row[at] for row in rows], np.bool_) for at in (0, 1))
    marked, others = np.flatnonzero(kept).tolist(), np.flatnonzero(stays).tolist()
    both = in_step(kept, stays)
    if len(marked) != len(others):
        assert both is None
        return
    assert both is not None
    place, back = dict(zip(marked, others, strict=True)), dict(zip(others, marked, strict=True))
    assert both[0].tolist() == [place.get(at, -1) for at in range(len(rows))]
    assert both[1].tolist() == [back.get(at, -1) for at in range(len(rows))]
