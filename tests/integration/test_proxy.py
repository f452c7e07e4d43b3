"""deploy/nginx.conf in a real nginx: who is let through to the web server, and who is not.

What stands behind it is a server that remembers what reached it; Dagster's own, in read-only
mode, refuses changes by itself (`tests/browser`). Skipped, visibly, without nginx or openssl.
"""

from __future__ import annotations

import base64
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HOST = "dagster.example.org"
HERE = f"https://{HOST}"
KNOWN = "of a viewer"

_WRAPPER = """\
daemon off;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


@dataclass(frozen=True)
class Proxy:
    """nginx, and what came through."""

    port: int
    behind: str
    certificate: Path
    reached: list[str]

    def ask(
        self,
        path: str = "/",
        method: str = "GET",
        host: str = HOST,
        password: str | None = KNOWN,
        **headers: str,
    ) -> int:
        """The status of an answer. `headers`: with underscores for hyphens."""
        sent = {"Host": host, **{name.replace("_", "-"): one for name, one in headers.items()}}
        if password:
            token = base64.b64encode(f"viewer:{password}".encode()).decode()
            sent["Authorization"] = f"Basic {token}"
        context = ssl.create_default_context(cafile=str(self.certificate))
        connection = http.client.HTTPSConnection(HOST, self.port, context=context, timeout=20)
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        connection.sock = context.wrap_socket(plain, server_hostname=HOST)
        try:
            connection.request(method, path, headers=sent)
            return connection.getresponse().status
        finally:
            connection.close()

    def shakes_hands(self, name: str) -> bool:
        """Return whether a connection that asks for another name is opened at all."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as plain:
            try:
                context.wrap_socket(plain, server_hostname=name).close()
            except ssl.SSLError:
                return False
        return True


class _Server(BaseHTTPRequestHandler):
    reached: list[str]

    def do_GET(self) -> None:
        self.reached.append(f"{self.command} {self.path} {self.headers['Host']}")
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Log nothing on the terminal."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def proxy(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    programs = [shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in _PROGRAMS]
    if None in programs:
        pytest.skip(f"needs {' and '.join(_PROGRAMS)}")
    nginx, openssl = map(str, programs)
    folder = tmp_path_factory.mktemp("nginx")
    reached: list[str] = []
    handler = type("Handler", (_Server,), {"reached": reached})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as behind:
        threading.Thread(target=behind.serve_forever, daemon=True).start()
        port = free_port()
        certificate = _certificate(openssl, folder)
        _configure(repository, folder, port, behind.server_port)
        server = subprocess.Popen([nginx, "-p", folder, "-c", folder / "nginx.conf"])
        try:
            _await(port, server)
            yield Proxy(port, f"127.0.0.1:{behind.server_port}", certificate, reached)
        finally:
            server.terminate()
            server.wait(timeout=30)
            behind.shutdown()


_PROGRAMS = ("nginx", "openssl")


def _certificate(openssl: str, folder: Path) -> Path:
    file = folder / "site.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", folder / "site.key", "-out", file, "-subj", f"/CN={HOST}"),
            *("-addext", f"subjectAltName=DNS:{HOST}"),
        ],
        check=True,
        capture_output=True,
    )
    return file


def _configure(repository: Path, folder: Path, port: int, behind: int) -> None:
    """The file as it is, but for ports and places."""
    (folder / "passwords").write_text("viewer:{PLAIN}" + KNOWN + "\n")
    text = (repository / "deploy" / "nginx.conf").read_text("utf-8")
    for there, here in (
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("/etc/ssl/dagster.example.org.pem", f"{folder}/site.pem"),
        ("/etc/ssl/dagster.example.org.key", f"{folder}/site.key"),
        ("/etc/nginx/temporal-assets.htpasswd", f"{folder}/passwords"),
        ("http://127.0.0.1:3000", f"http://127.0.0.1:{behind}"),
        ("http://127.0.0.1:3001", f"http://127.0.0.1:{behind}"),
    ):
        assert there in text
        text = text.replace(there, here)
    (folder / "site.conf").write_text(text)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(_WRAPPER.format(folder=folder, user=user))


def _await(port: int, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        assert server.poll() is None, "nginx has ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("nginx does not answer")


def test_people_with_a_password_are_let_in(proxy: Proxy) -> None:
    proxy.reached.clear()
    assert proxy.ask("/assets") == 200
    assert proxy.ask("/graphql", "POST", Origin=HERE, Sec_Fetch_Site="same-origin") == 200
    # Dagster is asked by the name it knows, whatever the browser calls it.
    assert proxy.reached == [f"GET /assets {proxy.behind}", f"POST /graphql {proxy.behind}"]


@pytest.mark.parametrize("password", [None, "guess"])
def test_others_are_not(proxy: Proxy, password: str | None) -> None:
    proxy.reached.clear()
    assert proxy.ask("/assets", password=password) == 401
    assert proxy.ask("/graphql", "POST", password=password, Origin=HERE) == 401
    assert proxy.reached == []


def test_another_host_is_refused(proxy: Proxy) -> None:
    """DNS rebinding leads a stranger's name to this address."""
    proxy.reached.clear()
    assert not proxy.shakes_hands("evil.example")
    assert proxy.shakes_hands(HOST)  # the test can fail
    assert proxy.ask("/graphql", "POST", host="evil.example", Origin=HERE) == 421
    assert proxy.reached == []


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"{HERE}.evil.example"])
def test_another_origin_is_refused(proxy: Proxy, origin: str) -> None:
    """Browsers send the remembered password with requests that another page makes."""
    proxy.reached.clear()
    assert proxy.ask("/graphql", "POST", Origin=origin) == 403
    assert proxy.ask("/graphql?query=mutation", Origin=origin) == 403
    assert proxy.reached == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "OPTIONS"])
def test_a_change_is_posted_or_refused(proxy: Proxy, method: str) -> None:
    """Older browsers do not say which site a link is on, and Dagster takes changes by GET."""
    proxy.reached.clear()
    assert proxy.ask("/graphql?query=mutation", method) == 405
    assert proxy.ask("/graphql?query=mutation", method, Sec_Fetch_Site="same-origin") == 405
    assert proxy.reached == []


def test_a_web_socket_is_let_through(proxy: Proxy) -> None:
    """The page hears of runs under way by one."""
    proxy.reached.clear()
    socket_of = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_Fetch_Site": "same-origin"}
    assert proxy.ask("/graphql", Origin=HERE, **socket_of) == 200
    assert proxy.ask("/graphql", Origin="https://evil.example", **socket_of) == 403
    assert proxy.reached == [f"GET /graphql {proxy.behind}"]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_change_by_a_link_is_refused(proxy: Proxy, site: str) -> None:
    """A GET has no Origin, and Dagster takes changes by GET."""
    proxy.reached.clear()
    assert proxy.ask("/graphql?query=mutation", Sec_Fetch_Site=site) == 403
    assert proxy.reached == []
    assert proxy.ask("/runs/1", Sec_Fetch_Site=site) == 200  # links in mails are followed


@pytest.mark.parametrize(
    "path", ["/report_asset_materialization/page_views", "/report_asset_check/page_views", "/"]
)
def test_nothing_else_is_posted(proxy: Proxy, path: str) -> None:
    """Dagster takes events from whoever posts them."""
    proxy.reached.clear()
    assert proxy.ask(path, "POST", Origin=HERE) == 403
    assert proxy.reached == []


def test_reports_are_for_people_with_a_password(proxy: Proxy) -> None:
    proxy.reached.clear()
    assert proxy.ask("/report/evaluation-2026-03-01.html", password=None) == 401
    assert proxy.ask("/report/evaluation-2026-03-01.html") == 200
    # The folder is the root of its own server, which is not Dagster's.
    assert [request.split()[:2] for request in proxy.reached] == [
        ["GET", "/evaluation-2026-03-01.html"]
    ]
