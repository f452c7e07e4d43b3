"""The manifest of a published partition: a JSON file with its data files and its inputs.

A manifest makes its partition visible (see `store`). Two identical builds have identical manifests:
they contain no clock, no host and no process.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Final

from temporal_assets.storage.sealed import digest_of, sealed, unsealed

_DATA_FILE: Final = re.compile(r"part-[0-9a-f]{16}\.parquet")
"""Expression for valid file names: only files of the manifest's own folder."""


class ManifestError(ValueError):
    """Error: a text is no manifest; the message is a continuation of the file's name."""


_REMEMBERED: Final = 1 << 15
"""Number of partition digests kept in memory: each search for stale partitions needs all."""


@lru_cache(_REMEMBERED)
def _digest(of_files: tuple[str, ...]) -> str:
    return digest_of(list(of_files))


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file; its name carries the digest of its bytes."""

    name: str
    rows: int
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a partition: a landed log file or another partition."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a published partition of `asset` for `day`."""

    asset: str
    day: dt.date
    files: tuple[DataFile, ...]
    schema_version: int
    inputs: tuple[Input, ...]
    settings_digest: str
    extra: dict[str, Any] = field(default_factory=dict)
    """Facts about the content that are costly to compute (rejects by reason, has_referrers)."""
    beside: tuple[DataFile, ...] = ()
    """Files of the URLs that rows refer to by number."""
    counts: tuple[DataFile, ...] = ()
    """Files of views without clients, which are not among the rows."""

    @property
    def stored(self) -> tuple[DataFile, ...]:
        """All files of the partition."""
        return (*self.files, *self.beside, *self.counts)

    @property
    def rows(self) -> int:
        """Number of rows of the partition, without those of URLs and counts."""
        return sum(file.rows for file in self.files)

    @property
    def size(self) -> int:
        """Number of bytes of all files, with those of URLs and counts."""
        return sum(file.bytes for file in self.stored)

    @property
    def digest(self) -> str:
        """Digest of the content; equal data has an equal digest."""
        return _digest(tuple(file.digest for file in self.stored))

    def to_json(self) -> str:
        """Return the text of the manifest file."""
        fields = asdict(self) | {"day": self.day.isoformat()}
        for name in ("beside", "counts"):
            if not fields[name]:
                del fields[name]
        return sealed(fields)

    @classmethod
    def from_json(cls, text: str | bytes) -> Manifest:
        """Parse the text of a manifest file. Raises `ManifestError`."""
        try:
            fields = unsealed(text)
            fields["day"] = dt.date.fromisoformat(fields["day"])
            fields["files"] = tuple(DataFile(**file) for file in fields["files"])
            fields["inputs"] = tuple(Input(**item) for item in fields["inputs"])
            for name in ("beside", "counts"):
                fields[name] = tuple(DataFile(**file) for file in fields.get(name, ()))
            manifest = cls(**fields)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ManifestError("is no manifest any more") from None
        if not all(_is_well_formed(file) for file in manifest.stored):
            raise ManifestError("names files that no publish has written")
        return manifest


def _is_well_formed(file: DataFile) -> bool:
    return (
        isinstance(file.name, str)
        and _DATA_FILE.fullmatch(file.name) is not None
        and all(isinstance(n, int) and n >= 0 for n in (file.rows, file.bytes))
    )
