"""Errors of the machine as one sentence that says what to do.

A full disk, a folder that cannot be written, too little memory. The system, DuckDB, Arrow and
SQLite each have words of their own for them, and Dagster passes on only words; so errors are
recognised by words. Not here: whether an error is transient (`transient_errors`), errors of
PostgreSQL (`database`) and of object stores (`object_stores`), and errors of data, which have
messages of their own.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from typing import Any, Final, TextIO, cast

from temporal_assets.machine.database import database_trouble
from temporal_assets.machine.object_stores import store_trouble

_WHOLE: Final = "What is published is whole"

_FULL_DISK: Final = (
    f"the disk of the state folder is full. {_WHOLE}; free some space (or move the folder and name "
    "it with --state), and run the same command again"
)
_TOO_LARGE: Final = (
    "a file would become larger than this user or this disk allows (`ulimit -f`, a quota). "
    f"{_WHOLE}; raise the limit, and run the same command again"
)
_DISK_FAULT: Final = (
    "the disk did not take or give what was written: it is full, a limit on the size of files was "
    f"reached (`ulimit -f`, a quota), or it is failing. {_WHOLE}; mend that, and run the same "
    "command again"
)
_READ_ONLY: Final = (
    f"{{where}} cannot be written: its disk is mounted read-only. {_WHOLE}; make it writable, and "
    "run the same command again"
)
_DENIED: Final = (
    "{where}: permission denied. Run the command as the user to whom the state folder belongs, or "
    "give the folder to this one (chown -R, chmod u+rwX)"
)
_NO_MEMORY: Final = (
    f"there is not enough memory. {_WHOLE}; raise `engine.memory_limit`, or lower "
    "`engine.threads` in settings.toml, and run the same command again"
)

_QUOTED: Final = re.compile(r"['\"](/[^'\"]+)['\"]")
"""Expression for a path in messages of Python and DuckDB."""

_WORDS: Final = (
    ("no space left", _FULL_DISK),
    ("disk is full", _FULL_DISK),
    ("disk quota exceeded", _FULL_DISK),
    ("file too large", _TOO_LARGE),
    ("disk i/o error", _DISK_FAULT),  # SQLite
    ("read-only file system", _READ_ONLY),
    ("readonly database", _READ_ONLY),
    ("permission denied", _DENIED),
    ("operation not permitted", _DENIED),
    ("unable to open database file", _DENIED),
    ("out of memory", _NO_MEMORY),
    ("cannot allocate memory", _NO_MEMORY),
    ("unable to allocate", _NO_MEMORY),
    ("could not allocate", _NO_MEMORY),
    ("failed to allocate", _NO_MEMORY),
    ("can't start new thread", _NO_MEMORY),
    ("failed to launch worker thread", _NO_MEMORY),  # Arrow
    ("arrowmemoryerror", _NO_MEMORY),
)
"""Words of errors in lower case and the problem they mean, the more specific first."""


_UNWRITTEN: Final = "Exception while writing logger call to event log"
"""Beginning of Dagster's message on an event it could not write
(`dagster._core.instance.types`)."""


def sentence_of(error: BaseException) -> str | None:
    """Return the message if an error, or one behind it, is of the machine; else None."""
    chain = list(_chain(error))
    own = next(filter(None, map(_sentence_of_one, chain)), None)
    return database_trouble(chain) or own or store_trouble(chain)


def is_of_database(error: BaseException) -> bool:
    """Return True if an error is, or comes from, an error of Dagster's database."""
    return database_trouble(list(_chain(error))) is not None


def sentence_of_text(text: str) -> str | None:
    """Return the message for the text of an error of the machine, None for other texts."""
    lower = text.lower()
    sentence = next((sentence for words, sentence in _WORDS if words in lower), None)
    if sentence is None:
        return None
    quoted = _QUOTED.search(text)
    return sentence.format(where=quoted[1] if quoted else "the state folder")


def without_unwritten(stream: TextIO) -> TextIO:
    """Return a stream that leaves out Dagster's messages on events it could not write.

    Dagster writes the error of SQLite and SQLAlchemy there, with the event itself. It then raises
    the error, which is reported by a sentence of ours.
    """
    return cast("TextIO", _WithoutUnwritten(stream))


class _WithoutUnwritten:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        is_told = text.startswith(_UNWRITTEN) and sentence_of_text(text) is not None
        return len(text) if is_told else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _sentence_of_one(error: BaseException) -> str | None:
    """Return what to do about an error of the machine, or None for other errors."""
    if isinstance(error, MemoryError):
        return _NO_MEMORY
    if isinstance(error, OSError):
        if error.errno not in _NUMBERS:
            return sentence_of_text(str(error)) if error.errno is None else None
        where = os.fsdecode(error.filename) if error.filename else "the state folder"
        return _NUMBERS[error.errno].format(where=where)
    return sentence_of_text(f"{type(error).__name__}: {error}") if _is_of_a_machine(error) else None


_NUMBERS: Final = {
    errno.ENOSPC: _FULL_DISK,
    errno.EDQUOT: _FULL_DISK,
    errno.EFBIG: _TOO_LARGE,
    errno.EROFS: _READ_ONLY,
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.ENOMEM: _NO_MEMORY,
}

_MACHINES: Final = ("duckdb", "_duckdb", "pyarrow", "sqlite3", "sqlalchemy", "builtins", "dagster")
"""Modules whose errors carry words of the system; messages of our own quote data, which may hold
any words."""


def _is_of_a_machine(error: BaseException) -> bool:
    kind = type(error)
    if kind.__module__ == "builtins":
        return kind is RuntimeError  # of threads
    return kind.__module__.split(".")[0] in _MACHINES


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__
