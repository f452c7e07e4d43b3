"""Turning requests into log lines: one layout per format, written by the kernel of `ragged`.

What belongs here: formats, time stamps, escapes, tracking keys, garbage. What does not: which
file a line goes to (`files`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from temporal_assets.demo.noise import GARBAGE_KINDS
from temporal_assets.demo.people import AGENTS
from temporal_assets.demo.ragged import Int8s, Int64s, Ragged, compose, pack, stack
from temporal_assets.demo.requests import (
    GARBAGE,
    METHODS,
    NO_REFERRER,
    SEARCHES,
    STATUSES,
    TRUNCATED,
    Requests,
)
from temporal_assets.demo.sites import Site
from temporal_assets.demo.urls import SiteUrls

FORMATS: Final = ("combined", "combined_vhost", "nginx_json", "w3c")

_DECORATIONS: Final = (
    "",
    "utm_source=newsletter&utm_medium=email",
    "utm_source=social",
    "utm_campaign=spring",
    "gclid=EAIaIQobChMI7bW",
    "fbclid=IwAR0qV9xT",
    "PHPSESSID=8f14e45fceea167a5a36dedd4bea2543",
    "PHPSESSID=c9f0f895fb98ab9159f51fd0297e236d",
    "utm_medium=cpc&utm_source=search",
)
_LEADS: Final = (b"", b"?", b"&")
"""A tracking key stands alone in W3C's query field, or opens or continues a query."""

_SIZES: Final = 4_096
_REDIRECT: Final = STATUSES.index(b"301")
_CLOCKS: Final = [b"%02d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60) for s in range(86_400)]

_W3C_HEADER: Final = (
    "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n"
    "#Date: {day} 00:00:00\r\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port "
    "cs-username c-ip cs(User-Agent) cs(Referer) cs-host sc-status sc-substatus sc-win32-status "
    "sc-bytes time-taken\r\n"
)


@dataclass(frozen=True, slots=True)
class Layout:
    """A format: its columns by name and the bytes around them."""

    columns: tuple[str, ...]
    glue: tuple[bytes, ...]
    """One more than columns."""
    date: str
    zone: str
    """`strftime` of the date; `%z` or `%:z` of the zone, empty where there is none."""
    nothing: bytes
    """What stands for a missing referrer."""

    @property
    def target_at(self) -> int:
        """Column after which a truncated line breaks off: no reader can take it for whole."""
        return self.columns.index("target")


_COMMON: Final = ("address", "date", "clock", "zone", "method", "target", "decoration")
_REST: Final = ("status", "size", "referrer", "agent")
_QUOTED: Final = (b' - - [', b":", b" ", b'] "', b" ", b"", b' HTTP/1.1" ', b" ", b' "', b'" "')

LAYOUTS: Final = {
    "combined": Layout(
        (*_COMMON, *_REST), (b"", *_QUOTED, b'"\n'), "%d/%b/%Y", "%z", b"-"
    ),
    "combined_vhost": Layout(
        ("host", *_COMMON, *_REST), (b"", b" ", *_QUOTED, b'"\n'), "%d/%b/%Y", "%z", b"-"
    ),
    "nginx_json": Layout(
        ("date", "clock", "zone", "host", "address", "method", "target", "decoration", *_REST),
        (
            b'{"time_iso8601":"', b"T", b"", b'","host":"', b'","remote_addr":"',
            b'","request_method":"', b'","request_uri":"', b"", b'","status":',
            b',"body_bytes_sent":', b',"http_referer":"', b'","http_user_agent":"',
            b'","scheme":"https"}\n',
        ),
        "%Y-%m-%d", "%:z", b"",
    ),
    "w3c": Layout(
        (
            "date", "clock", "method", "target", "query", "decoration", "address",
            "agent", "referrer", "host", "status", "size",
        ),
        (
            b"", b" ", b" 192.0.2.250 ", b" ", b" ", b"", b" 443 - ", b" ", b" ", b" ", b" ",
            b" 0 0 ", b" 15\r\n",
        ),
        "%Y-%m-%d", "", b"-",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """Where the requests of a group of sites stand in the writer's tables."""

    requests: Requests
    site: NDArray[np.int16]
    """Position of each request's site in the group."""


class Writer:
    """Writes the requests of a group of sites in one format."""

    def __init__(
        self,
        name: str,
        zone: str,
        first_day: dt.date,
        days: int,
        addresses: Ragged,
        everyone: Sequence[Site],
        sites: Sequence[Site],
        urls: Sequence[SiteUrls],
    ) -> None:
        self.layout = LAYOUTS[name]
        self.name = name
        self.zone = ZoneInfo(zone)
        self.first_day = first_day
        self.externals = 1 + len(SEARCHES) + len(everyone)
        external = [self.layout.nothing, *(url.encode() for url in SEARCHES)]
        external += [f"{site.origin}/".encode() for site in everyone]
        self._origin = np.array([table.origin for table in urls], np.int64)
        self._query = np.concatenate([table.query for table in urls])
        self._first_row = np.cumsum([0, *(len(table.table) for table in urls)])
        self._tables = dict(
            zip(
                _TABLES,
                stack(
                    addresses,
                    pack(external),
                    pack([self._agent(agent) for agent in AGENTS]),
                    pack(self._hosts(sites)),
                    pack(METHODS),
                    pack(STATUSES),
                    pack([b"%d" % (700 + 7_919 * i % 60_000) for i in range(_SIZES)]),
                    pack(_CLOCKS),
                    pack(self._dates(days)),
                    pack(_zones(self.layout.zone)),
                    pack([lead + d.encode() if d else b"" for d in _DECORATIONS for lead in _LEADS]),
                    pack([b"", b"-"]),
                    pack([row for day in range(days) for row in self._garbage(day)]),
                    *(table.table for table in urls),
                ),
                strict=False,
            )
        )
        stacked = stack(
            *(self._tables[key] for key in ()), 
        ) if False else None

    def header(self, day: dt.date) -> bytes:
        """What a file begins with; nothing in most formats."""
        return _W3C_HEADER.format(day=day).encode() if self.name == "w3c" else b""
