"""The report in a real browser: what strangers wrote stays text, and nothing is fetched.

Skipped, visibly, where there is no Chromium.
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from temporal_assets.reports.report_page import PAPER_ROWS, page
from tests.browser.chromium import browse, program
from tests.reports import EVIL, report

_TITLE = re.compile(r"<head>.*?<title>(.*?)</title>", re.DOTALL)


class Browser:
    """Opens pages, runs their scripts, and gives what has become of them."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = program, folder

    def dom(self, html: str) -> str:
        file = self.folder / "page.html"
        file.write_text(html, "utf-8")
        done = subprocess.run(
            [
                self.program,
                "--headless",
                "--no-sandbox",  # build machines run as root
                "--disable-gpu",
                f"--user-data-dir={self.folder / 'profile'}",
                "--virtual-time-budget=2000",
                "--dump-dom",
                file.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return done.stdout


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return Browser(program(), tmp_path)


def test_what_strangers_wrote_stays_text_and_our_script_runs(browser: Browser) -> None:
    dom = browser.dom(page(report(rows=12)))
    title = _TITLE.search(dom)
    assert title is not None
    assert unescape(title[1]).startswith("Report https://a.example/<script>document.title=")
    assert dom.count("<script>") == 1
    assert "onload=alert" not in re.sub(r">[^<]*<|\"[^\"]*\"", "", dom)  # in no tag
    # Ours: the long table can be searched and sorted, the tree searched.
    assert dom.count('type="search"') == 2
    assert '<th scope="col" class="n"><button type="button">pages</button></th>' in dom


def test_a_script_that_got_in_all_the_same_would_not_run(browser: Browser) -> None:
    html = page(report("plain"))
    for harm in (
        "<script>document.title='harm'</script>",
        "<img src=x onerror=\"document.title='harm'\">",
        "<svg onload=\"document.title='harm'\"></svg>",
        "<style>h1{display:none}</style>",
    ):
        dom = browser.dom(html.replace("<main", f"{harm}<main", 1))
        assert _TITLE.search(dom)[1] == "Report plain"  # type: ignore[index]
    # The same without the page's policy does run: the test can fail.
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    dom = browser.dom(bare.replace("<main", "<script>document.title='harm'</script><main", 1))
    assert _TITLE.search(dom)[1] == "harm"  # type: ignore[index]


class _Asked(BaseHTTPRequestHandler):
    paths: list[str]

    def do_GET(self) -> None:
        self.paths.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing on the terminal."""


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    paths: list[str] = []
    handler = type("Handler", (_Asked,), {"paths": paths})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", paths
        running.shutdown()


def test_nothing_is_fetched(browser: Browser, server: tuple[str, list[str]]) -> None:
    address, paths = server
    html = page(report(f"{address}/a.png"))
    harm = (
        f'<img src="{address}/image"><link rel="stylesheet" href="{address}/style">'
        f'<iframe src="{address}/frame"></iframe>'
    )
    browser.dom(html.replace("<main", f"{harm}<main", 1))
    assert paths == []
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    browser.dom(bare.replace("<main", f"{harm}<main", 1))
    assert "/image" in paths  # without the page's policy: the test can fail


def test_evil_is_what_it_is_taken_for() -> None:
    assert "<script>" in EVIL
    assert "\u202e" in EVIL


_MEETING = """
[...document.querySelectorAll('svg.plot')].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map(e => [e, e.getBoundingClientRect()]);
  const cut = texts.filter(([e, r]) => r.width && r.left < frame.left - 0.5);
  const names = texts.filter(([e, r]) => e.classList.contains('label'));
  const ticks = texts.filter(([e, r]) => e.classList.contains('tick'));
  const meet = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return [...cut, ...names.filter(([e, r]) => ticks.some(([f, s]) => meet(r, s)))]
    .map(([e, r]) => e.textContent);
})"""


def test_names_of_axes_are_apart_from_their_ticks_on_a_phone(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page(report("views")), "utf-8")
    with browse(program(), tmp_path, width=500) as tab:
        tab.open(file.as_uri())
        tab.wait(lambda: tab.run("document.querySelectorAll('svg.plot').length"), "no chart")
        assert tab.run("matchMedia('(max-width: 34rem)').matches")
        assert tab.run(_MEETING) == []


_OFF_PAPER = """
[...document.querySelectorAll('main *')].filter(e => {
  if (e.parentElement.closest('svg')) return false;  // names in charts are ours
  const r = e.getBoundingClientRect();
  return r.width && r.height && (r.right > innerWidth + 1 || r.left < -1);
}).map(e => e.tagName + ': ' + e.textContent.slice(0, 60))"""
_PAPER_WIDTH = 703
"""Pixels between the margins of A4 at 96 to the inch."""


def test_nothing_is_cut_off_on_paper_and_long_tables_say_what_they_leave_out(
    tmp_path: Path,
) -> None:
    file = tmp_path / "page.html"
    file.write_text(page(report("https://homes.xn--mnchen-3ya.example/a-b/" + "long", 90)))
    with browse(program(), tmp_path) as tab:
        tab.emulate(_PAPER_WIDTH, 1000, "light", media="print")
        tab.open(file.as_uri())
        text = tab.wait_text(f"On paper: the first {PAPER_ROWS} of 90 rows.")
        assert tab.run(_OFF_PAPER) == []
        printed = "[...document.querySelectorAll('.tall tbody tr')].filter(e => e.offsetHeight)"
        assert tab.run(f"{printed}.length") == PAPER_ROWS
        assert "Search this table" not in text
        # Legends are no larger than the text of charts.
        legend = "parseFloat(getComputedStyle(document.querySelector('.legend')).fontSize)"
        assert tab.run(legend) < 11
        # The labels of a host stay whole.
        host = "[...document.querySelectorAll('.whole')].map(e => e.getClientRects().length)"
        assert max(tab.run(host)) == 1
        tab.emulate(1280, 900, "light")
        assert "On paper" not in tab.text()
