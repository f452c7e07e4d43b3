"""The pictures of the documentation, taken from a demo, so that they stay true.

    temporal-assets demo --state /srv/demo
    python -m tests.browser.pictures /srv/demo
    python -m tests.browser.pictures /srv/demo commands

Writes docs/pictures: the report's front page and one of its sections, the explorer's views, the
chart of a page, what commands print, Dagster's graph, plots, dialog, timeline and checks. The
folder's name is in the pictures.
"""

from __future__ import annotations

import argparse
import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from temporal_assets.cli.explorer.html_parts import address
from temporal_assets.cli.explorer.rows import Window
from temporal_assets.cli.explorer.server import serve
from temporal_assets.cli.show.page import explained
from temporal_assets.reports.charts.picture import as_png
from temporal_assets.reports.page_chart import as_chart
from temporal_assets.settings import Settings, load_settings
from temporal_assets.windows.report.evaluation_report import page_of_day
from tests.browser.chromium import Page, browse, program
from tests.browser.modelled_crawl import online, write_visits
from tests.browser.serving import PATIENCE, served
from tests.browser.terminal import photograph, printed

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
_WIDTH: Final = 1280
_MOST_BYTES: Final = 250_000


def main() -> None:
    """Take all pictures of a state folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path, help="State folder of a demo.")
    parser.add_argument("parts", nargs="*", choices=[[], *_PARTS], help="All where none is named.")
    given = parser.parse_args()
    settings = load_settings(given.state.absolute())
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, browse(program(), Path(folder)) as tab:
        for part in given.parts or _PARTS:
            for file in _PARTS[part](tab, settings):
                assert file.stat().st_size < _MOST_BYTES, file
                print(file)


def _report(tab: Page, settings: Settings) -> Iterator[Path]:
    tab.emulate(_WIDTH, 900, "light")
    tab.open(page_of_day(settings, Window(settings).day).as_uri())
    yield _taken(tab, "front-page", 920)
    top = int(tab.run("document.getElementById('precision-recall').getBoundingClientRect().top"))
    yield _taken(tab, "report-section", 950, top=top)


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
    location = "locations/temporal_assets.definitions"
    with served(settings) as base:
        tab.emulate(1500, 900, "light")
        for name, view, texts, height in (
            ("days", f"{location}/asset-groups/2_days", ("page_views", "100% filled"), 860),
            ("windows", f"{location}/asset-groups/8_evaluation", ("100% filled",), 860),
            ("check", "assets/page_views?view=checks", ("Evaluation result", "Passed"), 700),
            ("timeline", "overview/activity/timeline", ("daily", "windows"), 420),
        ):
            tab.open(f"{base}/{view}")
            tab.wait_text(*texts, seconds=PATIENCE)
            time.sleep(2)  # graphs are laid out after their names are there
            yield _taken(tab, f"dagster-{name}", height, 1500)
        tab.open(f"{base}/assets/page_views?view=overview")
        tab.wait_text("Plots", "pages_by_views", seconds=PATIENCE)
        tab.click("Plots")
        tab.wait(lambda: tab.run("document.querySelectorAll('canvas').length > 2"), "no plot")
        tab.run(
            "[...document.querySelectorAll('*')].filter(e => e.innerText === 'Metadata').pop()"
            ".scrollIntoView()"
        )
        time.sleep(2)
        yield _taken(tab, "dagster-plots", 700, 1500)
        tab.open(f"{base}/{location}/asset-groups/2_days")
        tab.wait_text("page_views", "100% filled", seconds=PATIENCE)
        tab.click("Materialize all...")
        tab.wait_text("Partition selection", "Launch backfill", seconds=PATIENCE)
        time.sleep(2)
        yield _taken(tab, "dagster-backfill", 760, 1500)


def _commands(tab: Page, settings: Settings) -> Iterator[Path]:
    del tab
    os.environ["TEMPORAL_ASSETS_STATE"] = str(settings.state)
    window = Window(settings)
    site = window.sites("", "rank", 0).rows[0]["site"]
    page = next(row["url"] for row in window.pages(site, "", "", 0).rows if row["is_temporal"])
    logs = sorted((settings.state / "demo" / "logs").rglob("*.gz"))
    busiest = "SELECT site, sum(views) AS views FROM page_views GROUP BY site ORDER BY views DESC"
    with TemporaryDirectory() as folder:
        yield from _crawls(settings, Path(folder))
        for name, words, given in (
            ("demo", ("demo",), ""),
            ("ingest", ("ingest", str(logs[0]), "--dry-run"), ""),
            ("materialize", ("materialize",), ""),
            ("status", ("status",), ""),
            ("policy", ("policy",), ""),
            ("policy-match", ("policy", "match"), page),
            ("policy-export", ("policy", "export", "scrapy", "--to", "scrapy"), ""),
            ("show-site", ("show", "site", site), ""),
            ("show-page", ("show", "page", page), ""),
            ("show-labels", ("show", "labels"), ""),
            ("show-patterns", ("show", "patterns", site), ""),
            ("show-tree", ("show", "tree", site), ""),
            ("show-changes", ("show", "changes"), ""),
            ("query", ("query", f"{busiest} LIMIT 5"), ""),
            ("evaluate", ("evaluate",), ""),
            ("evaluate-crawls", ("evaluate", "crawls"), ""),
            ("evaluate-mirror", ("evaluate", "mirror", "--demo"), ""),
            ("sources", ("sources",), ""),
            ("try-settings", ("try", "labels.q=0.8"), ""),
            ("try-rules", ("try", "rules"), ""),
            ("try-thresholds", ("try", "thresholds"), ""),
            ("report", ("report", "--out", "report.html"), ""),
            ("doctor", ("doctor",), ""),
            ("doctor-clean", ("doctor", "clean"), ""),
            ("doctor-upgrade", ("doctor", "upgrade"), ""),
        ):
            file = FOLDER / f"command-{name}.svg"
            photograph(["temporal-assets", *words], file, Path(folder), given)
            yield file


def _crawls(settings: Settings, folder: Path) -> Iterator[Path]:
    """A crawl of the demo's mirror; and, in a copy of the state, what a week of visits brings."""
    crawl = ("crawl", "--to", "archive", "--contact", "https://example.org/crawler")
    with online(settings.state / "demo" / "mirror" / "pages.parquet", folder):
        file = FOLDER / "command-crawl.svg"
        yield _photographed(("temporal-assets", *crawl, "--seconds", "30"), file, folder)
    copy = folder / "state"
    leave = shutil.ignore_patterns("demo", "dagster", "mirror", "tmp")
    shutil.copytree(settings.state, copy, ignore=leave, symlinks=True)
    days = write_visits(settings, Window(settings), copy / "fetches.jsonl")
    with (copy / "settings.toml").open("a") as own:
        own.write('\n[crawls]\nresults = ["fetches.jsonl"]\n')
    state = ("--state", str(copy))
    printed(("temporal-assets", "materialize", "fetches", *days, *state), folder)
    printed(("temporal-assets", "materialize", "sources", *state), folder)
    os.environ["TEMPORAL_ASSETS_STATE"] = str(copy)
    file = FOLDER / "command-show-sources.svg"
    yield _photographed(("temporal-assets", "show", "sources", "--top", "12"), file, folder)
    os.environ["TEMPORAL_ASSETS_STATE"] = str(settings.state)


def _photographed(words: Sequence[str], file: Path, folder: Path) -> Path:
    photograph(words, file, folder)
    return file


_PARTS: Final = {
    "report": _report,
    "explorer": _explorer,
    "commands": _commands,
    "dagster": _dagster,
}


def _taken(tab: Page, name: str, height: int, width: int = _WIDTH, top: int = 0) -> Path:
    tab.wait(lambda: tab.run("document.readyState === 'complete'"), f"{name} does not load")
    assert tab.run("innerWidth") == width
    file = FOLDER / f"{name}.png"
    tab.photograph(file, (top, height))
    return file


if __name__ == "__main__":
    main()
