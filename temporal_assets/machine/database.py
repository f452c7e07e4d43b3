"""Errors of the database of Dagster's history, as one sentence that says what to do.

`storage` in `dagster.yaml` may name PostgreSQL: it does not answer, refuses a password, or the
packages for it are not there. Not here: faults of this machine's disk and memory
(`error_sentences`); the server's own full disk is one of the database.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

_PACKAGES: Final = frozenset({"dagster_postgres", "psycopg", "psycopg2"})
"""Modules needed for PostgreSQL. SQLAlchemy 2.1 asks for `psycopg`."""

_UNSET: Final = re.compile(r'environment variable "(\w+)" which is not set')

_RETRYING: Final = "Retrying failed database connection"
"""Beginning of what `dagster-postgres` logs for each of its six attempts."""

_NOT_INSTALLED: Final = (
    "dagster.yaml names PostgreSQL, and the packages for it are not there, or not in versions that "
    "work together: install them as docs/postgres.md says (pip install -c requirements.lock "
    "'.[postgres]')"
)


def database_trouble(chain: Sequence[BaseException]) -> str | None:
    """Return the message if one of a chain of errors is of Dagster's database, else None."""
    return next(filter(None, map(_sentence, chain)), None)


@contextmanager
def quiet_attempts() -> Iterator[None]:
    """Suppress the log messages of attempts to connect; the last one raises an error."""
    root = logging.getLogger()
    root.addFilter(_is_no_attempt)
    try:
        yield
    finally:
        root.removeFilter(_is_no_attempt)


def _is_no_attempt(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith(_RETRYING)


def _sentence(error: BaseException) -> str | None:
    """Return what to do about an error of a database driver, or None for other errors."""
    kind = type(error)
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        return _NOT_INSTALLED if package in _PACKAGES else None
    if kind.__module__.partition(".")[0] in ("psycopg", "psycopg2"):
        answer = " ".join(str(error).split()) or kind.__name__
        return (
            f"PostgreSQL, where dagster.yaml has Dagster keep its history, says: {answer}. What is "
            "published is whole; start the server, or correct dagster.yaml or the variables that "
            "it names, and run the same command again (docs/postgres.md)"
        )
    if kind.__name__ == "DagsterInvalidConfigError":
        return _unset(error)
    return None


def _unset(error: Any) -> str | None:
    variable = _UNSET.search(" ".join(fault.message for fault in error.errors))
    if variable is None:
        return None
    return f"dagster.yaml names the environment variable {variable[1]}, and it is not set: set it"
