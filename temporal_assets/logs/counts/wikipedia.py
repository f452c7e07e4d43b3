"""Wikipedia's dumps: pageviews of an hour, and the clickstream of a month.

Pageviews have lines of `domain_code page_title count_views total_response_size`; the clickstream
has lines of `prev curr type n`. Both name pages as their URLs do, but without escapes.

Here: their domains, titles and links as those of other sources. Not here: the hour or the month a
file is of (`file_dates`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from temporal_assets.logs.read.encode import encode, from_values, take, to_list
from temporal_assets.logs.read.records import Column, Records, Reject

_PROJECTS: Final = {
    "b": "wikibooks.org",
    "d": "wiktionary.org",
    "n": "wikinews.org",
    "q": "wikiquote.org",
    "s": "wikisource.org",
    "v": "wikiversity.org",
    "voy": "wikivoyage.org",
    "w": "mediawiki.org",
    "wd": "wikidata.org",
    "f": "wikimediafoundation.org",
}
"""Domain of each project, by the letter behind a dot in a domain code."""
_NAMED: Final = {domain.removesuffix(".org"): domain for domain in _PROJECTS.values()} | {
    "wikipedia": "wikipedia.org"
}
"""Domains of projects by their names in the dumps of whole days, as in `en.wikipedia`."""

_WIKIMEDIA: Final = frozenset(
    ("commons", "meta", "incubator", "species", "strategy", "outreach", "usability", "quality")
)
"""Names behind which `.m` stands for wikimedia.org; behind others it stands for a phone."""

_MOBILE: Final = ("m", "zero")
"""Parts of a domain code that stand for the mobile site."""

_NO_PAGES: Final = (b"-", b"", b"Special:", b"404.php")
"""Titles in the dumps that are no pages."""

_PATH: Final = b"/wiki/"

_ESCAPED: Final = {ord(c): f"%{ord(c):02X}" for c in '%?# "<>[\\]^`{|}'}
"""Characters of titles that have another meaning in a URL and are escaped."""


def host_of(code: bytes) -> bytes:
    """Return the host of a domain code; phones' hosts are those of the same pages."""
    parts = code.decode("ascii", "replace").lower().split(".")
    name, rest = parts[0], parts[1:]
    if name in _WIKIMEDIA:
        return f"{name}.wikimedia.org".encode()
    rest = [part for part in rest if part not in _MOBILE]
    project = (_PROJECTS | _NAMED).get(rest[0], "") if rest else "wikipedia.org"
    if not project or not name:
        return b""
    # The code of a project without languages is `www`, or `m` on phones.
    name = "www" if name in _MOBILE else name
    return f"{name}.{project}".encode()


def as_pageviews(records: Records) -> Records:
    """Return records of pageviews with hosts for domain codes and URL paths for titles."""
    host = _changed_column(records.host, host_of, len(records))
    reason = records.reason.copy()
    # A code that is not known, and `-` where no title could be read.
    reason[(reason == Reject.NONE) & (host.stop <= host.start)] = Reject.NO_HOST
    target = _changed_column(records.target, _path_of, len(records))
    reason[(reason == Reject.NONE) & (target.start < 0)] = Reject.BAD_URL
    return replace(records, host=host, target=target, reason=reason)


def as_clickstream(records: Records, host: str) -> Records:
    """Return records of the clickstream with URL paths for titles, of targets and referrers.

    A referrer such as `other-search` is no known page, and is removed.
    """
    base = b"https://" + host.encode()

    def referrer(title: bytes) -> bytes:
        path = _path_of(title)
        return b"" if title.startswith(b"other-") or not path else base + path

    every = len(records)
    return replace(
        records,
        host=_changed_column(records.target, lambda _: host.encode(), every),
        target=_changed_column(records.target, _path_of, every),
        referrer=_changed_column(records.referrer, referrer, every),
    )


def _path_of(title: bytes) -> bytes:
    if title in _NO_PAGES:
        return b""
    if not any(byte in _ESCAPED for byte in title):
        return _PATH + title
    text = title.decode("utf-8", "surrogateescape").translate(_ESCAPED)
    return _PATH + text.encode("utf-8", "surrogateescape")


def _changed_column(column: Column | None, change: Callable[[bytes], bytes], rows: int) -> Column:
    """Return a column with each distinct value changed; what becomes empty has no value."""
    if column is None:
        nothing = np.full(rows, -1, np.int64)
        return Column(np.empty(0, np.uint8), nothing, nothing)
    encoded = encode(column, np.arange(rows))
    values = from_values([change(value) for value in to_list(encoded.distinct)])
    chosen = take(values, encoded.codes.astype(np.int64))
    missing = chosen.stop <= chosen.start
    return Column(
        chosen.data, np.where(missing, -1, chosen.start), np.where(missing, -1, chosen.stop)
    )
