"""Comparison of sample lines with a format: do they parse, and do their values look right?

In: a format and some lines. Out: True if most lines have the format (`fits`), or their number. A
line that parses may still be of another format: the host and the address tell similar ones apart.
Not here: which formats are tried (`detection`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final

import numpy as np

from temporal_assets.logs.fields.layouts import Kind, Slot
from temporal_assets.logs.fields.times import DAY
from temporal_assets.logs.formats.format import Format, Syntax
from temporal_assets.logs.formats.parsing import parse
from temporal_assets.logs.privacy.pseudonyms import packed_address
from temporal_assets.logs.read.records import Block, Column, Records, Reject
from temporal_assets.settings import LogSource, Reading

DEFAULT_READING: Final = Reading()
"""Settings of reading for samples: whatever users set, detection is the same."""

_UNREADABLE: Final = (
    Reject.NOT_THE_FORMAT,
    Reject.BAD_TIME,
    Reject.TRUNCATED,
    Reject.TOO_LONG,
    Reject.NUL_BYTES,
)
"""Reasons of rejection that are evidence against a format; others occur in any."""

_EPOCH: Final = 20 * 365 * DAY
"""Earliest time of a log, 1990: a smaller number is a counter."""

ANY_TIME: Final = -(2**63)
"""Earliest time, for lines whose times are not judged."""

_MASKED: Final = re.compile(rb"[0-9]{1,3}(\.[0-9xX*]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[x:]*")
"""Expression for addresses of which a part was masked."""
_NAME: Final = re.compile(rb"(?=.*[A-Za-z\x80-\xff])[A-Za-z0-9_.\x80-\xff-]+(:\d+)?")
"""Expression for a host name in any alphabet, unlike an address."""
_DOTTED: Final = re.compile(
    rb"([A-Za-z0-9_\x80-\xff-]+\.)+(?=[0-9-]*[A-Za-z\x80-\xff])[A-Za-z0-9\x80-\xff-]+(:\d+)?"
)
"""Expression for a full host name, unlike a user of `identd` or a version (`TLSv1.3`)."""
_SERVED: Final = re.compile(rb"(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]+\]):(\d{1,5})")
"""Expression for an address with a port (`%v:%p`), which is a server's and no visitor's."""
_FIRST_PORT_OF_CLIENTS: Final = 32_768
"""Lowest port that Linux gives to clients; hardly a server listens above it."""


class Address(Enum):
    """Kinds of address that lines must have to be in a format."""

    REAL = "an address"
    LOGGED = "an address, or nothing where it was not logged"
    ANY = "a name or a pseudonym too, where brackets and quotes say enough"
    NONE = "nothing, on every line, where brackets and quotes say enough"
    INFERRED = "anything or nothing: values have said enough"


def has_user(fmt: Format) -> bool:
    """Return True if words before the time would be taken for a user."""
    return fmt.layout is not None and Kind.USER in fmt.layout.kinds


def first_that_fits(
    candidates: Iterable[Format],
    source: LogSource,
    sample: bytes,
    address: Address = Address.LOGGED,
) -> Format | None:
    """Return the first of some formats that most lines have, or None."""
    return next((fmt for fmt in candidates if fits(fmt, source, sample, address)), None)


def fits(
    fmt: Format,
    source: LogSource,
    sample: bytes,
    address: Address = Address.LOGGED,
    oldest: int = _EPOCH,
) -> bool:
    """Return True if most lines have the format and their fields look right."""
    good, lines = count_plausible(fmt, source, sample, address, oldest)
    return 2 * good > lines


def count_plausible(
    fmt: Format, source: LogSource, sample: bytes, address: Address, oldest: int = _EPOCH
) -> tuple[int, int]:
    """Return the number of lines that fit, and of all lines."""
    block = Block(np.frombuffer(sample, np.uint8), 1, last=True)
    records = parse(block, fmt, LogSource(path=source.path), DEFAULT_READING)
    rows = np.flatnonzero(~np.isin(records.reason, _UNREADABLE))
    good = sum(_is_plausible(fmt, records, int(row), address, oldest) for row in rows)
    return good, len(records)


def _is_plausible(fmt: Format, records: Records, row: int, wanted: Address, oldest: int) -> bool:
    """Return True if host and address of a row look right, which distinguishes similar formats."""
    address = records.address.value(row)
    if records.time[row] < oldest:
        return False
    if records.counts is not None:
        return True
    if wanted is Address.INFERRED:
        return True
    if wanted is Address.NONE or not address:
        return wanted is Address.NONE and not address
    if fmt.layout is None:
        # A shipper's own time and host beside a line of a log are no record of a page.
        return fmt.syntax is not Syntax.JSON or bool(records.target.value(row))
    if wanted is Address.ANY and fmt.name in _ANY_ADDRESS:
        words = (records.text.value(row) or b"").split(b" ", 3)
        if not fmt.layout.has(Slot.HOST):
            return _is_name(address, words)
        return words[2:3] == [b"-"] and _DOTTED.fullmatch(value_of(records.host, row)) is not None
    if fmt.name == "squid":
        # Nothing but words: only whole records, of URLs, tell it from other tables.
        is_url = b":" in (records.target.value(row) or b"")
        return is_url and bool(records.reason[row] == Reject.NONE)
    if not _is_address(address, wanted):
        return False
    if not has_user(fmt) or not fmt.layout.has(Slot.HOST):
        return True
    host = value_of(records.host, row)
    is_full = fmt.name == "ovh" or wanted is Address.REAL
    return bool((_DOTTED if is_full else _NAME).fullmatch(host)) or _is_served(host, address)


def _is_served(host: bytes, address: bytes) -> bool:
    """Return True if the address of a server comes before that of a visitor."""
    match = _SERVED.fullmatch(host)
    is_server = match is not None and int(match[2]) < _FIRST_PORT_OF_CLIENTS
    return is_server and _is_address(address, Address.REAL)


_ANY_ADDRESS: Final = ("combined_vhost", "combined", "common_vhost", "common")
"""Formats recognised by brackets and quotes; servers may write client names or pseudonyms."""


def _is_name(value: bytes, words: Sequence[bytes]) -> bool:
    """Return True if a line begins with a visitor rather than with a shipper's words.

    Behind a visitor comes the `identd` field, which is usually empty.
    """
    return words[1:2] == [b"-"] or _DOTTED.fullmatch(value) is not None


def _is_address(value: bytes, wanted: Address) -> bool:
    if value == b"-":
        return wanted is not Address.REAL
    return packed_address(value) is not None or _MASKED.fullmatch(value) is not None


def value_of(values: Column | None, row: int) -> bytes:
    """Return the value in a row of a column; empty where the column or the value is missing."""
    return (values.value(row) if values else None) or b""
