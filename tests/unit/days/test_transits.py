"""Transits of a day by numbers are the file of sql/days/transits.sql, byte for byte."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.core.text.page_order import text_numbers
from temporal_assets.core.text.texts import texts
from temporal_assets.days import transits as daily_transits
from temporal_assets.days.transits import DayTransits, make_transits
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.logs.urls.urls import site_of
from temporal_assets.settings import load_settings
from tests.no_query import no_query

DAY = dt.date(2026, 3, 29)
Row = tuple[str, str | None, int]

urls = st.sampled_from([
    "https://a.example/",
    "https://a.example/a",
    "https://a.example/a%20b",
    "https://a.example/ü",
    "https://a.example/\U0001f600",
    "http://a.example/",
    "https://a.example:8443/",
    "https://a.example.org/",
])  # fmt: skip
rows = st.lists(
    st.tuples(urls, st.none() | urls, st.sampled_from([-(2**63), -1, 0, 7, 2**63 - 1])),
    max_size=30,
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> DuckDBEngine:
    return DuckDBEngine(load_settings(tmp_path_factory.mktemp("state")))


def _write(folder: Path, files: Sequence[Sequence[Row]], group: int) -> list[str]:
    paths = []
    for number, part in enumerate(files):
        url, referrer, client = zip(*part, strict=True) if part else ((), (), ())
        table = pa.table({
            "day": pa.array([DAY] * len(part), pa.date32()),
            "url": pa.array(url, pa.string()),
            "referrer": pa.array(referrer, pa.string()),
            "client": pa.array(client, pa.int64()),
        })  # fmt: skip
        paths.append(str(folder / f"requests-{number}.parquet"))
        pq.write_table(table, paths[-1], row_group_size=group, use_dictionary=number % 2 == 0)
    return paths


def _both(engine: DuckDBEngine, requests: list[str], folder: Path) -> tuple[bytes, bytes]:
    """What is made by numbers, and by the query."""
    made, asked = folder / "made", folder / "asked"
    made.mkdir()
    asked.mkdir()
    found = make_transits(no_query(engine), requests, DAY, made)
    _check_places(requests, found)
    (one,) = found.rows
    (other,) = engine.query("transits", {"requests": requests}, {}, contracts.TRANSITS, asked)
    return one.read_bytes(), other.read_bytes()


def _check_places(requests: list[str], found: DayTransits) -> None:
    """Beside each row lie the places of its URLs among all of the day, in the order of pages."""
    asked = pa.concat_tables(pq.read_table(path, columns=["url", "referrer"]) for path in requests)
    opened, others = (set(asked[name].drop_null().to_pylist()) for name in ("url", "referrer"))
    urls = sorted(opened | others, key=lambda url: (site_of(url).encode(), url.encode()))
    place = {url: at for at, url in enumerate(urls)} | {None: -1}
    rows = pa.concat_tables(pq.read_table(path) for path in found.rows)
    places, strangers = map(pq.read_table, found.beside)
    assert places.to_pydict() == {
        name: [place[url] for url in rows[name].to_pylist()] for name in ("target", "referrer")
    }
    numbers = text_numbers(texts(urls)).tolist()
    assert strangers["stranger"].to_pylist() == [
        0 if url in opened else number for url, number in zip(urls, numbers, strict=True)
    ]


@given(
    files=st.lists(rows, min_size=1, max_size=3).filter(any),
    group=st.integers(1, 9),
    part=st.sampled_from([1, 4, 1 << 18]),
    bits=st.sampled_from([7, 8, 63]),
    text=st.sampled_from([1, 100, 32 << 20]),
)
@example(
    files=[[("https://a.example/", "https://a.example/", 1)]], group=1, part=1, bits=63, text=1
)
def test_the_file_is_that_of_the_query(
    engine: DuckDBEngine, files: list[list[Row]], group: int, part: int, bits: int, text: int
) -> None:
    """Nulls, reloads alone, doubles across files and groups, one part and many, few bits left."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(daily_transits, "_TEXT_BYTES", text)
        patch.setattr(daily_transits, "_PART_ROWS", part)
        patch.setattr(daily_transits, "_BITS", bits)
        made, asked = _both(engine, _write(Path(folder), files, group), Path(folder))
    assert made == asked


def test_many_rows_of_several_groups(engine: DuckDBEngine, tmp_path: Path) -> None:
    """Groups of the file are cut where the query cuts them, whatever the parts are."""
    random = np.random.default_rng(7)
    names = [f"https://a.example/{n}" for n in range(90_000)]
    places = random.zipf(1.3, (2, 400_000)) % len(names)
    clients = random.integers(-(2**63), 2**63, 5_000)[random.integers(0, 5_000, 400_000)]
    several = [
        (names[target], names[referrer] if referrer % 3 else None, int(client))
        for target, referrer, client in zip(*places, clients, strict=True)
    ]
    made, asked = _both(engine, _write(tmp_path, [several], 122_880), tmp_path)
    assert made == asked
    assert pq.read_metadata(pa.BufferReader(made)).num_row_groups > 1


@pytest.mark.parametrize("most", [0, 1 << 30])
def test_days_that_do_not_fit_and_empty_ones_are_the_database_s(
    engine: DuckDBEngine, tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day without a row has no bytes, one with many too many."""
    monkeypatch.setattr(daily_transits, "_MOST_BYTES", most)
    some: list[Row] = [] if most else [("https://a.example/", None, 1)] * 2
    requests = _write(tmp_path, [some], 9)
    found = make_transits(engine, requests, DAY, tmp_path)
    (made,) = found.rows
    # A window of which a day has no numbers compares URLs: an empty one has them.
    assert bool(found.beside) == bool(most)
    if most:
        _check_places(requests, found)
    assert pq.read_metadata(made).num_rows == len(set(some))
    with pytest.raises(AssertionError, match="database's"):
        make_transits(no_query(engine), _write(tmp_path, [some], 9), DAY, tmp_path)


@pytest.mark.long
def test_a_page_that_many_came_to_from_long_urls(engine: DuckDBEngine, tmp_path: Path) -> None:
    """Of three gigabytes of text, more than Arrow has in a column, a few megabytes are stored."""
    clients, sources = 2_500, 20
    long = [f"https://a.example/{n}?{'x' * 60_000}" for n in range(sources)]
    requests = pa.table({
        "day": pa.array([DAY] * clients * sources, pa.date32()),
        "url": pa.array(["https://a.example/"] * clients * sources),
        "referrer": pa.DictionaryArray.from_arrays(np.arange(clients * sources) % sources, long),
        "client": np.arange(clients * sources) // sources,
    })  # fmt: skip
    pq.write_table(requests, tmp_path / "requests.parquet")
    made = tmp_path / "made"
    made.mkdir()
    found = make_transits(no_query(engine), [str(tmp_path / "requests.parquet")], DAY, made)
    (file,) = found.rows
    assert pq.read_metadata(file).num_rows == clients * sources
    places = pq.read_table(found.beside[0])
    assert sorted(set(places["referrer"].to_pylist())) == list(range(1, sources + 1))
