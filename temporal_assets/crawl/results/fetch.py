"""A fetch of a crawl: URL, time, status and more (docs/crawl-results.md)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa

KINDS: Final = frozenset(("page", "explore", "hub", "feed", "sitemap"))
"""Kinds of fetches: of a page, of a page to explore its site, or a visit to a source. A fetch of
any other kind counts as one of a page."""
PAGE: Final = "page"


class Fetch(NamedTuple):
    """A row of the table in docs/crawl-results.md."""

    time: dt.datetime
    url: str
    status: int | None
    """None where there was no response."""
    kind: str = PAGE
    changed: bool | None = None
    """True if the visited source had changed since the last visit, None if that is unknown."""
    source: str | None = None
    """Source that first showed the page; for a visit, the source itself."""
    new_links: int | None = None
    seconds: float | None = None
    """Seconds until the response began."""
    error: str | None = None


FETCH: Final = pa.schema(
    {
        "time": pa.timestamp("us", "UTC"),
        "url": pa.string(),
        "status": pa.int64(),
        "kind": pa.string(),
        "changed": pa.bool_(),
        "source": pa.string(),
        "new_links": pa.int64(),
        "seconds": pa.float64(),
        "error": pa.string(),
    }
)

_LONGEST: Final = 8192
"""Most characters of a URL; rows with longer ones are left out."""
_NOT_MODIFIED: Final = 304
_NO: Final = frozenset(("", "0", "false", "no", "null", "none"))
"""Texts that mean False, in lower case."""


def table_of(fetches: Iterable[Fetch]) -> pa.Table:
    """Return fetches as a table."""
    columns = list(zip(*fetches, strict=True)) or [()] * len(FETCH.names)
    arrays = [pa.array(c, field.type) for c, field in zip(columns, FETCH, strict=True)]
    return pa.Table.from_arrays(arrays, schema=FETCH)


def fetch_of(row: Mapping[str, Any]) -> Fetch | None:
    """Return a fetch from a row of a file, or None without a URL or time."""
    url, time = row.get("url"), time_of(row.get("time") or row.get("timestamp"))
    if not isinstance(url, str) or time is None or not 8 < len(url) <= _LONGEST:
        return None
    kind, source, error = row.get("kind"), row.get("source"), row.get("error")
    status = _number(row.get("status"))
    changed = _flag(row.get("changed"))
    return Fetch(
        time,
        url,
        status,
        kind if kind in KINDS else PAGE,
        False if status == _NOT_MODIFIED else changed,
        source if isinstance(source, str) and source else None,
        _number(row.get("new_links")),
        _real(row.get("seconds")),
        error[:200] if isinstance(error, str) and error else None,
    )


def time_of(value: Any) -> dt.datetime | None:
    """Parse a time: ISO 8601, 14 digits (CDX), seconds since 1970 or a datetime; default UTC."""
    try:
        if isinstance(value, dt.datetime):
            time = value
        elif isinstance(value, int | float):
            time = dt.datetime.fromtimestamp(value, dt.UTC)
        elif isinstance(value, str) and len(value) == 14 and value.isdecimal():
            time = dt.datetime.strptime(value, "%Y%m%d%H%M%S").replace(tzinfo=dt.UTC)
        elif isinstance(value, str):
            time = dt.datetime.fromisoformat(value.strip())
        else:
            return None
        time = time if time.tzinfo else time.replace(tzinfo=dt.UTC)
        return time.astimezone(dt.UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _number(value: Any) -> int | None:
    number = _real(value)
    return None if number is None or abs(number) > 2**53 else int(number)


def _real(value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < 1e300 else None


def _flag(value: Any) -> bool | None:
    if value is None or value == "":
        return None
    return value.strip().lower() not in _NO if isinstance(value, str) else bool(value)
