"""Pages as they were fetched: WARC files, and an index of what is where.

    pages-00001.warc.gz   one record a response, compressed by record
    index.jsonl           url, time, tier, reason, hub, file, offset, length, digest

Here: writing them. Not here: fetching. A run goes on after the files of the runs before it; a
record is in its file before its line is in the index.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

INDEX: Final = "index.jsonl"

_OURS: Final = re.compile(r"pages-([0-9]+)\.warc\.gz")
"""Names of files of runs. Others in the folder (`pages-old.warc.gz`) are not counted."""


@dataclass(frozen=True, slots=True)
class Page:
    """A response."""

    url: str
    status: int
    headers: Iterable[tuple[str, str]]
    body: bytes
    """As it was before transport encodings."""
    time: dt.datetime
    """In UTC."""


class Archive:
    """The archive of one run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        ours = filter(None, (_OURS.fullmatch(path.name) for path in folder.iterdir()))
        number = 1 + max((int(name[1]) for name in ours), default=0)
        self._path = folder / f"pages-{number:05}.warc.gz"
        self._file = self._path.open("xb")
        self._index = (folder / INDEX).open("a", encoding="utf-8")
        self._writer = WARCWriter(self._file, gzip=True)
        self._writer.write_record(
            self._writer.create_warcinfo_record(self._path.name, {"format": "WARC File Format 1.0"})
        )

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Nothing can be added any more."""
        self._file.close()
        self._index.close()

    def add(self, page: Page, **facts: Any) -> None:
        """Write a page, and a line of the index with `facts` beside where it is."""
        start = self._file.tell()
        stamp = page.time.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._writer.write_record(
            self._writer.create_warc_record(
                page.url,
                "response",
                payload=io.BytesIO(page.body),
                http_headers=_headers(page),
                warc_headers_dict={"WARC-Date": stamp},
            )
        )
        self._file.flush()
        line = {
            "url": page.url,
            "time": page.time.isoformat(),
            "status": page.status,
            **facts,
            "file": self._path.name,
            "offset": start,
            "length": self._file.tell() - start,
            "digest": f"sha256:{hashlib.sha256(page.body).hexdigest()}",
        }
        self._index.write(json.dumps(line) + "\n")
        self._index.flush()


_GONE: Final = frozenset({"content-encoding", "transfer-encoding", "content-length"})
"""The body is stored unpacked, so what said how it was packed would be wrong."""


def _headers(page: Page) -> StatusAndHeaders:
    kept = [(name, value) for name, value in page.headers if name.lower() not in _GONE]
    kept.append(("Content-Length", str(len(page.body))))
    phrase = HTTPStatus(page.status).phrase if page.status in set(HTTPStatus) else ""
    return StatusAndHeaders(f"{page.status} {phrase}", kept, protocol="HTTP/1.1")
