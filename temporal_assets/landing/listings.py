"""Listings of object stores, without listing settled days again.

Logs are delivered to keys that hold their day, in folders (`2026/01/31/`) or in names
(`E2X.2026-01-31-10.gz`). A day that was listed some days after its end gets no more logs: the
objects of such days are those that were read. The watermark of a source is the time of its last
complete refresh; days before it, less a margin, are not listed again.

Here: which parts of a bucket are listed. Not here: requests to the store (`logs.read.objects`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from temporal_assets.logs.read import objects
from temporal_assets.logs.read.objects import ObjectFile, ObjectStoreError
from temporal_assets.logs.read.paths import NoSuchLogError
from temporal_assets.machine.durable import replace_text
from temporal_assets.storage.sealed import sealed, unsealed

_LATE: Final = dt.timedelta(days=3)
"""Time after which nothing of a day arrives: CloudFront delivers within one day, S3 mostly within
hours."""

_RENEWED: Final = dt.timedelta(days=7)
"""Age of a complete listing at which it is renewed: for logs copied into old days, and for another
server that begins to write into the same folder."""

_ONE_ANSWER: Final = 1000
"""Objects that a store lists in one answer."""

_DATE: Final = re.compile(
    r"(?<!\d)(?P<year>(?:year=|y=)?20\d\d)(?P<first>[-/]?)(?P<month>(?:month=|m=)?[01]\d)(?P<second>[-/]?)"
    r"(?P<day>(?:day=|d=)?[0-3]\d)(?!\d)"
)
"""Expression for a day in a key, with slashes, with hyphens or without separators."""


@dataclass(frozen=True, slots=True)
class Watermark:
    """Times of a source's last refresh, and of its last complete listing."""

    refreshed: str
    listed: str


class Listings:
    """Listings of sources in stores, as far as this process has made them."""

    def __init__(self, folder: Path, now: dt.datetime | None = None) -> None:
        self._file = folder / "listings.json"
        self._now = now or dt.datetime.now(dt.UTC)
        self._watermarks = _watermarks(self._file)
        self._fresh: dict[str, Watermark] = {}
        self._found: dict[str, list[ObjectFile] | ObjectStoreError] = {}

    def files(self, url: str, read_before: Iterable[ObjectFile], *, anew: bool) -> list[ObjectFile]:
        """Return the log files of a source: those `read_before` of settled days, others anew.

        With `anew` all of it is listed. Raises `NoSuchLogError`.
        """
        if url not in self._found:
            try:
                self._found[url] = self._ask(url, [*read_before], anew)
            except ObjectStoreError as error:
                self._found[url] = error
        files = self._found[url]
        if isinstance(files, ObjectStoreError):
            raise NoSuchLogError(str(files)) from files
        if not files:
            raise NoSuchLogError(f"{url}: there are no log files")
        return files

    def _ask(self, url: str, known_files: Sequence[ObjectFile], anew: bool) -> list[ObjectFile]:
        """Return all objects of a source, or the known ones and those in recent folders."""
        watermark = None if anew else self._watermarks.get(url)
        now = self._now.isoformat()
        if watermark and self._now - dt.datetime.fromisoformat(watermark.listed) < _RENEWED:
            since = (dt.datetime.fromisoformat(watermark.refreshed) - _LATE).date()
            prefixes = recent(objects.root_of(url), known_files, since, self._now.date())
            if prefixes:
                self._fresh[url] = Watermark(now, watermark.listed)
                by_url = {file.url: file for file in known_files}
                return [*(by_url | {f.url: f for f in objects.objects(url, prefixes)}).values()]
        self._fresh[url] = Watermark(now, now)
        return objects.listed(url)

    def advance(self, scratch: Path) -> None:
        """Store that everything listed has been read."""
        if not self._fresh:
            return
        self._watermarks |= self._fresh
        watermarks = {url: asdict(watermark) for url, watermark in sorted(self._watermarks.items())}
        replace_text(self._file, sealed(watermarks), scratch)

    def forget(self, urls: Iterable[str] | None = None) -> None:
        """Make the next listing of some sources complete, or of all sources for good."""
        if urls is None:
            self._file.unlink(missing_ok=True)
            self._watermarks = {}
            return
        for url in urls:
            self._watermarks.pop(url, None)


def recent(
    root: str, known_files: Sequence[ObjectFile], since: dt.date, today: dt.date
) -> list[str] | None:
    """Return beginnings of keys below `root` that hold the days from `since` on.

    None if keys hold no days, or if listing everything takes no more requests.
    """
    days = [since + dt.timedelta(days=n) for n in range((today - since).days + 2)]
    heads = set()
    for file in known_files:
        match = _DATE.search(key := file.url.removeprefix(root))
        if match is None:
            return None
        heads.add((key[: match.start()], _written(match)))
        if len(heads) * len(days) * _ONE_ANSWER >= len(known_files):
            return None
    return sorted(f"{head}{day.strftime(form)}" for head, form in heads for day in days)


def _written(match: re.Match[str]) -> str:
    """Return the format in which a key holds its day."""
    year, month, day = (match[name] for name in ("year", "month", "day"))
    return "".join(
        (year[:-4], "%Y", match["first"], month[:-2], "%m", match["second"], day[:-2], "%d")
    )


def _watermarks(file: Path) -> dict[str, Watermark]:
    """Return the watermarks by source; none if the file is damaged: everything is then listed."""
    try:
        watermarks = unsealed(file.read_bytes())
        return {url: Watermark(**watermark) for url, watermark in watermarks.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
