"""True if files are still the bytes that were written, asked before something is built on them.

Nothing in Parquet as it is written here betrays a flipped bit: a reader may get another number
instead of an error. So what is built upon is compared with the digest it was published under.
A process reads each file once for that; a disk gives less per second than the digest takes.

A file that is found damaged by those who build is set aside under another name: then it is
missing, which is seen without reading it, and the next run makes it again.
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
"""Digests that a process remembers; a long-lived one begins anew after as many files."""

_known: dict[tuple[int, ...], str] = {}
"""(device, inode, size, time of change) -> digest of the content. Hard links share an entry."""


class DamagedFile(Exception):
    """A stored file is missing or not what was written; the message names it and what to do."""


def digest_of_file(path: Path) -> str:
    """Return the digest of a file's bytes, read anew."""
    return blake3(max_threads=1).update_mmap(path).hexdigest()[:DIGITS]


def fault_of(path: Path, size: int | None, digest: str) -> str | None:
    """Return what is wrong with a file, in words; None if it is what was written.

    `size` is None where only the digest was noted.
    """
    try:
        stat = path.stat()
        if size is not None and stat.st_size != size:
            return f"has {stat.st_size:,} bytes instead of {size:,}"
        key = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        known_digest = _known.get(key)
        if known_digest is None:
            known_digest = digest_of_file(path)
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[key] = known_digest
    except FileNotFoundError:
        return "is missing"
    return None if known_digest == digest else "does not hold the bytes that were written"


def set_aside(path: Path) -> None:
    """Give a damaged file another name, where that is allowed; it stays for who wants to look."""
    with contextlib.suppress(OSError):
        path.replace(path.with_name(f"{path.name}{SET_ASIDE}"))
