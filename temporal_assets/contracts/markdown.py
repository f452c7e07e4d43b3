"""The contracts as a page of documentation (docs/data-contracts.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from temporal_assets.contracts.rules import AT_FAULT, Drift, Rule, Severity
from temporal_assets.contracts.table import ColumnSpec, Table

_INTRODUCTION = """\
# Tables and what they promise

Written from `temporal_assets/contracts/` by `python -m temporal_assets.contracts.markdown`; a
test keeps the two together. Every table is partitioned by its first column, `day`; of tables of
windows it is the last day of the window, and not repeated below. The checks of each table, what
they protect and what to do when one fails, are in [checks.md](checks.md).
"""

_LAST_DAY = "Last day of the window."
"""Meaning of `day` in tables of windows, which the introduction has."""


def page(tables: Iterable[Table]) -> str:
    """Return the documentation of all tables."""
    return "\n".join([_INTRODUCTION, *(document(table) for table in tables)])


def document(table: Table) -> str:
    """Return the documentation of one table."""
    key = f", unique by {_names(table.key)}" if table.key else ""
    shown = [column for column in table.columns if column.description != _LAST_DAY]
    return "\n".join(
        [
            f"## {table.name}",
            "",
            table.description,
            "",
            f"One row: {table.grain}{key}. Schema version {table.version}.",
            "",
            *grid(("column", "type", "meaning"), [_column(column) for column in shown]),
            "",
        ]
    )


def check_rows(table: Table) -> list[tuple[str, ...]]:
    """Return a row of documentation for each check of a table."""
    return [*map(_rule, table.rules), *map(_drift, table.drifts)]


def _column(column: ColumnSpec) -> Sequence[str]:
    null = ", may be NULL" if column.nullable else ""
    return (f"`{column.name}`", f"{column.sql_type}{null}", column.description)


def _rule(rule: Rule) -> tuple[str, ...]:
    kind = "blocking" if rule.severity is Severity.ERROR else "warning"
    remedy = "Report it." if rule.remedy == AT_FAULT else rule.remedy
    return (f"`{rule.name}`", kind, expected(rule), rule.protects, remedy)


def expected(rule: Rule) -> str:
    """Return the range of a rule's measure in words."""
    if rule.offenders:
        return "no such row"
    if rule.maximum_parameter:
        return f"at most `{rule.maximum_parameter}`"
    if rule.minimum == rule.maximum:
        return f"exactly {rule.minimum:,.12g}"
    if rule.minimum is not None:
        return f"at least {rule.minimum:,.12g}"
    return f"at most {rule.maximum:,.12g}"


def _drift(drift: Drift) -> tuple[str, ...]:
    """Return a drift as a row of the documentation."""
    before = "the weeks before" if drift.weeks else "the days before"
    if drift.least is not None:
        expects = f"at least {drift.least:g}, unless a day with nothing is usual"
    elif drift.largest_factor:
        expects = f"within {drift.largest_factor:g} times what {before} show, and their noise"
    else:
        expects = f"within {drift.largest_difference:g} of what {before} show, and their noise"
    return (f"`{drift.name}`", "warning", expects, drift.protects, drift.remedy)


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


if __name__ == "__main__":
    from temporal_assets.contracts import TABLES

    print(page(TABLES), end="")
