"""Crawls of the demo: its sites on the web of this process, and a week of visits as written down.

A proxy answers for the sites from their mirror; crawlers reach it through `https_proxy`. Its
certificate is worth nothing: Scrapy asks for none. The week is modelled: hubs are visited every
three hours and show the new pages that they link in the mirror.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import ssl
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from temporal_assets.cli.explorer.rows import Window
from temporal_assets.settings import Settings

_HUBS: Final = 40
_DAYS: Final = 7
_EVERY: Final = dt.timedelta(hours=3)


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, pages: Mapping[str, bytes], context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages, self.context = pages, context


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Proxy
    host = ""

    def do_CONNECT(self) -> None:
        self.host = self.path.partition(":")[0]
        self.send_response(200)
        self.end_headers()
        self.connection = self.server.context.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb")  # type: ignore[assignment]

    def do_GET(self) -> None:
        page = self.server.pages.get(f"https://{self.host}{self.path}")
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page or b"")))
        self.end_headers()
        self.wfile.write(page or b"")
        self.wfile.flush()

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def online(mirror: Path, folder: Path) -> Iterator[None]:
    """Let commands of this block reach the pages of a mirror; `folder` takes the certificate."""
    table = pq.read_table(mirror, columns=["url", "html"])
    texts = (text.encode() for text in table["html"].to_pylist())
    pages = dict(zip(table["url"].to_pylist(), texts, strict=True))
    hosts = sorted({url.split("/")[2] for url in pages})
    proxy = _Proxy(pages, _context(folder, hosts))
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    os.environ["https_proxy"] = f"http://127.0.0.1:{proxy.server_address[1]}"
    try:
        yield
    finally:
        del os.environ["https_proxy"]
        proxy.shutdown()
        proxy.server_close()


def _context(folder: Path, hosts: Sequence[str]) -> ssl.SSLContext:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    make = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=example")
    names = ("-addext", "subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts))
    files = ("-keyout", str(key), "-out", str(certificate))
    subprocess.run([*make, *names, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def write_visits(settings: Settings, window: Window, file: Path) -> list[str]:
    """Write the results of a week's visits to the first hubs; return options for its days."""
    demo = settings.state / "demo"
    first = dt.datetime.fromisoformat(json.loads((demo / "demo.json").read_text())["first_day"])
    seeds = window.store.read("hub_seeds", window.day).to_pylist()
    ranked = sorted((row for row in seeds if row["rank"]), key=lambda row: row["rank"])
    hubs = [row["url"] for row in ranked[:_HUBS]]
    born = {
        page["url"]: first + dt.timedelta(days=page["birth"])
        for page in pq.read_table(demo / "truth" / "pages.parquet").to_pylist()
    }
    links = pq.read_table(demo / "mirror" / "links.parquet").to_pylist()
    linked: dict[str, list[str]] = defaultdict(list)
    for link in links:
        linked[link["source"]].append(link["target"])
    end = dt.datetime.combine(window.day, dt.time(23, 30))
    lines: list[str] = []
    seen = {url for url, birth in born.items() if birth < end - dt.timedelta(days=_DAYS)}
    for visit in range(int(dt.timedelta(days=_DAYS) / _EVERY)):
        at = end - dt.timedelta(days=_DAYS) + (visit + 1) * _EVERY
        for hub in hubs:
            new = {url for url in linked[hub] if url in born and born[url] <= at} - seen
            seen |= new
            kind = {"kind": "hub", "source": hub, "changed": bool(new)}
            lines.append(_line(at, hub, 200 if new else 304, **kind))
            lines += [_line(at, url, 200, kind="page", source=hub) for url in sorted(new)]
    file.write_text("".join(lines), "utf-8")
    return ["--from", str(window.day - dt.timedelta(days=_DAYS - 1)), "--to", str(window.day)]


def _line(at: dt.datetime, url: str, status: int, **facts: object) -> str:
    return json.dumps({"time": f"{at.isoformat()}Z", "url": url, "status": status, **facts}) + "\n"
