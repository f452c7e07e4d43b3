"""The evaluation report of a small corpus: complete, small, private, and the same as its JSON."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from temporal_assets import contracts
from temporal_assets.cli.app import app
from temporal_assets.crawl.mirror.mirror import MirrorBuilder, save
from temporal_assets.crawl.mirror.page_html import HtmlKeeper
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.quality.evaluate import Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.reports.document import Table, as_json
from temporal_assets.reports.report_page import page
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.crawls import crawl_simulation
from temporal_assets.windows.crawls.crawl_simulation import CRAWL_SIMULATION
from temporal_assets.windows.crawls.timely_simulation import TIMELY_SIMULATION
from temporal_assets.windows.frame.asset import build, is_fresh, job_of
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY
from temporal_assets.windows.policy.released_policy import release_policy
from temporal_assets.windows.registry import WINDOW_ASSETS
from temporal_assets.windows.report.evaluation_report import (
    EVALUATION_REPORT,
    FOLDER,
    HTML,
    compose,
    read_report,
)
from tests import logs
from tests.tables import write_table

FIRST = dt.date(2026, 3, 1)
DAYS = 14
LAST = FIRST + dt.timedelta(days=DAYS - 1)
SITE = "https://news.example"
RARE = "/only-two-know-this"

PAPERS = {
    *("tw-table-1", "tw-figures-3-4", "tw-figure-5"),
    *("np-table-1", "np-table-2", "np-figure-1", "np-figure-2", "np-figure-3"),
    *("bb-table-2", "bb-table-3", "bb-table-4", "bb-figure-1", "bb-figure-6"),
    *("bb-figure-7", "bb-figure-8", "bb-figure-9", "bb-figure-10"),
}
OURS = {
    *("front", "out-of-time", "precision-recall", "seeds", "labels", "calibration", "early-labels"),
    *("sites", "changes", "hubs", "prefixes", "behaviour-graph", "patterns", "timely"),
}


def visits(day: int) -> Iterator[tuple[int, str, str]]:
    """(client, host, path): lasting pages, news of today and yesterday, what only two know."""
    for client in range(8):
        yield client, "news.example", "/"
        for n in range(12):
            yield client, "news.example", f"/guides/{n}.html"
        for born in (day - 1, day):
            for n in range(4):
                if born >= 0:
                    yield client, "news.example", f"/news/{born}-{n}.html"
        if client < 2:
            yield client, "news.example", RARE
            yield client, "few.example", "/diary.html"


def lines(day: int) -> Iterator[str]:
    noon = dt.datetime.combine(FIRST + dt.timedelta(days=day), dt.time(12))
    for n, (client, host, path) in enumerate(visits(day)):
        when = noon + dt.timedelta(seconds=40 * n)
        referrer = "-" if path == "/" else f"{SITE}/"
        yield f"{host}:443 {logs.line(when, path, f'192.0.2.{client + 1}', referrer)}"


class Made:
    """A state folder with every asset of its last day."""

    def __init__(self, root: Path) -> None:
        self.state = root / "state"
        for n in range(DAYS):
            logs.write(root / "logs" / f"access-{n:02}.log", list(lines(n)))
        self.state.mkdir()
        (self.state / "settings.toml").write_text(
            f"[window]\ndays = {DAYS}\nmin_days = 7\n"
            f'[[sources]]\npath = "{root / "logs"}"\nformat = "combined_vhost"\n'
        )
        self.settings = load_settings(self.state)
        self.store, self.engine = Store.open(self.settings), DuckDBEngine(self.settings)
        refresh(self.settings)
        inventory = Inventory.load(self.settings)
        for day in inventory.days():
            build_requests(self.store, self.engine, self.settings, day, inventory)
            for daily in DERIVED:
                build_derived(self.store, self.engine, daily, day)
        for window in WINDOW_ASSETS:
            built = build(self.store, self.engine, self.settings, window, LAST)
            if window is CRAWL_POLICY:
                release_policy(self.store, self.settings, built.manifest)

    def call(self, *arguments: object) -> Result:
        return CliRunner().invoke(
            app, ["report", *map(str, arguments), "--no-earlier", "--state", str(self.state)]
        )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("report"))


@pytest.mark.slow
def test_window_tables_made_twice_have_the_same_digests(finished: Made, tmp_path: Path) -> None:
    state = shutil.copytree(finished.state, tmp_path / "elsewhere", symlinks=True)
    settings = load_settings(state, engine={"threads": 1})
    store, engine = Store.open(settings), DuckDBEngine(settings)
    for asset in WINDOW_ASSETS:
        shutil.rmtree(state / "tables" / asset.name / f"day={LAST}")
    for asset in WINDOW_ASSETS:
        build(store, engine, settings, asset, LAST)
    digests = [
        {asset.name: here.require(asset.name, LAST).digest for asset in WINDOW_ASSETS}
        for here in (finished.store, store)
    ]
    assert digests[0] == digests[1]


def test_everything_promised_holds(finished: Made) -> None:
    inspector = Inspector(finished.store, finished.engine, finished.settings)
    findings = inspector.inspect(EVALUATION_REPORT.table, [LAST])[LAST]
    assert [
        finding for finding in findings if finding.status not in (Status.HELD, Status.NOT_JUDGED)
    ] == []


def test_every_table_and_figure_is_there_or_says_what_to_do(finished: Made) -> None:
    report = read_report(finished.store, LAST)
    assert {section.id for section in report.sections} == PAPERS | OURS
    missing = {section.id for section in report.sections if section.missing}
    # Two weeks of one site, without a list, annotations or an earlier window.
    assert missing <= {"out-of-time", "calibration", "early-labels", "changes", "seeds", "timely"}
    for section in report.sections:
        assert section.missing or (section.says and section.blocks), section.id
        if section.missing:
            assert re.search(r"Not available: .+\. To get it: .+\.", section.missing), section.id


def test_where_every_site_is_too_large_it_says_so(
    finished: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = shutil.copytree(finished.state, tmp_path / "state")
    monkeypatch.setattr(crawl_simulation, "MOST_PAGES", 5)
    settings = load_settings(state)
    store, engine = Store.open(settings), DuckDBEngine(settings)
    for asset in (CRAWL_SIMULATION, TIMELY_SIMULATION, EVALUATION_REPORT):
        build(store, engine, settings, asset, LAST)
    for name in ("crawl_simulation", "timely_simulation"):
        assert "most viewed sites are not crawled" in store.require(name, LAST).extra["cuts"][0]
    missing = {section.id: section.missing for section in read_report(store, LAST).sections}
    for section in ("bb-table-4", "bb-figure-6", "bb-figure-7", "bb-figure-10", "timely"):
        assert missing[section] == (
            "Not available: every site has more than 5 pages. To get it: read logs of smaller"
            " sites as well."
        )


def test_layout_is_of_the_html_that_the_mirror_keeps(finished: Made, tmp_path: Path) -> None:
    state = shutil.copytree(finished.state, tmp_path / "state")
    keeper = HtmlKeeper(tmp_path / "html.parquet", most_bytes=10_000_000)
    builder = MirrorBuilder(keeper=keeper)
    for n in range(12):
        builder.page(f"{SITE}/guides/{n}.html", (), lambda: "<article><h1>a</h1><p>b</article>")
        builder.page(f"{SITE}/news/{n}-1.html", (), lambda: "<table><tr><td>x</table>")
        builder.page(f"{SITE}/guides/more-{n}.html", ())
    keeper.close()
    save(builder.build(), state, keeper.path)
    settings = load_settings(state)
    store, engine = Store.open(settings), DuckDBEngine(settings)
    for asset in (CRAWL_SIMULATION, TIMELY_SIMULATION, EVALUATION_REPORT):
        build(store, engine, settings, asset, LAST)
    (section,) = (
        section for section in read_report(store, LAST).sections if section.id == "bb-table-4"
    )
    (table,) = section.blocks
    assert isinstance(table, Table)
    ours = table.rows[table.paper_rows :]
    within = {row[0]: row[2] for row in ours}
    # Guides look alike; where the cut puts news among them, they do not.
    assert within["T_syn"] == 1.0 > within["T_tran"] > 0.3


def test_page_and_json_are_those_of_the_table(finished: Made) -> None:
    report = read_report(finished.store, LAST)
    html = (finished.state / FOLDER / HTML).read_text("utf-8")
    assert html == page(report)
    assert len(html) < 5_000_000
    schema = files("temporal_assets.reports").joinpath("report.schema.json").read_text("utf-8")
    jsonschema.validate(json.loads(as_json(report)), json.loads(schema))
    data = dict(report.facts)
    assert data["Window"] == f"{FIRST} to {LAST} ({DAYS} days)"
    assert data["Days missing"] == "none"
    assert data["Sites"] == "2"


def test_thresholds_are_those_that_labels_were_made_with(finished: Made, tmp_path: Path) -> None:
    job = job_of(
        finished.store, finished.engine, finished.settings, EVALUATION_REPORT, LAST, tmp_path
    )
    labels = finished.settings.labels.model_copy(update={"q": 0.5, "m": 2, "p": 1.5})
    other = replace(job, settings=finished.settings.model_copy(update={"labels": labels}))
    data = dict(compose(other).facts)
    assert data["Temporal"] == "more than 0.7 of the interest within 3 days"
    assert data["News"] == "concentration over 3 days > 1.91"


def test_what_few_know_is_not_in_it(finished: Made) -> None:
    urls = {row["url"] for row in finished.store.read("page_labels", LAST).to_pylist()}
    assert f"{SITE}{RARE}" in urls  # read often enough for a label, by two
    report = read_report(finished.store, LAST)
    for text in (page(report), as_json(report)):
        assert "only-two-know" not in text
        assert "few.example" not in text
        assert "diary" not in text
        assert "news.example/news/" in text


def test_the_command_writes_what_there_is(finished: Made, tmp_path: Path) -> None:
    target, numbers = tmp_path / "new" / "report.html", tmp_path / "report.json"
    shown = finished.call("--out", target, "--json", numbers)
    assert shown.exit_code == 0, shown.output
    report = read_report(finished.store, LAST)
    assert target.read_text("utf-8") == page(report)
    assert numbers.read_text("utf-8") == as_json(report)
    assert "sections, " in shown.stderr
    printed = finished.call("--json", "-")
    assert json.loads(printed.stdout)["day"] == str(LAST)
    wrong = finished.call("--day", "2020-01-01")
    assert (wrong.exit_code, "there is no day 2020-01-01" in wrong.stderr) == (1, True)


def test_a_day_without_a_window_names_the_last_that_has_one(finished: Made, tmp_path: Path) -> None:
    state = shutil.copytree(finished.state, tmp_path / "state")
    store, later = Store.open(load_settings(state)), LAST + dt.timedelta(days=100)
    with store.scratch() as scratch:
        views = scratch / "views.parquet"
        write_table(contracts.PAGE_VIEWS.arrow_schema.empty_table(), views)
        store.publish("page_views", later, [views], inputs=[], settings_digest="")
    asked = ["report", "--day", str(later), "--no-earlier", "--state", str(state)]
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 1
    text = " ".join(shown.output.split())
    assert f"no report of {later} yet. 1 day is there, and 7 are needed" in text
    assert f"The last day with enough: temporal-assets report --day {LAST}" in text


def test_settings_make_it_stale(finished: Made) -> None:
    other = load_settings(finished.state, labels={"q": 0.6})
    assert is_fresh(finished.store, finished.settings, EVALUATION_REPORT, LAST)
    assert not is_fresh(finished.store, other, EVALUATION_REPORT, LAST)


@pytest.mark.parametrize(
    ("section", "change", "decides"),
    [
        ("alerts", {"webhook": "https://hooks.example/secret", "warnings": True}, False),
        ("retention", {"windows_days": 90, "runs_days": 30}, False),
        ("orchestration", {"hour": 4, "docs": "https://docs.example"}, False),
        ("engine", {"threads": 1}, False),
        ("patterns", {"salience": "drop"}, True),
        ("privacy", {"min_clients": 6}, True),
        ("cleaning", {"bots": "keep"}, True),
        ("evaluation", {"settle_days": 8}, True),
        ("labels", {"p": 2.0}, True),
    ],
)
def test_it_depends_on_settings_that_decide_what_comes_out(
    state: Path, section: str, change: dict[str, Any], decides: bool
) -> None:
    digests = {
        EVALUATION_REPORT.settings_digest(settings)
        for settings in (load_settings(state), load_settings(state, **{section: change}))
    }
    assert len(digests) == 1 + decides
