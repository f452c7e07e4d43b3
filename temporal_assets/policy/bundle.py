"""Publishing a policy: a folder a version, and `latest` that names one of them.

    policy/2025-05-01-<digest>/policy.json       everything, for crawlers
    policy/2025-05-01-<digest>/hubs.parquet ...  the same lists as tables, for people
    policy/2025-05-01-<digest>/schema.json       what is in policy.json
    policy/2025-05-01-<digest>/SHA256SUMS        what these files were when they were written
    policy/latest                                a link to the newest day's folder

A policy is published first and released later, when it has passed its checks: only then does
`latest` name it, and crawlers follow `latest`. A folder is complete before it gets its name, and
`latest` is replaced by a rename, so a crawler finds the old policy or the new one, whatever is
killed when. The name holds the digest of the content: publishing the same policy twice changes
nothing, but what was damaged meanwhile. Not here: what is in a policy, and who judges it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.machine.durable import sync
from temporal_assets.policy.document import (
    DIGITS,
    FILE,
    Document,
    PolicyError,
    as_text,
    is_as_published,
)
from temporal_assets.storage import checksums

LATEST: Final = "latest"
SCHEMA_FILE: Final = Path(__file__).with_name("schema.json")

_DAY: Final = len("2025-05-01")
"""Characters of the day at the beginning of a folder's name."""

LISTS: Final = {
    "sites": pa.schema(
        {
            "site": pa.string(),
            "rank": pa.int64(),
            "score": pa.float64(),
            "tier": pa.int8(),
            "provisional": pa.bool_(),
        }
    ),
    "hubs": pa.schema(
        {
            "url": pa.string(),
            "site": pa.string(),
            "rank": pa.int64(),
            "tier": pa.int8(),
            "interval_seconds": pa.int64(),
            "new_per_day": pa.float64(),
            "temporal_pages": pa.int64(),
            "provisional": pa.bool_(),
        }
    ),
    "sources": pa.schema(
        {
            "url": pa.string(),
            "kind": pa.string(),
            "is_news": pa.bool_(),
            "site": pa.string(),
            "tier": pa.int8(),
            "interval_seconds": pa.int64(),
            "new_per_day": pa.float64(),
        }
    ),
    "prefixes": pa.schema(
        {
            "prefix": pa.string(),
            "site": pa.string(),
            "tier": pa.int8(),
            "score": pa.float64(),
            "pages": pa.int64(),
            "provisional": pa.bool_(),
        }
    ),
    "patterns": pa.schema(
        {
            "site": pa.string(),
            "template": pa.string(),
            "expression": pa.string(),
            "decision": pa.string(),
            "tier": pa.int8(),
            "fetch": pa.float64(),
            "discovery": pa.float64(),
            "urgency": pa.float64(),
            "overrules": pa.bool_(),
            "visits": pa.int64(),
            "provisional": pa.bool_(),
        }
    ),
}
"""Names of the lists of a policy that are written as Parquet tables as well."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published policy: its folder and size."""

    folder: Path
    digest: str
    bytes: int
    """Size of `policy.json`, which is all that a crawler needs."""


def publish(document: Document, root: Path, scratch: Path) -> Published:
    """Write a policy to a folder under `root`; crawlers see it only once it is released.

    `scratch` is a folder on the same file system for incomplete files.
    """
    text = as_text(document).encode()
    digest = hashlib.sha256(text).hexdigest()
    root.mkdir(parents=True, exist_ok=True)
    folder = root / f"{document['day']}-{digest[:DIGITS]}"
    _write(document, text, scratch / folder.name)
    try:
        _rename(scratch / folder.name, folder)
    except FileExistsError:  # published before, and perhaps damaged since
        _mend(folder, scratch / folder.name)
    sync(root)
    latest = latest_of(root)
    keep = (folder.name, latest.name if latest else "")
    _drop_others(root, document["day"], keep, scratch)
    return Published(folder, digest, len(text))


def release(root: Path, name: str) -> bool:
    """Let `latest` name the published folder `name`, unless it names a later day's.

    Returns True if `latest` names it now. Raises `PolicyError` if the folder is missing.
    """
    latest = latest_of(root)
    if latest is not None and _day_of(latest) > name[:_DAY]:
        return False
    if not (root / name / FILE).is_file():
        raise PolicyError(
            f"the policy {name} has passed its checks and is not in {root} any more: make it again"
            f" (temporal-assets materialize crawl_policy --day {name[:_DAY]})"
        )
    if is_newer(root / name):
        _point(root, name)
    return True


def is_newer(folder: Path) -> bool:
    """Return True if `latest` names an earlier policy than a published folder, or none."""
    latest = latest_of(folder.parent)
    if latest is None:
        return True
    return latest.name != folder.name and _day_of(latest) <= _day_of(folder)


def is_whole(folder: Path) -> bool:
    """Return True if all files of a published folder have the digests of SHA256SUMS."""
    return (folder / FILE).is_file() and not faults(folder)


def faults(folder: Path) -> list[Path]:
    """Return the paths of files of a published folder that are missing or have other digests."""
    file = folder / FILE
    wrong = [] if file.is_file() and is_as_published(file, file.read_bytes()) else [file]
    return list(dict.fromkeys((*wrong, *checksums.faults(folder))))


def latest_of(root: Path) -> Path | None:
    """Return the folder that `latest` names."""
    link = root / LATEST
    return link.resolve() if link.is_dir() else None


def unreleased_of(root: Path) -> str | None:
    """Return the last day with a policy that is later than that of `latest`, or None."""
    latest = latest_of(root)
    days = [_day_of(path) for path in root.glob("????-??-??-*") if path.is_dir()]
    last = max(days, default="")
    return last if last > (_day_of(latest) if latest else "") else None


def table_of(document: Document, name: str) -> pa.Table:
    """Return one of the LISTS as an Arrow table."""
    rows: Sequence[Any] = document[name]  # type: ignore[literal-required]
    return pa.Table.from_pylist(list(rows), LISTS[name])


def _day_of(folder: Path) -> str:
    return folder.name[:_DAY]


def _write(document: Document, text: bytes, folder: Path) -> None:
    """Write all files of a policy into a new folder and flush them."""
    folder.mkdir(parents=True)
    (folder / FILE).write_bytes(text)
    shutil.copyfile(SCHEMA_FILE, folder / SCHEMA_FILE.name)
    for name in LISTS:
        pq.write_table(table_of(document, name), folder / f"{name}.parquet", compression="zstd")
    written = checksums.text_of(folder, [path.name for path in folder.iterdir()])
    (folder / checksums.NAME).write_text(written, "utf-8")
    for path in folder.iterdir():
        sync(path)
    sync(folder)


def _rename(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError as error:  # a folder with files in it is not replaced
        if target.is_dir():
            raise FileExistsError(target) from error
        raise


def _mend(folder: Path, fresh: Path) -> None:
    """Replace damaged files one by one: crawlers may be reading the others."""
    for path in fresh.iterdir():
        there = folder / path.name
        if not there.is_file() or there.read_bytes() != path.read_bytes():
            path.replace(there)
    sync(folder)
    shutil.rmtree(fresh)


def _point(root: Path, name: str) -> None:
    """Replace the link `latest` by one to the folder `name`, atomically."""
    link = root / f".{LATEST}.{os.getpid()}"
    link.unlink(missing_ok=True)
    link.symlink_to(name, target_is_directory=True)
    link.replace(root / LATEST)
    sync(root)


def _drop_others(root: Path, day: str, keep: Sequence[str], scratch: Path) -> None:
    """Remove other versions of a day, except the one that `latest` names."""
    for folder in root.glob(f"{day}-*"):
        # Names, not paths: `latest` is a resolved path, and `root` may lead through a link.
        if folder.name not in keep and folder.is_dir():
            # Half a folder must not keep the name: the same policy would be taken for published.
            with contextlib.suppress(FileNotFoundError):  # another run was first
                folder.rename(scratch / folder.name)
            shutil.rmtree(scratch / folder.name, ignore_errors=True)
