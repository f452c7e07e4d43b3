"""Columns of texts as bytes: any strings, their numbers, and searches in sorted ones."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from temporal_assets.core.text.sorted_texts import Keys, Seeker, count_up_to, in_step, merged
from temporal_assets.core.text.text_numbers import text_numbers
from temporal_assets.core.text.texts import (
    Texts,
    after_digits,
    after_hex,
    alike,
    find_byte,
    find_either,
    take,
    texts,
    utf8,
)

LENGTHS = (0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 95, 96, 97, 160)
mixed = st.lists(st.sampled_from([b"9" * 30, b"a", b"F", b"-", b"/", b"?", b"\xc3", b"g" * 33]))


def flat(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=5)))
def test_any_strings_are_bytes(strings: list[str]) -> None:
    actual = texts(strings)
    parts = zip(actual.offsets[:-1], actual.offsets[1:], strict=True)
    assert [actual.data[a:b].tobytes() for a, b in parts] == [utf8(text) for text in strings]


def test_surrogates_by_hand() -> None:
    assert utf8("\u00e9\udcff") == b"\xc3\xa9\xff"
    assert utf8("\ud800") == b"\xed\xa0\x80"


@given(mixed.map(b"".join), st.integers(0, 40))
def test_long_values_are_searched_as_short_ones(text: bytes, start: int) -> None:
    start = min(start, len(text))
    for stop in {len(text), max(start, len(text) - 5)}:
        part = text[start:stop]
        slash, question = part.find(b"/"), part.find(b"?")
        actual = [start + at for at in (slash, question) if at >= 0]
        assert find_either(flat(text), start, stop, 47, 63) == min(actual, default=stop)
        assert find_byte(flat(text), start, stop, 47) == (start + slash if slash >= 0 else stop)
        for search, digits in ((after_digits, b"[0-9]*"), (after_hex, b"[0-9a-fA-F]*")):
            match = re.match(digits, part)
            assert match is not None
            assert search(flat(text), start, stop) == start + match.end()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("odd", [b"/", b":", b"`", b"G", b"g", b"@", b"\x00", b"\xff"])
def test_one_other_byte_is_noticed_wherever_it_is(length: int, odd: bytes) -> None:
    text = b"7" * length + odd + b"7" * 40
    assert after_digits(flat(text), 0, len(text)) == length
    assert after_hex(flat(text), 0, len(text)) == length
    assert find_byte(flat(text), 0, len(text), odd[0]) == length
    assert find_byte(flat(text), length + 1, len(text), odd[0]) == len(text)


def test_loops_get_one_type_of_array_wherever_strings_come_from() -> None:
    """Arrays that may be written are another type to the compiler: all would be compiled twice."""
    data, bounds = np.frombuffer(b"ab", np.uint8).copy(), np.array([0, 1, 2])
    actual = Texts(data, bounds)
    for array in (actual.data, actual.offsets, take(data, bounds[:2], bounds[1:]).data):
        assert not array.flags.writeable
    assert data.flags.writeable
    assert np.shares_memory(actual.data, data)


@given(st.binary(max_size=30), st.binary(max_size=30), st.binary(max_size=30))
def test_as_many_bytes_are_alike_as_two_texts_begin_with(same: bytes, a: bytes, b: bytes) -> None:
    left, other = same + a, same + b
    most = min(len(left), len(other))
    expected = next((i for i in range(most) if left[i] != other[i]), most)
    assert alike(flat(left + other), 0, len(left), most) == expected


@given(st.sets(st.text(max_size=40), max_size=50))
@example({"", "\x01"})
def test_numbers_tell_texts_apart_and_are_above_zero(found: set[str]) -> None:
    numbers = text_numbers(texts(list(found)))
    assert len(set(numbers.tolist())) == len(found)
    assert ((numbers > 0) & (numbers < 2**62)).all()
    assert text_numbers(texts(list(found))).tolist() == numbers.tolist()


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
