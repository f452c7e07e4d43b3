"""Fetches from the records of WARC files, which the extra `warc` reads.

Not here: other files of results (`files`), pages and links of WARC files (`crawl.mirror.warc`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastwarc.warc import ArchiveIterator, WarcRecordType

from temporal_assets.crawl.results.fetch import Fetch, fetch_of


def read_warc(file: Path) -> Iterator[Fetch | None]:
    """Yield the fetches of a file; None for a record that cannot be read."""
    kinds = WarcRecordType.response | WarcRecordType.revisit
    with file.open("rb") as stream:
        records = ArchiveIterator(stream, record_types=kinds, parse_http=True)
        while True:
            try:
                record = next(records, None)
            except OSError:
                yield None
                return
            if record is None:
                return
            yield _of_record(record)


def _of_record(record: Any) -> Fetch | None:
    """Return the fetch that a record describes, or None."""
    http = record.http_headers
    is_revisit = record.record_type == WarcRecordType.revisit
    return fetch_of(
        {
            "time": record.headers.get("WARC-Date"),
            "url": (record.headers.get("WARC-Target-URI") or "").strip("<>"),
            "status": http.status_code if http is not None else None,
            "changed": False if is_revisit else None,
        }
    )
