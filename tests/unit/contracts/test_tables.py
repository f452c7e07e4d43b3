"""Contracts: what is derived from them agrees, and what they claim of SQL is true."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from temporal_assets import contracts
from temporal_assets.contracts import ColumnSpec, Drift, Rule, Table, Type, markdown
from temporal_assets.contracts.rules import has_rows, no_rows, rules_of_shape
from temporal_assets.quality.measure import measure, parameters
from temporal_assets.settings import load_settings

DAY = dt.date(2026, 3, 1)
ROW = {
    "day": "DATE '2026-03-01'",
    "ts": "TIMESTAMP '2026-03-01 12:00:00'",
    "client": "CAST(1 AS BIGINT)",
    "url": "'https://example.com/a'",
    "referrer": "CAST(NULL AS VARCHAR)",
    "site": "'example.com'",
}


def table(**changes: object) -> Table:
    fields: dict[str, object] = {
        "name": "t",
        "version": 1,
        "description": "A table.",
        "grain": "one thing",
        "columns": (ColumnSpec("day", Type.DATE, "Day."), ColumnSpec("n", Type.BIGINT, "Number.")),
    }
    return Table(**(fields | changes))  # type: ignore[arg-type]


class View:
    """An engine with one table, given as a query."""

    name = "duckdb"

    def __init__(self, table: str, query: str) -> None:
        self.view = f"CREATE VIEW {table} AS {query}"

    def rows(self, query: str, inputs: object, limit: int = 1000) -> list[dict[str, object]]:
        with duckdb.connect() as connection:
            connection.execute(self.view)
            relation = connection.sql(query).limit(limit)
            names = relation.columns
            return [dict(zip(names, row, strict=True)) for row in relation.fetchall()]


def measured(checked: Rule, of: str, query: str) -> float | None:
    engine: Any = View(of, query)
    values = parameters(DAY, load_settings("/nowhere"))
    return measure(engine, table(name=of), [checked], {}, values)[checked.name]


def requests_value(rule: Rule, **changes: str) -> float | None:
    """What a rule of `requests` measures in one row."""
    columns = ", ".join(f"{value} AS {name}" for name, value in (ROW | changes).items())
    return measured(rule, "requests", f"SELECT {columns}")


def rule(name: str) -> Rule:
    (actual,) = (table_rule for table_rule in contracts.REQUESTS.rules if table_rule.name == name)
    return actual


def test_the_shape_of_a_table_is_checked_without_a_rule_of_its_own() -> None:
    columns = (
        ColumnSpec("day", Type.DATE, "Day."),
        ColumnSpec("n", Type.BIGINT, "Number."),
        ColumnSpec("note", Type.VARCHAR, "Note.", nullable=True),
    )
    a_table = table(columns=columns, key=("day", "n"))
    assert a_table.check_names == ("no_nulls", "day_is_partition", "key_is_unique")
    rows = "SELECT DATE '2026-03-01' AS day, unnest([1, 1, NULL]) AS n, NULL AS note"
    assert [measured(table_rule, "t", rows) for table_rule in a_table.rules] == [1, 0, 1]
    assert table(columns=columns).check_names == ("no_nulls", "day_is_partition")


def test_every_table_is_found_by_its_name() -> None:
    assert [contract.name for contract in contracts.TABLES] == [
        "requests",
        "rejects",
        "page_views",
        "transits",
        "page_totals",
        "page_histories",
        "interest_curves",
        "calibration",
        "page_labels",
        "early_labels",
        "page_flow",
        "page_traffic",
        "url_patterns",
        "behaviour_graph",
        "pattern_ranks",
        "hub_seeds",
        "prefix_trees",
        "site_scores",
        "section_scores",
        "news_prefixes",
        "site_changes",
        "provisional_lists",
        "fetches",
        "sources",
        "crawl_policy",
        "seed_evaluation",
        "hub_evaluation",
        "crawl_simulation",
        "timely_simulation",
        "evaluation_report",
    ]
    for contract in contracts.TABLES:
        assert contracts.table(contract.name) is contract
    with pytest.raises(KeyError, match="no contract for a table named 'views'"):
        contracts.table("views")


def test_types_of_requests() -> None:
    assert contracts.REQUESTS.arrow_schema == pa.schema(
        {
            "day": pa.date32(),
            "ts": pa.timestamp("us"),
            "client": pa.int64(),
            "url": pa.string(),
            "referrer": pa.string(),
            "site": pa.string(),
        }
    )


def test_every_table_stores_its_day_and_says_what_a_column_is() -> None:
    for contract in contracts.TABLES:
        assert contract.columns[0].name == "day"
        assert "day_is_partition" in contract.check_names
        for column in contract.columns:
            assert column.description.endswith("."), (contract.name, column.name)
        for check in contract.checks:
            assert check.protects, (contract.name, check.name)
            assert check.remedy, (contract.name, check.name)


def test_lineage_names_columns_that_exist() -> None:
    for contract in contracts.TABLES:
        for column in contract.columns:
            for source in column.sources:
                name, origin = source.split(".")
                assert origin in contracts.table(name).column_names


def test_names_may_not_be_used_twice() -> None:
    twice = (ColumnSpec("n", Type.BIGINT, "N."), ColumnSpec("n", Type.DATE, "N."))
    with pytest.raises(ValueError, match="used twice: \\['n'\\]"):
        table(columns=twice)


def test_a_key_is_made_of_columns() -> None:
    with pytest.raises(ValueError, match="the key has no columns \\['m'\\]"):
        table(key=("n", "m"))


def test_a_drift_states_one_limit() -> None:
    with pytest.raises(ValueError, match="state a factor, a difference or the least"):
        Drift("d", "count(*)", "x", "y")
    with pytest.raises(ValueError, match="state a factor, a difference or the least"):
        Drift("d", "count(*)", "x", "y", largest_factor=2, largest_difference=1)
    with pytest.raises(ValueError, match="state their whole"):
        Drift("d", "avg(x)", "x", "y", largest_difference=1)


@pytest.mark.parametrize(
    ("name", "changes", "offenders"),
    [
        ("no_nulls", {}, 0),
        ("no_nulls", {"url": "CAST(NULL AS VARCHAR)"}, 1),
        ("day_is_partition", {}, 0),
        ("day_is_partition", {"day": "DATE '2026-03-02'"}, 1),
        ("day_is_partition", {"day": "CAST(NULL AS DATE)"}, 1),
        ("ts_within_day", {"ts": "TIMESTAMP '2026-03-01 00:00:00'"}, 0),
        ("ts_within_day", {"ts": "TIMESTAMP '2026-03-01 23:59:59.999999'"}, 0),
        ("ts_within_day", {"ts": "TIMESTAMP '2026-03-02 00:00:00'"}, 1),
        ("ts_within_day", {"ts": "TIMESTAMP '2026-02-28 23:59:59'"}, 1),
        ("url_is_canonical", {}, 0),
        ("url_is_canonical", {"url": "'https://example.com/a#b'"}, 1),
        ("url_is_canonical", {"url": "'ftp://example.com/a'"}, 1),
        ("site_is_host", {}, 0),
        ("site_is_host", {"url": "'https://example.com:8080/a'"}, 0),
        ("site_is_host", {"url": "'https://[2001:db8::1]/'", "site": "'[2001:db8::1]'"}, 0),
        ("site_is_host", {"url": "'https://example.community/'"}, 1),
        ("site_is_host", {"site": "'www.example.com'"}, 1),
    ],
)
def test_rules_of_requests(name: str, changes: dict[str, str], offenders: int) -> None:
    assert requests_value(rule(name), **changes) == offenders


HISTORY = {
    "day": "DATE '2026-03-01'",
    "site": "'example.com'",
    "url": "'https://example.com/a'",
    "birth": "DATE '2026-01-03'",  # the third of sixty days
    "total": "CAST(9 AS BIGINT)",
    "views": "CAST(list_concat([0, 0, 4, 0, 5], list_resize([0], 55, 0)) AS INTEGER[])",
    "is_born_before": "false",
}


@pytest.mark.parametrize(
    ("name", "changes", "offenders"),
    [
        ("window_is_whole", {}, 0),
        ("window_is_whole", {"views": "[9]"}, 1),
        ("window_is_whole", {"views": "CAST([] AS INTEGER[])"}, 1),
        ("views_sum_to_total", {}, 0),
        ("views_sum_to_total", {"total": "8"}, 1),
        ("birth_is_first_view", {}, 0),
        ("birth_is_first_view", {"birth": "DATE '2026-01-02'"}, 1),
        ("birth_is_first_view", {"birth": "DATE '2026-01-05'"}, 1),
        ("no_nulls", {"views": "CAST(NULL AS INTEGER[])"}, 1),
    ],
)
def test_rules_of_page_histories(name: str, changes: dict[str, str], offenders: int) -> None:
    (one,) = (
        table_rule for table_rule in contracts.PAGE_HISTORIES.rules if table_rule.name == name
    )
    columns = ", ".join(f"{value} AS {column}" for column, value in (HISTORY | changes).items())
    assert measured(one, "page_histories", f"SELECT {columns}") == offenders


CURVE = {
    "day": "DATE '2026-03-01'",
    "site": "'example.com'",
    "url": "'https://example.com/a'",
    "amplitude": "100.0",
    "b": "2.5",
    "mu": "0.7",
    "sigma": "0.9",
    "objective": "30.0",
    "goodness": "0.9",
    "is_converged": "true",
    "reason": "'converged'",
    "phi_1": "0.22",
    "phi_n": "0.67",
    "phi_n_low": "0.6",
    "phi_n_high": "0.75",
    "method": "'likelihood'",
}


@pytest.mark.parametrize(
    ("name", "changes", "offenders"),
    [
        ("numbers_are_finite", {}, 0),
        ("numbers_are_finite", {"sigma": "CAST('nan' AS DOUBLE)"}, 1),
        ("numbers_are_finite", {"objective": "CAST('inf' AS DOUBLE)"}, 1),
        ("reason_is_known", {}, 0),
        ("reason_is_known", {"reason": "'tired'"}, 1),
        ("reason_is_known", {"reason": "'too_young'"}, 1),
        ("curve_where_converged", {}, 0),
        ("curve_where_converged", {"mu": "CAST(NULL AS DOUBLE)"}, 1),
        ("curve_where_converged", {"is_converged": "false"}, 1),
        ("interest_where_known", {}, 0),
        ("interest_where_known", {"phi_n": "CAST(NULL AS DOUBLE)"}, 1),
        ("interest_where_known", {"is_converged": "false", "reason": "'too_young'"}, 1),
        ("parameters_in_bounds", {}, 0),
        ("parameters_in_bounds", {"b": "-7.1"}, 1),
        ("parameters_in_bounds", {"b": "60.1"}, 1),
        ("parameters_in_bounds", {"mu": "-3.2"}, 1),
        ("parameters_in_bounds", {"mu": "6.4"}, 1),  # ln 600 = 6.397
        ("parameters_in_bounds", {"sigma": "0.09"}, 1),
        ("parameters_in_bounds", {"sigma": "3.1"}, 1),
        ("parameters_in_bounds", {"goodness": "1.1"}, 1),
        ("parameters_in_bounds", {"amplitude": "-1.0"}, 1),
        ("interest_grows", {}, 0),
        ("interest_grows", {"phi_1": "0.68"}, 1),
        ("interest_grows", {"phi_n_low": "0.68"}, 1),
        ("interest_grows", {"phi_n_high": "0.66"}, 1),
        ("interest_grows", {"phi_n_high": "1.1"}, 1),
    ],
)
def test_rules_of_interest_curves(name: str, changes: dict[str, str], offenders: int) -> None:
    (one,) = (
        table_rule for table_rule in contracts.INTEREST_CURVES.rules if table_rule.name == name
    )
    columns = ", ".join(f"{value} AS {column}" for column, value in (CURVE | changes).items())
    assert measured(one, "interest_curves", f"SELECT {columns}") == offenders


@pytest.mark.parametrize(
    ("birth", "offenders"),
    [("2026-01-01", 0), ("2025-12-31", 1), ("2026-03-01", 0), ("2026-03-02", 1)],
)
def test_births_lie_in_the_window(birth: str, offenders: int) -> None:
    (one,) = (
        table_rule
        for table_rule in contracts.PAGE_TOTALS.rules
        if table_rule.name == "birth_in_window"
    )
    row = f"SELECT DATE '2026-03-01' AS day, DATE '{birth}' AS birth"
    assert measured(one, "page_totals", row) == offenders


@pytest.mark.parametrize(
    ("birth", "seen", "offenders"),
    [
        ("2026-01-01", 0b1, 0),
        ("2026-01-03", 0b1100, 0),
        ("2026-01-03", 0b1101, 1),
        ("2026-01-03", 0b1000, 1),
        ("2026-03-01", 1 << 59, 0),
        ("2026-03-01", 0, 1),
    ],
)
def test_pages_are_seen_from_their_birth_on(birth: str, seen: int, offenders: int) -> None:
    (one,) = (
        table_rule
        for table_rule in contracts.PAGE_TOTALS.rules
        if table_rule.name == "seen_from_birth"
    )
    row = f"SELECT DATE '2026-03-01' AS day, DATE '{birth}' AS birth, {seen} AS seen"
    assert measured(one, "page_totals", row) == offenders


def test_a_key_with_nulls_is_repeated_all_the_same() -> None:
    rows = "SELECT * FROM (VALUES (1, NULL), (1, NULL), (1, 'a'), (2, 'a')) v(a, b)"
    *_, one = rules_of_shape("t", (), ("a", "b"))
    assert measured(one, "t", rows) == 1
    (offender,) = View("t", rows).rows(one.offenders or "", {})
    assert offender == {"a": 1, "b": None, "times": 2}


def test_nothing_offends_in_an_empty_table() -> None:
    rows = "SELECT 1 AS a WHERE false"
    assert measured(rules_of_shape("t", (), ("a",))[-1], "t", rows) == 0
    assert measured(no_rows("r", "t", "a < 0", protects="x", remedy="y"), "t", rows) == 0
    assert measured(has_rows("things"), "t", rows) == 0


def test_a_day_begins_at_its_midnight() -> None:
    new_york = load_settings("/nowhere", orchestration={"timezone": "America/New_York"})
    values = parameters(dt.date(2026, 3, 8), new_york)  # the clocks go forward
    assert values["from"] == dt.datetime(2026, 3, 8, 5)
    assert values["until"] == dt.datetime(2026, 3, 9, 4)


def test_the_page_of_the_contracts_is_current(repository: Path) -> None:
    written = (repository / "docs" / "data-contracts.md").read_text("utf-8")
    assert written == markdown.page(contracts.TABLES), (
        "python -m temporal_assets.contracts.markdown > docs/data-contracts.md"
    )


def test_the_page_names_every_column_and_check() -> None:
    page = markdown.page(contracts.TABLES)
    for contract in contracts.TABLES:
        for name in contract.column_names:
            assert f"| `{name}` |" in page
        for name in contract.check_names:
            assert f"`{name}`" in page


@pytest.mark.parametrize(("pages", "labels", "wrong"), [(0, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 0)])
def test_a_site_of_young_pages_alone_has_a_tree_and_no_labels(
    pages: int, labels: int, wrong: int
) -> None:
    (one,) = (
        table_rule
        for table_rule in contracts.PREFIX_TREES.rules
        if table_rule.name == "roots_count_the_site"
    )
    nothing = "0 AS depth, 0 AS temporal_pages, 0 AS news_pages"
    of_none = "false AS is_temporal, false AS is_news"
    query = (
        f"SELECT 's' AS site, {pages} AS pages, {nothing};"  # noqa: S608 - two small views
        f" CREATE VIEW page_labels AS SELECT 's' AS site, {of_none} FROM range({labels})"
    )
    assert measured(one, "prefix_trees", query) == wrong
