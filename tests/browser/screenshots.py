"""Photographs of a page as people see it: on a screen and a phone, light and dark, and printed.

    python -m tests.browser.screenshots report/evaluation.html shots/

Pictures are judged by looking at them. A page on paper is laid out as Chromium does it for A4: as
one long sheet, and as the PDF that comes out of a printer.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.browser.chromium import Page, browse, program

WIDTHS: Final = {"screen": 1280, "phone": 390}
_PAPER_WIDTH: Final = 703
"""Pixels between the margins of A4 at 96 to the inch."""
_MOST_PIXELS: Final = 16_000
"""Height of one picture; more is cut into several."""


def main() -> None:
    """Photograph what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", help="A file or a URL.")
    parser.add_argument("folder", type=Path, help="Where the pictures go.")
    parser.add_argument("--first", action="store_true", help="Only what is seen without scrolling.")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    url = given.page if "://" in given.page else Path(given.page).absolute().as_uri()
    with TemporaryDirectory() as folder, browse(program(), Path(folder)) as tab:
        for name in photographs(tab, url, given.folder, first=given.first):
            print(name)


def photographs(tab: Page, url: str, folder: Path, *, first: bool = False) -> Iterator[Path]:
    """Take every picture of a page; names say what they show."""
    for device, width in WIDTHS.items():
        for scheme in ("light", "dark"):
            tab.emulate(width, 900, scheme)
            yield from _taken(tab, url, folder / f"{device}-{scheme}", first)
    tab.emulate(_PAPER_WIDTH, 1000, "light", media="print")
    yield from _taken(tab, url, folder / "paper", first)
    tab.print(printed := folder / "paper.pdf")
    yield printed


def _taken(tab: Page, url: str, stem: Path, first: bool) -> Iterator[Path]:
    tab.open(url)
    tab.wait(lambda: tab.run("document.readyState === 'complete'"), "the page does not load")
    height = 900 if first else int(tab.run("document.documentElement.scrollHeight"))
    for part, top in enumerate(range(0, height, _MOST_PIXELS), 1):
        name = stem.with_name(f"{stem.name}-{part}.png" if part > 1 else f"{stem.name}.png")
        tab.photograph(name, (top, min(height - top, _MOST_PIXELS)))
        yield name


if __name__ == "__main__":
    main()
