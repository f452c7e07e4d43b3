"""Suites of Great Expectations for the rows of a table, made from its contract.

Here: what of a contract can be said of rows without SQL: columns in their order, values that are
never missing, unique keys, ranges and sets of values. Opened by people, with the library's own
tools, over the Parquet files; no run waits for them. Not here: the checks that runs depend on,
which engines measure (`inspect`) and which hold every rule (`expectations`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

from temporal_assets.contracts import Rule, Table
from temporal_assets.quality.expectations import great_expectations

_COMPARED: Final = re.compile(r"(\w+) (<|<=|>|>=) (-?\d+(?:\.\d+)?)")
"""Expression for a comparison of a column with a number, in the condition of a rule."""
_AMONG: Final = re.compile(r"(\w+) NOT IN \(((?:'[^']*'(?:, )?)+)\)")
"""Expression for a set of values of a column, in the condition of a rule."""


def name_of(table: Table) -> str:
    """Return the name of the suite of a table's rows."""
    return f"{table.name} rows"


def row_suite(table: Table) -> Any:
    """Return the suite of a table's rows."""
    suite = great_expectations().ExpectationSuite(name=name_of(table))
    for expectation in _expectations(table):
        suite.add_expectation(expectation)
    return suite


def _library() -> Any:
    """Return the library's expectations by name; the package does not declare its exports."""
    great_expectations()
    return import_module("great_expectations.expectations")


def _expectations(table: Table) -> Iterator[Any]:
    """Yield the expectations that a contract has for each row."""
    gxe = _library()

    yield gxe.ExpectTableColumnsToMatchOrderedList(column_list=list(table.column_names))
    for column in table.columns:
        if not column.nullable:
            yield gxe.ExpectColumnValuesToNotBeNull(column=column.name, notes=column.description)
    notes = f"One row is {table.grain}."
    if len(table.key) == 1:
        yield gxe.ExpectColumnValuesToBeUnique(column=table.key[0], notes=notes)
    elif table.key:
        yield gxe.ExpectCompoundColumnsToBeUnique(column_list=list(table.key), notes=notes)
    for rule in table.rules:
        yield from _expectations_of_rule(table, rule)


def _expectations_of_rule(table: Table, rule: Rule) -> Iterator[Any]:
    """Yield expectations on single values that follow from a rule; checks hold the rest."""
    gxe = _library()

    for part in _alternatives(rule.offenders or "", table.name):
        compared, among = _COMPARED.fullmatch(part), _AMONG.fullmatch(part)
        if compared and compared[1] in table.column_names:
            ends = _ends(compared[2], float(compared[3]))
            yield gxe.ExpectColumnValuesToBeBetween(column=compared[1], notes=rule.protects, **ends)
        elif among and among[1] in table.column_names:
            values = re.findall(r"'([^']*)'", among[2])
            yield gxe.ExpectColumnValuesToBeInSet(
                column=among[1], value_set=values, notes=rule.protects
            )


def _ends(comparison: str, value: float) -> dict[str, Any]:
    """Return the range of right values, given a comparison that holds for wrong ones."""
    return {
        "<": {"min_value": value},
        "<=": {"min_value": value, "strict_min": True},
        ">": {"max_value": value},
        ">=": {"max_value": value, "strict_max": True},
    }[comparison]


def _alternatives(offenders: str, table: str) -> Iterator[str]:
    """Split a condition at its outer OR: `a < 0 OR b > 1` into `a < 0` and `b > 1`."""
    head = f"SELECT * FROM {table} WHERE "  # noqa: S608 - compared, never run
    if not offenders.startswith(head) or "CASE" in offenders:
        return
    depth, part = 0, ""
    for word in offenders.removeprefix(head).split(" "):
        if word == "OR" and depth == 0:
            yield part
            part = ""
            continue
        depth += word.count("(") - word.count(")")
        part = f"{part} {word}" if part else word
    yield part
