"""Faults that pass by themselves."""

from __future__ import annotations

import errno

import duckdb
import filelock
import pytest

from temporal_assets.days.rejects import TooManyRejects
from temporal_assets.landing.reading import UnreadableError
from temporal_assets.machine.transient_errors import is_transient


def raised_from(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def of_library(name: str, base: type[Exception] = Exception) -> Exception:
    """An error of a package that is not installed here; a subclass of the one that is known."""
    module, _, kind = name.rpartition(".")
    known = type(kind, (base,), {"__module__": module})
    return type("Special", (known,), {"__module__": module})("reset")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EIO, "Input/output error"),
        OSError(errno.ESTALE, "Stale file handle", "/nfs/access.log"),
        BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
        ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
        TimeoutError(errno.ETIMEDOUT, "Connection timed out"),
        TimeoutError("an object store did not answer"),
        filelock.Timeout("landing.lock"),
        raised_from(UnreadableError("reading failed"), OSError(errno.EIO, "Input/output error")),
        duckdb.IOException('IO Error: Could not read from file "x": Input/output error'),
        of_library("aiohttp.client_exceptions.ClientConnectionError"),
        of_library("botocore.exceptions.HTTPClientError"),
        of_library("requests.exceptions.ConnectionError", OSError),
    ],
    ids=repr,
)
def test_faults_that_pass(error: Exception) -> None:
    assert is_transient(error)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        raised_from(
            OSError(errno.EIO, "Input/output error"), OSError(errno.ENOSPC, "No space left")
        ),
        duckdb.IOException("IO Error: Input/output error: No space left on device"),
        duckdb.IOException("IO Error: No files found that match the pattern"),
        PermissionError(errno.EACCES, "Permission denied"),
        FileNotFoundError(errno.ENOENT, "No such file or directory"),
        OSError("Not a gzipped file"),
        TooManyRejects("Connection reset by peer, says a log line"),
        ValueError("Input/output error"),
        MemoryError(),
    ],
    ids=repr,
)
def test_faults_that_happen_again(error: Exception) -> None:
    assert not is_transient(error)


def test_a_circle_of_causes_ends() -> None:
    first, other = ValueError("one"), ValueError("other")
    first.__cause__, other.__cause__ = other, first
    assert not is_transient(first)
