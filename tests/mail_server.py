"""Servers that alerts are sent to, on this machine: one of the web, one of mail."""

from __future__ import annotations

import base64
import json
import socketserver
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

PASSWORD = "right"  # noqa: S105 - of a server that lives for one test


class WebServer(HTTPServer):
    """Keeps what is posted, and answers with the next of `answers` (200 when there is none)."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Post)
        self.answers: list[tuple[int, str]] = []
        self.headers: Mapping[str, str] = {}
        self.stalls = 0.0
        """Seconds between the head of an answer and its body."""
        self.requests: list[tuple[str, Mapping[str, str], dict[str, Any]]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/services/SECRET"

    @property
    def texts(self) -> list[str]:
        return [body["text"] for _, _, body in self.requests]


class _Post(BaseHTTPRequestHandler):
    server: WebServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, message = self.server.answers.pop(0) if self.server.answers else (200, "ok")
        if status == 200:
            self.server.requests.append((self.path, dict(self.headers), json.loads(body)))
        self.send_response(status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        time.sleep(self.server.stalls)
        self.wfile.write(message.encode())

    def log_message(self, *_: Any) -> None:
        """Quiet."""


class MailServer(socketserver.TCPServer):
    """SMTP server that can do just enough to take mails, which it keeps."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Mail)
        self.mails: list[tuple[list[str], bytes]] = []
        """(recipients, the mail as it came)"""
        self.logins: list[tuple[str, str]] = []
        self.refused: set[str] = set()
        self.down = False

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Mail(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        if self.server.down:
            return self._say("421 not now\x1b[31m")
        self._say("220 ready")
        recipients: list[str] = []
        while line := self.rfile.readline().decode().strip():
            verb = line.split(" ")[0].upper()
            if verb == "EHLO":
                self._say("250-here\r\n250 AUTH PLAIN")
            elif verb == "AUTH":
                _, user, password = base64.b64decode(line.split(" ")[2]).decode().split("\0")
                self.server.logins.append((user, password))
                self._say("235 welcome" if password == PASSWORD else "535 wrong")
            elif verb == "RCPT":
                address = line.partition("<")[2].rstrip(">")
                if address in self.server.refused:
                    self._say("550 nobody")
                else:
                    recipients.append(address)
                    self._say("250 ok")
            elif verb == "DATA":
                self._say("354 go on")
                self.server.mails.append((recipients, self._body()))
                self._say("250 taken")
            elif verb == "QUIT":
                return self._say("221 bye")
            else:
                self._say("250 ok")
        return None

    def _body(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line)
        return b"".join(lines)

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def serving(server: socketserver.BaseServer) -> Iterator[None]:
    """Serve from a thread until the end of the block."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
