"""The archive of fetched pages: WARC files, and an index of their records.

    pages-00001.warc.gz   a request and a response (or revisit) for each fetch, compressed by record
    index.jsonl           a line for each fetch (docs/crawl-results.md)

Here: writing them, and removing what a killed crawl had not finished. Not here: fetching. A run
continues after the files of the runs before it.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

INDEX: Final = "index.jsonl"

MOST_BYTES: Final = 1 << 30
"""Size of a WARC file at which the next begins, as archives like it."""

_OURS: Final = re.compile(r"pages-([0-9]+)\.warc\.gz")
"""Expression for names of our files; other files (`pages-old.warc.gz`) are not counted."""

_NOT_MODIFIED: Final = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
_SAME_DIGEST: Final = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"

Lengths = dict[str, int]
"""Complete bytes of each of the archive's files, by name."""

Headers = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Page:
    """A response to be archived."""

    url: str
    status: int | None
    """Status; None where there was no response, which only a line of the index records."""
    headers: Headers
    body: bytes
    """Body as it was before transport encodings."""
    time: dt.datetime
    """Time of the fetch, in UTC."""
    asked_with: Headers = ()
    """Headers of the request."""
    method: str = "GET"
    refers_to: tuple[str, str] | None = None
    """Time and digest of the fetch that a visit without change refers to."""


class Archive:
    """Archive of one run.

    `lengths` are the complete bytes that the run before has left: what lies behind is removed.
    """

    def __init__(
        self,
        folder: Path,
        agent: str = "",
        lengths: Mapping[str, int] | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._agent, self._most = folder, agent, most_bytes
        self.lengths: Lengths = dict(lengths or {})
        if lengths is not None:
            _cut(folder, lengths)
        ours = filter(None, (_OURS.fullmatch(path.name) for path in folder.iterdir()))
        self._number = max((int(name[1]) for name in ours), default=0)
        self._index = (folder / INDEX).open("ab")
        self.lengths[INDEX] = self._index.tell()
        self._begin()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the archive; nothing can be added any more."""
        self._file.close()
        self._index.close()

    def add(self, page: Page, /, **facts: Any) -> None:
        """Write a page, and a line of the index with `facts` beside where it is.

        Where writing fails nothing of the page stays. Raises `OSError`.
        """
        if self._file.tell() > self._most:
            self._file.close()
            self._begin()
        start = self._file.tell()
        try:
            response = self._write(page)
            length = self._file.tell() - response
            self.note(
                page,
                **facts,
                file=self._path.name,
                offset=response,
                length=length,
                digest=f"sha256:{hashlib.sha256(page.body).hexdigest()}",
            )
        except OSError:
            _cut_to(self._file, start)
            raise
        self.lengths[self._path.name] = self._file.tell()

    def note(self, page: Page, /, **facts: Any) -> None:
        """Write only a line of the index, for an error or a refusal."""
        line = {"url": page.url, "time": page.time.isoformat(), "status": page.status, **facts}
        before = self._index.tell()
        try:
            self._index.write(json.dumps(line).encode() + b"\n")
            self._index.flush()
        except OSError:
            _cut_to(self._index, before)
            raise
        self.lengths[INDEX] = self._index.tell()

    def _begin(self) -> None:
        """Begin the next WARC file with a record about the crawl."""
        self._number += 1
        self._path = self._folder / f"pages-{self._number:05}.warc.gz"
        self._file = self._path.open("xb")
        self._writer = WARCWriter(self._file, gzip=True)
        about = {"format": "WARC File Format 1.0", "robots": "obey", "isPartOf": "temporal-assets"}
        if self._agent:
            about |= {"software": self._agent.split(" ")[0], "http-header-user-agent": self._agent}
        self._writer.write_record(self._writer.create_warcinfo_record(self._path.name, about))
        self._file.flush()
        self.lengths[self._path.name] = self._file.tell()

    def _write(self, page: Page) -> int:
        """Write the records of a page; return where the response begins."""
        stamp = {"WARC-Date": page.time.strftime("%Y-%m-%dT%H:%M:%SZ")}
        answer = self._answer(page, stamp)
        about = stamp | {"WARC-Concurrent-To": answer.rec_headers.get_header("WARC-Record-ID")}
        request = self._writer.create_warc_record(
            page.url, "request", http_headers=_asked(page), warc_headers_dict=about
        )
        self._writer.write_record(request)
        at = self._file.tell()
        self._writer.write_record(answer)
        self._file.flush()
        return at

    def _answer(self, page: Page, stamp: dict[str, str]) -> Any:
        """Return the record of a response, or of a revisit whose content is unchanged."""
        headers = _headers(page)
        if page.refers_to is None:
            return self._writer.create_warc_record(
                page.url,
                "response",
                payload=io.BytesIO(page.body),
                http_headers=headers,
                warc_headers_dict=stamp,
            )
        time, digest = page.refers_to
        is_304 = page.status == HTTPStatus.NOT_MODIFIED
        record = self._writer.create_revisit_record(
            page.url,
            digest,
            page.url,
            dt.datetime.fromisoformat(time).strftime("%Y-%m-%dT%H:%M:%SZ"),
            http_headers=headers,
            warc_headers_dict=stamp,
        )
        profile = _NOT_MODIFIED if is_304 else _SAME_DIGEST
        record.rec_headers.replace_header("WARC-Profile", profile)
        return record


def payload_digest(body: bytes) -> str:
    """Return the digest of a body as WARC files write it."""
    digest = hashlib.sha1(body, usedforsecurity=False).digest()
    return f"sha1:{base64.b32encode(digest).decode()}"


def _cut(folder: Path, lengths: Mapping[str, int]) -> None:
    """Cut off, or rename, what a killed run had written and not finished."""
    names = [path.name for path in folder.iterdir() if _OURS.fullmatch(path.name)]
    newest = max(names, default=None)
    for name in {newest, INDEX} - {None}:
        path, length = folder / str(name), lengths.get(str(name))
        if not path.exists():
            continue
        if length is None and name == newest:
            path.rename(path.with_name(f"{name}.unfinished"))  # it has nothing that is finished
        elif length is not None and path.stat().st_size > length:
            with path.open("r+b") as file:
                file.truncate(length)


def _cut_to(file: BinaryIO, length: int) -> None:
    """Truncate a file to a length, as far as the disk allows."""
    with contextlib.suppress(OSError):
        file.flush()
    file.seek(length)
    file.truncate(length)


_GONE: Final = frozenset({"content-encoding", "transfer-encoding", "content-length"})
"""Headers that are not stored, because they describe an encoding that was undone."""


def _headers(page: Page) -> StatusAndHeaders:
    kept = [(name, value) for name, value in page.headers if name.lower() not in _GONE]
    if page.refers_to is None:
        kept.append(("Content-Length", str(len(page.body))))
    phrase = HTTPStatus(page.status).phrase if page.status in set(HTTPStatus) else ""
    return StatusAndHeaders(f"{page.status} {phrase}", kept, protocol="HTTP/1.1")


def _asked(page: Page) -> StatusAndHeaders:
    split = urlsplit(page.url)
    target = (split.path or "/") + (f"?{split.query}" if split.query else "")
    headers = [("Host", split.netloc), *((n, v) for n, v in page.asked_with if n.lower() != "host")]
    return StatusAndHeaders(f"{page.method} {target} HTTP/1.1", headers, is_http_request=True)
