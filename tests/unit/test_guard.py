"""The guard before Dagster's web server: which requests it lets through."""

from __future__ import annotations

import pytest

from temporal_assets.guard import refusal

HERE = "127.0.0.1:3000"
OURS = f"http://{HERE}"


def asked(
    path: str = "/graphql",
    method: str = "POST",
    query: str = "",
    host: str = HERE,
    kind: str = "http",
    **headers: str,
) -> str | None:
    """`headers`: with underscores for hyphens."""
    pairs = {"host": host, **{name.lower().replace("_", "-"): v for name, v in headers.items()}}
    return refusal(
        {
            "type": kind,
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in pairs.items()],
        }
    )


@pytest.mark.parametrize(
    "let_in",
    [
        {},  # a program: it says no origin
        {"Origin": OURS},
        {"Origin": OURS, "Sec_Fetch_Site": "same-origin"},
        {"host": "localhost:8080", "Origin": "http://localhost:8080"},  # ssh -L 8080:...
        {"host": "[::1]:3000", "Origin": "http://[::1]:3000"},
        {"host": "127.0.0.1"},
        {"kind": "websocket", "Origin": OURS},
        {"path": "/graphql", "method": "GET"},  # the page for questions
        {"path": "/runs/1", "method": "GET", "Sec_Fetch_Site": "cross-site"},  # a link in a mail
        {"path": "/runs", "method": "GET", "query": "q=mutation"},
    ],
)
def test_own_pages_and_programs_are_let_in(let_in: dict[str, str]) -> None:
    assert asked(**let_in) is None


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:3000", "x@127.0.0.1"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_hosts_are_refused(host: str, method: str) -> None:
    """DNS rebinding: a stranger's name that leads here, whose page counts as one of ours."""
    assert "host" in (asked("/", method, host=host, Origin=f"http://{host}") or "")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:8000", f"{OURS}.evil.example"]
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_other_origins_are_refused(origin: str, kind: str) -> None:
    assert "origin" in (asked(kind=kind, Origin=origin) or "")
    assert "origin" in (asked("/report_asset_materialization/x", Origin=origin) or "")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_are_refused_where_something_changes(site: str) -> None:
    assert "site" in (asked(Sec_Fetch_Site=site) or "")
    assert "site" in (asked("/graphql", "GET", Sec_Fetch_Site=site) or "")
    assert "site" in (asked("/report_asset_check/x", Sec_Fetch_Site=site) or "")


@pytest.mark.parametrize("path", ["/graphql", "/graphql/"])
def test_nothing_is_asked_by_a_link(path: str) -> None:
    """Dagster takes changes by GET."""
    assert "POST" in (asked(path, "GET", "query=mutation{reloadWorkspace{__typename}}") or "")


def test_a_request_without_a_host_or_with_two_is_refused() -> None:
    bare = {"type": "http", "method": "GET", "path": "/", "headers": []}
    assert refusal(bare)
    assert refusal({**bare, "headers": [(b"host", HERE.encode()), (b"Host", b"evil.example")]})
