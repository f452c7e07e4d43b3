"""An object store on this machine: moto's server, which counts requests and can fail on demand.

    python -m tests.object_store FILE

serves in a process of its own, prints its address and refuses the requests that FILE says, until
its standard input ends.
"""

from __future__ import annotations

import json
import random
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
from moto.s3.models import s3_backends
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

from temporal_assets.machine import filesystems

BUCKET = "logs"
ACCOUNT = "123456789012"

Fault = Callable[[str, str], int | None]
"""The status that a request (method, path) is answered with; None for the store's own answer."""

_CODES = {403: "AccessDenied", 500: "InternalError", 501: "NotImplemented", 503: "SlowDown"}


class ObjectStore:
    """A bucket of an S3 server in this process."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        """Number of requests by kind: LIST, GET, HEAD, PUT, DELETE, POST."""
        self.keys_read: list[str] = []
        """Keys of GET requests, in their order."""
        self.bytes_read = 0
        """Bytes of objects in answers."""
        self.fault: Fault = lambda _method, _path: None
        self.after: Callable[[str, str], None] = lambda _method, _path: None
        """Called behind the answer to a request, before the client has it; may hang up."""
        self._app = DomainDispatcherApplication(create_backend_app)
        self._server = make_server(
            "127.0.0.1", 0, self._answer, threaded=True, request_handler=_Quiet
        )
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """The endpoint."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def bucket(self) -> Any:
        """The bucket as the server has it, for looking and putting without requests."""
        return s3_backends[ACCOUNT]["aws"]

    def put(self, key: str, content: bytes, bucket: str = BUCKET) -> None:
        """Put an object without a request."""
        self.bucket.put_object(bucket, key, content)

    def delete(self, key: str, bucket: str = BUCKET) -> None:
        """Remove an object without a request."""
        self.bucket.delete_object(bucket, key)

    def keys(self, prefix: str = "", bucket: str = BUCKET) -> list[str]:
        """Keys that the bucket has."""
        return [key for key in self.bucket.buckets[bucket].keys if key.startswith(prefix)]

    def _answer(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        is_listing = method == "GET" and "list-type=" in environ["QUERY_STRING"]
        self.asked["LIST" if is_listing else method] += 1
        if method == "GET" and not is_listing:
            self.keys_read.append(path)
        status = self.fault(method, f"{path}?{environ['QUERY_STRING']}")
        if status is not None:
            code = _CODES.get(status, "InternalError")
            start(f"{status} {code}", [("Content-Type", "application/xml")])
            return [f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()]
        answer: Iterable[bytes] = self._app(environ, start)
        if method == "GET" and not is_listing:
            answer = list(answer)
            self.bytes_read += sum(map(len, answer))
        try:
            self.after(method, path)
        except ConnectionError:
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            raise
        return answer

    def __enter__(self) -> ObjectStore:
        self._thread.start()
        s3_backends[ACCOUNT]["aws"].create_bucket(BUCKET, "us-east-1")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        s3_backends.reset()


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_: object, **__: object) -> None:
        pass


@contextmanager
def object_store(monkeypatch: Any) -> Iterator[ObjectStore]:
    """Yield a store that fsspec's s3 finds by its environment, with credentials for it."""
    with ObjectStore() as store:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment(store.url).items():
            monkeypatch.setenv(name, value)
        forget_connections()
        yield store
        forget_connections()


def forget_connections() -> None:
    """Have the next call find store and credentials in the environment again."""
    import s3fs

    filesystems.s3_session.cache_clear()
    fsspec.config.conf.pop("s3", None)
    s3fs.S3FileSystem.clear_instance_cache()


def environment(url: str) -> dict[str, str]:
    """Variables by which a program uses the store."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def serve(faults: Path) -> None:
    """Serve until standard input ends, with the faults of a file of JSON.

    `share` of the requests are answered with `status`; of the others, the answer of a share of
    `lost` is lost after the request was carried out.
    """
    with ObjectStore() as store:

        def refused(_method: str, _path: str) -> int | None:
            plan = json.loads(faults.read_text("utf-8"))
            return plan["status"] if random.random() < plan["share"] else None

        def lose(_method: str, _path: str) -> None:
            if random.random() < json.loads(faults.read_text("utf-8"))["lost"]:
                raise ConnectionError("hung up")

        store.fault, store.after = refused, lose
        print(store.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
