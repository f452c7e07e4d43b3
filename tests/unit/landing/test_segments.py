"""Waiting rows of a log: how many bytes of them wait, and what is written of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets.landing import segments
from temporal_assets.landing.segments import SegmentWriter
from temporal_assets.logs.clean.cleaned import Cleaned, Strings
from temporal_assets.logs.read.tally import Tally

FIRST = 20_000


def strings(values: list[str | None]) -> Strings:
    known = list(dict.fromkeys(value for value in values if value is not None))
    codes = [-1 if value is None else known.index(value) for value in values]
    return Strings(np.array(codes, np.int32), pa.array(known, pa.string()))


def block(days: list[int], urls: list[str]) -> Cleaned:
    rows = len(days)
    return Cleaned(
        verdict=np.zeros(0, np.int16),
        referrers_given=0,
        referrers_usable=0,
        day=np.array(days, np.int32),
        time=np.arange(rows, dtype=np.int64),
        client=np.arange(rows, dtype=np.int64),
        url=strings([*urls]),
        referrer=strings([None] * rows),
        site=strings(["example.com"] * rows),
        tally=Tally(0),
        last_day=days[-1],
        first_known_day=days[0],
    )


def written(folder: Path, blocks: list[Cleaned]) -> dict[int, list[str]]:
    """The URLs of each day, in order."""
    folder.mkdir()
    writer = SegmentWriter(folder, "one")
    for one in blocks:
        writer.add(one)
        tables = [table for waiting in writer._waiting.values() for table in waiting.tables]
        assert sum(table.nbytes for table in tables) <= segments._BYTES_WAITING
    writer.close()
    return {
        day: [url for name in info.files for url in pq.read_table(folder / name)["url"].to_pylist()]
        for day, info in writer.days.items()
    }


def test_long_urls_do_not_wait_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = [f"https://example.com/{n}{'x' * 60_000}" for n in range(12)]
    blocks = [block([FIRST + n % 3, FIRST], [urls[n], "/"]) for n in range(12)]
    at_once = written(tmp_path / "at_once", blocks)
    monkeypatch.setattr(segments, "_BYTES_WAITING", 150_000)
    assert written(tmp_path / "early", blocks) == at_once
    assert at_once[FIRST + 1] == urls[1::3]


def test_rows_have_no_strings_but_their_own() -> None:
    """Else a day would hold URLs of others, and one straggler all of its block."""
    some = strings(["/a", "/b", None, "/c"])
    few = some.take(np.array([False, True, True, True]))
    assert few.values.to_pylist() == ["/b", "/c"]
    assert few.to_arrow().to_pylist() == ["/b", None, "/c"]
    none = some.take(np.array([False, False, True, False]))
    assert (none.values.to_pylist(), none.to_arrow().to_pylist()) == ([], [None])
