"""Listing, reading and conditionally replacing objects of a store in object storage.

A listing costs one request for a thousand objects, a question about a single one costs as much. So
all are listed at once, and asked for again after some seconds; this process's own changes are known
without. A partition's manifest is replaced only if it is still the version that was seen, where the
store supports conditions (`If-Match`, `If-None-Match`, the generation of Google's).

Here: requests. Not here: what the objects mean (`store`).
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import time
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from temporal_assets.machine.object_cache import DiskCache, expect, is_kept

_FRESH_SECONDS: Final = 5
"""Age in seconds up to which a listing is used. Other processes' work is seen a little later; only
when work begins depends on that, since manifests are replaced conditionally."""

_WITHOUT_FOLDERS: Final = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "memory"})
"""Protocols of stores without folders, where an object can be created only if there is none."""

_S3: Final = frozenset({"s3", "s3a"})
_GOOGLE: Final = frozenset({"gs", "gcs"})
_AZURE: Final = frozenset({"az", "abfs", "abfss"})
"""Protocols of stores that can replace an object only if it has a given version."""

_CREATE: Final = {"mode": "create"}
"""Option of fsspec to write an object only if there is none."""

_CONFLICTS: Final = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412", "409"})

_UNGUARDED: Final = frozenset({"NotImplemented", "501"})
"""Error codes of S3 servers that support no conditions."""


class ReplacedMeanwhileError(Exception):
    """Error: an object is not the version that was seen, so it was not replaced."""


class Seen(NamedTuple):
    """An object as it was listed: size and version."""

    size: int
    etag: str
    """Version named by the store; empty after own writes if the store does not return it."""
    mtime: float

    @property
    def version(self) -> tuple[int, str, float]:
        """A text that changes when the object is replaced."""
        return self.size, self.etag, 0.0 if self.etag else self.mtime


class Bucket:
    """The objects below a root, with a listing kept in memory. Threads may share it."""

    def __init__(self, fs: Any, root: str) -> None:
        self.fs = fs
        self._root = root
        self._protocols = {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)
        self.has_folders = not self._protocols & _WITHOUT_FOLDERS
        self._lock = RLock()
        self._listed = float("-inf")
        self._objects: dict[str, Seen] = {}
        self._names: dict[str, set[str]] = {}

    def forget(self) -> None:
        """Discard the listing, so that the next question lists again."""
        self._listed = float("-inf")

    def names(self, folder: str) -> list[str]:
        """Return paths of files and folders in a folder, sorted."""
        with self._lock:
            self._refresh()
            return sorted(posixpath.join(folder, name) for name in self._names.get(folder, ()))

    def seen(self, path: str) -> Seen | None:
        """Return the listed object at a path, or None."""
        with self._lock:
            self._refresh()
            return self._objects.get(path)

    def read(self, path: str, seen: Seen, cache: DiskCache) -> bytes:
        """Return the content of an object in the version seen, from the local cache if possible."""
        key = _key(path, seen)
        if (cached := cache.open(key)) is not None:
            with cached:
                return cached.read()
        content: bytes = self.fs.cat_file(path)
        if seen.etag and hashlib.md5(content, usedforsecurity=False).hexdigest() == seen.etag:
            with suppress(PermissionError):  # who only looks may not write to the state folder
                cache.add(key, content)
        return content

    def put(self, file: Path, path: str, cache: DiskCache) -> None:
        """Upload a local file with a digest in its name; small ones are kept in the local cache."""
        size = file.stat().st_size
        if self.has_folders:
            self.fs.makedirs(posixpath.dirname(path), exist_ok=True)
        self.fs.put_file(str(file), path)
        expect(path, size)
        if is_kept(path, size):
            cache.add(path, file.read_bytes())
        self._note(path, Seen(size, "", time.time()))

    def replace(self, path: str, content: bytes, before: Seen | None, cache: DiskCache) -> None:
        """Write an object if it is the version `before`. Raises `ReplacedMeanwhileError`."""
        if self.has_folders:
            self.fs.makedirs(posixpath.dirname(path), exist_ok=True)
        try:
            answer = self._write(path, content, before)
        except Exception as error:
            code = _code(error)
            if code in _UNGUARDED:
                answer = self.fs.pipe_file(path, content)
            elif isinstance(error, FileExistsError | FileNotFoundError) or code in _CONFLICTS:
                self.forget()
                if self._holds(path, content):
                    return  # the request was sent again after its answer was lost
                raise ReplacedMeanwhileError(path) from error
            else:
                raise
        etag = _version_of(answer) if isinstance(answer, dict) else ""
        written = Seen(len(content), etag, time.time())
        if etag:
            cache.add(_key(path, written), content)
        self._note(path, written)

    def _holds(self, path: str, content: bytes) -> bool:
        try:
            return bool(self.fs.cat_file(path) == content)
        except FileNotFoundError:
            return False

    def _write(self, path: str, content: bytes, before: Seen | None) -> Any:
        """Write an object if it is the version `before`, where the store supports conditions."""
        if self._protocols & _GOOGLE:
            return self._write_to_google(path, content, before)
        if before is None:
            return self.fs.pipe_file(path, content, **({} if self.has_folders else _CREATE))
        if not before.etag:
            return self.fs.pipe_file(path, content)
        condition: dict[str, Any] = {}
        if self._protocols & _S3:
            condition = {"IfMatch": f'"{before.etag}"'}
        elif self._protocols & _AZURE:
            condition = {"headers": {"If-Match": f'"{before.etag}"'}}
        return self.fs.pipe_file(path, content, **condition)

    def _write_to_google(self, path: str, content: bytes, before: Seen | None) -> Any:
        """Write an object of Google's store if its generation is that of `before`.

        gcsfs has no option for the condition, so the upload is a request of our own: one part with
        the name of the object, and one with its content.
        """
        bucket, _, key = path.partition("/")
        upload = self.fs.base.replace("/storage/", "/upload/storage/")
        generation = before.etag if before else "0"  # 0: there is no such object
        condition = {"ifGenerationMatch": generation} if generation else {}
        mark = hashlib.blake2b(content).hexdigest()
        head = f"--{mark}\r\nContent-Type: application/json\r\n\r\n{json.dumps({'name': key})}"
        body = f"\r\n--{mark}\r\nContent-Type: application/octet-stream\r\n\r\n".encode()
        return self.fs.call(
            "POST",
            f"{upload}b/{quote(bucket, safe='')}/o",
            uploadType="multipart",
            headers={"Content-Type": f'multipart/related; boundary="{mark}"'},
            data=head.encode() + body + content + f"\r\n--{mark}--".encode(),
            json_out=True,
            **condition,
        )

    def remove(self, path: str) -> None:
        """Remove an object."""
        self.fs.rm_file(path)
        with self._lock:
            self._objects.pop(path, None)
            while path != self._root:
                folder = posixpath.dirname(path)
                names = self._names.get(folder, set())
                names.discard(posixpath.basename(path))
                if names:
                    break
                path = folder

    def _note(self, path: str, seen: Seen) -> None:
        with self._lock:
            self._enter(path, seen)

    def _refresh(self) -> None:
        """List the bucket again unless the listing is fresh."""
        if time.monotonic() - self._listed < _FRESH_SECONDS:
            return
        self.fs.invalidate_cache()
        try:
            details = self.fs.find(self._root, detail=True)
        except FileNotFoundError:
            details = {}
        self._objects, self._names = {}, {}
        for info in details.values():
            etag = _version_of(info)
            changed = info.get("LastModified") or info.get("last_modified") or info.get("mtime")
            changed = changed or info.get("created") or 0.0
            moment = changed.timestamp() if hasattr(changed, "timestamp") else 0.0
            self._enter(info["name"], Seen(int(info["size"] or 0), etag, moment))
        self._listed = time.monotonic()

    def _enter(self, path: str, seen: Seen) -> None:
        self._objects[path] = seen
        while path != self._root and (folder := posixpath.dirname(path)) != path:
            names = self._names.setdefault(folder, set())
            if (name := posixpath.basename(path)) in names:
                break
            names.add(name)
            path = folder


def _key(path: str, seen: Seen) -> str:
    return f"{path} {seen.version}"


def _version_of(info: dict[str, Any]) -> str:
    """Return the version in the description of an object: Google's generation, or an ETag."""
    return str(info.get("generation") or info.get("ETag") or info.get("etag") or "").strip('"')


def _code(error: BaseException) -> str | None:
    """Return the error code of a store's answer."""
    if status := getattr(error, "status_code", None):
        return str(status)
    response = getattr(error.__cause__, "response", None)
    code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return str(code) if code else None


_buckets: dict[tuple[int, str], Bucket] = {}


def bucket_of(fs: Any, root: str) -> Bucket:
    """Return the `Bucket` of a root, shared by all stores of this process."""
    return _buckets.setdefault((id(fs), root), Bucket(fs, root))
