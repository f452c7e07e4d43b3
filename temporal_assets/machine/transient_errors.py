"""Recognition of transient errors, after which the same work may succeed in a minute.

A disk behind a network that does not answer, a connection that was reset, a lock that somebody held
too long. Not among them: errors of data, settings or code, which happen again; a full disk, which a
person has to mend.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import Final

_PASSING: Final = frozenset(
    {
        errno.EAGAIN,
        errno.EBUSY,
        errno.ECONNABORTED,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.EHOSTUNREACH,
        errno.EIO,
        errno.ENETUNREACH,
        errno.ESTALE,
        errno.ETIMEDOUT,
        getattr(errno, "EREMOTEIO", errno.EIO),  # Linux alone has it: a store's server failed
    }
)

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})

_PASSING_TYPES: Final = frozenset(
    {
        "TimeoutError",  # `filelock.Timeout` and fsspec's are of this kind
        "aiohttp.client_exceptions.ClientConnectionError",
        "aiohttp.client_exceptions.ClientPayloadError",
        "azure.core.exceptions.ServiceRequestError",
        "azure.core.exceptions.ServiceResponseError",
        "botocore.exceptions.ConnectionError",
        "botocore.exceptions.HTTPClientError",
        "requests.exceptions.ConnectionError",
        "requests.exceptions.Timeout",
        "urllib3.exceptions.ProtocolError",
        "urllib3.exceptions.TimeoutError",
    }
)
"""Names of types of transient errors; by name, since libraries of object stores may be missing."""

_SPOKEN_TYPES: Final = frozenset({"_duckdb.IOException", "duckdb.IOException"})
"""Types of errors that carry the words of the system's error, but not its number."""


def is_transient(error: BaseException) -> bool:
    """Return True if an error, or one that it was raised from, is transient."""
    chain = list(_chain(error))
    if any(_is_full_disk(link) for link in chain):
        return False
    return any(_passes(link) for link in chain)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__


def _passes(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in _PASSING
    names = {_name(kind) for kind in type(error).__mro__}
    if names & _SPOKEN_TYPES:
        return any(os.strerror(number) in str(error) for number in _PASSING)
    return bool(names & _PASSING_TYPES)


def _is_full_disk(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    return any(os.strerror(number).lower() in str(error).lower() for number in _FULL)


def _name(kind: type) -> str:
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
