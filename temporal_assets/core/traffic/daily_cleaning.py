"""Which records of a day are requests of people: shared ones once, and no robots by what they do.

Records are numbers here: when, whose, from which log. Not here: lines that show by themselves that
they are no request (`logs.clean.cleaning`), and the same as statements
(`days.requests_by_statements`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import leaf, readonly

MINUTE: Final = 60_000_000
"""Microseconds."""

BOT_RATE: Final = "bot_rate"
BOT_NO_REFERRER: Final = "bot_no_referrer"


class RobotLimits(NamedTuple):
    """What no reader does."""

    pages_per_minute: int
    """More than these, in any minute of a clock."""
    pages_without_referrer: int
    """As many in a day, none of which was come to by a link; 0 is no limit."""


class Behaviour(NamedTuple):
    """What each client did on a day."""

    pages: Int64s
    fastest: Int64s
    """Most pages in a minute."""
    referred: Int64s
    """Pages with a referrer."""

    def robots(self, limits: RobotLimits) -> dict[str, Flags]:
        """Clients that are none, by reason; of two reasons the first counts."""
        is_fast = self.fastest > limits.pages_per_minute
        most = limits.pages_without_referrer
        is_silent = (self.pages >= most) & (self.referred == 0) & (most > 0)
        return {BOT_RATE: is_fast, BOT_NO_REFERRER: is_silent & ~is_fast}


def in_order(time: Int64s, client: Int32s) -> tuple[Int64s, Flags]:
    """Records by time and client, and which of these are as the one before.

    Times are microseconds of one day, which 37 bits hold; clients may have 26.
    """
    bits = int(client.max(initial=0)).bit_length()
    keys = (time - time.min(initial=0)) << bits | client
    order = np.argsort(keys)
    keys = keys[order]
    return order, np.append(False, keys[1:] == keys[:-1])[: len(keys)]


def once(record: Int64s, source: Int32s) -> Flags:
    """Which records count, of those that are equal where `record` is, ascending by both.

    A line in two logs was logged once (rotation, copies), a line that one log has twice was logged
    twice: each counts as often as in the log that has it most often.
    """
    if not len(record):
        return np.zeros(0, np.bool_)
    is_new = _changes(record)
    is_other = is_new | _changes(source)
    starts = np.flatnonzero(is_other)
    often = np.diff(np.append(starts, len(record)))
    most = np.maximum.reduceat(often, np.flatnonzero(is_new[starts]))
    first = np.flatnonzero(is_new)
    number = np.cumsum(is_new) - 1
    counts: Flags = np.arange(len(record)) - first[number] < most[number]
    return counts


def _changes(values: Int64s | Int32s) -> Flags:
    return np.append(True, values[1:] != values[:-1])


def behaviour(
    order: Int64s, time: Int64s, client: Int32s, referred: Flags, count: int
) -> Behaviour:
    """Of `count` clients, from the records of `order`, which ascends by time."""
    found = Behaviour(*(np.zeros(count, np.int64) for _ in Behaviour._fields))
    minute, in_minute = np.full(count, np.iinfo(np.int64).min), np.zeros(count, np.int64)
    records = readonly(order), readonly(time), readonly(client), readonly(referred)
    _follow(*records, minute, in_minute, *found)
    return found


@leaf
def _follow(
    order: Int64s,
    time: Int64s,
    client: Int32s,
    referred: Flags,
    minute: Int64s,
    in_minute: Int64s,
    pages: Int64s,
    fastest: Int64s,
    of_links: Int64s,
) -> None:
    for row in order:
        one = client[row]
        now = time[row] // MINUTE
        if now != minute[one]:
            minute[one], in_minute[one] = now, 0
        in_minute[one] += 1
        fastest[one] = max(fastest[one], in_minute[one])
        pages[one] += 1
        of_links[one] += referred[row]
