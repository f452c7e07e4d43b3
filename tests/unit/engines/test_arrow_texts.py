"""Strings of Arrow as `core` takes them: whatever piece of an array they are."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.text.texts import Texts
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow

STRINGS = ["aa", "b", "", "dddd", "é", ""]
TYPES = [pa.string(), pa.large_string()]


def strings_of(texts: Texts) -> list[str]:
    return [texts[i] for i in range(len(texts))]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("start", range(len(STRINGS) + 1))
@pytest.mark.parametrize("stop", range(len(STRINGS) + 1))
def test_every_slice_is_its_strings(kind: pa.DataType, start: int, stop: int) -> None:
    piece = pa.array(STRINGS, kind)[start:stop]
    texts = from_arrow(piece)
    assert strings_of(texts) == STRINGS[start:stop]
    # Nothing else goes along where it is sent to another process.
    assert texts.data.tobytes() == "".join(STRINGS[start:stop]).encode()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("column", [[], [""], ["", ""]])
def test_arrays_without_a_byte_are_texts(kind: pa.DataType, column: list[str]) -> None:
    assert strings_of(from_arrow(pa.array(column, kind))) == column
    assert strings_of(from_arrow(pa.chunked_array([column], kind))) == column
    assert strings_of(from_arrow(pa.chunked_array([], kind))) == []
    assert strings_of(from_arrow(pa.array(STRINGS, kind).filter(pa.array([False] * 6)))) == []


def test_strings_in_one_piece_are_not_copied() -> None:
    urls = pa.array(STRINGS, pa.large_string())
    for column in (urls, urls[2:], pa.chunked_array([urls[2:]])):
        start = 0 if column is urls else len("aab")
        assert from_arrow(column).data.ctypes.data == urls.buffers()[2].address + start


@given(st.lists(st.lists(st.text(max_size=5), max_size=4), max_size=4), st.data())
def test_pieces_are_put_together(pieces: list[list[str]], data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([*TYPES, pa.dictionary(pa.int32(), pa.string())]))
    column = pa.chunked_array([pa.array(piece, pa.string()) for piece in pieces], pa.string())
    column = column.cast(kind)
    start = data.draw(st.integers(0, len(column)))
    expected = [text for piece in pieces for text in piece][start:]
    texts = from_arrow(column.slice(start))
    assert strings_of(texts) == expected
    assert to_arrow(texts).to_pylist() == expected
