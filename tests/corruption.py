"""A small demo corpus through all assets, and what spoils its tables.

Table by table, one column after the other is spoilt in one row and in all rows, rows are lost and
doubled, until each check has been broken by something. Not here: what has to follow from it
(`tests/integration/test_checks_bite.py`, `tests/engines/test_questions.py`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import duckdb

from temporal_assets.contracts import Drift, Rule, Table
from temporal_assets.contracts.table import Type
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.demo import DemoOptions, generate
from temporal_assets.engines.base import Engine
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.quality.evaluate import (
    HISTORY_WEEKS,
    MOST_WEEKS,
    Expected,
    Past,
    evaluate_drifts,
    evaluate_rules,
)
from temporal_assets.quality.measure import measure, parameters
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import build, learned_days
from temporal_assets.windows.registry import WINDOW_ASSETS

OPTIONS = DemoOptions(days=45, sites=8, pages=1500, requests=90_000, clients=8_000, mirror=False)
SETTINGS: dict[str, dict[str, Any]] = {
    "window": {"days": 30, "min_views_per_day": 0.5},
    "evaluation": {"horizons": (7,)},
}

_WRONG_NUMBERS = (
    "-1",
    "0",
    "{c} + 1",
    "row_number() OVER () * 7919",
    "CASE WHEN abs({c}) < 1e9 THEN {c} * 1000 ELSE 0 END",
    "NULL",
)

WRONG: Mapping[Type, tuple[str, ...]] = {
    Type.DATE: ("{c} + INTERVAL 400 DAY", "{c} - INTERVAL 400 DAY"),
    Type.TIMESTAMP: ("{c} + INTERVAL 400 DAY",),
    Type.INTEGER: _WRONG_NUMBERS,
    Type.BIGINT: _WRONG_NUMBERS,
    Type.DOUBLE: ("-1", "'nan'::DOUBLE", "coalesce({c}, 0) + 1.7", "{c} / 2", "NULL"),
    Type.BOOLEAN: ("NOT {c}", "TRUE", "FALSE"),
    Type.VARCHAR: (
        "'x'",
        "''",
        "repeat({c}, 50)",
        "concat({c}, '/#x')",
        "max({c}) OVER ()",
        "min({c}) OVER ()",
        "NULL",
    ),
    Type.INTEGERS: ("list_append({c}, 1)", "list_reverse({c})", "[]"),
    Type.BIGINTS: ("list_concat({c}, range(1000000, 1001000))", "[]"),
    Type.LINKS: ("[{{'page': 0, 'transits': 1000000}}]", "[]"),
}
"""Wrong values by type of a column, as SQL expressions."""

WRONG_OF: Mapping[str, tuple[str, ...]] = {
    "hub_seeds": ("SELECT * REPLACE (coverage / 1000 AS coverage) FROM sound",),
    "site_changes": (
        "SELECT * REPLACE ('entered' AS change) FROM sound",
        "SELECT * REPLACE ('entered' AS change) FROM sound, range(100)",
    ),
    "site_scores": ("SELECT sound.* FROM sound, range(100)",),
}
"""Corruptions of single tables: spoilt words, or more rows than chance would explain."""

ROWS_OF: Mapping[str, str] = {
    "fetches": """
        SELECT day, CAST(day AS TIMESTAMP) + INTERVAL (k) MINUTE AS "time",
            concat('https://example.com/', k) AS url, url AS page, 'example.com' AS site,
            200 AS status, CASE WHEN k % 5 = 0 THEN 'hub' ELSE 'page' END AS kind,
            k % 2 = 0 AS is_changed, 'https://example.com/' AS source, k % 3 AS new_links,
            0.25 AS seconds, NULL AS error
        FROM (SELECT $day AS day, unnest(range(40)) AS k)
    """,
    "sources": """
        SELECT day, concat('https://example.com/', k) AS url, 'example.com' AS site,
            CASE WHEN k % 2 = 0 THEN 'hub' ELSE 'feed' END AS kind, FALSE AS is_news,
            TRUE AS is_listed, 20 AS visits, 10 AS unchanged, 1 AS failures, 200 AS last_status,
            FALSE AS is_gone, 8 AS pages, 4 AS temporal_pages, 0.5 AS delay_hours,
            2.0 AS new_per_day, 1.0 AS new_per_day_low, 4.0 AS new_per_day_high,
            60 AS revisit_minutes
        FROM (SELECT $day AS day, unnest(range(8)) AS k)
    """,
    "provisional_lists": """
        SELECT day, 'example.com' AS site, kind, concat('https://example.com/', k) AS name,
            CASE WHEN kind = 'pattern' THEN k ELSE -1 END AS pattern, 3 AS days, 20 AS pages,
            0.75 AS share, 4.0 AS new_per_day, 200 AS views, 12 AS clients, TRUE AS is_listed
        FROM (
            SELECT $day AS day, unnest(['site', 'section', 'pattern']) AS kind, range AS k
            FROM range(4)
        )
    """,
}
"""Rows of tables that are empty in the corpus: nothing was crawled, and all pages have labels."""

ROWS = "SELECT * EXCLUDE (row) FROM (SELECT *, row_number() OVER () AS row FROM sound)"


@dataclass(frozen=True)
class Bitten:
    """The first corruption that a check noticed, and what it measured then."""

    corruption: str
    expected: Expected


class Corpus:
    """All assets of a small corpus, on its last day."""

    def __init__(self, root: Path) -> None:
        demo = generate(OPTIONS, root / "demo")
        settings = load_settings(
            root / "state",
            sources=[source.model_dump() for source in demo.sources],
            baseline={"path": str(demo.truth["baseline"])},
            calibration={"annotated": str(demo.truth["annotated"])},
            **SETTINGS,
        )
        few = settings.calibration.model_copy(update={"min_pages": 10})
        self.settings = settings.model_copy(update={"calibration": few})
        self.store, self.engine = Store.open(self.settings), DuckDBEngine(self.settings)
        refresh(self.settings)
        inventory = Inventory.load(self.settings)
        for day in inventory.days():
            build_requests(self.store, self.engine, self.settings, day, inventory)
            for asset in DERIVED:
                build_derived(self.store, self.engine, asset, day)
        self.day = inventory.days()[-1]
        for day in (*learned_days(self.settings, self.day).values(), self.day):
            for window in WINDOW_ASSETS:
                build(self.store, self.engine, self.settings, window, day)
        self.root = root
        self._bitten: dict[str, dict[str, Bitten]] = {}

    def bitten(self, table: Table) -> dict[str, Bitten]:
        """Return the first corruption that each check notices, if there is one."""
        if table.name not in self._bitten:
            self._bitten[table.name] = self._bite(table)
        return self._bitten[table.name]

    def _bite(self, table: Table) -> dict[str, Bitten]:
        actual: dict[str, Bitten] = {}
        with Bench(self, table) as bench:
            for corruption in corruptions(table):
                for one in filter(is_outside, bench.expected(corruption)):
                    actual.setdefault(one.name, Bitten(corruption, one))
                bench.forget(actual)
                if not bench.checks:
                    break
        return actual


class Bench:
    """A table in a database of its own, with those its checks read, where it can be spoilt."""

    def __init__(self, corpus: Corpus, table: Table) -> None:
        self.table, self.day = table, corpus.day
        self.checks = list(table.checks)
        self.values = parameters(corpus.day, corpus.settings)
        self.connection = duckdb.connect()
        for name in sorted({name for check in table.checks for name in check.reads}):
            self.connection.from_parquet(corpus.store.files(name, corpus.day)).create(name)
        days = corpus.settings.window.days
        for name in sorted({name for rule in table.rules for name in rule.reads_window}):
            window = corpus.store.window(name, corpus.day, days, 1)
            self.connection.from_parquet(list(window.files)).create(f"{name}_window")
        self.connection.from_parquet(corpus.store.files(table.name, corpus.day)).create("sound")
        if table.name in ROWS_OF:
            rows = f"INSERT INTO sound BY NAME {ROWS_OF[table.name]}"
            self.connection.execute(rows, {"day": corpus.day})
        usual = self._measure("FROM sound", table.drifts)
        self.before = Past(dict.fromkeys(range(1, 7 * (HISTORY_WEEKS + MOST_WEEKS)), usual))

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def rows(self, query: str, inputs: object, limit: int) -> list[dict[str, Any]]:
        """Answer a query as an engine does for checks."""
        result = self.connection.execute(query)
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchmany(limit)]

    def expected(self, given: str) -> tuple[Expected, ...]:
        """Measure the rows of a query, and return the results with their ranges.

        The days before are like the sound day, so that drifts have something to compare with. For
        drifts of weeks the days of these weeks are as spoilt as the last.
        """
        rules = [check for check in self.checks if isinstance(check, Rule)]
        drifts = [check for check in self.checks if isinstance(check, Drift)]
        measured = self._measure(given, self.checks)
        return (
            *evaluate_rules(rules, measured, self.values),
            *evaluate_drifts([drift for drift in drifts if not drift.weeks], measured, self.before),
            *(
                result
                for drift in drifts
                if drift.weeks
                for result in evaluate_drifts(
                    [drift], measured, self._spoilt(measured, drift.weeks)
                )
            ),
        )

    def _spoilt(self, measured: dict[str, float | None], weeks: int) -> Past:
        """The days before, of which those of the last weeks are as spoilt as the day itself."""
        return Past({**self.before.measured, **dict.fromkeys(range(1, 7 * weeks), measured)})

    def forget(self, names: Container[str]) -> None:
        """Leave checks out from now on."""
        self.checks = [check for check in self.checks if check.name not in names]

    def _measure(self, given: str, checks: Sequence[Rule | Drift]) -> dict[str, float | None]:
        self.connection.execute(f"CREATE OR REPLACE TABLE {self.table.name} AS {given}")
        return measure(cast("Engine", self), self.table, checks, {}, self.values)


def corruptions(table: Table) -> Iterator[str]:
    """Statements that spoil the table `sound`."""
    yield "SELECT * FROM sound LIMIT 0"
    yield "SELECT * FROM sound UNION ALL SELECT * FROM sound"
    yield "SELECT sound.* FROM sound, range(5)"
    yield f"{ROWS} WHERE row > 1"
    yield f"{ROWS} WHERE row % 10 = 0"
    yield from WRONG_OF.get(table.name, ())
    for rows in ("TRUE", "row = 1", "row % 2 = 0"):
        for column in table.stored.columns:
            for wrong in WRONG[column.type]:
                spoilt = (
                    f"CASE WHEN {rows} THEN {wrong.format(c=column.name)} ELSE {column.name} END"
                )
                yield ROWS.replace("(row)", f"(row) REPLACE ({spoilt} AS {column.name})")


def is_outside(one: Expected) -> bool:
    if one.value is None or not one.can_be_judged:
        return False
    low = one.minimum is not None and not one.value >= one.minimum
    return low or (one.maximum is not None and not one.value <= one.maximum)
