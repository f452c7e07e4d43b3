"""The files of deploy/ agree with the package. What they start is not tried here."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from temporal_assets.operate.home import dagster_home
from temporal_assets.settings import SettingsError, load_settings
from temporal_assets.storage.store import Store

UNITS = ("temporal-assets-daemon", "temporal-assets-webserver")
READING = "temporal-assets-reports"


def test_servers_are_for_this_machine_and_for_reading(repository: Path) -> None:
    services = yaml.safe_load((repository / "deploy" / "compose.yaml").read_text("utf-8"))[
        "services"
    ]
    assert services["webserver"]["ports"] == ["127.0.0.1:3000:3000"]
    assert "--read-only" in services["webserver"]["command"]
    assert "ports" not in services["daemon"]
    unit = (repository / "deploy" / "systemd" / f"{UNITS[1]}.service").read_text("utf-8")
    assert "-h 127.0.0.1 " in unit
    assert "--read-only\n" in unit
    # No page under a name that leads here reads what is shown (DNS rebinding).
    assert "-m temporal_assets.guard " in unit
    assert "temporal_assets.guard" in services["webserver"]["command"]


@pytest.mark.parametrize("name", UNITS)
def test_units_write_their_state_folder_only(repository: Path, name: str) -> None:
    unit = (repository / "deploy" / "systemd" / f"{name}.service").read_text("utf-8")
    values = dict(re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE))
    assert values["ProtectSystem"] == "strict"
    assert values["ReadWritePaths"] == values["WorkingDirectory"] == "/srv/temporal_state"
    assert values["UMask"] == "0077"
    assert f"/etc/systemd/system/{name}.service" in unit


def test_reports_are_handed_out_to_this_machine_and_nothing_is_written(repository: Path) -> None:
    unit = (repository / "deploy" / "systemd" / f"{READING}.service").read_text("utf-8")
    values = dict(re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE))
    assert "--bind 127.0.0.1 --directory /srv/temporal_state/report 3001" in values["ExecStart"]
    assert values["ProtectSystem"] == "strict"
    assert "ReadWritePaths" not in values
    assert f"/etc/systemd/system/{READING}.service" in unit


@pytest.mark.parametrize("name", [*UNITS, READING])
def test_systemd_knows_all_that_the_units_say(repository: Path, name: str) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("needs systemd-analyze")
    unit = repository / "deploy" / "systemd" / f"{name}.service"
    done = subprocess.run([program, "verify", unit], capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    # The programs are where the package is installed to, which is not here.
    assert [line for line in lines if "/opt/temporal/bin/" not in line] == []


def test_the_image_holds_what_the_wheel_is_built_from(repository: Path) -> None:
    text = (repository / "deploy" / "Dockerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert names == {
        "LICENSE",
        "README.md",
        "dagster.yaml",
        "hatch_build.py",
        "pyproject.toml",
        "requirements-hashed.lock",
        "sql",
        "temporal_assets",
    }
    assert all((repository / name).exists() for name in names)


@pytest.mark.parametrize("name", [".gitignore", ".dockerignore"])
def test_secrets_of_alerts_stay_where_they_are(repository: Path, name: str) -> None:
    compose = yaml.safe_load((repository / "deploy" / "compose.yaml").read_text("utf-8"))
    (secrets,) = compose["services"]["daemon"]["env_file"]
    assert f"deploy/{secrets['path']}" in (repository / name).read_text("utf-8").splitlines()
    assert "env_file" not in compose["services"]["webserver"]


def test_what_the_image_compiles_outlives_a_sweep(repository: Path, tmp_path: Path) -> None:
    """Whatever lies in `tmp` of the state folder and is not in use is removed."""
    text = (repository / "deploy" / "Dockerfile").read_text("utf-8")
    (cache,) = re.findall(r"NUMBA_CACHE_DIR=/state/(\S+)", text)
    folder = tmp_path / "state" / cache
    folder.mkdir(parents=True)
    with Store.open(load_settings(tmp_path / "state")).scratch():
        assert folder.is_dir()


def test_the_home_that_the_image_names_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a volume that is there and empty; without it Dagster's daemon does not start."""
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    assert dagster_home(load_settings(tmp_path)) == tmp_path / "dagster"
    assert (tmp_path / "dagster" / "dagster.yaml").is_file()
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(SettingsError, match="not the absolute path of a folder"):
        dagster_home(load_settings(tmp_path))


def test_the_proxy_asks_who_it_is_and_where_the_question_came_from(repository: Path) -> None:
    text = (repository / "deploy" / "nginx.conf").read_text("utf-8")
    assert text.count("{") == text.count("}")
    for line in (
        'if ($host != "dagster.example.org") { return 421; }',
        "if ($temporal_foreign_origin) { return 403; }",
        "if ($temporal_foreign_site) { return 403; }",
        "ssl_reject_handshake on;",
        "auth_basic_user_file /etc/nginx/temporal-assets.htpasswd;",
    ):
        assert line in text


def test_the_configuration_of_a_cluster_is_one_of_dagster(repository: Path) -> None:
    from tests.dagster_internals import dagster_instance_config_schema, validate_config

    text = (repository / "deploy" / "dagster-cluster.yaml").read_text("utf-8")
    config = yaml.safe_load(text)
    # Dagster reads this key apart, with whatever class it names.
    launcher = config.pop("run_launcher")
    assert (launcher["module"], launcher["class"]) == ("dagster_docker", "DockerRunLauncher")
    assert set(launcher["config"]["env_vars"]) >= set(re.findall(r"env: (\w+)", text))
    checked = validate_config(dagster_instance_config_schema(), config)
    assert checked.success, [error.message for error in checked.errors or []]
    assert validate_config(dagster_instance_config_schema(), {**config, "surprise": 1}).errors
    # Nobody's password lies in a file.
    assert config["storage"]["postgres"]["postgres_db"]["password"] == {
        "env": "DAGSTER_POSTGRES_PASSWORD"
    }
