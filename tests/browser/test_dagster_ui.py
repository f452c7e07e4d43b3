"""Dagster's UI over a state folder of ours, in a real browser, as `temporal-assets ui` opens it.

People look at it and people start things with it: both are done here, with the mouse. `pytest -m
browser -n 0 tests/browser` takes two to four minutes, and `.ci/run` runs it. Skipped, visibly,
where there is no Chromium.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import dagster as dg
import pytest

from temporal_assets.build import build_defs
from temporal_assets.defs.stages import STAGES
from temporal_assets.landing.landing import refresh
from temporal_assets.operate.materializing import materialize
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from tests import logs
from tests.browser.chromium import Page, browse, program
from tests.browser.serving import PATIENCE, served, wait

YESTERDAY = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)
DAYS = [YESTERDAY - dt.timedelta(days=n) for n in (3, 2, 1, 0)]
"""Lately: the dialog that starts backfills offers the last 90 days."""

pytestmark = pytest.mark.browser

_SETTINGS = """\
[window]
days = 4
min_days = 2
min_views_per_day = 0.1
[[sources]]
path = "{logs}"
host = "example.com"
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Four days of six clients. Requests of all are made, views of three; transits of the last two,
    and labels of the window that ends with them."""
    root = tmp_path_factory.mktemp("ui")
    logs.write_days(root / "logs", DAYS[0], len(DAYS), clients=6)
    state = root / "state"
    state.mkdir()
    (state / "settings.toml").write_text(_SETTINGS.format(logs=root / "logs"))
    settings = load_settings(state)
    refresh(settings)
    assert materialize(settings, DAYS, ["requests", "rejects"]).ok
    assert materialize(settings, DAYS[1:], ["page_views"]).ok
    assert materialize(settings, DAYS[2:], ["transits"]).ok
    assert materialize(settings, DAYS[-1:], ["page_labels"]).ok
    return settings


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browse(program(), tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture(scope="module")
def viewing(page: Page, settings: Settings) -> Iterator[str]:
    with served(settings, "--read-only") as address:
        yield address


@pytest.fixture(scope="module")
def working(page: Page, settings: Settings) -> Iterator[str]:
    with served(settings) as address:
        yield address


def test_the_graph_shows_the_stages_in_their_order(page: Page, viewing: str) -> None:
    page.open(f"{viewing}/asset-groups")
    groups = [stage.group for stage in STAGES]
    text = page.wait_text(*groups, seconds=PATIENCE)
    assert sorted(groups, key=text.index) == groups


def test_an_asset_explains_itself(page: Page, viewing: str) -> None:
    page.open(f"{viewing}/assets/page_views?view=overview")
    text = page.wait_text("Distinct clients that opened the page on the day", seconds=PATIENCE)
    for one in ("Views of every page", "(TW 4.1, NP 3)", "One row: one page and day", "2_days"):
        assert one in text
    for one in ("BIGINT", "DuckDB", "crawl", "sql/days/page_views.sql", "documentation"):
        assert one in text, one
    assert "canonical-urls.md" in text


def test_plots_and_samples_are_there_to_be_seen(page: Page, viewing: str) -> None:
    page.open(f"{viewing}/assets/page_views?view=partitions&partition={YESTERDAY}")
    sampled = f"https://example.com/news/{YESTERDAY}"
    text = page.wait_text("pages_by_views", sampled, seconds=PATIENCE)
    assert "dagster/partition_row_count" in text
    page.click("[Show Markdown]")
    drawn = "[...document.images].some(i => i.src.startsWith('data:image/png') && i.naturalWidth)"
    page.wait(lambda: page.run(drawn), "no picture is drawn", PATIENCE)


def test_checks_say_what_they_protect(page: Page, viewing: str, settings: Settings) -> None:
    graph = build_defs(settings).resolve_asset_graph()
    checks = {
        key.name: graph.get_check_spec(key).description or ""
        for key in graph.asset_check_keys
        if key.asset_key == dg.AssetKey("requests")
    }
    page.open(f"{viewing}/assets/requests?view=checks")
    text = page.wait_text(f"Checks ({len(checks)})", *checks, "Passed", seconds=PATIENCE)
    assert checks[min(checks)].replace("`", "") in text  # of the first one, which is open


def test_viewers_cannot_start_anything(page: Page, viewing: str, settings: Settings) -> None:
    page.open(f"{viewing}/assets/page_views")
    page.wait_text("Views of every page", seconds=PATIENCE)
    enabled = (
        "[...document.querySelectorAll('button')]"
        ".filter(b => b.innerText.startsWith('Materialize') && !b.disabled).length"
    )
    assert page.run(enabled) == 0
    # Nor without the buttons: a viewer's browser can ask for what it likes.
    assert ask(viewing, BACKFILL, backfill(DAYS[:1]))["launchPartitionBackfill"] == {
        "__typename": "UnauthorizedError"
    }
    assert DAYS[0] not in Store.open(settings).days("page_views")


BACKFILL = """
mutation Go($parameters: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $parameters) { __typename } }
"""


def backfill(days: list[dt.date]) -> dict[str, Any]:
    """Return the parameters that the button sends."""
    return {
        "partitionNames": [str(day) for day in days],
        "assetSelection": [{"path": ["page_views"]}],
        "fromFailure": False,
        "allPartitions": False,
        "tags": [],
    }


def ask(address: str, query: str, parameters: Any) -> dict[str, Any]:
    body = json.dumps({"query": query, "variables": {"parameters": parameters}}).encode()
    request = Request(f"{address}/graphql", body, {"content-type": "application/json"})  # noqa: S310
    with urlopen(request, timeout=60) as answer:  # noqa: S310 - our own server
        return dict(json.load(answer)["data"])


def launch(page: Page, address: str, asset: str, days: str) -> None:
    """*Materialize…* on the asset's page, the days typed into the dialog, and its button."""
    page.open(f"{address}/assets/{asset}")
    page.wait_text("One row:", seconds=PATIENCE)
    page.click("Materialize...")
    page.wait_text("Partition selection", seconds=PATIENCE)
    page.type("input[placeholder='No matching partitions']", days)
    page.enter()
    page.click("Launch backfill", "Launch run", "Launch 1 run")


def open_latest_run(page: Page, address: str, named: str) -> None:
    """The page of the run that the list of runs begins with, once that is `named`."""
    page.open(f"{address}/runs")
    page.wait_text(named, seconds=PATIENCE)
    link = (
        "[...document.querySelectorAll('a')].map(a => a.getAttribute('href') || '')"
        ".find(href => /^.runs.[0-9a-f-]{36}$/.test(href))"
    )
    page.open(address + page.wait(lambda: page.run(link), "no run in the list"))


def test_a_day_is_made_by_a_click(page: Page, working: str, settings: Settings) -> None:
    store = Store.open(settings)
    assert DAYS[0] not in store.days("page_views")
    launch(page, working, "page_views", str(DAYS[0]))
    wait(lambda: DAYS[0] in store.days("page_views"), "the day is not made")
    open_latest_run(page, working, f"partition: {DAYS[0]}")
    page.wait_text("Success", "page_views_checks", seconds=PATIENCE)


def test_days_are_made_by_a_backfill(page: Page, working: str, settings: Settings) -> None:
    store = Store.open(settings)
    assert store.days("transits") == DAYS[2:]
    launch(page, working, "transits", f"[{DAYS[0]}...{DAYS[1]}]")
    wait(lambda: store.days("transits") == DAYS, "the days are not made")
    page.open(f"{working}/runs?view=backfills")
    page.wait_text("2 partitions", "transits", "Success", seconds=PATIENCE)


def test_a_trial_from_the_launchpad_leaves_what_is_published(
    page: Page, working: str, settings: Settings
) -> None:
    before = published(settings.state)
    assert any("page_labels" in name for name in before)
    page.open(f"{working}/locations/temporal_assets.definitions/jobs/what_if/playground")
    # The example stands there already; it is replaced as a person would.
    page.wait_text("labels.q", "No errors", seconds=PATIENCE)
    page.type(".CodeMirror textarea", _WISH)
    page.wait_text("0.35", "No errors", seconds=PATIENCE)
    time.sleep(_JUDGED_SECONDS)
    page.click("Launch Run")
    page.wait(lambda: "/runs/" in page.run("location.pathname"), "nothing was started", PATIENCE)
    page.wait_text("Success", "RUN_SUCCESS", seconds=PATIENCE)
    trials = settings.state / "what_if"
    (trial,) = (path for path in trials.iterdir() if (path / "settings.toml").is_file())
    assert load_settings(trial).labels.q == 0.35
    assert Store.open(load_settings(trial)).days("page_labels") == DAYS[-1:]
    assert published(settings.state) == before
    assert load_settings(settings.state).labels.q == 0.7


_JUDGED_SECONDS = 3
"""The launchpad sends what is typed to be judged a moment later, and starts nothing before."""

_WISH = 'ops: {make_trial: {config: {settings: {labels.q: "0.35"}}}}'


def published(state: Path) -> dict[str, str]:
    """Digests of everything below `tables`."""
    return {
        str(path.relative_to(state)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((state / "tables").rglob("*"))
        if path.is_file()
    }
