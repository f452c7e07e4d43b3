"""Names of hosts, and how long one is left alone that cannot answer.

Here: what the scheduler and the middlewares share. Not here: what is remembered (`memory`).
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

LONGEST_WAIT: Final = 3_600.0


def host_of(url: str) -> str:
    """Return the host of a URL with its port, by which requests are kept apart."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def wait_after(failures: int, first: float) -> float:
    """Return seconds to leave a host alone that has failed so often in a row before."""
    return float(min(first * 2.0 ** min(failures, 20), LONGEST_WAIT))
