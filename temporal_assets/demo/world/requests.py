"""The columns of generated requests, before any of them is a line of bytes.

What belongs here: the container and its codes. What does not: what is requested (`visits`,
`noise`) and how it is written (`formats`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.demo.world.ragged import Int8s, Int32s

DAY_MS: Final = 86_400_000


class Category(IntEnum):
    """Fate of a log line in cleaning."""

    PAGE = 0
    """A page request of a reader: kept."""
    STATIC = 1
    METHOD = 2
    STATUS = 3
    BOT = 4
    """Request of a declared robot."""
    SCRIPT = 5
    """Request of a script that pretends to be a browser, recognised by its behaviour."""
    MALFORMED = 6


METHODS: Final = (b"GET", b"POST", b"HEAD", b"OPTIONS", b"PROPFIND")
STATUSES: Final = (b"200", b"304", b"206", b"404", b"301", b"403", b"500")
OK: Final = 0
NOT_MODIFIED: Final = 1
PARTIAL: Final = 2

NO_REFERRER: Final = 0
SEARCHES: Final = (
    "https://www.google.com/",
    "https://www.bing.com/search?q=winter+tyres",
    "https://www.baidu.com/s?wd=%E6%96%B0%E9%97%BB",
    "https://duckduckgo.com/",
    "https://yandex.ru/",
)
"""Referrers of search engines, from code 1 on. Most send their origin only; some still send the
query."""

WHOLE: Final = 0
TRUNCATED: Final = 1
GARBAGE: Final = 2
"""First code of flaws that replace the line by a row of the garbage table."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests of one site on one day (UTC), in no order."""

    time: Int32s
    """Milliseconds since 0:00 UTC."""
    client: Int32s
    """Number of a client (`people`)."""
    row: Int32s
    """Row of the site's URLs (`urls`)."""
    referrer: Int32s
    """0 none, then the external referrers, then the site's URLs (`externals` + row)."""
    agent: NDArray[np.int16]
    decoration: Int8s
    """Query keys added by trackers; 0 none."""
    method: Int8s
    status: Int8s
    category: Int8s
    flaw: Int8s

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: NDArray[Any]) -> Requests:
        """Return the given rows."""
        return Requests(*(getattr(self, name)[rows] for name in _NAMES))


_NAMES: Final = tuple(field.name for field in fields(Requests))
_TYPES: Final = dict(
    zip(_NAMES, (*[np.int32] * 4, np.int16, *[np.int8] * 5), strict=True)
)  # fmt: skip


def make_requests(count: int, **columns: Any) -> Requests:
    """Return requests from arrays or single values; columns not given are 0."""
    request_columns = []
    for name, kind in _TYPES.items():
        column = np.empty(count, kind)
        column[:] = columns.get(name, 0)
        request_columns.append(column)
    return Requests(*request_columns)


def join_requests(parts: Sequence[Requests]) -> Requests:
    """Return all requests of the parts."""
    return Requests(*(np.concatenate([getattr(p, name) for p in parts]) for name in _NAMES))
