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
    """The policy at a path; `current` is always a complete one."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.stamp = self._look()
        """Stamp of the file that was last tried, readable or not."""
        self.current = Policy.load(self.path)

    def reload(self) -> bool:
        """Load the policy if its file has changed; return True if so. Raises `PolicyError`.

        A broken file is tried once, and again when it has changed.
        """
        stamp = self._look()
        if stamp is None or stamp == self.stamp:
            return False
        self.stamp = stamp
        self.current = Policy.load(self.path)
        return True

    def _look(self) -> Stamp | None:
        """Return the path behind links and its state, or None while there is none."""
        try:
            file = policy_file(self.path).resolve()
            status = file.stat()
        except OSError:
            return None
        return str(file), status.st_mtime_ns, status.st_size
