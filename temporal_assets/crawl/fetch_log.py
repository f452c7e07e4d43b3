"""The log of a Scrapy crawl, in the format in which results of crawls are read.

Here: writing a line for each visit, page and failure (docs/crawl-results.md). Not here: which
requests a crawl makes (`crawl.scrapy`), reading the lines (`crawl.results`).
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Final, TextIO

from temporal_assets.policy import PolicyError

SHOWN_BY: Final = "temporal_shown_by"
"""Key of `Request.meta` for the source, or the page, on which a spider found the link."""

_END: Final = ".jsonl"
_NOT_MODIFIED: Final = 304
_LONGEST: Final = 200


class FetchLog:
    """A file of JSON lines that grows with every fetch; without a path nothing is written."""

    def __init__(self, path: str | None) -> None:
        if path is not None and not path.endswith(_END):
            raise PolicyError(
                f"TEMPORAL_RESULTS is {path!r}: name a file that ends in {_END}, which"
                " `crawls.results` names as well"
            )
        self._path = Path(path) if path else None
        self._file: TextIO | None = None

    def open(self) -> None:
        """Open the file to append lines to those of earlier crawls."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("a", encoding="utf-8")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def note(self, url: str, status: int | None, meta: dict[str, Any], **facts: Any) -> None:
        """Write a line for a response; `facts` are further fields (docs/crawl-results.md)."""
        if self._file is None:
            return
        line = {"url": url, "time": time.time(), "status": status, **facts}
        latency = meta.get("download_latency")
        if latency is not None:
            line["seconds"] = round(latency, 3)
        if status == _NOT_MODIFIED:
            line["changed"] = False
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def failed(self, url: str, meta: dict[str, Any], error: Exception, **facts: Any) -> None:
        """Write a line for a request without a response."""
        text = f"{type(error).__name__}: {error}"[:_LONGEST]
        self.note(url, None, meta, **facts, error=text)
