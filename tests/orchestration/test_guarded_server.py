"""The real web server behind the guard, as `temporal-assets ui` starts it, asked as browsers ask.

Before there was a guard, a GET with another page's Host and Origin launched a job.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from temporal_assets.settings import load_settings
from tests.browser.serving import served

pytestmark = pytest.mark.slow

CHANGE = "mutation { reloadWorkspace { __typename } }"
"""Harmless, and a change to Dagster."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    state: Path = tmp_path_factory.mktemp("guarded") / "state"
    state.mkdir()
    (state / "settings.toml").write_text("")
    (state / "report").mkdir()
    (state / "report" / "evaluation-2026-03-01.html").write_text("<!doctype html>")
    (state / "report" / "private.html").write_text("secret")
    with served(load_settings(state), "--read-only") as address:
        yield address


def ask(address: str, method: str, path: str, body: str | None = None, **headers: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, {"Content-Type": "application/json", **sent})
        return connection.getresponse().status
    finally:
        connection.close()


def test_the_page_asks_and_is_answered(address: str) -> None:
    body = json.dumps({"query": "{ version }"})
    same = {"Origin": address, "Sec_Fetch_Site": "same-origin"}
    assert ask(address, "GET", "/") == 200
    assert ask(address, "POST", "/graphql", body, **same) == 200
    assert ask(address, "POST", "/graphql", json.dumps({"query": CHANGE}), **same) == 200


def test_the_report_of_a_day_stands_beside_dagster_and_nothing_else_does(address: str) -> None:
    def actual(path: str) -> bytes:
        with urlopen(address + path, timeout=60) as answer:  # noqa: S310 - our own server
            return bytes(answer.read())

    assert actual("/report/evaluation-2026-03-01.html") == b"<!doctype html>"
    for path in ("/report/private.html", "/report/..%2fsettings.toml", "/report/%2e%2e/key"):
        assert b"secret" not in actual(path)
        assert b"dagster" in actual(path).lower()  # Dagster's own page for what it does not know
    assert ask(address, "GET", "/report/evaluation-2026-03-01.html", Host="evil.example") == 403


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example", "Origin": "https://evil.example"},
        {"Origin": "https://evil.example"},
        {"Host": "evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
    ],
)
def test_a_change_of_a_stranger_is_refused(
    address: str, method: str, headers: dict[str, str]
) -> None:
    body = json.dumps({"query": CHANGE}) if method == "POST" else None
    path = "/graphql" if body else f"/graphql?query={quote(CHANGE)}"
    assert ask(address, method, path, body, **headers) == 403
    assert ask(address, "OPTIONS", "/graphql", **headers) == 403


def test_a_change_by_a_link_is_refused(address: str) -> None:
    assert ask(address, "GET", f"/graphql?query={quote(CHANGE)}") == 403


def test_subscriptions_work_for_the_page_and_for_nobody_else(address: str) -> None:
    """Web sockets tell the page about runs under way."""
    url = f"{address.replace('http', 'ws', 1)}/graphql"
    with connect(url, origin=address, subprotocols=["graphql-ws"], open_timeout=60) as socket:  # type: ignore[list-item,arg-type]
        socket.send(json.dumps({"type": "connection_init", "payload": {}}))
        assert json.loads(socket.recv(timeout=60))["type"] == "connection_ack"
    with pytest.raises(InvalidStatus) as refused:
        connect(url, origin="https://evil.example", subprotocols=["graphql-ws"], open_timeout=60)  # type: ignore[list-item,arg-type]
    assert refused.value.response.status_code == 403
