"""Lines of a preview: some records of a sample with their fields, for people to look at.

No address is in them: visitors are numbered, and texts are redacted as samples of rejected lines
are. Not here: numbers and doubts about the whole sample (`preview`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from temporal_assets.logs.clean.cleaned import Cleaned, reason_of
from temporal_assets.logs.privacy.pseudonyms import packed_address
from temporal_assets.logs.privacy.redact import redact
from temporal_assets.logs.read.records import Column, Counts, Records, Reject

_SHOWN: Final = 5
"""Number of lines in a preview."""
_REQUESTS_SHOWN: Final = 3
"""Page requests among the lines shown, if there are any: others say why they are not."""


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """A line of a log, with its fields."""

    line: int
    time: dt.datetime | None
    visitor: str
    """A number within the preview: no address is shown, and no key is made for this."""
    site: str
    page: str
    referrer: str
    agent: str
    outcome: str
    """`kept`, or the reason why not."""


def lines_to_show(records: Records, cleaned: Cleaned) -> Iterator[PreviewLine]:
    """Yield a few page requests, and a few other lines for different reasons."""
    requests = np.flatnonzero(cleaned.verdict == 0).tolist()
    others: dict[int, int] = {}
    for row in np.flatnonzero(cleaned.verdict).tolist():
        others.setdefault(int(cleaned.verdict[row]), row)
    first = requests[:_REQUESTS_SHOWN]
    chosen = [*first, *islice(others.values(), _SHOWN - len(first))]
    more = [row for row in range(len(records)) if row not in chosen]
    chosen += [row for row in (requests or more) if row not in chosen][: _SHOWN - len(chosen)]
    visitors: dict[bytes, str] = {}
    place = {row: at for at, row in enumerate(requests)}
    for row in sorted(chosen):
        yield _line(records, cleaned, row, place.get(row), visitors)


def _line(
    records: Records, cleaned: Cleaned, row: int, at: int | None, visitors: dict[bytes, str]
) -> PreviewLine:
    """Return a line of the preview: what was understood of it, without addresses."""
    address = records.address.value(row) or b""
    private_values = [address] if address else []

    def text(column: Column | None) -> str:
        return redact((column.value(row) if column is not None else None) or b"", private_values)

    is_read = records.reason[row] == Reject.NONE
    outcome = reason_of(int(cleaned.verdict[row]))
    visitor = visitors.setdefault(address, f"visitor {len(visitors) + 1}") if address else ""
    if records.counts is not None:
        visitor = _numbers(records.counts, row)
    line = int(records.line[row])
    if not is_read:
        return PreviewLine(line, None, "", "", text(records.text), "", "", outcome)
    time = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(
        microseconds=int(records.time[row])
    )
    page, referrer = text(records.target), text(records.referrer)
    site = _host((records.host.value(row) if records.host is not None else None) or b"")
    if at is not None:
        page = redact(_text_at(cleaned.url, at), private_values)
        site = _host(_text_at(cleaned.site, at))
        referrer = redact(_text_at(cleaned.referrer, at), private_values) or _unusable(referrer)
    agent = text(records.agent)
    return PreviewLine(line, time, visitor, site, page, referrer, agent, outcome)


def _numbers(counts: Counts, row: int) -> str:
    """Return the counts of a row in words."""
    named = (("visitors", counts.visitors), ("views", counts.views), ("transits", counts.transits))
    return ", ".join(f"{values[row]:,} {name}" for name, values in named if values[row] >= 0)


def _host(host: bytes) -> str:
    """Return a host by its name, or masked: a wrong column may hold visitors' addresses."""
    is_address = packed_address(host.rpartition(b":")[0] or host) is not None
    return "[address]" if is_address else host.decode("utf-8", "backslashreplace")


def _text_at(strings: object, at: int) -> bytes:
    code = int(strings.codes[at])  # type: ignore[attr-defined]
    value: str = "" if code < 0 else strings.values[code].as_py()  # type: ignore[attr-defined]
    return value.encode()


def _unusable(referrer: str) -> str:
    return f"({referrer}: no URL)" if referrer not in ("", "-") else ""
