"""Translation of queries from DuckDB's dialect to Spark's.

SQLGlot does most of it. It passes unknown functions through silently, so what our queries use of
DuckDB beyond it is rewritten here, one function for each thing, and any function that is neither
SQLGlot's, nor rewritten, nor the same in both is refused. Here: what `sql/` and small questions
have in common. Not here: the files of `sql/spark/` (`translation`), what only questions need
(`questions`), and whether the two engines give the same rows; only running both can tell
(`tests/engines`).

SQLGlot comes with the extra `spark`: this is imported where something is translated, and nowhere
else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

import sqlglot
from sqlglot import exp

from temporal_assets.engines.sql import SqlError

Rewrite = Callable[[exp.Expression], exp.Expression]

_INPUT: Final = "input_table_"
"""Placeholder for braces, which are no SQL, while SQLGlot writes."""

_REWRITTEN: Final = frozenset({"hash", "list_sum", "list_slice", "list_extract", "list_position"})
"""Functions that SQLGlot does not know, and that are rewritten below."""

_ALIKE: Final = frozenset({"bit_count"})
"""Functions unknown to SQLGlot that both engines have under the same name."""


def understood(query: str, what: str) -> exp.Expression:
    """Parse a query and rewrite it for Spark; `what` names it in errors.

    Raises `SqlError` where it uses something without equivalent in Spark.
    """
    if _INPUT in query:
        raise SqlError(f"{what}: {_INPUT}... stands for tables, and cannot be in a query")
    try:
        tree = sqlglot.parse_one(query, read="duckdb")
    except sqlglot.ParseError as error:
        raise SqlError(f"{what} is no query: {str(error).splitlines()[0]}") from error
    _refuse_unknown(what, tree)
    for rewrite in _REWRITES:
        # Again until nothing changes: parts inside a rewritten part are not visited.
        while (changed := tree.transform(rewrite)) != tree:
            tree = changed
    return tree


def name_inputs(tree: exp.Expression, inputs: Collection[str], what: str) -> None:
    """Replace the names of inputs by placeholders."""
    inner = {cte.alias for cte in tree.find_all(exp.CTE)}
    if both := inner & set(inputs):
        raise SqlError(f"{what} names both an input and a part {sorted(both)}")
    for table in list(tree.find_all(exp.Table)):
        if table.name in inputs:
            alias = table.alias or table.name
            table.set("this", exp.to_identifier(f"{_INPUT}{table.name}"))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))


def written(tree: exp.Expression, *, pretty: bool) -> str:
    """Return Spark's text of a query, with placeholders for inputs (`in_braces`)."""
    text: str = tree.sql(
        dialect="spark", pretty=pretty, comments=False, unsupported_level=sqlglot.ErrorLevel.RAISE
    )
    return text


def in_braces(text: str) -> str:
    """Return the text with placeholders as Spark expects them: it fills `{name}` with a table."""
    return re.sub(rf"{_INPUT}(\w+)", r"{\1}", text)


def _refuse_unknown(what: str, tree: exp.Expression) -> None:
    unknown = {node.name.lower() for node in tree.find_all(exp.Anonymous)} - _REWRITTEN - _ALIKE
    if unknown:
        raise SqlError(f"{what} uses {sorted(unknown)}, which has no word in Spark yet")
    for node in tree.find_all(exp.ArrayAgg):
        if isinstance(node.this, exp.Order):
            raise SqlError(f"{what}: the order of an aggregated list is lost in Spark")


# Rewrites ------------------------------------------------------------------------------------


def _list_item(node: exp.Expression) -> exp.Expression:
    """`list_extract(x, place)`: NULL where there is no such place; Spark's `get` counts from 0."""
    if not _is(node, "list_extract"):
        return node
    items, place = node.expressions
    before = exp.Sub(this=_wrapped(place), expression=_number(1))
    return exp.Anonymous(this="get", expressions=[items, before])


def _hash(node: exp.Expression) -> exp.Expression:
    """`hash(x)`, 64 bits; which ones is nobody's business. Spark's `hash` has 32."""
    if not _is(node, "hash"):
        return node
    return exp.Anonymous(this="xxhash64", expressions=node.expressions)


def _list_position(node: exp.Expression) -> exp.Expression:
    """`list_position(x, item)`: NULL where DuckDB finds none; 0, no place either, in Spark."""
    if not _is(node, "list_position"):
        return node
    return exp.Anonymous(this="array_position", expressions=node.expressions)


def _list_slice(node: exp.Expression) -> exp.Expression:
    """`list_slice(x, first, last)`, both inclusive: Spark wants a length."""
    if not _is(node, "list_slice"):
        return node
    items, first, last = node.expressions
    length = exp.Add(
        this=exp.Sub(this=_wrapped(last), expression=_wrapped(first)),
        expression=_number(1),
    )
    # `func` would read the arguments as those of DuckDB's function of the same name.
    greatest = exp.Anonymous(this="greatest", expressions=[length, _number(0)])
    return exp.Anonymous(this="slice", expressions=[items, first, greatest])


def _list_sum(node: exp.Expression) -> exp.Expression:
    """`list_sum(x)`: NULL for an empty list."""
    if not _is(node, "list_sum"):
        return node
    text = "aggregate(x, CAST(NULL AS BIGINT), (s, v) -> coalesce(s, 0) + v)"
    total = sqlglot.parse_one(text, read="spark")
    for column in list(total.find_all(exp.Column)):
        if column.name == "x":
            column.replace(node.expressions[0].copy())
    return total


def _range(node: exp.Expression) -> exp.Expression:
    """`range(a, b)`, without its end: Spark's sequence has it, and would count down to it."""
    if not isinstance(node, exp.GenerateSeries) or not node.args.get("is_end_exclusive"):
        return node
    start, end = node.args["start"], node.args["end"]
    length = exp.Sub(this=_wrapped(end), expression=_wrapped(start))
    numbers = exp.Anonymous(this="sequence", expressions=[start.copy(), end.copy()])
    return exp.Anonymous(this="slice", expressions=[numbers, _number(1), length])


def _not_in(node: exp.Expression) -> exp.Expression:
    """`x NOT IN (SELECT y ...)`, of columns that are never NULL.

    Spark looks every x up among all y on one machine (a null-aware anti join is a broadcast); NOT
    EXISTS is a join like any other. The two differ where an x or a y is NULL; keys are never NULL.
    """
    if not (isinstance(node, exp.Not) and isinstance(node.this, exp.In)):
        return node
    condition = node.this
    query = condition.args.get("query")
    if query is None:
        return node
    inner = query.this.copy()
    (column,) = inner.selects
    inner.set("expressions", [exp.alias_(column.unalias(), "absent_key")])
    select = (
        exp.select("1")
        .from_(inner.subquery("absent"))
        .where(exp.EQ(this=exp.column("absent_key", "absent"), expression=condition.this.copy()))
    )
    return exp.Not(this=exp.Exists(this=select))


def _unnest_together(node: exp.Expression) -> exp.Expression:
    """Several `unnest` in one SELECT go through their lists side by side; Spark has one there."""
    if not isinstance(node, exp.Select):
        return node
    several = [
        select for select in node.selects if isinstance(select.unalias(), exp.Explode | exp.Unnest)
    ]
    if len(several) < 2:
        return node
    names = [select.alias for select in several]
    lists = [_unnested(select.unalias()) for select in several]
    rest = [select for select in node.selects if select not in several]
    zipped = exp.Anonymous(this="arrays_zip", expressions=lists)
    generator = exp.Anonymous(this="inline", expressions=[zipped])
    view = exp.Lateral(
        this=generator,
        view=True,
        alias=exp.TableAlias(
            this=exp.to_identifier("together"), columns=[exp.to_identifier(n) for n in names]
        ),
    )
    node.set("expressions", [*rest, *(exp.column(n, "together") for n in names)])
    node.append("laterals", view)
    return node


def _unnested(node: exp.Expression) -> exp.Expression:
    return (node.expressions[0] if isinstance(node, exp.Unnest) else node.this).copy()


def _materialized(node: exp.Expression) -> exp.Expression:
    """`WITH x AS MATERIALIZED`, joined once though it is read twice: Spark decides by itself."""
    if isinstance(node, exp.CTE) and node.args.get("materialized"):
        node = node.copy()
        node.set("materialized", None)
    return node


_REWRITES: Final[tuple[Rewrite, ...]] = (
    _unnest_together,
    _hash,
    _list_item,
    _list_position,
    _list_slice,
    _list_sum,
    _materialized,
    _range,
    _not_in,
)


def _is(node: exp.Expression, name: str) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == name


def _wrapped(node: exp.Expression) -> exp.Expression:
    """Return the node in parentheses if it has more than one part."""
    part = node.copy()
    is_simple = isinstance(part, exp.Literal | exp.Column | exp.Parameter | exp.Placeholder)
    return part if is_simple or isinstance(part, exp.Anonymous) else exp.paren(part)


def _number(value: int) -> exp.Expression:
    return exp.Literal.number(value)
