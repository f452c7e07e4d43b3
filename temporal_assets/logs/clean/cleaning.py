"""Cleaning of parsed lines to page requests: what is kept, and why the rest is not.

The cleaner keeps page requests of people, with canonical URLs and pseudonymous clients. It counts
the other lines: *rejected* if they are not well-formed records, *dropped* if they are, but show no
page view. Everything costly runs once per distinct value: columns are dictionary-encoded
(`encode`), as codes into distinct values.

In: the records of a block (`Records`). Out: `Cleaned`, which `cleaned` explains. Not here: reading
bytes (`streams`), parsing (`parsing`), canonical URLs of rows (`page_urls`), and bots that show
only by the requests of a complete day (`sql/days/behavioural_bots.sql`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from temporal_assets.logs.clean.cleaned import DROPS, FIRST_DROP, Cleaned
from temporal_assets.logs.clean.page_urls import PageUrls
from temporal_assets.logs.fields.times import DAY, clocks
from temporal_assets.logs.privacy.clients import Clients
from temporal_assets.logs.privacy.pseudonyms import KeyRing
from temporal_assets.logs.privacy.redact import redact
from temporal_assets.logs.read.encode import (
    Encoded,
    encode,
    encode_keys,
    take,
    to_list,
)
from temporal_assets.logs.read.memo import Memo
from temporal_assets.logs.read.records import Column, Counts, Offsets, Records, Reject
from temporal_assets.logs.read.tally import UNKNOWN_DAY, Tally
from temporal_assets.logs.urls.static_files import is_static, sure_pages
from temporal_assets.settings import (
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
        self.zone = ZoneInfo(settings.orchestration.timezone)
        self.earliest = _microseconds(dt.datetime.combine(EARLIEST, dt.time(), dt.UTC))
        self.latest = _microseconds(now + AHEAD)
        self.urls = PageUrls(source, settings.cleaning)
        self.static = Memo(is_static)
        self.is_bot = is_bot
        self.clients = Clients(keys, settings.privacy)

    def clean(self, records: Records) -> Cleaned:
        """Return the page requests among `records`, and the count of the rest."""
        # Each step writes its verdicts in place (0 kept, else a Reject, or FIRST_DROP and the place
        # in DROPS); the next looks only at rows that are still 0.
        verdict = records.reason.astype(np.int16)
        read = np.flatnonzero(verdict == Reject.NONE)
        times = records.time[read]
        verdict[read[times < self.earliest]] = Reject.ANCIENT
        verdict[read[times > self.latest]] = Reject.FUTURE
        days = self._days(records, np.flatnonzero(verdict == Reject.NONE))
        rows, target = self._page_requests(records, verdict)
        url, site, rows = self.urls.of_rows(records, verdict, rows, target)
        referrer, named = self.urls.referrers(records, rows)
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

    def _tally(
        self, records: Records, verdict: NDArray[np.int16], days: NDArray[np.int32]
    ) -> Tally:
        """Return counts and samples of the lines that are not kept, by day and reason."""
        tally = Tally(REJECT_SAMPLES)
        for day, lines in zip(*np.unique(days, return_counts=True), strict=True):
            tally.saw(int(day), int(lines))
        lost = np.flatnonzero(verdict)
        # One key per day and verdict: the day in the upper bits, the verdict in the lower 16.
        keys = days[lost].astype(np.int64) << 16 | verdict[lost].astype(np.int64)
        codes, distinct = encode_keys(keys)
        counts = np.bincount(codes, minlength=len(distinct))
        for code, key in enumerate(distinct.tolist()):
            day, reason = key >> 16, key & 0xFFFF
            if reason >= FIRST_DROP:
                tally.add(day, "dropped", DROPS[reason - FIRST_DROP], int(counts[code]), [])
                continue
            first = lost[np.flatnonzero(codes == code)[: tally.samples_kept]]
            samples = [(int(records.line[i]), self._sample(records, int(i))) for i in first]
            tally.add(day, "rejected", Reject(reason).label, int(counts[code]), samples)
        return tally

    def _sample(self, records: Records, row: int) -> str:
        """Return the line of a row as a sample for people, without what is private."""
        private_values = [records.address.value(row) or b""] if records.reason[row] == 0 else []
        return redact(records.text.value(row) or b"", [value for value in private_values if value])


def _has_views(counts: Counts) -> NDArray[np.bool_]:
    """Return True for rows with a view, a visitor or a transit."""
    return np.asarray((counts.views > 0) | (counts.visitors > 0) | (counts.transits > 0))


def _sieve(
    verdict: NDArray[np.int16], rows: Offsets, keep: NDArray[np.bool_], reason: str
) -> Offsets:
    """Return the rows to keep; the others get the verdict of a reason of DROPS."""
    verdict[rows[~keep]] = FIRST_DROP + DROPS.index(reason)
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


def _microseconds(moment: dt.datetime) -> int:
    return int(moment.timestamp()) * 1_000_000
