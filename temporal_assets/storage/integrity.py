"""Digests of files, compared before something is computed from them.

Nothing in Parquet as it is written here reveals a flipped bit: a reader may get another number
instead of an error. So inputs are compared with the digest they were published under. A process
reads each file once for that; a disk gives less per second than the digest takes.

A damaged file that a run finds is renamed: then it is missing, which is seen without reading it,
and the next run makes it again.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from blake3 import blake3

DIGITS: Final = 16
"""Digits of a digest in names and manifests: 64 bits tell the few generations of a day apart."""

SET_ASIDE: Final = ".damaged"

_MOST_KNOWN: Final = 50_000
"""Largest number of digests kept in memory; beyond it the memory is cleared."""

_digests: dict[tuple[int, ...], str] = {}
"""Digest by (device, inode, size, time of change). Hard links share an entry."""


class DamagedFile(Exception):
    """Error: a stored file is missing or changed; the message names it and the remedy."""


def digest_of_file(path: Path) -> str:
    """Return the digest of a file's bytes, read again."""
    return blake3(max_threads=1).update_mmap(path).hexdigest()[:DIGITS]


def fault_of(path: Path, size: int | None, digest: str) -> str | None:
    """Return what is wrong with a file in words, or None if it has the size and digest.

    `size` is None where only the digest was recorded.
    """
    try:
        stat = path.stat()
        if size is not None and stat.st_size != size:
            return f"has {stat.st_size:,} bytes instead of {size:,}"
        key = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        known_digest = _digests.get(key)
        if known_digest is None:
            known_digest = digest_of_file(path)
            if len(_digests) >= _MOST_KNOWN:
                _digests.clear()
            _digests[key] = known_digest
    except FileNotFoundError:
        return "is missing"
    return None if known_digest == digest else "does not hold the bytes that were written"


def set_aside(path: Path) -> None:
    """Rename a damaged file, where permitted; it stays for inspection."""
    with contextlib.suppress(OSError):
        path.replace(path.with_name(f"{path.name}{SET_ASIDE}"))
