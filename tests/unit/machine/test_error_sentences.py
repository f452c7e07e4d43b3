"""Sentences for faults of the machine, whoever words them; none for others."""

from __future__ import annotations

import errno
import io
import sqlite3

import duckdb
import pyarrow as pa
import pytest

from temporal_assets.machine.error_sentences import (
    sentence_of,
    sentence_of_text,
    without_unwritten,
)


def _behind(cause: Exception) -> Exception:
    error = ValueError("the run failed")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "disk of the state folder is full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "disk of the state folder is full"),
        (duckdb.IOException("IO Error: ... No space left on device"), "folder is full"),
        (sqlite3.OperationalError("database or disk is full"), "folder is full"),
        (_behind(OSError(errno.ENOSPC, "No space left on device")), "folder is full"),
        (OSError(errno.EFBIG, "File too large"), "ulimit -f"),
        (sqlite3.OperationalError("disk I/O error"), "ulimit -f"),
        (OSError(errno.EROFS, "Read-only file system", "/data/x"), "/data/x cannot be written"),
        (PermissionError(errno.EACCES, "Permission denied", "/data/x"), "/data/x: permission"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "cannot be written"),
        (MemoryError(), "engine.memory_limit"),
        (pa.ArrowMemoryError("malloc of size 64 failed"), "engine.memory_limit"),
        (duckdb.OutOfMemoryException("Out of Memory Error: ..."), "engine.memory_limit"),
        (RuntimeError("can't start new thread"), "engine.memory_limit"),
        (pa.ArrowException("Unknown error: Failed to launch worker thread"), "engine.memory_limit"),
    ],
)
def test_faults_of_the_machine_have_a_sentence(error: Exception, words: str) -> None:
    sentence = sentence_of(error)
    assert sentence is not None
    assert words in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "error",
    [
        ValueError("line 7: 'GET /no space left on device'"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "/data/out of memory"),
        KeyError("permission denied"),
    ],
)
def test_other_faults_keep_their_words(error: Exception) -> None:
    assert sentence_of(error) is None


def test_words_are_enough_where_the_error_is_gone() -> None:
    """Dagster keeps the text of an error and its type's name."""
    text = "PermissionError: [Errno 13] Permission denied: '/data/state/tables'\n"
    assert sentence_of_text(text) == (
        "/data/state/tables: permission denied. Run the command as the user to whom the state "
        "folder belongs, or give the folder to this one (chown -R, chmod u+rwX)"
    )
    assert sentence_of_text("ValueError: no day") is None


def test_only_words_that_a_sentence_replaces_are_kept_from_a_stream() -> None:
    stream = io.StringIO()
    quiet = without_unwritten(stream)
    begin = "Exception while writing logger call to event log: "
    quiet.write(f"{begin}(sqlite3.OperationalError) database or disk is full\n")
    print(f"{begin}(KeyError) of ours", "no space left", file=quiet, sep="\n", flush=True)
    assert stream.getvalue() == f"{begin}(KeyError) of ours\nno space left\n"
