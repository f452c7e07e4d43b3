"""Searches in bytes, eight and thirty-two at a time, against Python's own."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
