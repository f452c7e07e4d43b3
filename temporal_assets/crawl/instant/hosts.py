"""Names of hosts in URLs, and the back-off after failures of a host.

Here: what the scheduler and the middlewares share. Not here: what is remembered (`memory`).
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

LONGEST_WAIT: Final = 3_600.0


def host_of(url: str) -> str:
    """Return the host of a URL with its port, by which requests are queued."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def wait_after(failures: int, first: float) -> float:
    """Return the seconds to wait before a host is asked again, after so many failures in a row."""
    return float(min(first * 2.0 ** min(failures, 20), LONGEST_WAIT))
