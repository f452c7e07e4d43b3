"""Work of a day as a generator of SQL statements, which may run together with those of other days.

A statement takes milliseconds to plan and start, however few rows it reads, and a small day needs
five. So the work of a day is a generator: it yields each statement that it needs, and is sent the
files that the engine wrote. `run` executes the statements of one day; `run_together` those of many
small days, where they ask the same at once.

Not here: how an engine runs a statement for many days (`duckdb`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from temporal_assets.engines.base import Engine, Result, Statement

Steps: TypeAlias = Generator[Statement, list[Path], Result]
"""Generator that yields statements, is sent the files that each has written, and returns a
result."""


def run(engine: Engine, steps: Steps[Result]) -> Result:
    """Return the result of a generator, executing its statements one by one."""
    try:
        statement = next(steps)
        while True:
            try:
                files = engine.query(*statement)
            except BaseException as error:
                statement = steps.throw(error)
            else:
                statement = steps.send(files)
    except StopIteration as end:
        result: Result = end.value
        return result


def run_together(engine: Engine, works: Sequence[Steps[Result]]) -> list[Result | Exception]:
    """Return the result or error of each generator, executing equal statements together.

    A statement that fails for all together is executed for each, so that only the work that it
    fails for fails.
    """
    outcomes: dict[int, Result | Exception] = {}
    waiting: dict[int, Statement] = {}

    def go_on(number: int, step: Callable[[], Statement]) -> None:
        try:
            waiting[number] = step()
        except StopIteration as end:
            outcomes[number] = end.value
        except Exception as error:
            outcomes[number] = error

    for number, work in enumerate(works):
        go_on(number, partial(next, work))
    while waiting:
        first = next(iter(waiting.values()))
        numbers = [number for number, other in waiting.items() if _is_alike(first, other)]
        answers = _answers(engine, [waiting.pop(number) for number in numbers])
        for number, answer in zip(numbers, answers, strict=True):
            work = works[number]
            if isinstance(answer, Exception):
                go_on(number, partial(work.throw, answer))
            else:
                go_on(number, partial(work.send, answer))
    return [outcomes[number] for number in range(len(works))]


def _is_alike(statement: Statement, other: Statement) -> bool:
    """Return True if the statements differ in the rows they read and in nothing else."""
    return (statement.sql, statement.parameters, statement.table) == (
        other.sql,
        other.parameters,
        other.table,
    )


def _answers(engine: Engine, statements: Sequence[Statement]) -> Sequence[list[Path] | Exception]:
    """Return the files that each statement wrote, or its error."""
    if len(statements) > 1:
        try:
            return engine.query_each(statements)
        except Exception:  # noqa: S110 - each says what is wrong with it
            pass
    return [_answer(engine, statement) for statement in statements]


def _answer(engine: Engine, statement: Statement) -> list[Path] | Exception:
    try:
        return engine.query(*statement)
    except Exception as error:
        return error
