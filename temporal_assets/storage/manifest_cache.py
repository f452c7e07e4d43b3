"""Manifests that this process has read, kept in memory: every step asks for all of them.

In: the path or URL of a manifest, and its version (inode, size and time of change, or etag). Out:
the manifest as it was read in this version, or None. Not here: reading manifests (`reader`).
"""

from __future__ import annotations

from typing import Final

from temporal_assets.storage.manifest import Manifest

Version = tuple[float | str, ...]
"""State of a file or object when it was read: equal versions mean equal content."""

SETTLED_NS: Final = 2_000_000_000
"""Age in nanoseconds above which a file is remembered: a younger one may be replaced within a tick
of the clock and look the same."""

_MOST_MANIFESTS: Final = 20_000
"""Largest number of manifests kept in memory, each of a few kB; beyond it they are cleared."""

_manifests: dict[str, tuple[Version, Manifest]] = {}


def remembered(path: str, version: Version) -> Manifest | None:
    """Return the manifest that was read from a path in this version, or None."""
    entry = _manifests.get(path)
    return entry[1] if entry is not None and entry[0] == version else None


def remember(path: str, version: Version, manifest: Manifest) -> None:
    """Keep a manifest in memory."""
    if len(_manifests) >= _MOST_MANIFESTS:
        _manifests.clear()
    _manifests[path] = (version, manifest)


def forget() -> None:
    """Forget all manifests."""
    _manifests.clear()
