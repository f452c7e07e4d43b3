"""The explorer's web server, on this machine only.

Here: which address shows which view (`answer`, by which `static` writes the same views as files),
what is refused, and headers. Only GET and HEAD are answered, for names of this machine (`guard`
says why). Headers forbid other sites to read or frame answers, and browsers to store them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from temporal_assets.cli.explorer import html_parts, page_view, pattern_view, views
from temporal_assets.cli.explorer.rows import Window
from temporal_assets.guard import refusal
from temporal_assets.machine.error_sentences import sentence_of

_LONGEST: Final = 20_000
"""Most characters of an address; URLs of logs are shorter."""
_MOST_PAGES: Final = 1_000_000
"""Largest number of a page of rows, or of a pattern."""

Query = Mapping[str, str]
View = Callable[[Window, Query], str]

_VIEWS: Final[Mapping[str, View]] = {
    "/": lambda window, _: views.at_a_glance(window),
    "/sites": lambda window, query: views.sites(
        window, query.get("q", ""), query.get("sort", ""), _number(query, "page")
    ),
    "/site": lambda window, query: views.site(
        window, query.get("site", ""), query.get("prefix", "")
    ),
    "/pages": lambda window, query: page_view.pages(
        window,
        query.get("site", ""),
        query.get("prefix", ""),
        query.get("q", ""),
        _number(query, "page"),
    ),
    "/pattern": lambda window, query: pattern_view.pattern(
        window, query.get("site", ""), _number(query, "pattern")
    ),
    "/page": lambda window, query: page_view.one_page(window, query.get("url", "")),
    "/find": lambda window, query: page_view.one_page(window, query.get("url", "").strip()),
}
"""Views by path; query values are passed as text, unknown ones are ignored."""


def _number(query: Query, name: str) -> int:
    text = query.get(name, "")
    return min(int(text), _MOST_PAGES) if text.isascii() and text.isdigit() else 0


def answer(window: Window, target: str) -> tuple[int, str]:
    """Return the status and the page of an address."""
    parts = urlsplit(target)
    view = _VIEWS.get(parts.path)
    if view is None or len(target) > _LONGEST:
        return 404, html_parts.page("There is no such view", ())
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    try:
        return 200, view(window, query)
    except html_parts.NotKnown as error:
        return 404, html_parts.page("Not known", [f"<p>{html_parts.escaped(str(error))}</p>"])


def serve(window: Window, port: int) -> ThreadingHTTPServer:
    """Return a server that is bound to the local host and not yet running."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        """A request; one is answered at a time, because the engine takes one question."""

        server_version, sys_version = "temporal-assets", ""

        def do_GET(self) -> None:
            """Answer, or refuse."""
            headers = [(k.lower().encode(), v.encode("latin-1")) for k, v in self.headers.items()]
            scope = {"type": "http", "method": self.command, "path": "/", "headers": headers}
            why = refusal(scope)
            if why is not None:
                self._send(403, html_parts.page("Refused", [f"<p>{html_parts.escaped(why)}</p>"]))
                return
            with lock:
                try:
                    status, content = answer(window, self.path)
                except Exception as error:
                    why = sentence_of(error) or type(error).__name__
                    status = 500
                    content = html_parts.page("That failed", [f"<p>{html_parts.escaped(why)}</p>"])
            self._send(status, content)

        def do_HEAD(self) -> None:
            """Answer without the page."""
            self.do_GET()

        def _send(self, status: int, content: str) -> None:
            body = content.encode()
            self.send_response(status)
            for name, value in _headers(len(body)).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing: addresses hold URLs of logs."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def _headers(length: int) -> dict[str, str]:
    """Return the headers of an answer, which forbid caching, framing and scripts."""
    return {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Length": str(length),
        "Content-Security-Policy": html_parts.policy(),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
