"""Canonical URLs of page requests and of their referrers, computed once per distinct value.

In: the records of a block, and the rows of it that ask for a page. Out: the page, the site and the
referrer of each row, as codes into distinct strings (`Strings`). Not here: the rule of canonical
URLs (`urls.canonical`), which rows ask for a page (`cleaning`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets.logs.clean.cleaned import Strings
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
from temporal_assets.logs.read.records import Column, Offsets, Records, Reject
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.escapes import decode_escapes
from temporal_assets.logs.urls.plain_urls import (
    plain_pages,
    plain_targets,
    plainly_spelled,
    tidied,
)
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.settings import (
    DEFAULT_SCHEME,
    Cleaning,
    LogSource,
)

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


class PageUrls:
    """Canonical URLs for the rows of a log source; threads may share it."""

    def __init__(self, source: LogSource, cleaning: Cleaning) -> None:
        self.source = source
        self.scheme = cleaning.scheme
        self.rules = UrlRules.from_settings(cleaning)
        self.canonical = Memo(self._canonical)

    def of_rows(
        self, records: Records, verdict: NDArray[np.int16], rows: Offsets, target: Encoded
    ) -> tuple[Strings, Strings, Offsets]:
        """Return canonical URLs, their sites, and their rows; other rows get a verdict.

        The URL of a row is its base (scheme and host) and its target. Each distinct pair of both
        is treated in the cheapest manner that is safe: plain targets, nearly all, are canonical as
        they are; those that differ only by their spelling (`plainly_spelled`) have their query
        fields sorted and dropped; all others are parsed. A target that is a complete URL names its
        own site.
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
        is_page = positions >= 0
        return (
            Strings(positions[is_page], values),
            Strings(site_position[codes][is_page], site_values),
            rows[is_page],
        )

    def referrers(self, records: Records, rows: Offsets) -> tuple[Strings, int]:
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
            self.scheme, (b"", *(self.scheme.encode() + b"://",) * 2)
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

    def _canonical(self, raw: bytes) -> bytes | None:
        """Return the canonical form of an absolute URL as bytes; None if it is no page."""
        url = canonical_url(raw, self.rules)
        return None if url is None else url.encode()


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
