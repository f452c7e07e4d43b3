"""Photographs of everything people look at, taken from a demo, to be judged by looking at them.

    temporal-assets demo --state /srv/demo
    python -m tests.browser.look /srv/demo shots
    python -m tests.browser.look /srv/demo shots explorer dagster

Each page on a screen and on a phone, light and dark, and printed (`screenshots`); Dagster's own UI
on a screen, light and dark. docs/testing.md lists the pages.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from temporal_assets.cli.explorer.html_parts import address
from temporal_assets.cli.explorer.rows import Window
from temporal_assets.cli.explorer.server import serve
from temporal_assets.settings import Settings, load_settings
from temporal_assets.windows.report.evaluation_report import page_of_day
from tests.browser.chromium import Page, browse, program
from tests.browser.screenshots import photographs
from tests.browser.serving import PATIENCE, served

_ROOT: Final = Path(__file__).parents[2]
_WIDTH, _HEIGHT = 1500, 950
_DRAWN_SECONDS: Final = 2
"""Dagster lays graphs and plots out after their names are there."""


def main() -> None:
    """Photograph what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path, help="State folder of a demo.")
    parser.add_argument("folder", type=Path, help="Where the pictures go.")
    parser.add_argument("parts", nargs="*", choices=[[], *_PARTS], help="All where none is named.")
    given = parser.parse_args()
    settings = load_settings(given.state.absolute())
    with TemporaryDirectory() as folder, browse(program(), Path(folder)) as tab:
        for part in given.parts or _PARTS:
            for file in _PARTS[part](tab, settings, given.folder):
                print(file, flush=True)


def _report(tab: Page, settings: Settings, folder: Path) -> Iterator[Path]:
    yield from _pages(tab, folder, {"report": page_of_day(settings, Window(settings).day).as_uri()})


def _explorer(tab: Page, settings: Settings, folder: Path) -> Iterator[Path]:
    window = Window(settings)
    window.decision("https://example.com/")  # compiled before anybody waits
    with serve(window, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        views = {f"explorer-{name}": base + view for name, view in _views(window).items()}
        yield from _pages(tab, folder, views)
        server.shutdown()


def _views(window: Window) -> Mapping[str, str]:
    site = window.sites("", "rank", 0).rows[0]["site"]
    pages = window.pages(site, "", "", 0).rows
    url = next(row["url"] for row in pages if row["is_temporal"])
    pattern = window.pattern_of(site, url)
    assert pattern is not None
    folder = url.partition("//")[2].rpartition("/")[0] + "/"
    return {
        "front": "/",
        "sites": "/sites",
        "site": address("site", site=site),
        "folder": address("site", site=site, prefix=folder),
        "pages": address("pages", site=site),
        "pattern": address("pattern", site=site, pattern=pattern + 1),
        "page": address("page", url=url),
        "hub": address("page", url=f"https://{site}/"),
        "unseen": address("page", url=f"https://{folder}nobody-opened-this.html"),
        "not-known": address("site", site="nobody.example"),
    }


def _commands(tab: Page, settings: Settings, folder: Path) -> Iterator[Path]:
    """Pages that commands write with `--html`, of an old and of a young page among others."""
    window = Window(settings)
    site = window.sites("", "rank", 0).rows[0]["site"]
    pages = window.pages(site, "", "", 0).rows
    old = next(row["url"] for row in pages if row["is_temporal"])
    commands = {
        "show-page": ("show", "page", old),
        "show-tree": ("show", "tree", site),
        "show-labels": ("show", "labels"),
        "evaluate": ("evaluate",),
        "try-thresholds": ("try", "thresholds"),
    }
    if young := _young(window):
        commands["show-young-page"] = ("show", "page", young)
    with TemporaryDirectory() as written:
        uris = {}
        for name, words in commands.items():
            file = Path(written) / f"{name}.html"
            _run(*words, "--html", str(file), "--state", str(settings.state))
            uris[name] = file.as_uri()
        yield from _pages(tab, folder, uris)


def _young(window: Window) -> str | None:
    """Return a page that is too young for a label, the most visited of the first sites."""
    for row in window.sites("", "rank", 0).rows:
        for page in window.pages(row["site"], "", "", 0).rows:
            if page["is_temporal"] is None:
                return str(page["url"])
    return None


def _data_docs(tab: Page, settings: Settings, folder: Path) -> Iterator[Path]:
    with TemporaryDirectory() as written:
        _run("status", "--data-docs", written, "--state", str(settings.state))
        (first,) = Path(written).rglob("local_site/index.html")
        pages = {
            "index": first,
            "suite": next(first.parent.rglob("expectations/**/page_views*.html")),
            "result": next(first.parent.rglob("validations/**/*.html")),
        }
        uris = {f"data-docs-{name}": page.as_uri() for name, page in pages.items()}
        yield from _pages(tab, folder, uris)


def _site(tab: Page, settings: Settings, folder: Path) -> Iterator[Path]:
    del settings
    with TemporaryDirectory() as written:
        build = (sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-d", written)
        subprocess.run(build, cwd=_ROOT, check=True)
        names = ("index", "quickstart", "command-line", "data-contracts", "evidence", "report")
        uris = {f"site-{name}": (Path(written) / f"{name}.html").as_uri() for name in names}
        yield from _pages(tab, folder, uris)


def _dagster(tab: Page, settings: Settings, folder: Path) -> Iterator[Path]:
    location = "locations/temporal_assets.definitions"
    folder.mkdir(parents=True, exist_ok=True)
    views = {
        "graph": ("asset-groups", ("1_logs",)),
        "days": (f"{location}/asset-groups/2_days", ("page_views", "100% filled")),
        "windows": (f"{location}/asset-groups/8_evaluation", ("100% filled",)),
        "catalog": ("assets", ("page_views",)),
        "log-files": ("assets/log_files?view=overview", ("lines_by_day",)),
        "released-policy": ("assets/released_policy?view=overview", ("crawlers_have",)),
        "labels": ("assets/page_labels?view=overview", ("temporal_percent",)),
        "checks": ("assets/page_views?view=checks", ("Evaluation result", "Passed")),
        "jobs": (f"{location}/jobs", ("nightly",)),
        "timeline": ("overview/activity/timeline", ("daily",)),
    }
    with served(settings) as base:
        for theme in ("themeLight", "themeDark"):
            tab.emulate(_WIDTH, _HEIGHT, "light" if theme == "themeLight" else "dark")
            tab.open(base)
            tab.wait_text("Overview", seconds=PATIENCE)
            tab.run(f"localStorage.setItem('dagster-theme', {json.dumps(json.dumps(theme))})")
            stem = folder / f"dagster-{theme.removeprefix('theme').lower()}"
            for name, (view, texts) in views.items():
                tab.open(f"{base}/{view}")
                tab.wait_text(*texts, seconds=PATIENCE)
                yield _taken(tab, stem, name)
            for asset in ("page_views", "page_labels"):
                tab.open(f"{base}/assets/{asset}?view=overview")
                tab.wait_text("Plots", "partition_row_count", seconds=PATIENCE)
                tab.click("Plots")
                drawn = "document.querySelectorAll('canvas').length > 2"
                tab.wait(lambda: tab.run(drawn), "no plot", PATIENCE)  # noqa: B023 - called at once
                yield _taken(tab, stem, f"plots-{asset}")
            yield _backfill(tab, base, location, settings, stem)


def _backfill(tab: Page, base: str, location: str, settings: Settings, stem: Path) -> Path:
    """The dialog with a range of days typed into it."""
    last = Window(settings).day
    tab.open(f"{base}/{location}/asset-groups/2_days")
    tab.wait_text("page_views", "100% filled", seconds=PATIENCE)
    tab.click("Materialize all...")
    tab.wait_text("Partition selection", "Launch backfill", seconds=PATIENCE)
    days = f"[{last.replace(day=1)}...{last}]"
    tab.type("input[placeholder='No matching partitions']", days)
    tab.enter()
    return _taken(tab, stem, "backfill")


def _taken(tab: Page, stem: Path, name: str) -> Path:
    time.sleep(_DRAWN_SECONDS)
    file = stem.with_name(f"{stem.name}-{name}.png")
    tab.photograph(file)
    return file


def _pages(tab: Page, folder: Path, pages: Mapping[str, str]) -> Iterator[Path]:
    for name, url in pages.items():
        (place := folder / name).mkdir(parents=True, exist_ok=True)
        yield from photographs(tab, url, place)


def _run(*words: str) -> None:
    command = (sys.executable, "-m", "temporal_assets", *words)
    subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.DEVNULL)


_PARTS: Final = {
    "report": _report,
    "explorer": _explorer,
    "commands": _commands,
    "data-docs": _data_docs,
    "site": _site,
    "dagster": _dagster,
}


if __name__ == "__main__":
    main()
