"""Every transformation against an independent slow one, on fixtures made to hurt.

NULLs, empty tables, ties, Unicode, quotes, negative clients, the minute's edge. Results are
compared exactly, order included.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.contracts import Table
from temporal_assets.days.requests import BEHAVIOURAL_BOTS, REPEATED_SEGMENTS
from temporal_assets.days.transits import make_transits
from temporal_assets.engines.base import Engine
from temporal_assets.engines.batches import handed_on
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.engines.statements import run
from temporal_assets.logs.urls.canonical import SITE, site_of
from temporal_assets.settings import load_settings
from tests.tables import write_table

Row = dict[str, Any]
DAY = dt.date(2026, 3, 29)  # clocks go forward in Europe
MINUTE = dt.datetime(2026, 3, 29, 1, 59)

_SEGMENT_SCHEMA = pa.schema(
    [
        ("day", pa.date32()),
        ("ts", pa.timestamp("us")),
        ("client", pa.int64()),
        ("url", pa.string()),
        ("referrer", pa.string()),
        ("site", pa.string()),
        ("source", pa.string()),
    ]
)

urls = st.sampled_from(
    [
        "https://a.example/",
        "https://a.example/ü?q='%22",
        "https://b.example/Z",
        "https://b.example/z",
    ]
)
segments = st.lists(
    st.fixed_dictionaries(
        {
            "day": st.just(DAY),
            "ts": st.integers(0, 125).map(lambda s: MINUTE + dt.timedelta(seconds=s)),
            "client": st.sampled_from([-(2**63), -1, 0, 2**63 - 1]),
            "url": urls,
            "referrer": st.none() | urls,
            "site": st.just("a.example"),
            "source": st.sampled_from(["f", "g"]),
        }
    ),
    max_size=40,
)


def _run(
    engine: Engine,
    sql: str,
    tables: Mapping[str, tuple[pa.Schema, Sequence[Row]]],
    parameters: Mapping[str, Any],
    table: Table,
) -> list[Row]:
    with TemporaryDirectory() as folder:
        inputs = {}
        for name, (schema, rows) in tables.items():
            # Two files: an input is a list of them.
            paths = []
            for part, chosen in enumerate((rows[::2], rows[1::2])):
                paths.append(str(Path(folder) / f"in-{name}-{part}.parquet"))
                write_table(pa.Table.from_pylist(list(chosen), schema), paths[-1])
            inputs[name] = paths
        files = engine.query(sql, inputs, parameters, table, Path(folder))
        result = pa.concat_tables(pq.read_table(path) for path in files)
        assert result.schema.names == table.arrow_schema.names
        assert result.schema.types == table.arrow_schema.types
        rows_made: list[Row] = result.to_pylist()
        return rows_made


def _nulls_first(value: str | None) -> tuple[bool, bytes]:
    return (value is not None, (value or "").encode())


def _requests(rows: Iterable[Row]) -> list[Row]:
    wanted = ("day", "ts", "client", "url", "referrer", "site")
    return sorted(
        ({name: row[name] for name in wanted} for row in rows),
        key=lambda r: (r["ts"], r["client"], r["url"].encode(), _nulls_first(r["referrer"])),
    )


def _bots(rows: Sequence[Row], per_minute: int, without_referrer: int) -> list[Row]:
    by_client: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_client[row["client"]].append(row)
    actual = []
    for client, own in sorted(by_client.items()):
        fastest = max(Counter(row["ts"].replace(second=0) for row in own).values())
        silent = all(row["referrer"] is None for row in own)
        if fastest > per_minute:
            actual.append({"client": client, "reason": "bot_rate", "pages": len(own)})
        elif silent and len(own) >= without_referrer:
            actual.append({"client": client, "reason": "bot_no_referrer", "pages": len(own)})
    return actual


@given(segments, st.integers(1, 4), st.integers(1, 6))
def test_behavioural_bots(
    engine: Engine, rows: list[Row], per_minute: int, without_referrer: int
) -> None:
    parameters = {"pages_per_minute": per_minute, "pages_without_referrer": without_referrer}
    actual = _run(
        engine,
        "behavioural_bots",
        {"segments": (_SEGMENT_SCHEMA, rows)},
        parameters,
        BEHAVIOURAL_BOTS,
    )
    assert actual == _bots(rows, per_minute, without_referrer)


@given(segments, st.sets(st.sampled_from([-1, 0])))
def test_requests(engine: Engine, rows: list[Row], bots: set[int]) -> None:
    listed = [{"client": bot, "reason": "bot_rate", "pages": 1} for bot in sorted(bots)]
    actual = _run(
        engine,
        "requests",
        {
            "segments": (_SEGMENT_SCHEMA, rows),
            "behavioural_bots": (BEHAVIOURAL_BOTS.arrow_schema, listed),
        },
        {},
        contracts.table("requests"),
    )
    assert actual == _requests(row for row in rows if row["client"] not in bots)


@given(segments)
def test_distinct_segments(engine: Engine, rows: list[Row]) -> None:
    content = ("day", "ts", "client", "url", "referrer", "site")
    own = {
        source: Counter(tuple(r[c] for c in content) for r in rows if r["source"] == source)
        for source in ("f", "g")
    }
    inputs = {"segments": (_SEGMENT_SCHEMA, rows)}
    repeated = _run(engine, "repeated_segments", inputs, {}, REPEATED_SEGMENTS)
    in_both = {(key[1], key[2]) for key in own["f"].keys() & own["g"].keys()}
    assert [(row["ts"], row["client"]) for row in repeated] == sorted(in_both)

    both = {**inputs, "repeated_segments": (REPEATED_SEGMENTS.arrow_schema, repeated)}
    actual = _run(engine, "distinct_segments", both, {}, contracts.table("requests"))
    times = own["f"] | own["g"]  # as often as in the file that has it most often
    expected = [dict(zip(content, key, strict=True)) for key in times.elements()]
    assert _requests(actual) == _requests(expected), "sql/days/requests.sql puts them in order"


@given(segments)
def test_page_views(engine: Engine, rows: list[Row]) -> None:
    requests = _requests(rows)
    actual = _run(
        engine,
        "page_views",
        {"requests": (contracts.table("requests").arrow_schema, requests)},
        {},
        contracts.table("page_views"),
    )
    seen: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for row in requests:
        seen[row["site"], row["url"]].add(row["client"])
    assert actual == [
        {"day": DAY, "site": site, "url": url, "views": len(clients)}
        for (site, url), clients in sorted(
            seen.items(), key=lambda item: tuple(part.encode() for part in item[0])
        )
    ]


@given(segments)
def test_transits(engine: Engine, rows: list[Row]) -> None:
    requests = _requests(rows)
    inputs = {"requests": (contracts.REQUESTS.arrow_schema, requests)}
    counts = {"counts": (contracts.COUNTS.arrow_schema, [])}
    urls = _run(engine, "urls", inputs | counts, {"site": SITE}, contracts.URLS)
    opened = {row["url"] for row in requests}
    named = opened | {row["referrer"] for row in requests} - {None}
    site = {url: site_of(url) for url in named} | {row["url"]: row["site"] for row in requests}
    in_order = sorted(named, key=lambda url: (url not in opened, site[url].encode(), url.encode()))
    assert urls == [
        {"day": DAY, "number": n, "site": site[url], "url": url, "is_opened": url in opened}
        for n, url in enumerate(in_order)
    ]
    numbered = inputs | {"urls": (contracts.URLS.arrow_schema, urls)}
    actual = _run(engine, "transits", numbered, {}, contracts.TRANSITS.stored)
    number = {url: n for n, url in enumerate(in_order)}
    triples = {
        (row["referrer"], row["url"], row["client"])
        for row in requests
        if row["referrer"] != row["url"]
    }
    ordered = sorted((number[t[1]], number.get(t[0], -1), t[2]) for t in triples)
    assert actual == [
        {"day": DAY, "referrer": None if came < 0 else came, "target": target, "client": client}
        for target, came, client in ordered
    ]


def test_what_is_read_often_is_packed_for_reading(engine: Engine, out: Path) -> None:
    """Spark, too, must read what DuckDB wrote; URLs come once, so that there is no dictionary."""
    rows = [
        {"day": DAY, "ts": MINUTE, "client": n - 2, "site": "a.example"}
        | {
            "url": f"https://a.example/ü{n}",
            "referrer": f"https://b.example/{n}" if n % 3 else None,
        }
        for n in range(2000)
    ]
    requests = out / "requests.parquet"
    table = contracts.table("requests")
    pq.write_table(pa.Table.from_pylist(rows, table.arrow_schema), requests)
    duckdb = DuckDBEngine(load_settings(out))
    transits = run(duckdb, make_transits([str(requests)], out))
    (path,), (named,) = transits.rows, transits.urls
    target = pq.read_metadata(path).row_group(0).column(2)
    assert (target.path_in_schema, target.compression) == ("target", "SNAPPY")
    assert "DELTA_BINARY_PACKED" in target.encodings
    url = pq.read_metadata(named).row_group(0).column(3)
    assert (url.path_in_schema, url.compression) == ("url", "SNAPPY")
    query = (
        "SELECT t.day, r.url AS referrer, u.url AS target, client FROM t"
        " INNER JOIN u ON u.number = t.target LEFT JOIN u AS r ON r.number = t.referrer"
        " ORDER BY client"
    )
    assert engine.rows(query, {"t": [str(path)], "u": [str(named)]}, limit=2000) == [
        {"day": DAY, "referrer": row["referrer"], "target": row["url"], "client": row["client"]}
        for row in rows
    ]


def test_rows_gives_the_first_rows_of_a_query(engine: Engine, out: Path) -> None:
    path = out / "numbers.parquet"
    pq.write_table(pa.table({"n": [3, 1, 2]}), path)
    rows = engine.rows("SELECT n, n * 2 AS twice FROM t ORDER BY n", {"t": [str(path)]}, limit=2)
    assert rows == [{"n": 1, "twice": 2}, {"n": 2, "twice": 4}]


def test_rows_that_are_handed_on_can_be_looked_for(engine: Engine, out: Path) -> None:
    """Spark looks for a value among those of a dictionary first, which it could not unpack."""
    rows = pa.table({"n": np.arange(9_000) % 3_000})
    handed = {"t": handed_on(rows, out / "handed.parquet")}
    query = "SELECT count(*) AS found FROM t WHERE n >= 2000 AND n < 2010"
    assert engine.rows(query, handed) == [{"found": 30}]


def test_nothing_leaks_from_one_call_to_the_next(engine: Engine, out: Path) -> None:
    path = out / "numbers.parquet"
    pq.write_table(pa.table({"n": [1]}), path)
    assert engine.rows("SELECT n FROM t", {"t": [str(path)]}) == [{"n": 1}]
    with pytest.raises(Exception, match="t does not exist"):
        engine.rows("SELECT n FROM t", {})


def test_an_input_without_files_is_refused(engine: Engine) -> None:
    with pytest.raises(ValueError, match="no files for input t"):
        engine.rows("SELECT 1", {"t": []})
