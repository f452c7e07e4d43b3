"""The explorer in a real browser: by keyboard, by screen reader, and nothing of a stranger's runs.

With `AXE=axe.min.js` axe-core is asked as well (docs/testing.md).
Skipped, visibly, where there is no Chromium.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from temporal_assets.cli.explorer import html_parts
from temporal_assets.cli.explorer.rows import Paged, Row, Window
from temporal_assets.cli.explorer.server import serve
from temporal_assets.settings import load_settings
from tests.browser.chromium import Page, Told, browse, program
from tests.reports import EVIL

_TAB = 9


def known(_: str, __: str, page: int) -> Paged:
    """Return the only site, whose name is no host."""
    row: Row = dict.fromkeys(("score", "bound"), 0.5) | {"site": EVIL, "rank": 1}
    return Paged([row | {"pages": 3, "temporal_pages": 1, "clients": 9}], page, False)


def test_sites_are_searched_by_keyboard_and_names_stay_text(tmp_path: Path) -> None:
    window = cast("Window", SimpleNamespace(sites=known, day="2026-01-31"))
    with serve(window, 0) as server, browse(program(), tmp_path) as tab:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab.open(f"http://127.0.0.1:{server.server_port}/sites")
        tab.wait_text("Sites that enough clients know", "https://a.example/<script>")
        assert tab.run("document.title") == "Sites"  # the stranger's script did not run
        assert tab.run("document.scripts.length") == 0

        def focused() -> Any:
            return tab.run("document.activeElement.name || document.activeElement.innerText")

        order = []
        for _ in range(6):
            tab.press("Tab", _TAB)
            order.append(focused())
        assert order == ["Skip to the content", "At a glance", "Sites", "url", "Find", "q"]
        tab.type("input[name=q]", "news")
        tab.submit()
        tab.wait(lambda: tab.run("location.search") == "?q=news", "nothing was searched")
        server.shutdown()


def test_every_view_names_its_language_and_its_parts() -> None:
    page = html_parts.page("t", ())
    for part in ('<html lang="en">', "<main", "<nav", "<h1>", 'role="search"', 'class="skip"'):
        assert part in page


VIEWS = {
    "front": "/",
    "sites": "/sites",
    "site": "/site?site=example.com",
    "pages": "/pages?site=example.com",
    "page": "/page?url=https://example.com/",
    "not_known": "/site?site=nobody.example",
}
NAMED = ("link", "button", "searchbox", "image", "table", "region", "Iframe", "form", "search")
"""Roles that say nothing without a name."""


@pytest.fixture(scope="module")
def address(whole: Path) -> Iterator[str]:
    """The explorer over a small project."""
    window = Window(load_settings(whole / "state", privacy={"min_clients": 1}))
    with serve(window, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browse(program(), tmp_path_factory.mktemp("chromium")) as tab:
        yield tab


def opened(tab: Page, address: str, view: str) -> list[Told]:
    tab.open(address + VIEWS[view])
    tab.wait(lambda: tab.run("document.readyState === 'complete'"), "the view does not load")
    return tab.outline()


@pytest.mark.parametrize("view", VIEWS)
def test_a_screen_reader_finds_its_way(tab: Page, address: str, view: str) -> None:
    answer = opened(tab, address, view)
    roles = [element.role for element in answer]
    assert [roles.count(one) for one in ("main", "navigation", "banner")] >= [1, 1, 1]
    assert roles.count("main") == 1
    assert [one for one in answer if one.role in NAMED and not one.name] == []
    landmarks = [(one.role, one.name) for one in answer if one.role in ("navigation", "search")]
    assert len(landmarks) == len(set(landmarks))
    levels = [one.level for one in answer if one.role == "heading"]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    empty = "[...document.querySelectorAll('th')].filter(e => !e.textContent.trim()).length"
    assert tab.run(empty) == 0


_REACHED = """(() => {
  const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
  const shown = parseFloat(s.outlineWidth) > 0 || e.closest('svg');
  return [[...document.querySelectorAll('*')].indexOf(e), !!shown, e.tagName];
})()"""
_REACHABLE = """[...document.querySelectorAll(
  'a[href], button, input:not([type=hidden]), summary, [tabindex="0"]')]
  .filter(e => e.checkVisibility()).length"""


@pytest.mark.parametrize("view", ["front", "sites", "site", "page"])
def test_everything_is_reached_by_the_key_in_the_order_of_reading_and_is_seen_to_be(
    tab: Page, address: str, view: str
) -> None:
    opened(tab, address, view)
    places = []
    for _ in range(int(tab.run(_REACHABLE))):
        tab.press("Tab", _TAB)
        place, is_shown, what = tab.run(_REACHED)
        assert is_shown, what
        places.append(place)
    assert places == sorted(set(places))


def test_the_skip_link_leads_past_the_navigation(tab: Page, address: str) -> None:
    opened(tab, address, "sites")
    tab.press("Tab", _TAB)
    tab.submit()
    tab.wait(lambda: tab.run("document.activeElement.id") == "content", "the link does not skip")


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(tab: Page, address: str, view: str) -> None:
    file = os.environ.get("AXE")
    if not file:
        pytest.skip("axe-core is not there: AXE names its file (docs/testing.md)")
    opened(tab, address, view)
    tab.run(Path(file).read_text("utf-8") + ";0")
    content = json.loads(tab.run("axe.run().then(r => JSON.stringify(r.violations))"))
    assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in content] == []
