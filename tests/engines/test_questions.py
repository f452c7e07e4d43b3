"""Whatever is asked through `rows` or `query` has the same answer from Spark as from DuckDB.

A small corpus goes through all assets on DuckDB. Then checks, metadata, samples, window assets and
commands ask both engines about it (`both.py`), about sound tables and about spoilt ones. Minutes:
`pytest -m spark -n 0 tests/engines/test_questions.py`.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from temporal_assets import contracts
from temporal_assets.cli.app import app
from temporal_assets.contracts import Rule, Table
from temporal_assets.crawl.mirror.link_tables import mirror_of_tables
from temporal_assets.crawl.mirror.traffic import rare_sites, sites_opened
from temporal_assets.days import asset_names
from temporal_assets.days.transits import transit_inputs
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata import metadata, window_metadata
from temporal_assets.defs.metadata.samples import sample
from temporal_assets.engines import engine_choice
from temporal_assets.engines.base import Engine
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.logs.urls.url_rules import DEFAULT
from temporal_assets.ops import what_if
from temporal_assets.quality.inspect import Inspector
from temporal_assets.quality.measure import measure, offenders, parameters
from temporal_assets.settings import load_settings
from temporal_assets.windows.evaluation.seed_evaluation import SEED_EVALUATION, judge
from temporal_assets.windows.evaluation.trials import sample_of
from temporal_assets.windows.frame.asset import job_of
from temporal_assets.windows.registry import WINDOW_ASSETS
from tests.corruption import Bench, Corpus
from tests.engines.both import BothEngines

pytestmark = pytest.mark.spark

TABLES = pytest.mark.parametrize("table", contracts.TABLES, ids=lambda table: str(table.name))

_DAYS = 2
"""The last days of daily tables that are inspected; of window tables it is every day."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def both(corpus: Corpus, spark_engine: Engine) -> Any:
    return BothEngines(corpus.engine, spark_engine)


@pytest.fixture(scope="module")
def installation(corpus: Corpus, both: Any) -> Installation:
    return Installation(corpus.settings, corpus.store, both)


VALUES = {
    "k": pa.array([1, 2, 3, 4, None], pa.int64()),
    "i": pa.array([3, -3, 0, 7, None], pa.int32()),
    "x": pa.array([2.5, -3.5, float("nan"), float("inf"), None]),
    "z": pa.array([0.0, 1.0, 0.0, 0.5, None]),
    "s": pa.array(["a'b", "c{d}", "e\\f", None, "é?:x"]),
    "b": pa.array([True, False, None, True, False]),
    "d": pa.array([*(dt.date(2026, 1, n) for n in range(1, 5)), None]),
    "ts": pa.array([*(dt.datetime(2026, 1, n, 3, 4, 5, 6) for n in range(1, 5)), None]),
    "l": pa.array([[1, 2], [], None, [5], [7]], pa.list_(pa.int32())),
    "st": pa.array(
        [[{"page": 1, "transits": 2}], [], None, [], []],
        pa.list_(pa.struct([("page", pa.int32()), ("transits", pa.int64())])),
    ),
}


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    path = tmp_path_factory.mktemp("values") / "t.parquet"
    pq.write_table(pa.table(VALUES), path)
    return {"t": [str(path)]}


@pytest.fixture(scope="module")
def two_engines(tmp_path_factory: pytest.TempPathFactory, spark_engine: Engine) -> Any:
    """Without a corpus."""
    settings = load_settings(tmp_path_factory.mktemp("engine"))
    return BothEngines(DuckDBEngine(settings), spark_engine)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM t ORDER BY k",
        "SELECT k FROM t ORDER BY x",
        "SELECT k FROM t ORDER BY x DESC LIMIT 3",
        "SELECT k FROM t WHERE k > 100",
        "SELECT i / z AS q, z / i AS r, i / 0 AS p, k / 4 AS h FROM t WHERE k <> 3 ORDER BY k",
        "SELECT isnan(x) AS n, NOT isnan(x) AS m, x > 1e300 AS g, x = x AS e FROM t ORDER BY k",
        "SELECT CAST(z * 3 AS BIGINT) AS a, CAST(b AS BIGINT) AS c, CAST(i AS BIGINT) AS e,"
        " floor(z * 3) AS f, ceil(i) AS g, i // 2 AS h, i % 2 AS r, round(z * 5) AS o"
        " FROM t ORDER BY k",
        "SELECT CAST(x AS BIGINT) AS a FROM t WHERE k < 3 ORDER BY k",
        "SELECT avg(CASE WHEN b THEN 1.0 ELSE 0.0 END) / 3 AS a, sum(k) AS s, sum(i) AS t,"
        " avg(k) AS v, count(*) FILTER (WHERE b) AS n, bool_or(b) AS o, median(z) AS m FROM t",
        "SELECT sum(x) AS s, max(ts) AS t, count(*) AS n FROM t WHERE k > 100",
        "SELECT s FROM t WHERE s IN ('c{d}', 'e\\f', 'a''b', 'é?:x') ORDER BY s",
        "SELECT k FROM t WHERE s LIKE 'e\\f'",
        "SELECT concat(s, '!') AS c, split_part(s, 'b', 2) AS p, starts_with(s, NULL) AS q,"
        " ends_with(s, 'x') AS r, contains(s, '{') AS h, length(s) AS n FROM t ORDER BY k",
        "SELECT k, s AS \"left\" FROM t ORDER BY levenshtein(s, 'a'), k",
        "SELECT b, count(*) AS n FROM t GROUP BY ALL ORDER BY ALL",
        "SELECT k FROM t QUALIFY 1 = row_number() OVER (PARTITION BY b ORDER BY k DESC)"
        " ORDER BY x LIMIT 2",
        "SELECT array_length(l) AS n, list_max(l) AS m, list_sum(l) AS s, array_length(st) AS o"
        " FROM t ORDER BY k",
        "SELECT k FROM t WHERE l IS DISTINCT FROM l OR x > 1 ORDER BY k",
        "SELECT date_diff('day', DATE '2025-12-30', d) AS n FROM t"
        " WHERE ts >= TIMESTAMP '2026-01-02 00:00:00' ORDER BY n",
        "SELECT date_trunc('day', ts) AS c, CAST(extract(hour FROM ts) AS BIGINT) AS h"
        " FROM t ORDER BY k",
        "SELECT CAST(floor(log2(k)) AS BIGINT) AS m, floor(log2((1 << k) - 1)) AS n"
        " FROM t WHERE k IS NOT NULL ORDER BY k",
        "SELECT * EXCLUDE (x) FROM t INNER JOIN (SELECT k, 1 AS one FROM t) AS o USING (k)"
        " ORDER BY k",
        "SELECT greatest(k, i) AS g, least(z, 1) AS l FROM t ORDER BY k",
        "SELECT lag(k) OVER (ORDER BY k) AS a, cume_dist() OVER (ORDER BY k) AS c FROM t"
        " ORDER BY k",
        "SELECT k, count(*) OVER own AS n FROM t WINDOW own AS (PARTITION BY b) ORDER BY k",
    ],
)
def test_traps(two_engines: Any, values: dict[str, list[str]], query: str) -> None:
    two_engines.rows(query, values)
    assert two_engines.asked[-1] == query


def test_the_first_rows(two_engines: Any, values: dict[str, list[str]]) -> None:
    assert len(two_engines.spark.rows("SELECT k FROM t", values, 2)) == 2
    ordered = two_engines.rows("SELECT k FROM t ORDER BY k DESC", values, 2)
    assert ordered == [{"k": 4}, {"k": 3}]


def test_all_rows_in_an_order(two_engines: Any, values: dict[str, list[str]]) -> None:
    """Spark would make room for as many as may be asked for, which no machine has."""
    rows = two_engines.rows("SELECT k, s FROM t ORDER BY k", values, limit=500_000_000)
    assert [row["k"] for row in rows] == [1, 2, 3, 4, None]


@TABLES
def test_findings_are_the_same(corpus: Corpus, both: Any, table: Table) -> None:
    days = corpus.store.days(table.name)
    if len(days) > 3:
        days = days[-_DAYS:]
    by_both = Inspector(corpus.store, both, corpus.settings).inspect(table, days)
    by_duckdb = Inspector(corpus.store, corpus.engine, corpus.settings).inspect(table, days)
    # What cannot be asked is a finding that says so.
    assert by_both == by_duckdb


@TABLES
def test_spoilt_rows_are_found_by_both(
    corpus: Corpus, both: Any, table: Table, tmp_path: Path
) -> None:
    values = parameters(corpus.day, corpus.settings)
    bitten = corpus.bitten(table)
    for place, corruption in enumerate(
        dict.fromkeys(caught_row.corruption for caught_row in bitten.values())
    ):
        inputs = {**inputs_of(corpus, table), table.name: [str(tmp_path / f"{place}.parquet")]}
        spoil(corpus, table, corruption, inputs[table.name][0])
        broken = [check for check in table.checks if bitten[check.name].corruption == corruption]
        measure(both, table, broken, inputs, values)
        for check in broken:
            if isinstance(check, Rule) and check.offenders is not None:
                assert offenders(both, check, inputs, values, 20), check.name


def inputs_of(corpus: Corpus, table: Table) -> dict[str, list[str]]:
    """Return files of the tables that a table's checks read besides it."""
    store, day = corpus.store, corpus.day
    names = {name for check in table.checks for name in check.reads} - {table.name}
    inputs = {name: store.files(name, day) for name in sorted(names)}
    for name in sorted({name for rule in table.rules for name in rule.reads_window}):
        window = store.window(name, day, corpus.settings.window.days, 1)
        inputs[f"{name}_window"] = list(window.files)
    return inputs


def spoil(corpus: Corpus, table: Table, corruption: str, path: str) -> None:
    """Write the spoilt table, with the types of its contract."""
    columns = ", ".join(
        f"CAST({column.name} AS {column.sql_type}) AS {column.name}" for column in table.columns
    )
    with Bench(corpus, table) as bench:
        spoilt = f"SELECT {columns} FROM ({corruption})"  # noqa: S608 - ours
        bench.connection.cursor().sql(spoilt).write_parquet(path)


@pytest.mark.parametrize("asset", WINDOW_ASSETS, ids=lambda asset: str(asset.name))
def test_windows_and_their_metadata(
    corpus: Corpus, both: Any, installation: Installation, asset: Any
) -> None:
    """Every table on the way, what is made with answers, and what is said of it."""
    with corpus.store.scratch() as scratch:
        job = job_of(corpus.store, both, corpus.settings, asset, corpus.day, scratch)
        assert asset.make(job)
    window_metadata.details(installation, asset.name, corpus.day, plots=True)


def test_a_sample_of_sites(corpus: Corpus, both: Any) -> None:
    few = corpus.settings.evaluation.model_copy(update={"most_pages": 200})
    settings = corpus.settings.model_copy(update={"evaluation": few})
    with corpus.store.scratch() as scratch:
        job = job_of(corpus.store, both, settings, SEED_EVALUATION, corpus.day, scratch)
        assert 0 < sample_of(job).share < 1
        assert judge(job, None)


def test_metadata_and_samples_of_days(
    corpus: Corpus, installation: Installation, both: Any, tmp_path: Path
) -> None:
    assert metadata.hours_plot(installation, corpus.day)
    assert metadata.views_plot(installation, corpus.day)
    for asset in asset_names.DERIVED:
        assert sample(installation, asset, corpus.day)
    transits = transit_inputs(corpus.store, [corpus.store.require("transits", corpus.day)])
    assert sites_opened(both, transits)
    assert rare_sites(both, transits, 3)
    edges = tmp_path / "edges.parquet"
    urls = ["https://a.example/", "https://a.example/b", ""]
    pq.write_table(pa.table({"source": urls, "target": urls[::-1]}), edges)
    (tmp_path / "mirror").mkdir()
    assert len(mirror_of_tables(both, [edges], DEFAULT, tmp_path / "mirror"))


class _Earlier:
    """A store whose every day is an earlier one."""

    def __init__(self, corpus: Corpus) -> None:
        self._store = corpus.store

    def files(self, asset: str, day: dt.date) -> list[str]:
        return self._store.files(asset, self._store.days(asset)[0])


def test_differences_of_trials(corpus: Corpus, both: Any) -> None:
    earlier: Any = _Earlier(corpus)
    for name in (asset.name for asset in WINDOW_ASSETS):
        difference = what_if._difference(both, corpus.store, earlier, name, corpus.day)
        assert (
            difference is None or difference.before == corpus.store.require(name, corpus.day).rows
        )
    assert what_if._policy(both, corpus.store, earlier, corpus.day)


def test_commands(corpus: Corpus, both: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_choice, "engine_of", lambda _settings: both)
    day = corpus.day
    (page,) = corpus.engine.rows(
        "SELECT url, site FROM page_histories ORDER BY total DESC, url LIMIT 1",
        {"page_histories": corpus.store.files("page_histories", day)},
    )
    state = ["--state", str(corpus.settings.state)]
    for arguments in (
        ["show", "page", page["url"]],
        ["show", "labels"],
        ["show", "labels", page["site"]],
        ["show", "tree", page["site"]],
        ["show", "patterns"],
        ["show", "patterns", page["site"]],
        ["show", "patterns", page["site"], "--node", "0"],
    ):
        before = len(both.asked)
        result = CliRunner().invoke(app, [*arguments, *state])
        assert result.exit_code == 0, (arguments, result.output)
        assert len(both.asked) > before, arguments
    # A site nobody knows is told of those with a name like it.
    assert CliRunner().invoke(app, ["show", "tree", "nowhere.example", *state]).exit_code != 0
