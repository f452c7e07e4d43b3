"""Errors of an object store that holds the tables, as one sentence that says what to do.

The packages of stores raise what the store answered, often a word such as `AccessDenied`. Not here:
errors of reading logs from a store, which name the object (`logs.read.objects`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_PACKAGES: Final = frozenset({"aiobotocore", "adlfs", "azure", "botocore", "gcsfs", "s3fs"})
"""Modules whose errors are a store's."""


def store_trouble(chain: Sequence[BaseException]) -> str | None:
    """Return the message if a chain of errors ends in one of a store, else None.

    Errors of ours say what was asked for and why, and are left alone.
    """
    packages = [type(error).__module__.partition(".")[0] for error in chain]
    stores = [error for error, name in zip(chain, packages, strict=True) if name in _PACKAGES]
    if not stores or "temporal_assets" in packages:
        return None
    answer = " ".join(str(stores[-1]).split()) or type(stores[-1]).__name__
    if any(isinstance(error, PermissionError) for error in chain):
        what = "give the credentials the right to list, read, write and delete objects there"
    else:
        what = "see that it answers and that the bucket is there"
    return (
        f"the store that `storage` in settings.toml names says: {answer}. What is published is"
        f" whole; {what} (docs/object-stores.md), and run the same command again"
    )
