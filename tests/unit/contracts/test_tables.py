"""Contracts: what is derived from them agrees, and what they claim of SQL is true."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import pytest

from temporal_assets import contracts
from temporal_assets.contracts import ColumnSpec, Drift, Rule, Table, Type, markdown
from temporal_assets.contracts.rules import has_rows, no_rows, rules_of_shape
from temporal_assets.contracts.table import columns
from temporal_assets.quality.measure import measure, parameters
from temporal_assets.settings import load_settings

DAY = dt.date(2026, 3, 1)


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
    for contract in contracts.TABLES:
        assert contracts.table(contract.name) is contract
    with pytest.raises(KeyError, match="no contract for a table named 'views'"):
        contracts.table("views")


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


def test_columns_are_declared_as_in_sql_with_their_meaning() -> None:
    text = """
        day DATE: Last day.
        phi_n DOUBLE NULL from page_views.day, page_views.views: Share of
            the interest: within `n` days.
        """
    sources = ("page_views.day", "page_views.views")
    meaning = "Share of the interest: within `n` days."
    assert columns(text) == (
        ColumnSpec("day", Type.DATE, "Last day."),
        ColumnSpec("phi_n", Type.DOUBLE, meaning, nullable=True, sources=sources),
    )
    with pytest.raises(ValueError, match="declares no column of a contract: day DATE"):
        columns("day DATE")


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


ROWS: dict[str, dict[str, str]] = {
    "requests": {
        "day": "DATE '2026-03-01'",
        "ts": "TIMESTAMP '2026-03-01 12:00:00'",
        "client": "CAST(1 AS BIGINT)",
        "url": "'https://example.com/a'",
        "referrer": "CAST(NULL AS VARCHAR)",
        "site": "'example.com'",
    },
    "page_totals": {"day": "DATE '2026-03-01'", "birth": "DATE '2026-01-03'", "seen": "4"},
    "page_histories": {
        "day": "DATE '2026-03-01'",
        "site": "'example.com'",
        "url": "'https://example.com/a'",
        "birth": "DATE '2026-01-03'",  # the third of sixty days
        "total": "CAST(9 AS BIGINT)",
        "views": "CAST(list_concat([0, 0, 4, 0, 5], list_resize([0], 55, 0)) AS INTEGER[])",
        "is_born_before": "false",
    },
    "interest_curves": {
        "day": "DATE '2026-03-01'",
        "site": "'example.com'",
        "url": "'https://example.com/a'",
        "amplitude": "100.0", "b": "2.5", "mu": "0.7", "sigma": "0.9",
        "objective": "30.0", "goodness": "0.9", "is_converged": "true", "reason": "'converged'",
        "phi_1": "0.22", "phi_n": "0.67", "phi_n_low": "0.6", "phi_n_high": "0.75",
        "method": "'likelihood'",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ["requests", "page_histories", "interest_curves"])
def test_nothing_is_wrong_with_rows_that_keep_the_rules(name: str) -> None:
    columns = ", ".join(f"{value} AS {column}" for column, value in ROWS[name].items())
    for rule in contracts.table(name).rules:
        if rule.maximum == 0 and not rule.reads and not rule.reads_window:
            assert measured(rule, name, f"SELECT {columns}") == 0, rule.name


@pytest.mark.parametrize(
    ("table_name", "name", "changes", "offenders"),
    [
        ("requests", "no_nulls", {"url": "CAST(NULL AS VARCHAR)"}, 1),
        ("requests", "day_is_partition", {"day": "DATE '2026-03-02'"}, 1),
        ("requests", "day_is_partition", {"day": "CAST(NULL AS DATE)"}, 1),
        ("requests", "ts_within_day", {"ts": "TIMESTAMP '2026-03-01 00:00:00'"}, 0),
        ("requests", "ts_within_day", {"ts": "TIMESTAMP '2026-03-01 23:59:59.999999'"}, 0),
        ("requests", "ts_within_day", {"ts": "TIMESTAMP '2026-03-02 00:00:00'"}, 1),
        ("requests", "ts_within_day", {"ts": "TIMESTAMP '2026-02-28 23:59:59'"}, 1),
        ("requests", "url_is_canonical", {"url": "'https://example.com/a#b'"}, 1),
        ("requests", "url_is_canonical", {"url": "'ftp://example.com/a'"}, 1),
        ("requests", "site_is_host", {"url": "'https://example.com:8080/a'"}, 0),
        (
            *("requests", "site_is_host"),
            *({"url": "'https://[2001:db8::1]/'", "site": "'[2001:db8::1]'"}, 0),
        ),
        ("requests", "site_is_host", {"url": "'https://example.community/'"}, 1),
        ("requests", "site_is_host", {"site": "'www.example.com'"}, 1),
        ("page_histories", "window_is_whole", {"views": "[9]"}, 1),
        ("page_histories", "window_is_whole", {"views": "CAST([] AS INTEGER[])"}, 1),
        ("page_histories", "views_sum_to_total", {"total": "8"}, 1),
        ("page_histories", "birth_is_first_view", {"birth": "DATE '2026-01-02'"}, 1),
        ("page_histories", "birth_is_first_view", {"birth": "DATE '2026-01-05'"}, 1),
        ("page_histories", "no_nulls", {"views": "CAST(NULL AS INTEGER[])"}, 1),
        ("interest_curves", "numbers_are_finite", {"sigma": "CAST('nan' AS DOUBLE)"}, 1),
        ("interest_curves", "numbers_are_finite", {"objective": "CAST('inf' AS DOUBLE)"}, 1),
        ("interest_curves", "reason_is_known", {"reason": "'tired'"}, 1),
        ("interest_curves", "reason_is_known", {"reason": "'too_young'"}, 1),
        ("interest_curves", "curve_where_converged", {"mu": "CAST(NULL AS DOUBLE)"}, 1),
        ("interest_curves", "curve_where_converged", {"is_converged": "false"}, 1),
        ("interest_curves", "interest_where_known", {"phi_n": "CAST(NULL AS DOUBLE)"}, 1),
        (
            *("interest_curves", "interest_where_known"),
            *({"is_converged": "false", "reason": "'too_young'"}, 1),
        ),
        ("interest_curves", "parameters_in_bounds", {"b": "-7.1"}, 1),
        ("interest_curves", "parameters_in_bounds", {"b": "60.1"}, 1),
        ("interest_curves", "parameters_in_bounds", {"mu": "-3.2"}, 1),
        ("interest_curves", "parameters_in_bounds", {"mu": "6.4"}, 1),  # ln 600 = 6.397
        ("interest_curves", "parameters_in_bounds", {"sigma": "0.09"}, 1),
        ("interest_curves", "parameters_in_bounds", {"sigma": "3.1"}, 1),
        ("interest_curves", "parameters_in_bounds", {"goodness": "1.1"}, 1),
        ("interest_curves", "parameters_in_bounds", {"amplitude": "-1.0"}, 1),
        ("interest_curves", "interest_grows", {"phi_1": "0.68"}, 1),
        ("interest_curves", "interest_grows", {"phi_n_low": "0.68"}, 1),
        ("interest_curves", "interest_grows", {"phi_n_high": "0.66"}, 1),
        ("interest_curves", "interest_grows", {"phi_n_high": "1.1"}, 1),
        ("page_totals", "birth_in_window", {"birth": "DATE '2026-01-01'"}, 0),
        ("page_totals", "birth_in_window", {"birth": "DATE '2025-12-31'"}, 1),
        ("page_totals", "birth_in_window", {"birth": "DATE '2026-03-01'"}, 0),
        ("page_totals", "birth_in_window", {"birth": "DATE '2026-03-02'"}, 1),
        ("page_totals", "seen_from_birth", {"birth": "DATE '2026-01-01'", "seen": "1"}, 0),
        ("page_totals", "seen_from_birth", {"seen": f"{0b1100}"}, 0),
        ("page_totals", "seen_from_birth", {"seen": f"{0b1101}"}, 1),
        ("page_totals", "seen_from_birth", {"seen": f"{0b1000}"}, 1),
        ("page_totals", "seen_from_birth", {"birth": "DATE '2026-03-01'", "seen": f"{1 << 59}"}, 0),
        ("page_totals", "seen_from_birth", {"birth": "DATE '2026-03-01'", "seen": "0"}, 1),
    ],
)
def test_rows_that_break_a_rule_are_counted(
    table_name: str, name: str, changes: dict[str, str], offenders: int
) -> None:
    (rule,) = (rule for rule in contracts.table(table_name).rules if rule.name == name)
    columns = ", ".join(f"{v} AS {c}" for c, v in (ROWS[table_name] | changes).items())
    assert measured(rule, table_name, f"SELECT {columns}") == offenders


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


def test_the_page_names_every_column() -> None:
    page = markdown.page(contracts.TABLES)
    names = {name for contract in contracts.TABLES for name in contract.column_names}
    assert [name for name in sorted(names) if f"| `{name}` |" not in page] == []


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
