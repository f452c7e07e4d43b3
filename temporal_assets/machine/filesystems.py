"""File systems of URLs, with time limits for stores that accept a request and never answer.

Here: the one way to an fsspec file system. Not here: what a store's errors mean
(`logs.read.objects`).
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import fsspec
from fsspec.config import conf

_CONNECT_SECONDS: Final = 5
"""Seconds after which a store that accepts no connection counts as down."""

_SILENT_SECONDS: Final = 10
"""Seconds without a byte before a request counts as lost and is sent again."""

_ATTEMPTS: Final = {"total_max_attempts": 3, "mode": "standard"}
"""s3fs sends a request five times, and botocore below it each of those five times by itself: a
server that never answers held up a command for more than six minutes. Three are two and a half."""

_S3: Final = {
    "config_kwargs": {
        "connect_timeout": _CONNECT_SECONDS,
        "read_timeout": _SILENT_SECONDS,
        "retries": _ATTEMPTS,
    }
}

_AZURE: Final = {"connection_timeout": _CONNECT_SECONDS, "read_timeout": _SILENT_SECONDS}


def filesystem_of(url: str) -> tuple[Any, str]:
    """Return the file system of a URL or path, and the path within it.

    Raises `ImportError` without the package that knows the protocol.
    """
    _limit(url.partition("://")[0])
    fs, path = fsspec.url_to_fs(url)
    return fs, str(path)


def filesystem(protocol: str) -> Any:
    """Return the file system of a protocol."""
    _limit(protocol)
    return fsspec.filesystem(protocol)


def _limit(protocol: str) -> None:
    """Set the time limits of a protocol, unless fsspec's own configuration sets them."""
    if protocol in ("s3", "s3a"):
        session = None if "profile" in conf.get(protocol, {}) else s3_session()
        limits: dict[str, Any] = {**_S3, **({"session": session} if session else {})}
    elif protocol in ("gs", "gcs"):
        limits = {"requests_timeout": _google_limit()}
    elif protocol in ("az", "abfs", "abfss"):
        limits = _AZURE
    else:
        return
    conf[protocol] = limits | conf.get(protocol, {})


@cache
def s3_session() -> Any:
    """Return a session for S3 that sends a body without asking the store first.

    Asked for permission ("Expect: 100-continue"), a store that takes the connection and then says
    nothing is waited for without any limit: that of silence begins when the body was sent.
    """
    try:
        from aiobotocore.session import AioSession
        from botocore.handlers import add_expect_header
    except ImportError:  # as s3fs is then
        return None
    session = AioSession()
    session.unregister("before-call.s3", add_expect_header)
    return session


def _google_limit() -> Any:
    """Return aiohttp time limits that end on silence, however long a large object takes."""
    try:
        from aiohttp import ClientTimeout
    except ImportError:  # as gcsfs is then
        return None
    return ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=_SILENT_SECONDS)
