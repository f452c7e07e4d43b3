"""Pages of WARC files, plain or gzip, complete or damaged.

Here: records, which of them are pages, and going on after a broken one. Not here: links
(`html_links`), how bodies are packed (`http_body`).

A page is a response with status 200 and HTML. A redirect tells where links to it lead. Of a body at
most `MAX_HTML` bytes are unpacked and read, whatever its declared length.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from fastwarc.warc import ArchiveIterator, WarcRecordType

from temporal_assets.crawl.mirror.html_links import absolute, decoded, html_links
from temporal_assets.crawl.mirror.http_body import MAX_HTML, page_bytes
from temporal_assets.crawl.mirror.mirror import MirrorBuilder

_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_STARTS: Final = re.compile(rb"WARC/1\.|\x1f\x8b\x08")
"""Beginnings of records, plain or packed."""
_MOST_STARTS: Final = 2_000
"""Places after a break that look like the beginning of a record and are tried: by chance there is
one in 16 MB. A file can be nothing else."""
_MOST_BREAKS: Final = 200
"""Most breaks in a file that are skipped, each by reading what is left of it."""


def read_warc(path: Path, builder: MirrorBuilder) -> None:
    """Add the pages of a file. Broken records are counted and skipped."""
    for record in records(path, builder, WarcRecordType.response | WarcRecordType.revisit):
        if record.record_type == WarcRecordType.revisit:
            builder.counts["revisit"] += 1
            continue
        try:
            _response(record, builder)
        except (OSError, ValueError):
            builder.counts["broken"] += 1


def records(path: Path, builder: MirrorBuilder, kinds: Any) -> Iterator[Any]:
    """Yield the records of some kinds; after damage, go on at the next readable one."""
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start: int | None = 0
        breaks = 0
        while start is not None and breaks <= _MOST_BREAKS:
            breaks += 1
            file.seek(start)
            good = start
            try:
                # All kinds are asked for, so that damage is looked for behind the last good one.
                for record in ArchiveIterator(file, parse_http=True):
                    good = max(good, record.stream_pos)
                    if record.record_type & kinds:
                        yield record
            except OSError:
                builder.counts["broken"] += 1
                start = _next_start(data, good)
            else:
                # A length that leads beyond the end has taken all behind it for one record.
                start = _next_start(data, good) if _breaks_off(file, good) else None
                if start is not None:
                    builder.counts["broken"] += 1


def _breaks_off(file: BinaryIO, at: int) -> bool:
    """Return True if the record here is declared longer than the file."""
    file.seek(at)
    record = next(iter(ArchiveIterator(file, parse_http=False)), None)
    return record is not None and record.reader.consume() < record.content_length


def _next_start(data: mmap.mmap, good: int) -> int | None:
    """Return the next position behind a record at which another can be read, or None."""
    matches = _STARTS.finditer(data, good + 1)
    tried = islice(matches, _MOST_STARTS)
    return next((match.start() for match in tried if _begins(data, match.start())), None)


def _begins(data: mmap.mmap, at: int) -> bool:
    """Return True if a record can be read here; packed pictures contain its three bytes too."""
    import io

    try:
        next(iter(ArchiveIterator(io.BytesIO(data[at : at + (1 << 16)]), parse_http=False)), None)
    except OSError:
        return False
    return True


def bare(url: str) -> str:
    """Return a WARC-Target-URI without angle brackets, which wget adds (as WARC 1.0 had it)."""
    return url[1:-1] if url.startswith("<") and url.endswith(">") else url


def _response(record: Any, builder: MirrorBuilder) -> None:
    """Add a response of HTML, or its redirect, to the mirror; count what is neither."""
    url = bare(record.headers.get("WARC-Target-URI") or "")
    http = record.http_headers
    status = http.status_code if http is not None else None
    if status in _REDIRECTS:
        goal = absolute(http.get("Location") or "", url)
        if goal is not None:
            builder.moved(url, goal)
        return
    if status != 200:
        builder.counts["not_ok"] += 1
        return
    if "html" not in (record.http_content_type or "").lower():
        builder.counts["not_html"] += 1
        return
    raw = record.reader.read(MAX_HTML)
    transfer, encoding = http.get("Transfer-Encoding") or "", http.get("Content-Encoding") or ""
    body = page_bytes(raw, transfer, encoding, MAX_HTML)
    charset = record.http_charset
    builder.page(url, html_links(url, body, charset), lambda: decoded(body, charset))
