"""`temporal-assets query`: SQL over the published artifacts, for people and for pipes.

Here: what is accepted and how results are written. Not here: running it (`notebook`).
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import FAILED, USAGE, CommandError, command
from temporal_assets.cli.shared.options import Json, State, existing_settings
from temporal_assets.cli.shared.standard_input import text_of

if TYPE_CHECKING:
    import pyarrow as pa

    from temporal_assets.contracts import Table

_ROWS_SHOWN: Final = 100
"""Rows of a table that a person reads; `--csv` and `--json` write all."""

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Characters that make a spreadsheet take a cell for a formula; the wide forms do so in East
Asia."""

_SEPARATORS: Final = re.compile(r'[,;\t|"\r\n]')
"""Characters at which some spreadsheet begins another cell, unless the text is in quotes: in half
of Europe at semicolons, and a URL may hold one that is followed by a formula."""


@command
def run(
    sql: Annotated[
        str | None,
        typer.Argument(metavar="SQL", help="One SELECT statement.", show_default=False),
    ] = None,
    state: State = None,
    file: Annotated[
        str | None,
        typer.Option("-f", "--file", help="Read the statement from a file; - is standard input."),
    ] = None,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Write the result as CSV.")] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify/--no-verify",
            help="First compare the files of the assets named with what was published, at the"
            " speed of the disk.",
        ),
    ] = True,
) -> None:
    """Query the artifacts with SQL: every asset is a view of its own name.

    For example: temporal-assets query "SELECT site, sum(views) AS views FROM page_views
    GROUP BY site ORDER BY views DESC". Nothing can be changed this way.
    """
    if as_json and as_csv:
        raise CommandError("--json and --csv exclude each other", USAGE)
    text = _statement(sql, file)
    with _result(text, state, verify) as result:
        if as_json:
            console.write_json_rows(_parts(result))
        elif as_csv:
            _write_csv(result)
        else:
            _show(result)


def _statement(sql: str | None, file: str | None) -> str:
    """Return the SQL of an argument or a file."""
    if (sql is None) == (file is None):
        raise CommandError("give the SQL as an argument, or with -f FILE", USAGE)
    if sql is None:
        return text_of(str(file))
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        line = sql.count("\n", 0, error.start) + 1
        raise CommandError(f"the SQL: line {line} is no UTF-8", USAGE) from None
    return sql


@contextmanager
def _result(sql: str, state: Path | None, verify: bool) -> Iterator[pa.Table]:
    """Yield the result of a statement, with errors turned into messages for users."""
    import duckdb

    from temporal_assets import contracts
    from temporal_assets.notebook import Artifacts, NoSelect
    from temporal_assets.ops import catalogue
    from temporal_assets.storage.partition_errors import DAMAGED
    from temporal_assets.storage.store import Store

    settings = existing_settings(state)
    catalogue.follow(Store.open(settings))
    try:
        with Artifacts(settings.state, verify=verify).large_query(sql) as result:
            yield result.rename_columns(_apart(result.column_names))
    except NoSelect as error:
        raise CommandError(str(error), USAGE) from None
    except duckdb.PermissionException as error:
        raise CommandError(
            f"{error}\nOnly the tables of the state folder can be read here", USAGE
        ) from None
    except duckdb.CatalogException as error:
        views = ", ".join(f"{table.name}({_columns(table)})" for table in contracts.TABLES)
        raise CommandError(f"{error}\nThe views are {views}", USAGE) from None
    except duckdb.InvalidInputException as error:
        sentence = str(error).removeprefix("Invalid Input Error: ")
        # Views of damaged days say so in our own words.
        raise CommandError(sentence, FAILED if DAMAGED in sentence else USAGE) from None
    except (duckdb.ProgrammingError, duckdb.DataError, duckdb.NotSupportedError) as error:
        raise CommandError(str(error), USAGE) from None
    except duckdb.Error as error:
        raise CommandError(str(error), FAILED) from None


def _columns(table: Table) -> str:
    return ", ".join(table.column_names)


def _apart(names: list[str]) -> list[str]:
    """Return distinct names for the keys of JSON rows: `a` and `a_1` for two columns `a`."""
    apart: list[str] = []
    for name in names:
        number, free = 0, name
        while free in apart or (number and free in names):
            number += 1
            free = f"{name}_{number}"
        apart.append(free)
    return apart


def _rows(result: pa.Table) -> Iterator[dict[str, Any]]:
    for part in _parts(result):
        yield from part


def _parts(result: pa.Table) -> Iterator[list[dict[str, Any]]]:
    """Yield rows in parts, with values that JSON and people can read."""
    for batch in result.to_batches():
        try:
            rows = batch.to_pylist()
        except (OverflowError, ValueError) as error:  # of Python's dates
            raise CommandError(
                f"a date or time cannot be shown ({error}): only those of the years 1 to 9999 can;"
                " write CAST(... AS VARCHAR) for it"
            ) from None
        yield [{name: _portable(value) for name, value in row.items()} for row in rows]


def _portable(value: Any) -> Any:
    """Return a value for JSON: sums of integers as integers, intervals and bytes as text."""
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else value
    if isinstance(value, tuple):  # an interval: months, days, nanoseconds
        months, days, nanoseconds = value
        return f"{months} months {days} days {nanoseconds / 1e9:g} seconds"
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value


def _show(result: pa.Table) -> None:
    rows = [tuple(row.values()) for row in _rows(result.slice(0, _ROWS_SHOWN))]
    console.show_table("", result.column_names, rows)
    if result.num_rows > _ROWS_SHOWN:
        console.say(
            f"{_ROWS_SHOWN} of {result.num_rows:,} rows; --csv and --json write all of them"
        )


def _write_csv(result: pa.Table) -> None:
    shown = sys.stdout.isatty()
    for chunk in _csv_chunks(result):
        # A file gets what is there; a terminal would obey the escapes in it.
        sys.stdout.write(console.plain_lines(chunk) if shown else chunk)


def _csv_chunks(result: pa.Table) -> Iterator[str]:
    """Yield the result as CSV, ten thousand rows at a time."""
    buffer = io.StringIO()
    buffer.write(_line(result.column_names))
    for number, row in enumerate(_rows(result), 1):
        buffer.write(_line(row.values()))
        if number % 10_000 == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _line(values: Iterable[Any]) -> str:
    return ",".join(map(_cell, values)) + "\n"


def _cell(value: Any) -> str:
    """Return a CSV cell that no spreadsheet takes for a formula."""
    text = "" if value is None else str(value)
    if isinstance(value, str) and text.startswith(_FORMULA):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"' if _SEPARATORS.search(text) else text
