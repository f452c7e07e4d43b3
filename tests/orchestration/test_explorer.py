"""The explorer over a small project: every link leads somewhere, and nothing runs or leaks."""

from __future__ import annotations

import http.client
import re
import shutil
import threading
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote

import duckdb
import pytest
from selectolax.lexbor import LexborHTMLParser
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.cli.explorer import html_parts, views
from temporal_assets.cli.explorer.rows import Window
from temporal_assets.cli.explorer.server import answer, serve
from temporal_assets.cli.explorer.static import one_file
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from tests.reports import EVIL

LINK = re.compile(r'<a href="([^"]*)"')


@pytest.fixture(scope="module")
def window(whole: Path) -> Window:
    settings = load_settings(whole / "state", privacy={"min_clients": 1})
    return Window(settings)


def test_every_link_leads_to_a_view(window: Window) -> None:
    waiting, seen = ["/"], set[str]()
    while waiting and len(seen) < 80:
        target = waiting.pop()
        if target in seen or target.startswith("#"):
            continue
        seen.add(target)
        status, page = answer(window, target)
        assert status == 200, target
        assert "<script" not in page
        waiting += map(unescape, LINK.findall(page))
    kinds = {target.partition("?")[0] for target in seen}
    # So few pages have no patterns.
    assert kinds == {"/", "/sites", "/site", "/pages", "/page"}


def test_a_window_too_short_for_a_report_says_so_and_what_helps(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "3 days are there, and 7 are needed (`window.min_days`)"
    monkeypatch.setattr(window.store, "manifest", lambda *_: None)
    monkeypatch.setattr(window, "notes", lambda: [note])
    page = views.at_a_glance(window)
    assert "7 are needed (<code>window.min_days</code>)" in page


def test_a_page_says_why_and_when(window: Window) -> None:
    status, page = answer(window, f"/find?url={quote('https://example.com/')}")
    assert status == 200
    assert "Fetched" in page
    assert "of 16), because" in page
    assert 'role="img"' in page


def test_names_that_few_clients_know_are_in_no_view(whole: Path) -> None:
    hidden = Window(load_settings(whole / "state", privacy={"min_clients": 1_000}))
    for target in ("/sites", "/site?site=example.com", "/pages?site=example.com"):
        _, page = answer(hidden, target)
        assert 'href="/site?' not in page
        assert 'href="/page?' not in page


@pytest.fixture(scope="module")
def of_domain(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Window:
    """The same, with `www.example.com` as the host of the pages of the site `example.com`."""
    state = tmp_path_factory.mktemp("domain") / "state"
    shutil.copytree(whole / "state", state, symlinks=True)
    settings = load_settings(state, privacy={"min_clients": 1}, sites={"by": "domain"})
    store, day = Store.open(settings), Window(settings).day
    columns = {
        "page_totals": ("site", "url"),
        "page_traffic": ("site",),
        "page_labels": ("site", "url"),
        "prefix_trees": ("site", "prefix"),
    }
    for table, names in columns.items():
        moved = ", ".join(
            f"replace({column}, 'example.com', 'www.example.com') AS {column}" for column in names
        )
        with store.scratch() as folder:
            file = folder / f"{table}.parquet"
            files = f"read_parquet({store.files(table, day)}, hive_partitioning=false)"
            duckdb.sql(f"COPY (SELECT * REPLACE ({moved}) FROM {files}) TO '{file}'")  # noqa: S608 - ours
            extra = dict(store.require(table, day).extra)
            store.publish(table, day, [file], inputs=(), settings_digest="", extra=extra)
    return Window(settings)


def test_a_page_of_a_domain_leads_to_its_domain_and_back(of_domain: Window) -> None:
    url = of_domain.pages("www.example.com", "", "", 0).rows[0]["url"]
    assert url.startswith("https://www.example.com/")
    _, page = answer(of_domain, html_parts.address("page", url=url))
    assert 'href="/site?site=example.com"' in page
    status, domain = answer(of_domain, "/site?site=example.com")
    assert status == 200
    assert 'href="/site?site=www.example.com"' in domain
    status, host = answer(of_domain, "/site?site=www.example.com")
    assert status == 200
    assert "Folders and programs" in host
    assert 'href="/site?site=example.com"' in host
    assert url in {row["url"] for row in of_domain.pages("example.com", "", "", 0).rows}
    assert answer(of_domain, "/site?site=nobody.example.com")[0] == 404


@pytest.mark.parametrize(
    "view", ["sites?q=", "site?site=", "pages?site=", "page?url=", "find?url="]
)
def test_what_a_stranger_writes_stays_text(window: Window, view: str) -> None:
    _, page = answer(window, f"/{view}{quote(EVIL)}")
    assert "<script" not in page
    # As browsers read it: in the value of an attribute, quoted, it is text as well.
    elements = LexborHTMLParser(page).css("*")
    assert len(elements) > 10
    assert [
        name for element in elements for name in element.attributes if name.startswith("on")
    ] == []


@pytest.mark.parametrize(
    "target",
    [
        "/nothing",
        "/site",
        "/site?site=nobody.example",
        "/site?site=example.com&prefix=example.com/none/",
        "/pattern?site=example.com&pattern=99999",
        "/pattern?site=example.com&pattern=x",
        "/page?url=nonsense",
        "/sites?q=" + "x" * 30_000,
    ],
)
def test_what_is_not_there_is_said(window: Window, target: str) -> None:
    status, page = answer(window, target)
    assert status == 404
    assert "<h1>" in page


@pytest.fixture(scope="module")
def port(window: Window) -> Iterator[int]:
    with serve(window, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def ask(port: int, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, "/sites", headers=headers)
    return connection.getresponse()


def test_only_this_machine_is_answered_and_nothing_may_run(port: int) -> None:
    actual = ask(port)
    assert actual.status == 200
    policy = actual.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy
    assert actual.headers["X-Content-Type-Options"] == "nosniff"
    assert ask(port, Host="evil.example").status == 403
    assert ask(port, Origin="https://evil.example").status == 403
    assert ask(port, "POST").status == 501


def test_a_site_whose_pages_have_too_few_views_for_a_score_has_a_view() -> None:
    row = {"rank": None, "is_selected": False, "score": None, "bound": None, "clients": 12}
    says = "Not ranked, not in the list; no page has views enough for a label; 12 clients."
    assert views._summary_of(row) == says


def test_one_file_needs_nothing_else_and_says_what_it_left_out(window: Window) -> None:
    text = one_file(window)
    assert text.count("Content-Security-Policy") == 1
    assert "1 site, with up to" in text
    assert "Left out are the views of single folders" in text, "all pages of the site are in it"
    assert text.count("<h1") == 1
    assert "<form" not in text
    assert 'href="/' not in text
    anchors = set(re.findall(r'href="#([^"]*)"', text)) - {"content"}
    assert anchors <= set(re.findall(r' id="([^"]*)"', text))
    ids = re.findall(r' id="([^"]*)"', text)
    assert len(ids) == len(set(ids))


def test_the_command_writes_one_file(whole: Path, tmp_path: Path) -> None:
    file = tmp_path / "explorer.html"
    shown = CliRunner().invoke(
        app, ["explore", "--out", str(file), "--state", str(whole / "state")]
    )
    assert shown.exit_code == 0, shown.output
    assert "<h2>Sites</h2>" in file.read_text("utf-8")


def test_its_style_is_the_one_that_its_policy_allows() -> None:
    assert html_parts.digest(html_parts.style()) in html_parts.policy()
    assert html_parts.style() in html_parts.page("t", ())
