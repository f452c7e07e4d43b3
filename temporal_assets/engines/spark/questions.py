"""Small questions (`Engine.rows`) in DuckDB's dialect, as Spark answers them with the same rows.

The transformations of `sql/` are written for both engines and cast to the types of a contract. A
question is not, so what both engines read but answer differently, and our questions use, is
rewritten here: types of numbers, division by zero, NaN and NULL, and `QUALIFY` with an order or a
limit. Others would need more: `x[1]`, `concat` of numbers, quantiles, `ln(0)`.

Here: what only questions need. Not here: the dialect (`dialect`), and asking (`spark`). Rows of a
question without an order are in none, as on DuckDB. Numbers are never decimals: `1.5` is a DOUBLE.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from sqlglot import exp

from temporal_assets.engines.spark.dialect import in_braces, name_inputs, understood, written
from temporal_assets.engines.sql import SqlError

_KEPT: Final = 1024
"""Translations that are cached: all of the package, and some hundred of single sites."""

_LONGEST_SHOWN: Final = 200
"""Characters of a question in an error."""

_WHOLE_TYPES: Final = frozenset(
    {exp.DataType.Type.BIGINT, exp.DataType.Type.INT, exp.DataType.Type.SMALLINT}
)


@lru_cache(maxsize=_KEPT)
def question(query: str, inputs: frozenset[str]) -> str:
    """Return the query for Spark, with `{name}` for its inputs. Raises `SqlError` if impossible.

    Braces of its own are doubled, which is how Spark knows them from names.
    """
    what = f"the question {query[:_LONGEST_SHOWN]!r}"
    tree = understood(query, what)
    _refuse_unlike(tree, query, what)
    for kind, rewrite in _REWRITES:
        # The innermost first: what is copied into the outer ones has been rewritten then.
        for node in reversed(list(tree.find_all(kind))):
            if (changed := rewrite(node)) is not node:
                tree = changed if node is tree else tree
                node.replace(changed)
    name_inputs(tree, inputs, what)
    text = written(tree, pretty=False)
    return in_braces(text.replace("{", "{{").replace("}", "}}"))


def _refuse_unlike(tree: exp.Expression, query: str, what: str) -> None:
    """Refuse expressions that both engines answer, but differently."""
    if tree.find(exp.ArrayAgg):
        raise SqlError(f"{what} makes a list, which has no NULLs in Spark")
    for node in tree.find_all(exp.Length):
        start, end = node.meta.get("start", 0), node.meta.get("end", -1)
        if query[start : end + 1].lower() == "len":
            raise SqlError(f"{what} uses len: write length of a text, array_length of a list")


# Rewrites ------------------------------------------------------------------------------------


def _decimal(node: exp.Expression) -> exp.Expression:
    """`1.0` is a DECIMAL, whose average has 5 digits in Spark, and is a DOUBLE in DuckDB."""
    if node.is_string or not re.fullmatch(r"\d*\.\d*", node.name):
        return node
    return exp.Literal.number(f"{node.name}D")


def _pattern(node: exp.Expression) -> exp.Expression:
    """`LIKE` has no escapes unless told; a backslash is one in Spark."""
    pattern = node.expression
    if not (isinstance(pattern, exp.Literal) and "\\" in pattern.name):
        return node
    changed = node.copy()
    changed.set("expression", exp.Literal.string(pattern.name.replace("\\", "\\\\")))
    return changed


def _is_nan(node: exp.Expression) -> exp.Expression:
    """`isnan(x)`: NULL of a NULL; FALSE in Spark. NaN is equal to itself on both."""
    return exp.paren(exp.EQ(this=_operand(node.this), expression=_double("NaN")))


def _division(node: exp.Expression) -> exp.Expression:
    """`x / 0`: infinite, or NaN where x is 0; an error in Spark."""
    x, y = node.this, node.expression
    inner = y.unnest()
    if isinstance(inner, exp.Nullif) or (isinstance(inner, exp.Literal) and _is_not_zero(inner)):
        return node
    zero = exp.EQ(this=_operand(y), expression=_number(0))
    infinite = exp.Mul(this=_operand(x), expression=_double("Infinity"))
    return exp.Case().when(zero, infinite).else_(node.copy())


def _rounded_down(node: exp.Expression) -> exp.Expression:
    """`floor(x)` and `ceil(x)` are DOUBLEs; BIGINTs in Spark."""
    outer = node.parent
    if isinstance(outer, exp.Cast) and outer.to.this in _WHOLE_TYPES:
        return node
    return exp.cast(node.copy(), "DOUBLE")


def _whole(node: exp.Expression) -> exp.Expression:
    """`CAST(x AS BIGINT)` rounds a DOUBLE to the nearest, halves to the even one; Spark cuts off.

    What type x has is known to Spark alone, before it runs anything.
    """
    x, kind = node.this, node.to
    if kind.this not in _WHOLE_TYPES or type(node) is not exp.Cast or _is_whole(x):
        return node
    nearest = exp.Anonymous(this="bround", expressions=[exp.cast(x.copy(), "DOUBLE")])
    is_double = exp.In(
        this=exp.Anonymous(this="typeof", expressions=[x.copy()]),
        expressions=[exp.Literal.string("double"), exp.Literal.string("float")],
    )
    rounded = exp.Cast(this=nearest, to=kind.copy())
    return exp.Case().when(is_double, rounded).else_(node.copy())


def _qualified(node: exp.Expression) -> exp.Expression:
    """`QUALIFY`: rows are chosen by a column of an inner query, and ordered and cut off after it.

    SQLGlot would leave order and limit inside, where they come before the choice.
    """
    if node.args.get("qualify") is None:
        return node
    if node.args.get("distinct"):
        raise SqlError("QUALIFY with DISTINCT has no words in Spark yet")
    inner = node.copy()
    order, limit = inner.args.get("order"), inner.args.get("limit")
    added = {"is_kept": inner.args["qualify"].this}
    for place, expression in enumerate(order.expressions if order else []):
        if not isinstance(expression.this, exp.Literal):
            added[f"order_{place}"] = expression.this
            expression.set("this", exp.column(f"order_{place}"))
    for name in ("qualify", "order", "limit"):
        inner.set(name, None)
    for name, value in added.items():
        inner.append("expressions", exp.alias_(value, name))
    star = exp.Star(except_=[exp.column(name) for name in added])
    outer = exp.select(star).from_(inner.subquery("chosen")).where(exp.column("is_kept"))
    outer.set("order", order)
    outer.set("limit", limit)
    return outer


_REWRITES: Final[tuple[tuple[type[exp.Expression], Callable[..., exp.Expression]], ...]] = (
    (exp.Select, _qualified),
    (exp.Literal, _decimal),
    (exp.Like, _pattern),
    (exp.IsNan, _is_nan),
    (exp.Div, _division),
    (exp.Cast, _whole),
    (exp.Floor, _rounded_down),
    (exp.Ceil, _rounded_down),
)


def _is_whole(node: exp.Expression) -> bool:
    """Return True if an expression is certainly a whole number."""
    kinds = exp.Floor | exp.Ceil | exp.Count | exp.DateDiff | exp.Extract | exp.Boolean
    return isinstance(node, kinds) or (isinstance(node, exp.Literal) and node.is_int)


def _is_not_zero(node: exp.Expression) -> bool:
    return not node.is_string and float(node.name.rstrip("D")) != 0


def _operand(node: exp.Expression) -> exp.Expression:
    simple = exp.Literal | exp.Column | exp.Paren | exp.Func
    return node.copy() if isinstance(node, simple) else exp.paren(node.copy())


def _double(text: str) -> exp.Expression:
    return exp.cast(exp.Literal.string(text), "DOUBLE")


def _number(value: int) -> exp.Expression:
    return exp.Literal.number(value)
