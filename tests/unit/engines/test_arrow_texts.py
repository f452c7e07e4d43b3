"""Arrow columns and Parquet rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.text.texts import Texts
from temporal_assets.engines.arrow_texts import encoded, from_arrow, to_arrow, with_encoded
from temporal_assets.engines.parquet_rows import ParquetNumbers, ParquetRows

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


SITES = ["a.example"] * 5 + ["b.example"] * 2 + ["ü.example"] * 4
ROWS = pa.table({"site": SITES, "number": list(range(len(SITES)))})

WAYS: dict[str, dict[str, Any]] = {
    "dictionary": {},
    "plain": {"use_dictionary": False},
    "packed": {"use_dictionary": False, "column_encoding": {"site": "DELTA_LENGTH_BYTE_ARRAY"}},
    "prefixes": {"use_dictionary": False, "column_encoding": {"site": "DELTA_BYTE_ARRAY"}},
}


@pytest.fixture(params=WAYS)
def files(tmp_path: Path, request: pytest.FixtureRequest) -> list[str]:
    """Three files, one of them empty, in groups of two rows."""
    paths = []
    for n, part in enumerate((ROWS.slice(0, 3), ROWS.slice(0, 0), ROWS.slice(3))):
        paths.append(str(tmp_path / f"{n}.parquet"))
        pq.write_table(part, paths[-1], row_group_size=2, **WAYS[request.param])
    return paths


@pytest.mark.parametrize("repeated", [(), ("site",)])
def test_rows_are_those_of_their_numbers(files: list[str], repeated: tuple[str, ...]) -> None:
    rows = ParquetRows(files, repeated)
    assert len(rows) == len(ROWS)
    for bounds in combinations_with_replacement(range(len(ROWS) + 1), 4):
        ranges = [(bounds[0], bounds[1]), (0, 0), (bounds[2], bounds[3])]
        for (first, stop), read in zip(
            ranges, rows.in_ranges(ranges, ("site", "number")), strict=True
        ):
            assert read.to_pylist() == ROWS.slice(first, stop - first).to_pylist()
            assert pa.types.is_dictionary(read.schema.field("site").type) == bool(repeated)


def test_a_group_of_two_ranges_is_read_once(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    one_group = ParquetRows._read

    def noted(rows: ParquetRows, at: int, columns: Sequence[str]) -> pa.Table:
        read.append(at)
        return one_group(rows, at, columns)

    monkeypatch.setattr(ParquetRows, "_read", noted)
    ranges = [(0, 3), (3, 4), (4, 4), (4, 9), (9, 11)]
    tables = list(ParquetRows(files).in_ranges(ranges, ("number",)))
    assert pa.concat_tables(tables).to_pylist() == ROWS.select(["number"]).to_pylist()
    assert read == sorted(set(read))


@pytest.mark.parametrize("repeated", [(), ("site",)])
def test_all_rows_come_in_order(files: list[str], repeated: tuple[str, ...]) -> None:
    rows = ParquetRows(files, repeated)
    blocks = list(rows.blocks(("site",), lambda block: block.column("site").to_pylist()))
    assert [site for block in blocks for site in block] == SITES
    assert max(map(len, blocks)) == 2
    assert pa.Table.from_batches(rows.batches()).to_pylist() == ROWS.to_pylist()


def test_other_columns_than_those_that_repeat_are_read(files: list[str]) -> None:
    (rows,) = ParquetRows(files, ("site",)).in_ranges([(4, 6)], ("number",))
    assert rows.to_pydict() == {"number": [4, 5]}


@pytest.mark.parametrize("count", [1, 3, 5])
def test_numbers_come_as_many_at_a_time_as_are_asked_for(files: list[str], count: int) -> None:
    numbers = ParquetNumbers(files, "number")
    assert len(numbers.take(0)) == 0
    taken = [numbers.take(count).tolist() for _ in range(0, len(ROWS) + 1, count)]
    assert max(map(len, taken)) == count
    assert [number for some in taken for number in some] == list(range(len(ROWS)))
    assert len(numbers.take(count)) == 0


def test_no_files_are_no_table() -> None:
    with pytest.raises(ValueError, match="publish an empty partition"):
        ParquetRows([])


def test_a_schema_says_what_comes_as_a_dictionary() -> None:
    schema = with_encoded(ROWS.schema, "site")
    assert schema.field("site").type == encoded(ROWS["site"]).type
    assert schema.names == ROWS.schema.names
    assert schema.field("number") == ROWS.schema.field("number")
