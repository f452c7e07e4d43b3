"""Dagster's UI over a state folder of ours, in a real browser, as `temporal-assets ui` opens it.

`pytest -m browser tests/browser`: starting the server takes most of a minute where other work is
done. Skipped, visibly, where there is no Chromium.
"""

from __future__ import annotations

import datetime as dt
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from temporal_assets.defs.stages import STAGES
from temporal_assets.operate import materialize
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.landing import refresh
from tests import logs
from tests.browser.chromium import NAMES, Page, browse, program

YESTERDAY = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)
DAYS = [YESTERDAY - dt.timedelta(days=n) for n in (3, 2, 1, 0)]
"""Lately: the dialog that starts backfills offers the last 90 days."""

pytestmark = pytest.mark.browser

_PATIENCE = 180
"""Seconds for the server to come up: build machines are busy."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Four days of six clients, read; the requests of all are made, all of the last."""
    root = tmp_path_factory.mktemp("ui")
    logs.write_days(root / "logs", DAYS[0], len(DAYS), clients=6)
    state = root / "state"
    state.mkdir()
    text = f'[[sources]]\npath = "{root / "logs"}"\nhost = "example.com"\n'
    (state / "settings.toml").write_text(text)
    settings = load_settings(state)
    refresh(settings)
    assert materialize(settings, DAYS, ["requests", "rejects"]).ok
    assert materialize(settings, DAYS[-1:], ["page_views", "transits"]).ok
    return settings


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    found = program()
    if found is None:
        pytest.skip(f"no Chromium: none of {', '.join(NAMES)} is on the path")
    with browse(found, tmp_path_factory.mktemp("chromium")) as page:
        yield page


@contextmanager
def served(settings: Settings, *options: str) -> Iterator[str]:
    """The command `ui` on a free port; its address once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "temporal_assets", "ui", "--port", str(port), *options]
    output = settings.state / "ui.log"
    with output.open("wb") as log:
        server = subprocess.Popen(
            [*command, "--state", str(settings.state)],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=log,
            stderr=log,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(lambda: _answers(address, server), f"no answer; {output} says why")
        yield address
    finally:
        server.terminate()
        server.wait(timeout=60)


def _answers(address: str, server: subprocess.Popen[bytes]) -> bool:
    assert server.poll() is None, "the server has ended"
    try:
        with urlopen(f"{address}/server_info", timeout=10):  # noqa: S310 - our own server
            return True
    except (URLError, OSError):
        return False


def _wait(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.5)


@pytest.fixture(scope="module")
def viewing(page: Page, settings: Settings) -> Iterator[str]:
    with served(settings, "--read-only") as address:
        yield address


def test_the_graph_shows_the_stages_in_their_order(page: Page, viewing: str) -> None:
    page.open(f"{viewing}/asset-groups")
    groups = [stage.group for stage in STAGES]
    text = page.wait_text(*groups, seconds=_PATIENCE)
    assert sorted(groups, key=text.index) == groups


def test_an_asset_explains_itself(page: Page, viewing: str) -> None:
    page.open(f"{viewing}/assets/page_views?view=overview")
    text = page.wait_text("Distinct clients that opened the page on the day", seconds=60)
    for one in ("Views of every page", "(TW 4.1, NP 3)", "One row: one page and day", "2_days"):
        assert one in text
    for one in ("BIGINT", "DuckDB", "crawl", "sql/page_views.sql", "documentation"):
        assert one in text, one
    assert "canonical-urls.md" in text


def test_a_day_shows_its_rows_a_plot_and_a_sample(page: Page, viewing: str) -> None:
    page.open(f"{viewing}/assets/page_views?view=partitions&partition={YESTERDAY}")
    sampled = f"https://example.com/news/{YESTERDAY}"
    text = page.wait_text("pages_by_views", sampled, seconds=60)
    assert "dagster/partition_row_count" in text
    assert "[Show Markdown]" in text  # the plot
