"""Content of the code location, and the ways Dagster loads it."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from temporal_assets import contracts
from temporal_assets.build import build_defs
from temporal_assets.defs.stages import STAGES, group_of, page_of
from temporal_assets.logs.clean.cleaning import EARLIEST
from temporal_assets.settings import load_settings

SNAPSHOT = Path(__file__).with_name("asset_graph.json")
UPDATE = "UPDATE_SNAPSHOTS"
LOGS = dg.AssetKey("log_files")
INTERNALS = "dagster_internals"


def graph_of(defs: dg.Definitions) -> dict[str, Any]:
    graph = defs.resolve_asset_graph()
    checks: dict[str, list[str]] = {}
    for key in graph.asset_check_keys:
        spec = graph.get_check_spec(key)
        blocking = " (blocking)" if spec.blocking else ""
        checks.setdefault(key.asset_key.to_user_string(), []).append(f"{key.name}{blocking}")
    return {
        node.key.to_user_string(): {
            "deps": sorted(key.to_user_string() for key in node.parent_keys),
            "partitions": node.partitions_def and type(node.partitions_def).__name__,
            "days_per_run": node.backfill_policy and node.backfill_policy.max_partitions_per_run,
            "materializable": node.is_materializable,
            "group": node.group_name,
            "owners": list(node.owners),
            "kinds": sorted(node.kinds),
            "pools": sorted(node.pools or ()),
            "columns": [
                f"{column.name} {column.type}"
                for column in getattr(node.metadata.get("dagster/column_schema"), "schema", [])
                or getattr(node.metadata.get("dagster/column_schema"), "columns", [])
            ],
            "checks": sorted(checks.get(node.key.to_user_string(), [])),
        }
        for node in sorted(graph.asset_nodes, key=lambda node: node.key)
    }


def test_the_asset_graph_is_the_one_that_is_meant(state: Path) -> None:
    graph = graph_of(build_defs(load_settings(state)))
    if os.environ.get(UPDATE):
        SNAPSHOT.write_text(json.dumps(graph, indent=1) + "\n", "utf-8")
    assert graph == json.loads(SNAPSHOT.read_text("utf-8")), (
        f"if the change is meant: {UPDATE}=1 pytest {Path(__file__).name}"
    )


def test_building_creates_nothing(state: Path) -> None:
    dg.Definitions.validate_loadable(build_defs(load_settings(state)))
    assert not state.exists()


def test_everything_described_has_an_owner_a_group_and_a_description(state: Path) -> None:
    defs = build_defs(load_settings(state, orchestration={"owner": "team:news"}))
    for spec in defs.resolve_all_asset_specs():
        assert spec.owners == ["team:news"], spec.key
        assert spec.group_name == group_of(spec.key.to_user_string())
        assert len(spec.description or "") > 50, spec.key


@pytest.mark.parametrize(("folder", "modules"), [("temporal_assets", []), ("tests", [INTERNALS])])
def test_only_tests_use_what_dagster_does_not_export(
    repository: Path, folder: str, modules: list[str]
) -> None:
    private = re.compile(r"^\s*(?:from|import) dagster\._", re.MULTILINE)
    paths = (repository / folder).rglob("*.py")
    assert [path.stem for path in paths if private.search(path.read_text("utf-8"))] == modules


def test_checks_say_what_they_test(state: Path) -> None:
    graph = build_defs(load_settings(state)).resolve_asset_graph()
    specs = [graph.get_check_spec(key) for key in graph.asset_check_keys]
    ours = {spec.key: spec.description or "" for spec in specs if spec.key.asset_key != LOGS}
    assert [
        key for key, description in ours.items() if "Tested on each partition" not in description
    ] == []
    hubs = ours[dg.AssetCheckKey(dg.AssetKey("crawl_policy"), "hubs_and_sources_have_intervals")]
    assert "no row of `SELECT * FROM crawl_policy WHERE (kind IN ('hub'" in hubs


def test_stages_are_in_the_order_of_the_data_flow(state: Path) -> None:
    """Every asset has one, is made from nothing of a later one, and names a page that exists."""
    names = [asset for stage in STAGES for asset in stage.assets]
    tables = [table.name for table in contracts.TABLES]
    assert sorted(names) == sorted(["log_files", "landed_days", "released_policy", *tables])
    assert [stage.group for stage in STAGES] == sorted(stage.group for stage in STAGES)
    for spec in build_defs(load_settings(state)).resolve_all_asset_specs():
        for dep in spec.deps:
            assert group_of(dep.asset_key.to_user_string()) <= (spec.group_name or ""), spec.key
    docs = Path(__file__).parents[2] / "docs"
    assert [name for name in names if not (docs / page_of(name)).is_file()] == []


def test_assets_link_to_their_pages_where_these_are_served(state: Path) -> None:
    def page(**settings: object) -> Any:
        defs = build_defs(load_settings(state, orchestration=settings))
        return defs.resolve_asset_graph().get(dg.AssetKey("hub_seeds")).metadata["documentation"]

    assert page(docs="https://docs.example/ta/").value == "https://docs.example/ta/hubs.md"
    assert page().value.endswith("docs/hubs.md")


def test_jobs_hold_what_their_names_say(state: Path) -> None:
    defs = build_defs(load_settings(state))

    def assets(job: str) -> set[str]:
        layer = defs.resolve_job_def(job).asset_layer
        return {key.to_user_string() for key in layer.executable_asset_keys}

    daily = {"requests", "rejects", "page_views", "transits"}
    assert assets("ingest") == {"log_files"}
    assert assets("daily") == daily
    windows = {"page_totals", "page_histories", "interest_curves", "calibration", "page_labels"}
    windows |= {"page_traffic", "url_patterns", "behaviour_graph", "pattern_ranks", "hub_seeds"}
    windows |= {"early_labels", "page_flow"}
    windows |= {"prefix_trees", "site_scores", "section_scores", "news_prefixes", "site_changes"}
    windows |= {"provisional_lists", "fetches", "sources", "crawl_policy", "released_policy"}
    windows |= {"seed_evaluation", "hub_evaluation", "crawl_simulation"}
    windows |= {"timely_simulation", "evaluation_report"}
    assert assets("windows") == windows
    assert assets("nightly") == daily | {"log_files"}
    assert assets("finish") == {"released_policy"}


@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
def test_a_code_version_changes_with_the_statement_only(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from temporal_assets import contracts
    from temporal_assets.defs.metadata import specs
    from temporal_assets.engines.sql import SqlFile

    settings = load_settings(state)

    def version(text: str) -> str | None:
        file = SqlFile("x", text, frozenset(), frozenset())
        monkeypatch.setattr(specs, "sql_file", lambda _: file)
        return specs.table_spec(
            contracts.TRANSITS, settings, deps=[], sql=["transits"]
        ).code_version

    assert version("-- about x\nSELECT 1") == version("-- more about x\nSELECT 1")
    assert version("SELECT 1") != version("SELECT 2")


def test_the_names_of_the_code_location_agree(repository: Path) -> None:
    tool = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["tool"]
    workspace = yaml.safe_load((repository / "workspace.yaml").read_text("utf-8"))
    (module,) = (entry["python_module"] for entry in workspace["load_from"])
    assert module == {
        "module_name": "temporal_assets.definitions",
        "location_name": "temporal_assets.definitions",
    }
    assert tool["dagster"] == {
        "module_name": "temporal_assets.definitions",
        "code_location_name": "temporal_assets.definitions",
    }
    assert tool["dg"]["project"]["code_location_name"] == "temporal_assets.definitions"
    assert tool["dg"]["project"]["code_location_target_module"] == "temporal_assets.definitions"


def test_definitions_merge_with_an_executor_of_ones_own(state: Path) -> None:
    own = dg.Definitions(executor=dg.multiprocess_executor)
    merged = dg.Definitions.merge(build_defs(load_settings(state)), own)
    assert merged.resolve_job_def("daily").executor_def is dg.multiprocess_executor


def test_the_entry_point_runs_steps_in_the_process_of_their_run(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from temporal_assets.definitions import defs

    monkeypatch.setenv("TEMPORAL_ASSETS_STATE", str(state))
    loaded = defs()
    assert loaded.resolve_job_def("daily").executor_def is dg.in_process_executor


def script(name: str) -> str:
    actual = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if actual is None:
        pytest.skip(f"{name} is not installed")
    return actual


def call(command: list[str], folder: Path, **variables: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_dagster_loads_the_workspace_where_nothing_exists(repository: Path, tmp_path: Path) -> None:
    """Without DAGSTER_HOME, as `dagster dev` in a fresh checkout; and the default state folder."""
    for name in ("workspace.yaml", "dagster.yaml"):
        shutil.copy(repository / name, tmp_path)
    output = call(
        [script("dagster"), "definitions", "validate"], tmp_path, PYTHONPATH=str(repository)
    )
    assert "All code locations passed validation" in output
    actual = {path.name for path in tmp_path.iterdir()} - {"workspace.yaml", "dagster.yaml"}
    assert actual <= {"temporal_state"}
    assert not (tmp_path / "temporal_state" / "landing").exists()


@pytest.mark.slow
def test_dg_loads_the_checkout(repository: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    output = call(
        [script("dg"), "check", "defs"],
        repository,
        PYTHONPATH=str(repository),
        DAGSTER_HOME=str(home),
        TEMPORAL_ASSETS_STATE=str(tmp_path / "state"),
    )
    assert "All definitions loaded successfully" in output or "passed validation" in output


def test_a_setting_that_is_wrong_names_its_file(state: Path, monkeypatch: Any) -> None:
    from temporal_assets.settings import SettingsError

    state.mkdir()
    (state / "settings.toml").write_text("[orchestration]\nhour = 25\n")
    monkeypatch.setenv("TEMPORAL_ASSETS_STATE", str(state))
    with pytest.raises(SettingsError, match=r"settings\.toml"):
        build_defs()


def test_the_days_of_a_new_installation_reach_back_to_the_first_possible_log(state: Path) -> None:
    settings = load_settings(state)
    days = build_defs(settings).resolve_asset_graph().get(dg.AssetKey("requests")).partitions_def
    assert days is not None
    assert days.get_first_partition_key() == EARLIEST.isoformat() == "1993-01-01"
    assert dt.date.fromisoformat(days.get_last_partition_key() or "") >= dt.date(2026, 1, 1)


def test_every_table_says_where_its_code_is(state: Path) -> None:
    graph = build_defs(load_settings(state)).resolve_asset_graph()
    for table in contracts.TABLES:
        code = graph.get(dg.AssetKey(table.name)).metadata["dagster/code_references"]
        assert code.code_references
        for code_reference in code.code_references:
            assert Path(code_reference.file_path).suffix in (".py", ".sql")
            assert Path(code_reference.file_path).is_file()
