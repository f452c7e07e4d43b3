"""The explorer in a real browser: by keyboard alone, and nothing of a stranger's runs.

Skipped, visibly, where there is no Chromium.
"""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from temporal_assets.cli.explorer import views
from temporal_assets.cli.explorer.rows import Paged, Row, Window
from temporal_assets.cli.explorer.server import serve
from tests.browser.chromium import browse, program
from tests.reports import EVIL

_TAB = 9


def known(_: str, __: str, page: int) -> Paged:
    """One site, whose name is not one."""
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
    page = views.page("t", ())
    for part in ('<html lang="en">', "<main", "<nav", "<h1>", 'role="search"', 'class="skip"'):
        assert part in page
