"""Locks of hosts: one crawl of a host at a time, over all crawls of a user on a machine.

Here: locks of hosts that the operating system drops when their holder dies. All of them are bytes
of one file, so that a crawl of a million hosts holds one file open. Two hosts whose names have the
same hash wait for each other, which happens to one pair in a million hosts with a chance of 1 in
ten million.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final

try:
    import fcntl
except ModuleNotFoundError:  # Windows: crawls of other folders are not seen there
    fcntl = None  # type: ignore[assignment]

_BITS: Final = 62
"""Bits of an offset, which is a signed number of 64 bits."""


def default_file() -> Path:
    """Return the lock file that all crawls of this user share."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"temporal-assets-hosts-{user}.lock"


class HostLocks:
    """Locks of the hosts that this crawl holds."""

    def __init__(self, file: Path | None = None) -> None:
        path = file or default_file()
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        self._file = os.open(path, flags, 0o600)
        self._held: set[str] = set()

    def take(self, host: str) -> bool:
        """Lock a host until the crawl ends; return False if another crawl holds it."""
        if host in self._held or fcntl is None:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(host))
        except OSError:
            return False
        self._held.add(host)
        return True

    def close(self) -> None:
        """Let go of all hosts."""
        os.close(self._file)
        self._held.clear()


def _offset(host: str) -> int:
    digest = hashlib.blake2b(host.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - _BITS)
