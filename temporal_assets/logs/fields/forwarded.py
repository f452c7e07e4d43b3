"""Choice of the client's address behind a proxy: X-Forwarded-For, row by row.

In: the columns of the forwarded and of the remote address. Out: one column of addresses. A compiled
pass takes the first entry, as nearly all are plain addresses; other values are looked at once per
distinct value. Not here: what an address is (`pseudonyms`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.text.texts import find_byte
from temporal_assets.logs.fields.addresses import bare_address
from temporal_assets.logs.privacy.clients import plain_ipv4
from temporal_assets.logs.privacy.pseudonyms import MAX_ADDRESS, first_forwarded, packed_address
from temporal_assets.logs.read.byte_values import COMMA
from temporal_assets.logs.read.encode import encode, from_values, take, to_list
from temporal_assets.logs.read.memo import Memo
from temporal_assets.logs.read.records import Bytes, Column, Offsets

_packed: Final = Memo(packed_address)


def forwarded_or_remote(forwarded: Column, remote: Column) -> Column:
    """Return the first address of each `forwarded` value, or the remote one without any.

    Both are ranges of the same bytes.
    """
    start, stop = _first_entries(forwarded.data, forwarded.start, forwarded.stop)
    entry = Column(forwarded.data, start, stop)
    good = plain_ipv4(entry.data, start, stop)
    unusual = np.flatnonzero(~good & (start >= 0))
    good[unusual] = _are_addresses(entry, unusual)
    later = unusual[~good[unusual]]
    later_addresses = _later_addresses(forwarded, later)
    start, stop = np.where(good, start, remote.start), np.where(good, stop, remote.stop)
    has = later_addresses.start >= 0
    if not has.any():
        return Column(forwarded.data, start, stop)
    size = len(forwarded.data)
    start[later[has]], stop[later[has]] = (
        later_addresses.start[has] + size,
        later_addresses.stop[has] + size,
    )
    return Column(np.concatenate([forwarded.data, later_addresses.data]), start, stop)


def _are_addresses(entry: Column, rows: Offsets) -> NDArray[np.bool_]:
    """Return True for rows whose entry is an address."""
    encoded = encode(entry, rows)
    distinct = to_list(encoded.distinct)
    # What is longer is none, and must not be remembered.
    is_address = [len(text) <= MAX_ADDRESS and _packed(text) is not None for text in distinct]
    return np.array(is_address, np.bool_)[encoded.codes]


def _later_addresses(forwarded: Column, rows: Offsets) -> Column:
    """Return the first address anywhere in the fields of `rows`, in data of its own."""
    encoded = encode(forwarded, rows)
    firsts = [first_forwarded(text) for text in to_list(encoded.distinct)]
    place = np.array([n if text else -1 for n, text in enumerate(firsts)], np.int64)
    return take(from_values([text or b"" for text in firsts]), place[encoded.codes])


@loop
def _first_entries(data: Bytes, start: Offsets, stop: Offsets) -> tuple[Offsets, Offsets]:
    """Return the text before the first comma, without a port; -1 for missing values."""
    first = start.copy()
    last = stop.copy()
    for i in range(start.size):
        if start[i] >= 0:
            comma = find_byte(data, start[i], stop[i], COMMA)
            first[i], last[i] = bare_address(data, start[i], comma)
    return first, last
