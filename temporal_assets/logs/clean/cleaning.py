"""Cleaning of parsed lines to page requests: what is kept, and why the rest is not.

The cleaner keeps page requests of people, with canonical URLs and pseudonymous clients. It counts
the other lines: *rejected* if they are not well-formed records, *dropped* if they are, but show no
page view. Everything costly runs once per distinct value: columns are dictionary-encoded
(`encode`), as codes into distinct values.

Not here: reading bytes (`streams`, `formats`), and bots that show only by the requests of a
complete day (`sql/days/behavioural_bots.sql`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets.logs.fields.times import DAY, clocks
from temporal_assets.logs.privacy.clients import Clients
from temporal_assets.logs.privacy.pseudonyms import KeyRing
from temporal_assets.logs.privacy.redact import redact
from temporal_assets.logs.read.encode import (
    Codes,
    Encoded,
    concatenate,
    encode,
    encode_keys,
    from_values,
    take,
    to_arrow,
    to_list,
)
from temporal_assets.logs.read.memo import Memo
from temporal_assets.logs.read.records import Column, Counts, Offsets, Records, Reject
from temporal_assets.logs.read.tally import UNKNOWN_DAY, Tally
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.escapes import decode_escapes
from temporal_assets.logs.urls.plain_urls import (
    plain_pages,
    plain_targets,
    plainly_spelled,
    tidied,
)
from temporal_assets.logs.urls.static_files import is_static, sure_pages
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.settings import (
    DEFAULT_SCHEME,
    REJECT_SAMPLES,
    SHOWN_STATUSES,
    LogSource,
    Settings,
)

EARLIEST: Final = dt.date(1993, 1, 1)
"""Older timestamps are rejected: the common log format came with NCSA httpd, in 1993."""

AHEAD: Final = dt.timedelta(hours=24)
"""Lines dated later than now plus this are rejected: clocks drift and zones are misread by hours,
not by days. A file with more than one of them in a thousand is not read."""

METHOD: Final = b"GET"
"""Method of page views: requests with other methods show no page to anybody."""

DROPS: Final = ("method", "status", "static", "bot_agent", "event", "no_views")
"""Reasons to drop well-formed lines that are no page views, in the order they are checked."""

_FIRST_DROP: Final = 100
"""Verdict of the first of DROPS, the others follow; 0 is kept, numbers between are a `Reject`."""


_SCHEMES: Final = {b":80": b"http", b":443": b"https"}
"""Scheme by the ending of a host with its port."""


def _scheme_at(host: bytes, scheme: bytes) -> bytes:
    """Return the scheme of a host with a well-known port, else `scheme`.

    Apache's `%v:%p` names the port and not the scheme. With the default scheme, port 80 would give
    `https://host:80`, a different site from the one that referrers name.
    """
    return _SCHEMES.get(host[host.rfind(b":") :], scheme)


def _origin(url: bytes | None) -> bytes | None:
    """Return `scheme://host` if a canonical URL consists of that alone, else None.

    The host of a line may be any text that a visitor sent: a path appended to `a.example?x=1` would
    become a part of the query.
    """
    return url[:-1] if url and url.endswith(b"/") and url.count(b"/") == len("///") else None


@dataclass(frozen=True, slots=True)
class Strings:
    """Rows as codes into distinct strings; a negative code is no value."""

    codes: Codes
    values: pa.StringArray

    def take(self, rows: NDArray[np.bool_]) -> Strings:
        """Return the chosen rows with only their strings, so that others are not kept in memory."""
        codes = self.codes[rows]
        used = np.zeros(len(self.values) + 1, np.bool_)
        used[codes] = True  # -1 is the last
        used = used[:-1]
        if used.all():
            return Strings(codes, self.values)
        place = np.append(np.cumsum(used, dtype=np.int32) - 1, np.int32(-1))
        return Strings(place[codes], self.values.filter(pa.array(used)))

    def to_arrow(self) -> pa.DictionaryArray:
        """Return a dictionary array; no value is NULL."""
        mask = self.codes < 0
        return pa.DictionaryArray.from_arrays(
            pa.array(self.codes, mask=mask if mask.any() else None), self.values
        )


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The page requests of one block, in the order of the log."""

    day: NDArray[np.int32]
    """Days since 1970-01-01 in the zone of the partitions."""
    time: Offsets
    """Microseconds since 1970-01-01T00:00:00Z."""
    client: Offsets
    """Pseudonyms of the clients; 0 in logs of counts."""
    url: Strings
    referrer: Strings
    site: Strings
    tally: Tally
    """Counts and samples of the lines that are not kept."""
    last_day: int
    """Day of the last line with a readable time, or UNKNOWN_DAY."""
    first_known_day: int
    """Day of the first line with a readable time, or UNKNOWN_DAY."""
    verdict: NDArray[np.int16]
    """Verdict on each line of the block: 0 for kept ones, else the reason (`reason_of`)."""
    referrers_given: int
    """Page requests whose line names a referrer."""
    referrers_usable: int
    """Number of records whose referrer is the URL of a web page."""
    counts: Counts | None = None
    """Counts of the rows; None where each row is one request."""


class Cleaner:
    """Cleaner of the blocks of one log source; threads may share it."""

    def __init__(
        self,
        source: LogSource,
        settings: Settings,
        keys: KeyRing,
        is_bot: Callable[[bytes], bool],
        now: dt.datetime,
    ) -> None:
        self.source = source
        self.settings = settings
        self.cleaning = settings.cleaning
        self.rules = UrlRules.from_settings(settings.cleaning)
        self.zone = ZoneInfo(settings.orchestration.timezone)
        self.earliest = _microseconds(dt.datetime.combine(EARLIEST, dt.time(), dt.UTC))
        self.latest = _microseconds(now + AHEAD)
        self.canonical = Memo(self._canonical)
        self.static = Memo(is_static)
        self.is_bot = is_bot
        self.clients = Clients(keys, settings.privacy)

    def clean(self, records: Records) -> Cleaned:
        """Return the page requests among `records`, and the count of the rest."""
        verdict = records.reason.astype(np.int16)
        read = np.flatnonzero(verdict == Reject.NONE)
        times = records.time[read]
        verdict[read[times < self.earliest]] = Reject.ANCIENT
        verdict[read[times > self.latest]] = Reject.FUTURE
        days = self._days(records, np.flatnonzero(verdict == Reject.NONE))
        rows, target = self._page_requests(records, verdict)
        url, site, rows = self._urls(records, verdict, rows, target)
        referrer, named = self._referrers(records, rows)
        counts = None if records.counts is None else records.counts.take(rows)
        client = np.zeros(len(rows), np.int64)  # of counts none is known
        if counts is None:
            client = self.clients.of_rows(records, rows, days[rows])
        known_days = days[days != UNKNOWN_DAY]
        return Cleaned(
            day=days[rows],
            time=records.time[rows],
            client=client,
            url=url,
            referrer=referrer,
            site=site,
            tally=self._tally(records, verdict, days),
            first_known_day=int(known_days[0]) if known_days.size else UNKNOWN_DAY,
            last_day=int(known_days[-1]) if known_days.size else UNKNOWN_DAY,
            verdict=verdict,
            referrers_given=named,
            referrers_usable=int(np.count_nonzero(referrer.codes >= 0)),
            counts=counts,
        )

    # Which lines -----------------------------------------------------------------------------

    def _page_requests(
        self, records: Records, verdict: NDArray[np.int16]
    ) -> tuple[Offsets, Encoded]:
        """Return the rows that ask for a page, with their targets; mark the others in `verdict`."""
        rows = np.flatnonzero(verdict == Reject.NONE)
        if records.is_page is not None:
            rows = _sieve(verdict, rows, records.is_page[rows], "event")
        if records.counts is not None:
            rows = _sieve(verdict, rows, _has_views(records.counts.take(rows)), "no_views")
        if records.method is not None:
            keep = _flags(records.method, rows, lambda value: value == METHOD, missing=True)
            rows = _sieve(verdict, rows, keep, "method")
        status = records.status[rows]
        keep = np.isin(status, np.array((0, *SHOWN_STATUSES), np.int16))
        rows = _sieve(verdict, rows, keep, "status")
        target = encode(records.target, rows)
        if self.cleaning.static_resources == "drop":
            keep = ~self._static_of(target)
            rows, target = _sieve(verdict, rows, keep, "static"), target.where(keep)
        if records.agent is not None and self.cleaning.bots == "drop":
            keep = ~_flags(records.agent, rows, self.is_bot, missing=False)
            rows, target = _sieve(verdict, rows, keep, "bot_agent"), target.where(keep)
        return rows, target

    def _static_of(self, target: Encoded) -> NDArray[np.bool_]:
        """Return True for rows that ask for a static resource; most pages are decided by bytes."""
        distinct = target.distinct
        static = np.zeros(len(distinct.start) + 1, np.bool_)  # the last stands for no value
        doubtful = np.flatnonzero(~sure_pages(distinct.data, distinct.start, distinct.stop))
        texts = to_list(take(distinct, doubtful))
        static[doubtful] = [self.static(text) for text in texts]
        return static[target.codes]

    def _days(self, records: Records, rows: Offsets) -> NDArray[np.int32]:
        """Return the day of every line; lines without a time take that of the line before."""
        days = np.full(len(records), UNKNOWN_DAY, np.int32)
        days[rows] = clocks(records.time[rows], self.zone) // DAY
        last_known_row = np.full(len(records), -1, np.int64)
        last_known_row[rows] = rows
        latest = np.maximum.accumulate(last_known_row)
        return np.where(latest >= 0, days[latest], np.int32(UNKNOWN_DAY))

    # Canonical URLs --------------------------------------------------------------------------

    def _canonical(self, raw: bytes) -> bytes | None:
        url = canonical_url(raw, self.rules)
        return None if url is None else url.encode()

    def _bases(self, records: Records, rows: Offsets) -> tuple[Codes, list[bytes | None]]:
        """Return `scheme://host` of every row, where the line or the options name it."""
        hosts, host_values = self._or_default(records.host, rows, self.source.host)
        schemes, scheme_values = self._or_default(records.scheme, rows, DEFAULT_SCHEME)
        codes, keys = encode_keys(hosts.astype(np.int64) << 32 | schemes.astype(np.int64))
        bases: list[bytes | None] = []
        for key in keys.tolist():
            host, scheme = host_values[key >> 32], scheme_values[key & 0xFFFFFFFF]
            origin = _scheme_at(host, scheme.lower()) + b"://" + host
            bases.append(_origin(self.canonical(origin + b"/")) if host else None)
        return codes, bases

    @staticmethod
    def _or_default(
        column: Column | None, rows: Offsets, default: str | None
    ) -> tuple[Codes, list[bytes]]:
        """Return codes and values of a column; the last value is the default of empty rows."""
        fallback = (default or "").encode()
        if column is None:
            return np.zeros(len(rows), np.int32), [fallback]
        encoded = encode(column, rows)
        values = [value or fallback for value in to_list(encoded.distinct)]
        codes = np.where(encoded.codes < 0, np.int32(len(values)), encoded.codes)
        return codes, [*values, fallback]

    def _urls(
        self, records: Records, verdict: NDArray[np.int16], rows: Offsets, target: Encoded
    ) -> tuple[Strings, Strings, Offsets]:
        """Return canonical URLs, their sites, and their rows; other rows get a verdict.

        The URL of a row is its base (scheme and host) and its target. Each distinct pair of both
        takes one of three ways: plain targets, nearly all, are canonical as they are; for targets
        that differ only by their spelling (`plainly_spelled`) bytes are tidied; all others are
        parsed. A target that is a complete URL names its own site.
        """
        base_of, bases = self._bases(records, rows)
        codes, keys = encode_keys(base_of.astype(np.int64) << 32 | target.codes.astype(np.int64))
        base = (keys >> 32).astype(np.int32)
        distinct = take(target.distinct, keys & 0xFFFFFFFF)
        has_base = np.array([value is not None for value in bases], np.bool_)[base]
        plain = has_base & plain_targets(distinct.data, distinct.start, distinct.stop, self.rules)
        prefixes = from_values([value or b"" for value in bases])
        parsed: dict[int, bytes | None] = {}
        absolute: set[int] = set()
        others = np.flatnonzero(~plain)
        other_targets = take(distinct, others)
        can_tidy = plainly_spelled(other_targets.data, other_targets.start, other_targets.stop)
        decoded = _decoded(distinct, others, records.escaped)
        for (i, raw), is_tidied in zip(decoded, can_tidy.tolist(), strict=True):
            prefix = bases[base[i]]
            if is_tidied and prefix is not None:
                parsed[i] = prefix + tidied(raw, self.rules)
            elif raw[:1] == b"/":
                parsed[i] = None if prefix is None else self.canonical(prefix + raw)
            elif raw[:4].lower() == b"http":
                parsed[i] = self.canonical(raw)
                absolute.add(i)
        position, values = _assemble(plain, prefixes, base, distinct, parsed)
        site_position, site_values = _sites(bases, base, {i: parsed[i] for i in absolute})
        positions = position[codes]
        is_path = distinct.data[np.minimum(distinct.start, distinct.data.size - 1)] == ord("/")
        lacks_host = (~has_base & is_path)[codes]
        verdict[rows[positions < 0]] = Reject.BAD_URL
        verdict[rows[(positions < 0) & lacks_host]] = Reject.NO_HOST
        kept = positions >= 0
        return (
            Strings(positions[kept], values),
            Strings(site_position[codes][kept], site_values),
            rows[kept],
        )

    def _referrers(self, records: Records, rows: Offsets) -> tuple[Strings, int]:
        """Return the canonical referrer of every row, and how many rows name a referrer at all.

        A referrer that is no web page is left out, but counted.
        """
        if records.referrer is None:
            return Strings(np.full(len(rows), -1, np.int32), pa.array([], pa.string())), 0
        encoded = encode(records.referrer, rows)
        raw = encoded.distinct
        kind = plain_pages(raw.data, raw.start, raw.stop, self.rules)
        plain = kind > 0
        schemes = {"keep": (b"", b"http://", b"https://")}.get(
            self.cleaning.scheme, (b"", *(self.cleaning.scheme.encode() + b"://",) * 2)
        )
        parsed: dict[int, bytes | None] = {}
        for i, value in _decoded(raw, np.flatnonzero(~plain), records.escaped):
            # Logstash leaves the quotes of the line around it.
            bare = value.strip(b'"') if value.startswith(b'"') else value
            parsed[i] = None if bare in (b"", b"-") else self.canonical(bare)
        skip = np.where(kind == 1, len("http://"), len("https://"))
        rest = Column(raw.data, raw.start + np.where(plain, skip, 0), raw.stop)
        position, values = _assemble(
            plain, from_values(list(schemes)), kind.astype(np.int32), rest, parsed
        )
        missing = encoded.codes < 0
        codes = np.where(missing, np.int32(-1), np.append(position, np.int32(-1))[encoded.codes])
        named = np.count_nonzero(~missing)
        return Strings(codes.astype(np.int32), values), int(named)

    # Counts ----------------------------------------------------------------------------------

    def _tally(
        self, records: Records, verdict: NDArray[np.int16], days: NDArray[np.int32]
    ) -> Tally:
        """Return counts and samples of the lines that are not kept, by day and reason."""
        tally = Tally(REJECT_SAMPLES)
        for day, lines in zip(*np.unique(days, return_counts=True), strict=True):
            tally.saw(int(day), int(lines))
        lost = np.flatnonzero(verdict)
        keys = days[lost].astype(np.int64) << 16 | verdict[lost].astype(np.int64)
        codes, distinct = encode_keys(keys)
        counts = np.bincount(codes, minlength=len(distinct))
        for code, key in enumerate(distinct.tolist()):
            day, reason = key >> 16, key & 0xFFFF
            if reason >= _FIRST_DROP:
                tally.add(day, "dropped", DROPS[reason - _FIRST_DROP], int(counts[code]), [])
                continue
            first = lost[np.flatnonzero(codes == code)[: tally.samples_kept]]
            samples = [(int(records.line[i]), self._sample(records, int(i))) for i in first]
            tally.add(day, "rejected", Reject(reason).label, int(counts[code]), samples)
        return tally

    def _sample(self, records: Records, row: int) -> str:
        private_values = [records.address.value(row) or b""] if records.reason[row] == 0 else []
        return redact(records.text.value(row) or b"", [value for value in private_values if value])


def _has_views(counts: Counts) -> NDArray[np.bool_]:
    """Return True for rows with a view, a visitor or a transit."""
    return np.asarray((counts.views > 0) | (counts.visitors > 0) | (counts.transits > 0))


def reason_of(verdict: int) -> str:
    """Return the reason behind a verdict, as users see it; `kept` for a page request."""
    if not verdict:
        return "kept"
    is_drop = verdict >= _FIRST_DROP
    return DROPS[verdict - _FIRST_DROP] if is_drop else Reject(verdict).label


def _sieve(
    verdict: NDArray[np.int16], rows: Offsets, keep: NDArray[np.bool_], reason: str
) -> Offsets:
    """Return the rows to keep; the others get the verdict of a reason of DROPS."""
    verdict[rows[~keep]] = _FIRST_DROP + DROPS.index(reason)
    return rows[keep]


def _flags(
    column: Column, rows: Offsets, test: Callable[[bytes], bool], missing: bool
) -> NDArray[np.bool_]:
    """Return `test` of each row's value, evaluated once per distinct value.

    `missing` is the result for rows without a value.
    """
    encoded = encode(column, rows)
    distinct = [test(value) for value in to_list(encoded.distinct)]
    return np.array([*distinct, missing], np.bool_)[encoded.codes]


def _decoded(column: Column, index: Offsets, escaped: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the values at `index` with their index; `escaped` undoes the escapes of the log."""
    for i, raw in zip(index.tolist(), to_list(take(column, index)), strict=True):
        yield i, decode_escapes(raw) if escaped and b"\\" in raw else raw


def _assemble(
    plain: NDArray[np.bool_],
    prefixes: Column,
    prefix_of: Codes,
    rest: Column,
    parsed: dict[int, bytes | None],
) -> tuple[Codes, pa.StringArray]:
    """Return the strings of distinct values, as positions in an array and the array.

    Args:
        plain: True for values that are a prefix and the rest, joined.
        prefixes: Distinct prefixes.
        prefix_of: Number of each value's prefix.
        rest: The rest of each value.
        parsed: Strings of the other values, by number; None for invalid ones.

    Values that are invalid or in neither have position -1.
    """
    rows = np.flatnonzero(plain)
    joined = concatenate(
        prefixes, prefix_of[rows], Column(rest.data, rest.start[rows], rest.stop[rows])
    )
    valid = [(i, value) for i, value in parsed.items() if value is not None]
    position = np.full(len(plain), -1, np.int32)
    position[rows] = np.arange(len(rows), dtype=np.int32)
    for at, (i, _) in enumerate(valid, start=len(rows)):
        position[i] = at
    others = from_values([value for _, value in valid])
    return position, pa.concat_arrays([to_arrow(joined), to_arrow(others)])


def _sites(
    bases: list[bytes | None], base: Codes, absolute: dict[int, bytes | None]
) -> tuple[Codes, pa.StringArray]:
    """Return the site of each distinct URL, as codes and an array of sites.

    The site is that of the URL's base, or of the URL itself for those in `absolute`.
    """
    site_codes: dict[str, int] = {}

    def number(url: bytes | None) -> int:
        return -1 if url is None else site_codes.setdefault(site_of(url.decode()), len(site_codes))

    codes = np.array([number(url) for url in bases], np.int32)[base]
    for i, url in absolute.items():
        codes[i] = number(url)
    return codes, pa.array(list(site_codes), pa.string())


def _microseconds(moment: dt.datetime) -> int:
    return int(moment.timestamp()) * 1_000_000
