"""Dagster's web server behind a filter that only answers requests from its own pages.

Dagster's server has no log-in, takes changes by GET as well as by POST, and from any origin. So a
page that somebody has open in a browser could start runs by a link, by a request of its own, or
under a name that it lets lead here (DNS rebinding). The guard looks at headers that browsers always
send and pages cannot forge: `Host`, `Origin` and `Sec-Fetch-Site`.

Here: the guard, the pages of the report below `/report/`, and `python -m temporal_assets.guard`,
which takes the arguments of `dagster-webserver`. Not here: a log-in. Programs of other users of the
machine are let through.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, Final

Scope = MutableMapping[str, Any]
Channel = Callable[..., Awaitable[Any]]
App = Callable[[Scope, Channel, Channel], Awaitable[None]]

_OURS: Final = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
"""Expression for this machine's own names with any port: `ssh -L` may use another one."""

_GRAPHQL: Final = "/graphql"
_LOOKING: Final = frozenset({"GET", "HEAD"})
_OWN_SITES: Final = frozenset({"same-origin", "none"})
"""Accepted values of Sec-Fetch-Site; `none` is an address that a person typed."""


_REPORTS: Final = "/report/"
_REPORT: Final = re.compile(r"evaluation(-[0-9]{4}-[0-9]{2}-[0-9]{2})?\.html")


class Guard:
    """An ASGI application that passes requests on to another one, or refuses them."""

    def __init__(self, app: App, reports: Path | None = None) -> None:
        """Take the application and `reports`, the folder of pages shown below `/report/`."""
        self._app, self._reports = app, reports

    async def __call__(self, scope: Scope, receive: Channel, send: Channel) -> None:
        """Pass a request on, or answer why not."""
        why = refusal(scope) if scope["type"] in ("http", "websocket") else None
        page = self._page(scope) if why is None else None
        if page is not None:
            await _answer(send, 200, b"text/html; charset=utf-8", page)
        elif why is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": why})
        else:
            text = f"{why}: docs/security.md of temporal_assets says why.\n".encode()
            await _answer(send, 403, b"text/plain", text)

    def _page(self, scope: Scope) -> bytes | None:
        """Return the requested page of the report, or None for other requests."""
        if self._reports is None or scope["type"] != "http" or scope["method"] not in _LOOKING:
            return None
        path: str = scope["path"]
        folder, _, name = path.rpartition("/")
        if f"{folder}/" != _REPORTS or not _REPORT.fullmatch(name):
            return None
        try:
            return (self._reports / name).read_bytes()
        except OSError:
            return None


async def _answer(send: Channel, status: int, kind: bytes, body: bytes) -> None:
    headers = [
        (b"content-type", kind),
        (b"content-length", b"%d" % len(body)),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def refusal(scope: Scope) -> str | None:
    """Return why a request is refused, or None if it is not."""
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    host, origin, site = (headers.get(name, []) for name in ("host", "origin", "sec-fetch-site"))
    if len(host) != 1 or not _OURS.fullmatch(host[0]):
        return "this host is not one of this machine's names"
    if any(
        origin_value not in (f"http://{host[0]}", f"https://{host[0]}") for origin_value in origin
    ):
        return "the request comes from another origin"
    looks = scope["type"] == "http" and scope["method"] in _LOOKING
    # Navigations are let in: a link in a mail leads to a run. Nothing changes by one.
    if not (looks and scope["path"] != _GRAPHQL) and not _OWN_SITES.issuperset(site):
        return "the request comes from another site"
    if looks and scope["path"].startswith(_GRAPHQL) and scope.get("query_string"):
        return "questions and changes are asked by POST"
    return None


def main() -> None:
    """Run `dagster-webserver` with the guard before its application."""
    from dagster_webserver import cli as server

    from temporal_assets.defs.reloading import follow_days
    from temporal_assets.settings import load_settings
    from temporal_assets.windows.report.evaluation_report import FOLDER

    cli: Any = server  # without types of its own
    make = cli.create_app_from_workspace_process_context

    def guarded(context: Any, *args: Any, **kwargs: Any) -> Guard:
        settings = load_settings()
        follow_days(context, settings)
        return Guard(make(context, *args, **kwargs), settings.state / FOLDER)

    # Where the server makes its application; `test_guard` asks the real one.
    cli.create_app_from_workspace_process_context = guarded
    cli.main()


if __name__ == "__main__":
    main()
