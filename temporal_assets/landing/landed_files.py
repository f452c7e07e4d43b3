"""Records of the log files that were read: what each contained, by day, and what could not be read.

In: the JSON text of a record. Out: `LandedFile`, and back. Not here: which records there are
(`inventory`), how a file is read (`reading`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from temporal_assets.logs.read.objects import LogPath, ObjectFile
from temporal_assets.storage.sealed import sealed, unsealed

_SEGMENT: Final = re.compile(r"[0-9-]{1,32}\.parquet")
"""Expression for file names in a record, which may only name files of its own folder."""

UNREADABLE: Final = "failed-"
"""Prefix of the id of a file that could not be read."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """State of a file when it was seen: equal size, time and etag mean equal content."""

    path: str
    """A path, or the URL of an object."""
    size: int
    mtime_ns: int
    etag: str = ""
    """Version of an object; empty where it has none."""

    @classmethod
    def of(cls, path: LogPath) -> Sighting:
        """Return the present state of a file, or that of a listed object."""
        stat = path.stat()
        etag = path.etag if isinstance(path, ObjectFile) else ""
        return cls(str(path.absolute()), stat.st_size, stat.st_mtime_ns, etag)

    @property
    def look(self) -> tuple[int, int | str]:
        """The part of the state that does not change when the file is renamed."""
        return self.size, self.etag or self.mtime_ns


@dataclass(frozen=True, slots=True)
class DayShare:
    """The part of one file that belongs to one day."""

    lines: int
    """Lines read, kept or not."""
    rows: int
    """Page requests kept."""
    segments: tuple[str, ...]
    first: int
    last: int
    """Earliest and latest time of the rows, in microseconds since 1970-01-01T00:00:00Z."""
    losses: tuple[dict[str, Any], ...]
    """Lines not kept: kind, reason, lines, samples."""
    digests: tuple[str, ...] = ()
    """Digests of the segments, in their order; none in records of older versions."""


@dataclass(frozen=True, slots=True)
class LandedFile:
    """A log file, read or unreadable."""

    id: str
    serial: int
    """Number of the reading; later readings have higher numbers."""
    digest: str
    options: str
    size: int
    """Size in decompressed bytes."""
    head: str
    """Digest of the first record: what a grown file shares with its beginning."""
    lines: int
    format: str
    likely_format: str | None
    """Format that the file looks like, if that is not the format it was read as."""
    has_referrers: bool
    sightings: tuple[Sighting, ...]
    supersedes: tuple[str, ...] = ()
    """Digests of contents this file begins with."""
    days: dict[dt.date, DayShare] = field(default_factory=dict)
    problem: str | None = None
    """Description of what was lost, if the file was read only in part (a truncated archive)."""
    error: str | None = None
    """Why the file could not be read at all, and what to do."""
    referrers_given: int = 0
    """Page requests whose line names a referrer."""
    referrers_usable: int = 0
    """Number of records whose referrer is the URL of a web page."""
    is_counted: bool = False
    """True if its rows are counts of views rather than requests."""
    may_pass: bool = False
    """True if the error says nothing of the content: permissions, or a disk that did not answer."""
    server_sites: tuple[str, ...] = ()
    """Names that the server has for its sites, if no line names the host: `s-port=8080`."""

    @property
    def name(self) -> str:
        """Folder and name where the content was first seen: enough to find it, on any machine."""
        return self.named(2)

    def named(self, parts: int) -> str:
        """Return so many last parts of the path, as text for tables and messages."""
        name = "/".join(Path(self.sightings[0].path).parts[-parts:])
        # File systems hold any bytes, also the ends of lines; tables and messages hold text.
        text = name.encode("utf-8", "backslashreplace").decode()
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

    def looked_like(self, sighting: Sighting) -> bool:
        """Return True if the file had this size and time somewhere, under any name."""
        return sighting.look in {seen_file.look for seen_file in self.sightings}

    def to_json(self) -> str:
        """Return the text of the record."""
        fields = asdict(self)
        fields["days"] = {day.isoformat(): share for day, share in fields["days"].items()}
        return sealed(fields)

    @classmethod
    def from_json(cls, text: str) -> LandedFile:
        """Return the file of such a text. Raises `ValueError`."""
        try:
            fields = unsealed(text)
            fields["sightings"] = tuple(Sighting(**item) for item in fields["sightings"])
            fields["supersedes"] = tuple(fields["supersedes"])
            fields["server_sites"] = tuple(fields.get("server_sites", ()))
            fields["days"] = {
                dt.date.fromisoformat(day): _day_share_of(share)
                for day, share in fields["days"].items()
            }
            return cls(**fields)
        except (TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
            raise ValueError(f"no record of a log file: {error}") from None


def names_apart(files: Collection[LandedFile]) -> dict[str, str]:
    """Return a name for each file by its id, with as many parent folders as make names unique."""
    names = {file.id: file.name for file in files}
    deepest = max((len(Path(file.sightings[0].path).parts) for file in files), default=0)
    for parts in range(3, deepest + 1):
        often = Counter(names.values())
        alike = [file for file in files if often[names[file.id]] > 1]
        if not alike:
            break
        names |= {file.id: file.named(parts) for file in alike}
    return names


def _day_share_of(fields: dict[str, Any]) -> DayShare:
    """Return the part of a file of one day, from a record. Raises `ValueError`."""
    lists = {name: tuple(fields.get(name, ())) for name in ("segments", "losses", "digests")}
    if not all(_SEGMENT.fullmatch(name) for name in lists["segments"]):
        raise ValueError("it names files that no reading has written")
    return DayShare(**fields | lists)


def file_id(digest: str, options: str) -> str:
    """Return the identity of a reading, from the content and the options it was read with."""
    return f"{digest}-{options[:8]}"


def content_of(identity: str) -> str:
    """Return the digest of the content from a `file_id`."""
    return identity.rpartition("-")[0]


def record_content(record: Path) -> str:
    """Return the digest of the content that a record is of, by its name."""
    return content_of(record.name.split(".")[0])
