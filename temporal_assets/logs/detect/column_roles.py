"""Assignment of fields (time, address, request, host …) to the columns of sample lines.

In: the columns of lines that are divided alike (`line_fields`). Out: `ColumnRoles.of`, the field of
each column that has one, and sentences on doubtful choices. Not here: tests of single values
(`value_kinds`), the assignment as a log format (`inference`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from temporal_assets.logs.detect.line_fields import NEARLY_ALL, Delimiter, SampleColumn
from temporal_assets.logs.detect.value_kinds import (
    BARE_AGENT,
    CLOCK_TEXT,
    DAY_TEXT,
    METHOD,
    NUMBER,
    REQUEST,
    SCHEME,
    STATUS,
    are_times,
    fully,
    is_address_list,
    is_agent,
    is_host,
    is_status,
    is_target,
    is_upstream,
    is_url,
)
from temporal_assets.logs.fields.layouts import Slot

_MAJORITY: Final = 0.5
"""Share of values from which on most of them pass a test."""


class ColumnRoles:
    """Assignment of fields to columns, decided one field after another."""

    def __init__(self, columns: Sequence[SampleColumn], host: bytes | None) -> None:
        self.columns = columns
        self.of: dict[int, Slot] = {}
        """Field of each column that has one, by column index."""
        self.doubts: list[str] = []
        # The order matters: each step chooses among the columns that the steps before left free.
        self._set(Slot.TIME, self._time())
        self._request()
        self._set(Slot.STATUS, self._status())
        self._addresses()
        self._agent_and_referrer()
        self._set(Slot.HOST, self._host(host))
        self._set(Slot.SCHEME, self._first(fully(SCHEME)))
        self._empty_forwarded()

    def are_enough(self) -> bool:
        """Return True if the assigned fields suffice to read lines."""
        assigned = set(self.of.values())
        is_requested = Slot.REQUEST in assigned or Slot.TARGET in assigned
        return {Slot.TIME, Slot.ADDRESS} <= assigned and is_requested

    def _set(self, slot: Slot, column: SampleColumn | None) -> None:
        if column is not None:
            self.of[column.index] = slot

    def _first_column_of(self, *slots: Slot) -> int:
        """Return the first column that has one of some fields, or 0."""
        return min((i for i, slot in self.of.items() if slot in slots), default=0)

    def _free(self) -> Iterator[SampleColumn]:
        return (column for column in self.columns if column.index not in self.of)

    def _first(
        self, test: Callable[[bytes], bool], least: float = NEARLY_ALL
    ) -> SampleColumn | None:
        return next((column for column in self._free() if column.is_mostly(test, least)), None)

    def _time(self) -> SampleColumn | None:
        """Return the time column; a date column before it is assigned too."""
        columns = [
            c for c in self.columns if sum(are_times(c.values)) >= NEARLY_ALL * len(c.values)
        ]
        written = [c for c in columns if not c.is_mostly(fully(NUMBER))]
        bracketed = [c for c in written if c.kind is Delimiter.BRACKETS]
        for some in (bracketed, written):
            if some:
                return some[0]
        for date, clock in zip(self.columns, self.columns[1:], strict=False):
            if date.is_mostly(fully(DAY_TEXT)) and clock.is_mostly(fully(CLOCK_TEXT)):
                self._set(Slot.DATE, date)
                return clock
        return columns[0] if columns else None

    def _request(self) -> None:
        """Assign the request as a whole, or its method and target separately, or a URL alone."""
        request = self._first(fully(REQUEST), _MAJORITY)
        if request is not None:
            return self._set(Slot.REQUEST, request)
        method = self._first(fully(METHOD))
        self._set(Slot.METHOD, method)
        place = method.index if method else -1
        columns = [column for column in self._free() if column.is_mostly(is_target)]
        behind = (column for column in columns if column.index > place)
        target = next(behind, columns[0] if columns else None)
        if method is None and target is not None and not target.is_mostly(is_url):
            target = None  # a path, but perhaps not of a request
        return self._set(Slot.TARGET, target)

    def _status(self) -> SampleColumn | None:
        """Return the first status column behind the request, or else the first of all.

        A column of zeros is no status.
        """
        place = self._first_column_of(Slot.REQUEST, Slot.TARGET)
        columns = [
            column
            for column in self._free()
            if column.is_mostly(is_status) and column.is_mostly(fully(STATUS), _MAJORITY)
        ]
        behind = (column for column in columns if column.index > place)
        return next(behind, columns[0] if columns else None)

    def _addresses(self) -> None:
        """Assign the visitor's address and X-Forwarded-For."""
        columns = [
            column
            for column in self._free()
            if column.share(is_address_list, of_all=True) >= _MAJORITY
        ]
        columns = [
            column for column in columns if not column.is_mostly(is_upstream, 1.0)
        ] or columns
        alone = [column for column in columns if column.kind is Delimiter.WORD] or columns
        if alone:
            visitor = self._visitor(alone)
            self._set(Slot.ADDRESS, visitor)
        elif self.columns[0].index not in self.of and self._begins_with_name_and_empty_ident():
            self._set(Slot.ADDRESS, self.columns[0])
        quoted = (column for column in self._free() if column.kind is Delimiter.QUOTES)
        forwarded = (
            column
            for column in quoted
            if column.is_mostly(is_address_list) and not column.is_mostly(is_upstream, _MAJORITY)
        )
        self._set(Slot.FORWARDED, next(forwarded, None))

    def _visitor(self, columns: Sequence[SampleColumn]) -> SampleColumn:
        """Return the first address column, unless it hardly varies and a later one does.

        On a server of many sites, a later column that varies may be the sites' addresses.
        """
        first, most = columns[0], max(columns, key=lambda column: len(set(column.filled)))
        visitors, sites = len(set(most.filled)), self._most_hosts()
        if len(set(first.filled)) * 4 <= visitors and sites * 2 < visitors:
            self.doubts.append(
                f"field {first.index + 1} is an address that hardly changes: field"
                f" {most.index + 1} is taken for the visitor"
            )
            return most
        return first

    def _most_hosts(self) -> int:
        """Return the largest number of different hosts in any column."""
        hosts = (column for column in self._free() if column.is_mostly(is_host))
        return max((len(set(column.filled)) for column in hosts), default=0)

    def _begins_with_name_and_empty_ident(self) -> bool:
        """Return True if the first word is a visitor's name or pseudonym, before an empty ident."""
        second = self.columns[1]
        return (
            self.columns[0].kind is Delimiter.WORD
            and not second.filled
            and len(self.columns[0].filled) == len(self.columns[0].values)
        )

    def _agent_and_referrer(self) -> None:
        """Assign the user agent, and the column of URLs nearest to it as the referrer."""
        agents = [column for column in self._free() if column.is_mostly(is_agent, _MAJORITY)]
        quoted = [column for column in agents if column.kind is Delimiter.QUOTES]
        # Words with a slash are many things; agents are written with `+` or `%20` for blanks.
        bare = [column for column in agents if column.is_mostly(fully(BARE_AGENT), _MAJORITY)]
        agent = max(quoted or bare, key=lambda column: len(set(column.filled)), default=None)
        self._set(Slot.AGENT, agent)
        links = [
            column
            for column in self._free()
            if column.is_mostly(is_url, _MAJORITY) and not self._is_of_the_request(column)
        ]
        place = agent.index if agent else len(self.columns)
        if links:
            links.sort(key=lambda column: abs(place - column.index))
            return self._set(Slot.REFERRER, links[0])
        for column in self._free():
            is_quoted = column.kind is Delimiter.QUOTES
            if agent and is_quoted and not column.filled and column.index == place - 1:
                return self._set(Slot.REFERRER, column)
        return None

    def _empty_forwarded(self) -> None:
        """Assign an empty quoted field behind the agent to X-Forwarded-For."""
        place = self._first_column_of(Slot.AGENT)
        if Slot.FORWARDED in self.of.values() or not place:
            return
        behind = self.columns[place + 1 : place + 2]
        is_quoted = [column.kind is Delimiter.QUOTES for column in behind] == [True]
        if is_quoted and behind[0].index not in self.of and not behind[0].filled:
            self._set(Slot.FORWARDED, behind[0])

    def _is_of_the_request(self, column: SampleColumn) -> bool:
        """Return True if a column's URLs repeat the requests of the same lines."""
        place = next((i for i, s in self.of.items() if s in (Slot.REQUEST, Slot.TARGET)), None)
        if place is None:
            return False
        requests = self.columns[place].values
        same = sum(
            url.partition(b"://")[2].partition(b"/")[2] in request and url.count(b"/") > 3
            for url, request in zip(column.values, requests, strict=True)
        )
        return same > _MAJORITY * len(column.filled)

    def _host(self, named: bytes | None) -> SampleColumn | None:
        """Return the host column of the site: of several, the one that occurs in referrers most."""
        columns = [
            column
            for column in self._free()
            if column.is_mostly(is_host)
            and len(column.filled) >= _MAJORITY * len(column.values)
            and not self._is_machine(column)
        ]
        if named is not None:
            return next((c for c in columns if named in map(_without_port, c.filled)), None)
        if not columns:
            return None
        linking = _hosts_of(self._values(Slot.REFERRER))
        linking_count = {
            c.index: sum(linking[_without_port(value)] for value in set(c.filled)) for c in columns
        }
        best = max(columns, key=lambda column: (linking_count[column.index], -column.index))
        if len(columns) > 1 and not linking_count[best.index]:
            others = ", ".join(str(c.index + 1) for c in columns if c is not best)
            self.doubts.append(
                f"field {best.index + 1} is taken for the host of the site; field {others} looks"
                " like one as well, and no referrer of the first lines tells"
            )
        return best

    def _is_machine(self, column: SampleColumn) -> bool:
        """Return True if a host column is a log shipper's machine, by a time or tag beside it."""
        if column.index > self._first_column_of(Slot.ADDRESS):
            return False
        before, behind = self.columns[: column.index][-1:], self.columns[column.index + 1 :][:1]
        is_dated = any(sum(are_times(c.values)) or c.is_mostly(fully(CLOCK_TEXT)) for c in before)
        return is_dated or any(c.is_mostly(lambda value: value.endswith(b":")) for c in behind)

    def _values(self, slot: Slot) -> Iterable[bytes]:
        return (value for i, s in self.of.items() if s is slot for value in self.columns[i].filled)


def _without_port(host: bytes) -> bytes:
    """Return a host in lower case, without its port and without a dot at the end."""
    return host.lower().partition(b":")[0].rstrip(b".")


def _hosts_of(urls: Iterable[bytes]) -> Counter[bytes]:
    """Return how often each host occurs in some URLs."""
    hosts: Counter[bytes] = Counter()
    for url in urls:
        try:
            host = urlsplit(url).hostname
        except ValueError:
            continue
        if host:
            hosts[host] += 1
    return hosts
