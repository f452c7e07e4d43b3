"""`crawl_simulation` on a site whose curves can be worked out by hand."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from temporal_assets import contracts
from temporal_assets.cli.app import app
from temporal_assets.core.crawls.crawl_policies import BASELINES
from temporal_assets.crawl import evaluation
from temporal_assets.crawl.mirror.mirror import MirrorBuilder, save
from temporal_assets.crawl.mirror.traffic import (
    TrafficByPeriod,
    add_transits,
    mirror_of,
    rare_sites,
    traffic_of,
)
from temporal_assets.days.daily import DayResult
from temporal_assets.days.transits import transit_inputs
from temporal_assets.defs.metadata.metadata import of_window
from temporal_assets.engines.base import Engine
from temporal_assets.quality.evaluate import Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.crawls import crawl_simulation
from temporal_assets.windows.crawls.crawl_simulation import CRAWL_SIMULATION, fitting
from temporal_assets.windows.frame.asset import build, is_fresh
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from tests.tables import write_table
from tests.transits import as_inputs, day_files, publish_transits

DAYS = [dt.date(2026, 3, 1) + dt.timedelta(days=n) for n in range(4)]
HOME = "https://a.example/"
OLD = [f"https://a.example/old/{i}.html" for i in range(40)]
NEWS = [f"https://a.example/story/{i}.html" for i in range(20)]
SMALL = "https://small.example/"


class Site:
    """Three readers open every story from the home page every day.

    On the first two days one reads the old pages as well.
    """

    def __init__(self, engine: Engine, root: Path) -> None:
        self.engine, self.state = engine, root / "state"
        self.settings = load_settings(self.state, window={"days": 4, "min_days": 1})
        self.store = Store.open(self.settings)
        for n, day in enumerate(DAYS):
            steps = [(None, HOME, c) for c in range(3)] + [(None, SMALL, 9)]
            steps += [(HOME, page, c) for page in NEWS for c in range(3)]
            steps += [(HOME, page, 1) for page in OLD if n < 2]
            self.publish(day, steps)
        self.build(PAGE_TOTALS)
        self.build(CRAWL_SIMULATION)

    def publish(self, day: dt.date, steps: list[tuple[str | None, str, int]]) -> None:
        names = ("referrer", "target", "client")
        transits = [dict(zip(names, step, strict=True)) for step in steps]
        views = {step[1]: 0 for step in steps}
        for _, target, _ in steps:
            views[target] += 1
        rows = [{"day": day, "site": url.split("/")[2], "url": url} for url in sorted(views)]
        for row in rows:
            row["views"] = views[str(row["url"])]
        publish_transits(self.store, day, transits)
        with self.store.scratch() as scratch:
            path = scratch / "rows.parquet"
            write_table(pa.Table.from_pylist(rows, contracts.PAGE_VIEWS.arrow_schema), path)
            self.store.publish("page_views", day, [path], inputs=[], settings_digest="")

    def transits(self, *days: dt.date) -> dict[str, list[str]]:
        return transit_inputs(self.store, [self.store.require("transits", day) for day in days])

    def build(self, asset) -> None:
        build(self.store, self.engine, self.settings, asset, DAYS[-1])

    def curve(self, trial: str, scenario: str, order: str) -> list[dict]:
        rows = self.store.read("crawl_simulation", DAYS[-1]).to_pylist()
        wanted = {"trial": trial, "scenario": scenario, "crawl_order": order}
        return [row for row in rows if row.items() >= wanted.items()]


@pytest.fixture(scope="module")
def site(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(engine, tmp_path_factory.mktemp("site"))


def test_orders_as_worked_out_by_hand(site: Site) -> None:
    combined = site.curve("out_of_time", "fetch", "combined")
    assert len(combined) == 101
    # The home page has 3 of 63 visits of the later days, a story 3: 80 % after 16.8 of 61 pages.
    assert combined[0]["pages_80"] == pytest.approx(16.8 / 61, abs=1e-3)
    assert combined[0]["pages_50"] == pytest.approx(10.5 / 61, abs=1e-3)
    # The home page links old pages first.
    breadth_first = site.curve("out_of_time", "fetch", "breadth_first")
    assert breadth_first[0]["pages_80"] == pytest.approx(56.8 / 61, abs=1e-3)
    assert combined[0]["pages_80_less_breadth_first"] == pytest.approx(-40 / 61, abs=2e-3)
    half = (combined[50]["throughput"], breadth_first[50]["traffic_share"])
    assert half == (0.5, pytest.approx(3 / 63))
    assert combined[50]["traffic_less_best_low"] is None  # one site
    assert combined[10]["best_baseline"] in BASELINES
    assert combined[0]["sites_ahead_of_breadth_first"] == combined[0]["sites"] == 1
    # After the first fetch everything has been seen.
    assert site.curve("out_of_time", "discovery", "volume") == []
    assert site.curve("out_of_time", "discovery", "random")[0]["pages_90"] < 1 / 61


def test_periods_that_are_asked_at_once_are_those_asked_one_by_one(
    site: Site, tmp_path: Path
) -> None:
    """Stories are opened by the same readers in both periods, old pages in the first alone."""
    sites = ["a.example", "small.example"]
    every = site.transits(*DAYS)
    traffic_by_period = TrafficByPeriod(
        site.engine, every, tmp_path / "all", sites, DAYS[1], DAYS[2]
    )
    days_of = {(1,): DAYS[:1], (2,): DAYS[1:2], (3,): DAYS[2:], (1, 2): DAYS[:2], (1, 2, 3): DAYS}
    for place, (periods, some) in enumerate(days_of.items()):
        alone = traffic_of(site.engine, site.transits(*some), tmp_path / str(place), sites)
        period = traffic_by_period.of(*periods)
        assert period.pages.to_pylist() == alone.pages.to_pylist()
        assert period.transits.to_pylist() == alone.transits.to_pylist()
    counts = [
        sum(traffic_by_period.of(*of).pages["visits"].to_pylist())
        for of in ((1, 2, 3), (1, 2), (3,))
    ]
    assert counts == [3 + 1 + 60 + 40, 3 + 1 + 60 + 40, 3 + 1 + 60]


def test_a_page_that_is_known_as_a_referrer_alone_is_no_page(site: Site, tmp_path: Path) -> None:
    rows = [
        {"referrer": "https://a.example/gone", "target": HOME, "client": 1},
        {"referrer": HOME, "target": NEWS[0], "client": 1},
    ]
    transits = as_inputs([day_files(DAYS[0], rows, tmp_path)])
    traffic = traffic_of(site.engine, transits, tmp_path / "out", ["a.example"])
    assert traffic.pages["url"].to_pylist() == [HOME, NEWS[0]]
    assert mirror_of(traffic).links.links == 1
    builder = MirrorBuilder()
    add_transits(traffic, builder)
    assert builder.build().urls.to_pylist() == [HOME, NEWS[0]]


def test_sites_that_few_know_by_name(site: Site) -> None:
    """Let one client open the small site and three the other, all coming from the other's pages."""
    files = site.transits(*DAYS)
    assert rare_sites(site.engine, files, 1) == set()
    assert rare_sites(site.engine, files, 2) == {"small.example"}
    assert rare_sites(site.engine, files, 4) == {"a.example", "small.example"}


@pytest.mark.parametrize(
    ("least", "site_named", "skipped"), [(1, "a.example", ["small.example"]), (5, None, [])]
)
def test_json_of_a_simulation_names_no_site_that_few_know(
    site: Site, tmp_path: Path, least: int, site_named: str | None, skipped: list[str]
) -> None:
    state = tmp_path / "state"
    shutil.copytree(site.state, state)
    (state / "settings.toml").write_text(f"[privacy]\nmin_clients = {least}\n")
    run = CliRunner()
    assert (
        run.invoke(app, ["evaluate", "mirror", "--transits", "--state", str(state)]).exit_code == 0
    )
    shown = run.invoke(app, ["evaluate", "crawls", "--json", "--state", str(state)])
    report = json.loads(shown.stdout)
    assert [site_row["site"] for site_row in report["sites"]] == [site_named]
    assert [*report["skipped"]] == skipped
    assert report["skipped_unnamed"] == 1 - len(skipped)


def test_clicks_that_cannot_be_read_are_named(site: Site, tmp_path: Path) -> None:
    state, clicks = tmp_path / "state", tmp_path / "clicks.csv"
    shutil.copytree(site.state, state)
    run = CliRunner()
    assert (
        run.invoke(app, ["evaluate", "mirror", "--transits", "--state", str(state)]).exit_code == 0
    )
    ask = ["evaluate", "crawls", "--clicks", str(clicks), "--state", str(state)]
    shown = run.invoke(app, ask)
    assert (shown.exit_code, "there is no " in shown.stderr) == (2, True)
    clicks.write_text(f"url,clicks\n{HOME}{'x' * 200_000},4\n")
    shown = run.invoke(app, ask)
    assert (shown.exit_code, "clicks.csv: line 2: " in shown.stderr) == (1, True)


def test_a_picture_that_cannot_be_written_is_refused_before_the_crawl(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    shutil.copytree(site.state, state)
    run = CliRunner()
    assert (
        run.invoke(app, ["evaluate", "mirror", "--transits", "--state", str(state)]).exit_code == 0
    )
    ask = ["evaluate", "crawls", "--state", str(state), "--png"]
    picture = tmp_path / "curves.png"
    assert run.invoke(app, [*ask, str(picture)]).exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(evaluation, "evaluate", None)  # calling it would fail
    for place, message in ((tmp_path / "no" / "x.png", "no folder"), (tmp_path, "is a folder")):
        shown = run.invoke(app, [*ask, str(place)])
        assert (shown.exit_code, message in shown.stderr) == (2, True)


def test_what_was_crawled_and_when(site: Site) -> None:
    later, same = (site.curve(t, "fetch", "random")[7] for t in ("out_of_time", "in_sample"))
    assert later.items() >= {"mirror": "transits", "pages": 61, "links": 60, "left_out": 0}.items()
    assert (later["visited_pages"], same["visited_pages"]) == (21, 61)
    days = ("learned_from", "learned_until", "scored_from", "scored_until")
    assert [later[name] for name in days] == DAYS
    assert [same[name] for name in days] == [DAYS[0], DAYS[-1], DAYS[0], DAYS[-1]]


def test_everything_promised_holds(site: Site) -> None:
    inspector = Inspector(site.store, site.engine, site.settings)
    findings = inspector.inspect(CRAWL_SIMULATION.table, [DAYS[-1]])[DAYS[-1]]
    assert [
        finding for finding in findings if finding.status not in (Status.HELD, Status.NOT_JUDGED)
    ] == []


def test_a_stored_mirror_takes_the_place_of_the_transits(site: Site) -> None:
    builder = MirrorBuilder()
    builder.page(HOME, [(url, False) for url in (*NEWS, *OLD[:30])])
    for url in (*NEWS, *OLD[:30]):
        builder.page(url, ())
    assert is_fresh(site.store, site.settings, CRAWL_SIMULATION, DAYS[-1])
    save(builder.build(), site.state)
    assert not is_fresh(site.store, site.settings, CRAWL_SIMULATION, DAYS[-1])
    site.build(CRAWL_SIMULATION)
    try:
        (row, *_) = site.curve("out_of_time", "fetch", "combined")
        assert (row["mirror"], row["pages"], row["visited_pages"]) == ("stored", 51, 21)
    finally:
        shutil.rmtree(site.state / "mirror")
        site.build(CRAWL_SIMULATION)


def test_nothing_to_crawl_is_no_failure(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_simulation, "FEWEST_PAGES", 62)
    site.build(CRAWL_SIMULATION)
    assert site.store.require("crawl_simulation", DAYS[-1]).rows == 0
    monkeypatch.undo()
    site.build(CRAWL_SIMULATION)


def test_a_site_that_does_not_fit_in_memory_is_left_out(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_simulation, "MOST_PAGES", 60)
    assert not is_fresh(site.store, site.settings, CRAWL_SIMULATION, DAYS[-1])
    site.build(CRAWL_SIMULATION)
    made = site.store.require("crawl_simulation", DAYS[-1])
    assert made.rows == 0
    assert made.extra["cuts"] == [
        "1 of the 1 most viewed sites are not crawled on paper: 60 pages fit in memory"
    ]
    shown = of_window(DayResult(made, seconds=0.0))
    assert shown["cut_by_bounds"] == made.extra["cuts"][0]
    monkeypatch.undo()
    site.build(CRAWL_SIMULATION)
    assert "cuts" not in site.store.require("crawl_simulation", DAYS[-1]).extra


@pytest.mark.parametrize(("most", "fit"), [(8, "ac"), (4, "cd"), (1, "")])
def test_sites_have_to_fit_together(monkeypatch: pytest.MonkeyPatch, most: int, fit: str) -> None:
    monkeypatch.setattr(crawl_simulation, "MOST_PAGES", most)
    assert fitting([("a", 5), ("b", 9), ("c", 2), ("d", 2)]) == [*fit]
