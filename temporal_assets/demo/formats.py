"""Turning requests into log lines: one layout per format, written by the kernel of `ragged`.

What belongs here: formats, time stamps, escapes, tracking keys, garbage. What does not: which
file a line goes to (`files`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final
from urllib.parse import quote
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from temporal_assets.demo.noise import GARBAGE_KINDS
from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.people import AGENTS
from temporal_assets.demo.world.ragged import Bytes, Int64s, Ragged, compose, pack, stack
from temporal_assets.demo.world.requests import (
    GARBAGE,
    METHODS,
    NO_REFERRER,
    SEARCHES,
    STATUSES,
    TRUNCATED,
    Requests,
)
from temporal_assets.demo.world.sites import Site
from temporal_assets.demo.world.urls import Escape, SiteUrls

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
"""Characters before a tracking key: none if it is alone in a query field, else `?` or `&`."""
_ALONE, _OPENS, _CONTINUES = range(3)

_GARBAGE: Final = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\xa7\xff\x90",
    b"\0\0\0\0\0\0\0\0\0\0\0\0",
    b"[1042.551] worker[77]: segfault at 0 ip 00007f1c error 4 in libc.so",
    b'Safari/537.36" "-',
    b"GET / HTTP/1.1",
    b"\xff\xfe<?php echo 1; ?>",
)
"""Lines in no format: TLS spoken to a port without it, a block of a crashed disk, a kernel message,
the end of another line, half a request, an attack."""
assert len(_GARBAGE) == GARBAGE_KINDS  # noqa: S101 - two modules name one number

_SIZES: Final = 4_096
_NO_BODY: Final = tuple(STATUSES.index(status) for status in (b"304", b"301"))
_EPOCH_STEP: Final = 100_000
"""Factor between the two pieces of seconds since 1970, the latter of five digits."""

_VERSION_HEADER: Final = "#Version: 1.0\n#Fields: {fields}\n"
_W3C_FIELDS: Final = (
    "date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) "
    "cs(Referer) cs-host sc-status sc-substatus sc-win32-status sc-bytes time-taken"
)
_CLOUDFRONT_FIELDS: Final = (
    "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status "
    "cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id "
    "x-host-header cs-protocol cs-bytes time-taken"
)


@dataclass(frozen=True, slots=True)
class Layout:
    """A log format: its columns by name and the bytes around them."""

    columns: tuple[str, ...]
    glue: tuple[bytes, ...]
    """Bytes between columns; one more than columns."""
    date: str = ""
    """Format of the date for `strftime`."""
    zone: str = ""
    """Format of the zone: `%z` or `%:z`; empty where times are UTC."""
    nothing: bytes = b"-"
    """Bytes that stand for a missing referrer."""
    splits_query: bool = False
    """True if the query is a field of its own."""

    @property
    def target_at(self) -> int:
        """Column after which a truncated line breaks off: no reader can take it for whole."""
        return self.columns.index("target")


_COMMON: Final = ("address", "date", "clock", "zone", "method", "target", "decoration")
_REST: Final = ("status", "size", "referrer", "agent")
_QUOTED: Final = (b" - - [", b":", b" ", b'] "', b" ", b"", b' HTTP/1.1" ', b" ", b' "', b'" "')

LAYOUTS: Final = {
    "combined": Layout((*_COMMON, *_REST), (b"", *_QUOTED, b'"\n'), "%d/%b/%Y", "%z"),
    "combined_vhost": Layout(
        ("host", *_COMMON, *_REST), (b"", b" ", *_QUOTED, b'"\n'), "%d/%b/%Y", "%z"
    ),
    "nginx_json": Layout(
        ("date", "clock", "zone", "host", "address", "method", "target", "decoration", *_REST),
        (
            b'{"time_iso8601":"', b"T", b"", b'","host":"', b'","remote_addr":"',
            b'","request_method":"', b'","request_uri":"', b"", b'","status":',
            b',"body_bytes_sent":', b',"http_referer":"', b'","http_user_agent":"',
            b'","scheme":"https"}\n',
        ),
        "%Y-%m-%d", "%:z", nothing=b"",
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
        "%Y-%m-%d", splits_query=True,
    ),
    "cloudfront": Layout(
        (
            "date", "clock", "size", "address", "method", "target", "status", "referrer",
            "agent", "query", "decoration", "host",
        ),
        (
            b"", b"\t", b"\tFRA56-P4\t", b"\t", b"\t", b"\td111111abcdef8.cloudfront.net\t",
            b"\t", b"\t", b"\t", b"\t", b"", b"\t-\tHit\tSOX4xwn4XV6Q4rgb7XiVGOHms==\t",
            b"\thttps\t311\t0.015\n",
        ),
        "%Y-%m-%d", splits_query=True,
    ),
    "caddy_json": Layout(
        (
            "epoch", "seconds", "milliseconds", "address", "method", "host", "target",
            "decoration", "agent", "referrer_opens", "referrer", "referrer_closes",
            "size", "status",
        ),
        (
            b'{"level":"info","ts":', b"", b".",
            b',"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"',
            b'","proto":"HTTP/2.0","method":"', b'","host":"', b'","uri":"', b"",
            b'","headers":{"User-Agent":["', b'"]', b"", b"",
            b'}},"bytes_read":0,"user_id":"","duration":0.002,"size":', b',"status":', b"}\n",
        ),
        nothing=b"",
    ),
}  # fmt: skip
"""Layouts by the names under which `temporal_assets.logs.formats.known_formats` reads them."""


class Writer:
    """Writes the requests of a group of sites in one format. Threads may share it."""

    def __init__(
        self,
        name: str,
        zone: str,
        options: DemoOptions,
        addresses: Ragged,
        externals: Sequence[bytes],
        sites: Sequence[Site],
        urls: Sequence[SiteUrls],
    ) -> None:
        self.name = name
        self.layout = LAYOUTS[name]
        self._externals = len(externals)
        self._origin = np.array([table.origin for table in urls], np.int64)
        self._first_row = np.cumsum([0, *(len(table.table) for table in urls)])
        self._query = np.concatenate([table.query for table in urls])
        self._midnight = int(
            dt.datetime.combine(options.first_day, dt.time(), dt.UTC).timestamp()
        )  # fmt: skip
        self._hour_offset = self._offsets(zone if self.layout.zone else "UTC", options.days)
        offsets, self._zone_row = np.unique(self._hour_offset, return_inverse=True)
        first_epoch = self._midnight // _EPOCH_STEP
        last_epoch = (self._midnight + options.days * 86_400) // _EPOCH_STEP
        dates = [options.first_day + dt.timedelta(day) for day in range(-1, options.days + 1)]
        decorations = [lead + d.encode() if d else b"" for d in _DECORATIONS for lead in _LEADS]
        tables = {
            "address": addresses,
            "agent": pack([_agent(name, agent) for agent in AGENTS]),
            "host": pack([site.host.encode() for site in sites]),
            "method": pack(METHODS),
            "status": pack(STATUSES),
            "size": pack([b"0", *(b"%d" % (700 + 7_919 * i % 60_000) for i in range(_SIZES))]),
            "clock": _clocks(),
            "date": pack([date.strftime(self.layout.date).encode() for date in dates]),
            "zone": pack([_zone(self.layout.zone, int(offset)) for offset in offsets]),
            "epoch": pack([b"%d" % value for value in range(first_epoch, last_epoch + 1)]),
            "seconds": _seconds(),
            "milliseconds": pack([b"%03d" % value for value in range(1_000)]),
            "decoration": pack(decorations),
            "no_query": pack([b"", b"-"]),
            "referrer_opens": pack([b"", b',"Referer":["']),
            "referrer_closes": pack([b"", b'"]']),
            "garbage": pack(_GARBAGE),
            "external": pack([self.layout.nothing, *externals[1:]]),
        }
        stacked = stack(*tables.values(), *(table.table for table in urls))
        self._data = stacked[0].data
        self._tables = dict(zip(tables, stacked, strict=False))
        # Referrers that are no pages of the group, then its URLs: rows as `Requests.referrer`.
        pages = stacked[len(tables) - 1 :]
        self._urls = Ragged(
            self._data,
            np.concatenate([table.start for table in pages]),
            np.concatenate([table.size for table in pages]),
        )

    def header(self, day: dt.date) -> bytes:
        """Return the beginning of a file; empty in most formats."""
        if self.name == "w3c":
            software = "#Software: Microsoft Internet Information Services 10.0\n"
            header = software + f"#Date: {day} 00:00:00\n" + _VERSION_HEADER
            return header.format(fields=_W3C_FIELDS).replace("\n", "\r\n").encode()
        if self.name == "cloudfront":
            return _VERSION_HEADER.format(fields=_CLOUDFRONT_FIELDS).encode()
        return b""

    def lines(self, day: int, requests: Requests, site: NDArray[np.int16]) -> Bytes:
        """Return the lines of a day's requests, in order of time.

        `site` is the position of each request's site in the group.
        """
        order = np.argsort(requests.time, kind="stable")
        requests, site = requests.take(order), site[order]
        fields = self._times(day, requests)
        fields |= self._targets(requests, site)
        fields |= self._referrers(requests, site)
        fields["address"] = self._tables["address"].take(requests.client)
        fields["host"] = self._tables["host"].take(site)
        fields["size"] = self._tables["size"].take(_size_rows(requests))
        for name in ("agent", "method", "status"):
            fields[name] = self._tables[name].take(getattr(requests, name))
        columns = [fields[name] for name in self.layout.columns]
        last = np.full(len(requests), len(columns) - 1, np.int8)
        last[requests.flaw == TRUNCATED] = self.layout.target_at
        spoilt = np.flatnonzero(requests.flaw >= GARBAGE)
        last[spoilt] = 0
        garbage = self._tables["garbage"].take(requests.flaw[spoilt] - GARBAGE)
        # Fresh arrays from `take`: no other column shares them.
        columns[0].start[spoilt], columns[0].size[spoilt] = garbage.start, garbage.size
        return compose(self._data, columns, self.layout.glue, last).data

    def _times(self, day: int, requests: Requests) -> dict[str, Ragged]:
        """Return the texts of times that the layout needs, in the local time of the log."""
        second = requests.time // 1_000
        hour = day * 24 + second // 3_600
        local = second + self._hour_offset[hour]
        since_1970 = self._midnight + day * 86_400 + second.astype(np.int64)
        epoch = since_1970 // _EPOCH_STEP - self._midnight // _EPOCH_STEP
        rows = {
            "date": day + 1 + local // 86_400,
            "clock": local % 86_400,
            "zone": self._zone_row[hour],
            "epoch": epoch,
            "seconds": since_1970 % _EPOCH_STEP,
            "milliseconds": requests.time % 1_000,
        }
        return {
            name: self._tables[name].take(row)
            for name, row in rows.items()
            if name in self.layout.columns
        }

    def _targets(self, requests: Requests, site: NDArray[np.int16]) -> dict[str, Ragged]:
        """Return the request targets: path, query and tracking keys."""
        page = self._first_row[site] + requests.row
        row, origin = self._externals + page, self._origin[site]
        start = self._urls.start[row] + origin
        size = self._urls.size[row]
        question = self._query[page]
        has_query = question < size
        if not self.layout.splits_query:
            lead = np.where(has_query, _CONTINUES, _OPENS)
            target = Ragged(self._data, start, (size - origin).astype(np.int32))
            return {"target": target, "decoration": self._decorations(requests, lead)}
        lead = np.where(has_query, _CONTINUES, _ALONE)
        empty = self._tables["no_query"].take((requests.decoration == 0).astype(np.int64))
        query_start = np.where(has_query, self._urls.start[row] + question + 1, empty.start)
        query_size = np.where(has_query, size - question - 1, empty.size)
        return {
            "target": Ragged(self._data, start, (question - origin).astype(np.int32)),
            "query": Ragged(self._data, query_start, query_size.astype(np.int32)),
            "decoration": self._decorations(requests, lead),
        }

    def _decorations(self, requests: Requests, lead: Int64s) -> Ragged:
        row = requests.decoration.astype(np.int64) * len(_LEADS) + lead
        return self._tables["decoration"].take(row)

    def _referrers(self, requests: Requests, site: NDArray[np.int16]) -> dict[str, Ragged]:
        """Return the referrers as texts: pages of the sites, or pages outside."""
        inside = requests.referrer >= self._externals
        row = requests.referrer + np.where(inside, self._first_row[site], 0)
        named = (requests.referrer != NO_REFERRER).astype(np.int64)
        return {
            "referrer": self._urls.take(row),
            "referrer_opens": self._tables["referrer_opens"].take(named),
            "referrer_closes": self._tables["referrer_closes"].take(named),
        }

    def _offsets(self, zone: str, days: int) -> Int64s:
        """Return the offset from UTC in seconds of every hour of the window."""
        time_zone = ZoneInfo(zone)
        hours = (
            dt.datetime.fromtimestamp(self._midnight + hour * 3_600, time_zone)
            for hour in range(days * 24)
        )
        return np.array([int((h.utcoffset() or dt.timedelta()).total_seconds()) for h in hours])


def external_referrers(everyone: Sequence[Site]) -> list[bytes]:
    """Return the referrers outside of each site: none, search engines, other front pages."""
    return [b"", *(url.encode() for url in SEARCHES), *(f"{s.origin}/".encode() for s in everyone)]


def escape_of(name: str) -> Escape:
    """Return how servers of a format write bytes beyond ASCII that a browser did not escape."""
    if name in ("combined", "combined_vhost"):
        return Escape.BACKSLASH
    return Escape.PERCENT if name == "cloudfront" else Escape.NONE


@cache
def _clocks() -> Ragged:
    """Return the time of day of every second as text."""
    return pack([b"%02d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60) for s in range(86_400)])


@cache
def _seconds() -> Ragged:
    """Return the last five digits of the seconds since 1970, as texts."""
    return pack([b"%05d" % value for value in range(_EPOCH_STEP)])


def _size_rows(requests: Requests) -> Int64s:
    """Return the rows of sizes: constant for a page, none for answers without a body."""
    rows = 1 + requests.row.astype(np.int64) * 31 % _SIZES
    rows[np.isin(requests.status, _NO_BODY)] = 0
    return rows


def _agent(name: str, agent: str) -> bytes:
    if name == "cloudfront":
        return quote(agent, safe="()/;:,+").encode()
    if name == "w3c":
        return agent.replace(" ", "+").encode()
    return agent.replace('"', '\\"').encode()


def _zone(form: str, offset: int) -> bytes:
    sign, minutes = "-" if offset < 0 else "+", abs(offset) // 60
    colon = ":" if form == "%:z" else ""
    return f"{sign}{minutes // 60:02d}{colon}{minutes % 60:02d}".encode() if form else b""
