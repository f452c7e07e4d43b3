"""The pictures of the documentation, taken from a demo, so that they stay true.

    temporal-assets demo --state demo --until 2026-11-27
    python -m tests.browser.pictures demo

Writes docs/pictures: the report's front page and one of its sections, the explorer's views, the
chart of a page, Dagster's graph and checks.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from temporal_assets.cli.explorer.rows import Window
from temporal_assets.cli.explorer.server import serve
from temporal_assets.cli.explorer.views import address
from temporal_assets.cli.show.page import explained
from temporal_assets.reports.charts.picture import as_png
from temporal_assets.reports.page_chart import as_chart
from temporal_assets.settings import Settings, load_settings
from temporal_assets.windows.report.evaluation_report import page_of_day
from tests.browser.chromium import Page, browse, program
from tests.browser.serving import PATIENCE, served

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
_WIDTH: Final = 1280


def main() -> None:
    """Take all pictures of a state folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path, help="State folder of a demo.")
    settings = load_settings(parser.parse_args().state.absolute())
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, browse(program(), Path(folder)) as tab:
        for name in (*_report(tab, settings), *_explorer(tab, settings), *_dagster(tab, settings)):
            print(name)


def _report(tab: Page, settings: Settings) -> Iterator[Path]:
    tab.emulate(_WIDTH, 900, "light")
    tab.open(page_of_day(settings, Window(settings).day).as_uri())
    yield _taken(tab, "front-page", 920)
    top = int(tab.run("document.getElementById('precision-recall').getBoundingClientRect().top"))
    yield _taken(tab, "report-section", 860, top=top)


def _is_hub(window: Window, url: str) -> bool:
    decision = window.decision(url)
    return decision is not None and decision.reason == "hub"


def _chart(window: Window, url: str) -> Path:
    """The picture that `show page URL --png` writes."""
    chart, _ = explained(window.store, window.settings, url, window.day)
    file = FOLDER / "show-page.png"
    file.write_bytes(as_png([as_chart(chart)]))
    return file


def _explorer(tab: Page, settings: Settings) -> Iterator[Path]:
    window = Window(settings)
    window.decision("https://example.com/")  # compiled before anybody waits
    best = window.sites("", "rank", 0).rows[0]["site"]
    pages = window.pages(best, "", "", 0).rows
    page = next(
        row["url"] for row in pages if row["is_temporal"] and not _is_hub(window, row["url"])
    )
    pattern = window.pattern_of(best, page)
    assert pattern is not None
    yield _chart(window, page)
    tab.emulate(_WIDTH, 900, "light")
    with serve(window, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        for name, view in (
            ("explorer-site", address("site", site=best)),
            ("explorer-page", address("page", url=page)),
            ("explorer-pattern", address("pattern", site=best, pattern=pattern + 1)),
        ):
            tab.open(base + view)
            yield _taken(tab, name, 820)
        server.shutdown()


def _dagster(tab: Page, settings: Settings) -> Iterator[Path]:
    with served(settings, "--read-only") as base:
        tab.emulate(1500, 900, "light")
        tab.open(f"{base}/locations/temporal_assets.definitions/asset-groups/2_days")
        tab.wait_text("page_views", "100% filled", seconds=PATIENCE)
        time.sleep(2)  # the graph is laid out after its names are there
        yield _taken(tab, "dagster-days", 860, 1500)
        tab.open(f"{base}/assets/page_views?view=checks")
        tab.wait_text("Evaluation result", "Passed", seconds=PATIENCE)
        yield _taken(tab, "dagster-check", 700, 1500)


def _taken(tab: Page, name: str, height: int, width: int = _WIDTH, top: int = 0) -> Path:
    tab.wait(lambda: tab.run("document.readyState === 'complete'"), f"{name} does not load")
    assert tab.run("innerWidth") == width
    file = FOLDER / f"{name}.png"
    tab.photograph(file, (top, height))
    return file


if __name__ == "__main__":
    main()
