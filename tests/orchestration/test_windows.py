"""Window assets through Dagster: which days they read, when they are made, what stops them."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import pytest

from temporal_assets.build import build_defs
from temporal_assets.defs.partitions import window_partitions
from temporal_assets.defs.runs import tags
from temporal_assets.defs.sensors import NIGHTLY_WINDOWS
from temporal_assets.quality import verdicts
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.partition_errors import DamagedPartition
from temporal_assets.windows.frame.asset import first_of
from temporal_assets.windows.policy import crawl_policy
from temporal_assets.windows.registry import STEP_NAMES, WINDOW_ASSETS, WINDOW_NAMES
from tests import logs
from tests.orchestration.conftest import Project
from tests.orchestration.test_automation import Ticks, assets_of, days_of
from tests.shared import made_once

DAY = dt.date(2026, 3, 1)
ONE = dt.timedelta(days=1)
REPORT = "evaluation_report"
WINDOW = {"days": 4, "min_days": 3}
HISTORIES = ("page_totals", "page_histories")
DAILY = ("requests", "page_views", "transits")
OPEN = {"first_day": "2026-01-01", "first_window": "2026-01-01"}


def small(project: Project) -> Project:
    project.settings = project.with_settings(window=WINDOW)
    return project


def make_five_days(root: Path) -> None:
    """Read five days of logs, and make their daily assets."""
    project = small(Project(root))
    days = logs.write_days(project.logs, DAY, 5)
    assert project.materialize(days, ["log_files", *DAILY]).ok


@pytest.fixture
def five_days(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Five days with their daily assets, as a copy of a state whose logs are not to be changed."""
    folder, _ = made_once(tmp_path_factory, "five_days", make_five_days)
    shutil.copytree(folder / "state", project.root / "state")
    project.logs = folder / "logs"
    return small(project)


@pytest.fixture
def ticks(running: Project) -> Ticks:
    return Ticks(small(running), windows=True)


def upstream(settings: Settings, asset: str, of: str, day: dt.date) -> list[str]:
    """The days of `of` that Dagster takes a day of `asset` to be made from."""
    graph = build_defs(settings).resolve_asset_graph()
    key, parent = dg.AssetKey(asset), dg.AssetKey(of)
    partitions, parents = graph.get(key).partitions_def, graph.get(parent).partitions_def
    assert partitions is not None
    actual = (
        graph.get_partition_mapping(key, parent)
        .get_upstream_mapped_partitions_result_for_partitions(
            partitions.empty_subset().with_partition_keys([day.isoformat()]), partitions, parents
        )
        .partitions_subset
    )
    return sorted(actual.get_partition_keys())


@pytest.mark.parametrize(
    ("asset", "read"), [(asset.name, read) for asset in WINDOW_ASSETS for read in asset.daily]
)
def test_dagster_knows_the_days_of_a_window(state: object, asset: str, read: str) -> None:
    settings = load_settings(str(state), orchestration=OPEN)
    day = dt.date(2026, 5, 1)
    days = upstream(settings, asset, read, day)
    assert (days[0], days[-1], len(days)) == (str(first_of(settings, day)), "2026-05-01", 60)
    assert upstream(settings, asset, read, dt.date(2026, 1, 3)) == [
        "2026-01-01",
        "2026-01-02",
        "2026-01-03",
    ]


def test_histories_are_made_of_the_totals_of_their_day(state: object) -> None:
    settings = load_settings(str(state), orchestration=OPEN)
    day = dt.date(2026, 5, 1)
    assert upstream(settings, "page_histories", "page_totals", day) == ["2026-05-01"]


@pytest.mark.slow
def test_everything_is_made_when_nothing_is_named(project: Project) -> None:
    days = logs.write_days(small(project).logs, DAY, 5)
    project.materialize([], ["log_files"])
    outcome = project.materialize(days)
    assert outcome.ok, outcome
    assert project.store.days("page_totals") == project.store.days("page_histories") == days[-1:]
    rows = project.store.read("page_histories", days[-1]).to_pylist()
    assert [(row["url"], row["views"], row["is_born_before"]) for row in rows] == [
        ("https://example.com/", [3, 3, 3, 3], True)
    ]
    checked = {check.check for check in outcome.checks if check.asset == "page_histories"}
    assert {"views_sum_to_total", "birth_is_first_view", "reliable_share_is_usual"} <= checked
    assert [
        check for check in outcome.checks if check.asset in WINDOW_NAMES and not check.passed
    ] == []


@pytest.mark.slow
def test_only_the_latest_window_is_kept_up_to_date(tmp_path: Path) -> None:
    make_five_days(tmp_path)
    five_days = small(Project(tmp_path))
    days = [DAY + n * ONE for n in range(5)]
    five_days.materialize(days[3:4], ["page_histories"])
    before = five_days.store.manifest("page_histories", days[3])
    outcome = five_days.materialize([], ["log_files"])
    assert [published.asset for published in outcome.materialized] == []
    logs.write(five_days.logs / "late.log", logs.day_of_lines(days[2], clients=9)[-2:])
    outcome = five_days.materialize([days[2]], ["log_files", *DAILY])
    outcome = five_days.materialize([days[2]])
    windows = [
        (published.asset, published.day)
        for published in outcome.materialized
        if published.asset in WINDOW_NAMES
    ]
    # Those that read the same files follow each other.
    assert windows == [(asset, days[4]) for asset in WINDOW_NAMES]
    assert five_days.store.manifest("page_histories", days[3]) == before


def test_what_a_window_asset_is_made_from_is_made_with_it(five_days: Project) -> None:
    outcome = five_days.materialize([DAY + 3 * ONE], ["page_histories"])
    assert outcome.ok, outcome
    assert [published.asset for published in outcome.materialized] == [
        "page_totals",
        "page_histories",
    ]


def test_windows_that_are_too_short_fail_and_stop_no_others(five_days: Project) -> None:
    days = [DAY + n * ONE for n in range(5)]
    outcome = five_days.materialize(days, ["page_totals", "crawl_simulation"])
    assert not outcome.ok
    assert {failure.days for failure in outcome.failures} == {(days[0],), (days[1],)}
    assert {failure.asset for failure in outcome.failures} == {"crawl_simulation"}
    assert "transits has 1 of the 4 days" in outcome.failures[0].message
    assert five_days.store.days("page_totals") == days, "which wait for no other day"
    assert five_days.store.days("crawl_simulation") == days[2:]


def test_nothing_is_built_on_a_day_that_breaks_an_invariant(five_days: Project) -> None:
    day = DAY + 3 * ONE
    manifest = five_days.store.require("page_views", day)
    broken = verdicts.Judgement("page_views", "no_nulls", day, False, True, "7")
    verdicts.record(five_days.settings.state, manifest, [broken])
    outcome = five_days.materialize([DAY + 4 * ONE], ["page_totals"])
    (failure,) = outcome.failures
    assert "page_views of 2026-03-04 must not be built upon: no_nulls (7)" in failure.message
    assert "temporal-assets materialize page_views --day 2026-03-04" in failure.message
    assert five_days.store.days("page_totals") == []


@pytest.mark.slow
def test_each_night_makes_its_day_and_asks_for_its_window_without_a_report_at_first(
    running: Project,
) -> None:
    small(running)
    for n in range(3):
        day = DAY + n * ONE
        logs.write_days(running.logs, day, 1)
        asked = asked_after(running, running.run_well("nightly", partition=day))
        assert isinstance(asked, dg.RunRequest)
        assert running.store.days("page_views")[-1] == day
        assert asked.tags == tags.of_range([day])
        chosen = {key.to_user_string() for key in asked.asset_selection or ()}
        assert {"page_totals", "crawl_policy", "released_policy"} <= chosen
        assert (REPORT in chosen) == (n == 2)


def asked_after(
    project: Project, night: dg.ExecuteInProcessResult
) -> dg.RunRequest | dg.SkipReason:
    """Return the sensor's request after a run of `nightly`."""
    defs = project.defs()
    event = night.all_events[-1]
    context = dg.build_run_status_sensor_context(
        sensor_name=NIGHTLY_WINDOWS,
        dagster_event=event,
        dagster_instance=project.instance,
        dagster_run=night.dagster_run,
    )
    actual = next(sensor for sensor in defs.sensors or () if sensor.name == NIGHTLY_WINDOWS)
    return actual(context, installation=project.installation)


def test_windows_begin_with_the_first_that_has_a_report(five_days: Project) -> None:
    def windows() -> list[str]:
        return list(window_partitions(five_days.settings).get_partition_keys())

    tables = five_days.settings.state / "tables"
    last = str(DAY + 4 * ONE)
    assert windows() == [last], "the one that is made next"
    (tables / "crawl_policy" / "day=2026-03-02").mkdir(parents=True)
    assert windows() == ["2026-03-02", "2026-03-03", "2026-03-04", last]
    (tables / REPORT / "day=2026-03-04").mkdir(parents=True)
    assert windows() == ["2026-03-04", last]
    first = {"first_window": "2026-03-03"}
    five_days.settings = five_days.with_settings(window=WINDOW, orchestration=first)
    assert windows() == ["2026-03-03", "2026-03-04", last]


def test_a_command_makes_windows_that_are_no_partitions(five_days: Project) -> None:
    days = [DAY + n * ONE for n in (3, 4)]
    assert five_days.materialize(days[:1], ["page_totals"]).ok
    assert window_partitions(five_days.settings).get_partition_keys() == [str(days[-1])]


def test_crawlers_get_no_policy_that_breaks_an_invariant(
    five_days: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    day, root = DAY + 4 * ONE, five_days.settings.state / "policy"

    def actual(clients: int) -> tuple[bool, int]:
        """Return whether a policy with its own threshold passed, and the threshold of crawlers."""
        five_days.settings = five_days.with_settings(
            window=WINDOW, privacy={"min_clients": clients}
        )
        outcome = five_days.materialize([day], ["crawl_policy"])
        assert not outcome.failures
        latest = json.loads((root / "latest" / "policy.json").read_text("utf-8"))
        return outcome.ok, latest["settings"]["policy"]["min_clients"]

    assert actual(5) == (True, 5)
    wrong = {
        "kind": "site", "place": 1, "site": "a.example", "name": "a.example", "decision": "now",
        "tier": 16, "score": None, "interval_seconds": None,
    }  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(crawl_policy, "_rows", lambda _: [wrong])
        assert actual(6) == (False, 5)
    assert sorted(path.name[:10] for path in root.glob("2*")) == [day.isoformat()] * 2
    assert actual(7) == (True, 7)


def daily_and_then(ticks: Ticks, days: Sequence[dt.date]) -> None:
    assert ticks.execute(ticks.tick())
    (daily,) = ticks.tick()
    assert (daily.job_name, days_of(daily)) == ("daily", list(days))
    assert ticks.execute([daily])


@pytest.mark.slow
def test_the_sensor_makes_the_window_of_the_latest_day(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 5)
    daily_and_then(ticks, days)
    (window,) = ticks.tick()
    assert (window.job_name, days_of(window)) == ("windows", days[-1:])
    assert assets_of(window) == set(STEP_NAMES)
    assert ticks.tick() == []  # asked for once
    assert ticks.execute([window])
    assert ticks.tick() == []
    assert ticks.project.store.days("page_histories") == days[-1:]


@pytest.mark.slow
def test_a_late_day_makes_the_latest_window_again(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 5)
    daily_and_then(ticks, days)
    assert ticks.execute(ticks.tick())
    outside = dt.datetime.combine(days[0], dt.time(15))
    logs.write(ticks.project.logs / "old.log", [logs.line(outside, "/late")])
    daily_and_then(ticks, days[:1])
    assert ticks.tick() == []  # the day has left the window
    inside = dt.datetime.combine(days[2], dt.time(15))
    logs.write(ticks.project.logs / "late.log", [logs.line(inside, "/late")])
    daily_and_then(ticks, days[2:3])
    (window,) = ticks.tick()
    assert (window.job_name, days_of(window)) == ("windows", days[-1:])


def test_the_sensor_waits_for_the_days_of_the_window(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 5)
    daily_and_then(ticks, days)
    job = ticks.project.defs().resolve_job_def("daily")
    ticks.project.instance.create_run_for_job(
        job, tags=tags.of_range(days[2:3]), status=dg.DagsterRunStatus.STARTED
    )
    assert ticks.tick() == []


@pytest.mark.slow
def test_the_sensor_waits_for_days_that_it_asks_for_itself(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 5)
    daily_and_then(ticks, days)
    assert ticks.execute(ticks.tick())
    for day, name in ((days[2], "one"), (days[3], "two")):
        late = [logs.line(dt.datetime.combine(day, dt.time(15)), "/late")]
        logs.write(ticks.project.logs / f"{name}.log", late)
        assert ticks.execute(ticks.tick())  # read
        if name == "one":
            assert ticks.execute(ticks.tick())  # made: the window is out of date
    (daily,) = ticks.tick()
    assert (daily.job_name, days_of(daily)) == ("daily", days[3:4])
    # As the daemon has it when that run has failed: it is not started again, and windows go on.
    (window,) = ticks.tick()
    assert (window.job_name, days_of(window)) == ("windows", days[-1:])


def test_every_change_of_settings_asks_for_the_window(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 5)
    daily_and_then(ticks, days)
    for q in (0.8, 0.75, 0.8, 0.75):
        ticks.project.settings = ticks.project.with_settings(window=WINDOW, labels={"q": q})
        (window,) = ticks.tick()
        assert (window.job_name, days_of(window)) == ("windows", days[-1:])
        assert ticks.tick() == []  # nor when it has failed


def test_a_window_whose_day_was_damaged_is_asked_for_when_the_day_is_mended(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 5)
    daily_and_then(ticks, days)
    (window,) = ticks.tick()
    # Its run found this, and failed.
    store = ticks.project.store
    (path,) = map(Path, store.files("page_views", days[2]))
    path.write_bytes(b"")
    with pytest.raises(DamagedPartition):
        store.verified(store.require("page_views", days[2]))
    (daily,) = ticks.tick()
    assert (daily.job_name, days_of(daily)) == ("daily", days[2:3])
    assert ticks.execute([daily])
    (again,) = ticks.tick()
    assert (days_of(again), assets_of(again)) == (days_of(window), assets_of(window))
    assert ticks.tick() == []


def test_no_warning_is_new() -> None:
    """Mappings of windows are no preview of Dagster's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_defs(load_settings("/nowhere"))


@pytest.mark.slow
def test_windows_say_how_much_of_them_there_was_and_what_they_hold(running: Project) -> None:
    logs.write_days(running.logs, DAY, 4)
    running.settings = running.with_settings(window={"days": 5, "min_days": 3})
    running.run_well("ingest")
    running.run_well("daily", tags.of_range([DAY + n * ONE for n in range(4)]))
    result = running.run_well("windows", partition=DAY + 3 * ONE)
    message = {
        event.materialization.asset_key.to_user_string(): event.materialization.metadata
        for event in result.get_asset_materialization_events()
    }
    histories = {name: value.value for name, value in message["page_histories"].items()}
    assert (histories["window_days_expected"], histories["window_days_present"]) == (5, 4)
    assert histories["missing_days"] == "2026-02-28"
    curves, labels = message["interest_curves"], message["page_labels"]
    # There are fewer than the five days that a curve needs.
    assert (curves["too_young"].value, curves["converged_percent"].value) == (1, 0.0)
    assert (labels["temporal_percent"].value, labels["agreement_percent"].value) == (0.0, 100.0)
    for metadata, plot in ((curves, "interest_of_first_day"), (labels, "pages_by_concentration")):
        text = str(metadata[plot].value)
        assert "(data:image/png;base64," in text
        assert "example.com" not in text
