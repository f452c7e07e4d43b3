"""Web sites in one process: a proxy that answers for every host itself."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[str], bytes | None]
"""HTML or JSON of a URL (`http://host/path`), or None if there is no such page. Raises
ConnectionError to hang up."""


class Sites(ThreadingHTTPServer):
    """Answers requests in absolute form, as a crawler sends them to its proxy."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: list[str] = []
        self.unchanged: list[str] = []
        """Requests for pages that the client had already."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Sites

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        try:
            page = self.server.answer(self.path)
        except ConnectionError:
            self.close_connection = True
            return
        body = page if page is not None else b"not here"
        version = f'"{hashlib.sha256(body).hexdigest()}"'
        if page is not None and self.headers["If-None-Match"] == version:
            self.server.unchanged.append(self.path)
            self.send_response(304)
            self.send_header("ETag", version)
            self.end_headers()
            return
        self.send_response(200 if page is not None else 404)
        self.send_header("ETag", version)
        self.send_header("Content-Type", _kind(self.path, body))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


def _kind(path: str, body: bytes) -> str:
    if path.endswith("robots.txt"):
        return "text/plain"
    return "application/json" if body.startswith(b"{") else "text/html; charset=utf-8"


@contextmanager
def served(answer: Answer) -> Iterator[Sites]:
    """Sites that are up for a while."""
    sites = Sites(answer)
    thread = threading.Thread(target=sites.serve_forever, daemon=True)
    thread.start()
    try:
        yield sites
    finally:
        sites.shutdown()
        sites.server_close()
        thread.join()
