"""The manifest of a published partition: its files and its inputs.

A manifest is the pointer that makes a partition visible (see `store`). It holds nothing that
differs between two identical builds: no clock, no host, no process.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Final

from temporal_assets.storage.sealed import digest_of, sealed, unsealed

_DATA_FILE: Final = re.compile(r"part-[0-9a-f]{16}\.parquet")
"""A manifest names files of its own folder and no other, whoever wrote it."""


class ManifestError(ValueError):
    """A text is no manifest; the message goes on from the name of its file."""


_REMEMBERED: Final = 1 << 15
"""Digests of partitions kept: each look at what is stale asks for those of all days."""


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
    """A partition of `asset` for `day`."""

    asset: str
    day: dt.date
    files: tuple[DataFile, ...]
    schema_version: int
    inputs: tuple[Input, ...]
    settings_digest: str
    extra: dict[str, Any] = field(default_factory=dict)
    """Facts about the content that are costly to recompute (rejects by reason, has_referrers)."""
    beside: tuple[DataFile, ...] = ()
    """Files of the URLs that the rows name by number."""
    counts: tuple[DataFile, ...] = ()
    """Files of counts of views without clients, which the rows do not have."""

    @property
    def stored(self) -> tuple[DataFile, ...]:
        """All files there must be."""
        return (*self.files, *self.beside, *self.counts)

    @property
    def rows(self) -> int:
        """Rows of all files."""
        return sum(file.rows for file in self.files)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.bytes for file in self.stored)

    @property
    def digest(self) -> str:
        """Identity of the content; equal data has an equal digest."""
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
        """Return the manifest of such a text. Raises `ManifestError`."""
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
