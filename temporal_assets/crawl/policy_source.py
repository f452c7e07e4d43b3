"""A policy that may be replaced while a crawl runs.

Here: loading it, noticing that the file has changed, keeping the old one when the new one cannot be
read. Not here: when to look, and in which thread.
"""

from __future__ import annotations

from pathlib import Path

from temporal_assets.policy import Policy
from temporal_assets.policy.document import policy_file

Stamp = tuple[str, int, int]


class PolicySource:
    """The policy at a path; `current` is always whole."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.stamp = self._look()
        """Stamp of the policy that was read last, also if it could not be."""
        self.current = Policy.load(self.path)

    def reload(self) -> bool:
        """Load the policy if its file has changed; whether it did. Raises `PolicyError`.

        A broken file is tried once, and again when it has changed.
        """
        stamp = self._look()
        if stamp is None or stamp == self.stamp:
            return False
        self.stamp = stamp
        self.current = Policy.load(self.path)
        return True

    def _look(self) -> Stamp | None:
        """Return which file it is behind links, and its state; None while there is none."""
        try:
            file = policy_file(self.path).resolve()
            status = file.stat()
        except OSError:
            return None
        return str(file), status.st_mtime_ns, status.st_size
