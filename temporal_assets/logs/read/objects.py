"""Log files in object stores: listing them, and reading their bytes.

A listed object can be used wherever the path of a local log is: it has a name, a size, a time, and
can be opened. Here: all requests to a store. Not here: which parts of a bucket are listed again
(`landing.listings`), when objects are fetched (`landing.fetching`).
"""

from __future__ import annotations

import datetime as dt
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, NamedTuple, cast

from fsspec.utils import glob_translate

from temporal_assets.machine.filesystems import filesystem_of
from temporal_assets.machine.transient_errors import is_transient

_MAGIC: Final = re.compile(r"[*?\[]")
"""Expression for the characters that make a glob of a path."""

_TEMPORARY: Final = (".tmp", ".temp", ".part", ".partial", ".filepart", ".crdownload", ".swp", "~")
"""Endings of files that somebody is still writing or editing."""

_NO_LOGS: Final = frozenset({"ELBAccessLogTestFile"})
"""Names of objects that a load balancer writes once to see whether it may."""

_EXTRAS: Final = {
    **dict.fromkeys(("s3", "s3a"), "s3"),
    **dict.fromkeys(("gs", "gcs"), "gcs"),
    **dict.fromkeys(("az", "abfs", "abfss"), "azure"),
}
"""Extra of this package that each protocol needs."""

_REMEMBERED_SECONDS: Final = 60
"""Seconds for which a listing is cached: a command asks for it several times."""

_OPEN_BYTES: Final = 1 << 20
"""Bytes that are asked for at once where only the beginning of an object is wanted."""

RANGE_BYTES: Final = 8 << 20
"""Bytes that are asked for at once where a range of an object is wanted."""

_ONE_ANSWER: Final = 32 << 20
"""Objects up to so many bytes come in one answer, and are of one version."""

_NO_CREDENTIALS: Final = frozenset(
    {"NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError", "ProfileNotFound"}
)
"""Names of the errors of stores' libraries for missing credentials."""


class ObjectStoreError(OSError):
    """Error: a store does not give what was asked for; the message says what to do."""


class ObjectStat(NamedTuple):
    """The fields of `os.stat_result` that an object has."""

    st_ino: int
    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """An object as it was listed, usable in place of a `Path`."""

    url: str
    size: int
    mtime_ns: int
    etag: str
    """Version that the store names; empty where it names none."""

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.url.rpartition("/")[2]

    @property
    def parent(self) -> PurePosixPath:
        """The folder, to sort by."""
        return PurePosixPath(self.url).parent

    def absolute(self) -> ObjectFile:
        """Return the object itself: a URL is whole."""
        return self

    def stat(self) -> ObjectStat:
        """Return what the listing said."""
        return ObjectStat(0, self.size, self.mtime_ns)

    def open(self, _mode: str = "rb", ahead: int | None = None) -> IO[bytes]:
        """Open the object for reading parts of it, with each of which `ahead` bytes are fetched."""
        with asked(self.url) as (fs, path):
            ahead = ahead or _OPEN_BYTES
            file = fs.open(path, "rb", block_size=ahead, cache_type="readahead")
        return cast("IO[bytes]", _OpenObject(self.url, file))

    def fetch(self, target: Path) -> None:
        """Copy the bytes into a local file.

        Raises `FileNotFoundError` if the object is gone or another one has its place by now, and
        `ObjectStoreError` for what the store refuses or fails to do.
        """
        with asked(self.url, is_listing=False) as (fs, path):
            fs.get_file(path, str(target))
        size = target.stat().st_size
        if size != self.size or (size > _ONE_ANSWER and self.is_replaced()):
            raise FileNotFoundError(f"{self.url} was replaced while it was read")

    def is_replaced(self) -> bool:
        """Return whether an object, which came in parts, may have changed between two of them."""
        with asked(self.url, is_listing=False) as (fs, path):
            fs.invalidate_cache(path)
            now = _object(self.url, fs.info(path))
        return (now.size, now.etag) != (self.size, self.etag)


class _OpenObject:
    """An object that is being read; its errors are ours."""

    def __init__(self, url: str, file: IO[bytes]) -> None:
        self._url = url
        self._file = file

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        with asked(self._url, is_listing=False):
            return self._file.read(size)

    def seek(self, place: int, whence: int = 0) -> int:
        """Go to a byte."""
        return self._file.seek(place, whence)

    def tell(self) -> int:
        """Return the place of the next byte."""
        return self._file.tell()

    def close(self) -> None:
        """Forget what was fetched."""
        self._file.close()


LogPath = Path | ObjectFile
"""A log file: a local path or an object."""


def listed(url: str) -> list[ObjectFile]:
    """Return all log files that a URL denotes: an object, a folder or a glob.

    A process that asks again within a minute gets the same answer (see `forget_listings`). Raises
    `ObjectStoreError`.
    """
    then, files = _listings.get(url, (0.0, ()))
    if not then or time.monotonic() - then > _REMEMBERED_SECONDS:
        files = tuple(objects(url))
        _listings[url] = (time.monotonic(), files)
    return list(files)


def forget_listings() -> None:
    """Empty the cache of listings."""
    _listings.clear()


_listings: dict[str, tuple[float, tuple[ObjectFile, ...]]] = {}


def objects(url: str, prefixes: Iterable[str] = ("",)) -> Iterator[ObjectFile]:
    """Yield the log files of a URL whose keys go on with one of `prefixes` behind `root_of(url)`.

    An empty prefix lists all. Raises `ObjectStoreError`.
    """
    with asked(url) as (fs, path):
        place = _Place.of(url, path)
        for prefix in prefixes:
            below, _, beginning = prefix.rpartition("/")
            folder = f"{place.folder}/{below}" if below else place.folder
            try:
                details = fs.find(folder, detail=True, **({"prefix": beginning} if prefix else {}))
            except FileNotFoundError:
                if not prefix:
                    raise
                continue  # there is no log of that day yet
            for info in details.values():
                name = info["name"]
                if not (_is_log(info) and place.pattern.fullmatch(name)):
                    continue
                if name.removeprefix(f"{place.folder}/").startswith(prefix):
                    yield _object(f"{place.root}{name.removeprefix(place.folder)}", info)


def root_of(url: str) -> str:
    """Return the folder that a URL names, or that its glob begins in, with a slash at its end."""
    with asked(url) as (_, path):
        return f"{_Place.of(url, path).root}/"


class _Place(NamedTuple):
    """The part of a bucket that a URL denotes."""

    folder: str
    """Folder to be listed, as the file system calls it."""
    root: str
    """The URL of that folder."""
    pattern: re.Pattern[str]
    """Pattern of the names, as the file system calls them, that are meant."""

    @classmethod
    def of(cls, url: str, path: str) -> _Place:
        """Return the place of a URL, whose path is `path` to the file system."""
        parts = path.split("/")
        plain = next((at for at, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
        if plain == len(parts):
            return cls(path, url.rstrip("/"), re.compile(rf"{re.escape(path)}(?:/.*)?", re.DOTALL))
        glob = glob_translate(path).removeprefix("(?s:").removesuffix(r")\Z")
        root = url.rstrip("/").rsplit("/", len(parts) - plain)[0]
        return cls("/".join(parts[:plain]), root, re.compile(rf"(?s:{glob})(?:/.*)?", re.DOTALL))


def is_log_name(name: str) -> bool:
    """Return whether a file of a folder is read: hidden and unfinished ones are not."""
    return not name.startswith(".") and not name.lower().endswith(_TEMPORARY)


def _is_log(info: dict[str, Any]) -> bool:
    name = info["name"].rpartition("/")[2]
    is_file = info["type"] == "file" and bool(name)
    return is_file and is_log_name(name) and name not in _NO_LOGS


def _object(url: str, info: dict[str, Any]) -> ObjectFile:
    etag = str(info.get("ETag") or info.get("etag") or "").strip('"')
    times = (info.get(name) for name in ("LastModified", "last_modified", "mtime", "created"))
    changed = next((time for time in times if time), None)
    return ObjectFile(url, int(info.get("size") or 0), _nanoseconds(changed), etag)


def _nanoseconds(moment: Any) -> int:
    """Nanoseconds since 1970-01-01T00:00:00Z of whatever a store calls a time; 0 of nothing."""
    if isinstance(moment, str):
        moment = dt.datetime.fromisoformat(moment)
    if isinstance(moment, dt.datetime):
        return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1_000
    return int((moment or 0) * 1e9)


# What stores say -----------------------------------------------------------------------------


def _filesystem(url: str) -> tuple[Any, str]:
    """Return the file system of a URL. Raises `ObjectStoreError` if its package is missing."""
    try:
        fs, path = filesystem_of(url)
    except ImportError as error:
        protocol = url.partition("://")[0]
        extra = _EXTRAS.get(protocol)
        how = f"pip install -c requirements.lock '.[{extra}]' in the checkout"
        why = f"the package for {protocol}:// is missing: {how if extra else error}"
        raise ObjectStoreError(f"{url}: {why}") from None
    except ValueError as error:
        raise ObjectStoreError(f"{url}: {error}") from None
    return fs, path.rstrip("/")


@contextmanager
def asked(url: str, *, is_listing: bool = True) -> Iterator[tuple[Any, str]]:
    """Yield the file system of a URL and the path in it; its errors become ours."""
    pair = _filesystem(url)
    try:
        yield pair
    except (ObjectStoreError, MemoryError):
        raise
    except FileNotFoundError:
        if not is_listing:
            raise
        raise ObjectStoreError(f"{url}: no such bucket, folder or object") from None
    except PermissionError as error:
        raise ObjectStoreError(f"{url}: {_message(error)}: {_rights(is_listing)}") from error
    except Exception as error:
        raise _error_of(url, error) from error


def _error_of(url: str, error: Exception) -> Exception:
    """Return the error to raise for a fault of a store: a sentence on what to do, if known."""
    if _is_local(error):
        return error
    if {kind.__name__ for kind in type(error).__mro__} & _NO_CREDENTIALS:
        return ObjectStoreError(
            f"{url}: no credentials were found: set those of the store's own tools (environment"
            " variables, its file in the home folder, or the machine's role); docs/object-stores.md"
        )
    if is_transient(error):
        return ObjectStoreError(
            f"{url}: the store does not answer, also after several tries ({_message(error)}): the"
            " next run tries again"
        )
    return ObjectStoreError(f"{url}: {_message(error)}")


def _is_local(error: Exception) -> bool:
    """Return True if an error is of this machine's disk."""
    return isinstance(error, OSError) and error.filename is not None


def _rights(is_listing: bool) -> str:
    what = "list the bucket" if is_listing else "read the object"
    return f"give the credentials the right to {what}, or check which are used"


def _message(error: Exception) -> str:
    return str(error).strip() or type(error).__name__
