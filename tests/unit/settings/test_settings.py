"""Settings: where they come from, and what a wrong one is told."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from temporal_assets.settings import (
    SETTINGS_FILE,
    LogSource,
    Settings,
    SettingsError,
    load_settings,
    removed,
    state_folder,
)


def _write(state: Path, text: str) -> None:
    state.mkdir(parents=True, exist_ok=True)
    (state / SETTINGS_FILE).write_text(text, encoding="utf-8")


def test_without_a_file_the_defaults_are_the_papers(state: Path) -> None:
    settings = load_settings(state)
    assert settings.window.days == 60
    assert settings.state == state
    assert not state.exists(), "reading settings creates nothing"


def test_arguments_win_over_the_environment_over_the_file(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(state, "[window]\ndays = 10\nmin_days = 2\n[orchestration]\nhour = 5\n")
    assert load_settings(state).window.days == 10
    monkeypatch.setenv("TEMPORAL_ASSETS_WINDOW__DAYS", "20")
    assert load_settings(state).window.days == 20
    assert load_settings(state, window={"days": 30}).window.days == 30
    assert load_settings(state).orchestration.hour == 5


def test_the_state_folder_is_the_argument_else_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ASSETS_STATE", str(tmp_path / "from-environment"))
    assert state_folder() == tmp_path / "from-environment"
    assert state_folder(tmp_path / "given") == tmp_path / "given"


def test_a_variable_is_named_as_the_place_of_its_value(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(state, "[window]\ndays = 0\n")
    monkeypatch.setenv("TEMPORAL_ASSETS_ENGINE__MEMORY_LIMIT", "lots")
    with pytest.raises(SettingsError) as raised:
        load_settings(state)
    file, variable = str(raised.value).split("; environment: ")
    assert file.startswith(f"{state / SETTINGS_FILE}: window.days: ")
    assert variable.startswith("TEMPORAL_ASSETS_ENGINE__MEMORY_LIMIT: engine.memory_limit: 'lots'")


GONE = removed._FIXED | removed._MOVED | removed._FOLDED


@pytest.mark.parametrize("name", GONE)
def test_a_setting_that_is_fixed_now_is_an_error_that_says_its_value(
    state: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    section, _, field = name.partition(".")
    if section == "sources":
        assert field not in LogSource.model_fields
        _write(state, f"[[sources]]\npath = 'access.log'\n{field} = 3\n")
    else:
        if section in Settings.model_fields:
            assert field not in type(Settings.model_fields[section].default).model_fields
        _write(state, f"[{section}]\n{field} = 3\n")
    with pytest.raises(SettingsError) as raised:
        load_settings(state)
    text = str(raised.value)
    assert text.startswith(f"{state / SETTINGS_FILE}: {section}")
    assert GONE[name] in text
    assert "found" not in text
    (state / SETTINGS_FILE).unlink()
    if section == "sources":
        return
    monkeypatch.setenv(f"TEMPORAL_ASSETS_{section}__{field}".upper(), "3")
    with pytest.raises(SettingsError, match="environment: ") as raised:
        load_settings(state)
    assert GONE[name] in str(raised.value)


def test_a_variable_of_no_section_is_refused(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ASSETS_ENGIN__THREADS", "2")
    with pytest.raises(SettingsError, match="ENGIN__THREADS: there is no section 'engin'"):
        load_settings(state)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TEMPORAL_ASSETS_ENGINE_THREADS", "TEMPORAL_ASSETS_ENGINE__THREADS"),
        ("temporal_assets_window_min_days", "TEMPORAL_ASSETS_WINDOW__MIN_DAYS"),
        ("TEMPORAL_ASSETS_SPARK_CONFIG__X", "TEMPORAL_ASSETS_SPARK__CONFIG__X"),
    ],
)
def test_a_variable_with_one_underscore_is_refused(
    state: Path, monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    monkeypatch.setenv(name, "2")
    with pytest.raises(SettingsError) as raised:
        load_settings(state)
    message = f"environment: {name.upper()}: two underscores stand for the dot: {meant}"
    assert str(raised.value) == message


def test_variables_that_are_no_settings_are_left_alone(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ASSETS_STATE", str(state))
    monkeypatch.setenv("TEMPORAL_ASSETS_SMTP_PASSWORD", "secret")
    monkeypatch.setenv("TEMPORAL_ASSETS_SHARED_DATA", "/data")
    monkeypatch.setenv("TEMPORAL_ASSETS_ENGINE", '{"threads": 3}')
    monkeypatch.setenv("TEMPORAL_ASSETS_WINDOW__MIN_DAYS", "2")
    settings = load_settings()
    assert (settings.state, settings.engine.threads, settings.window.min_days) == (state, 3, 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[window]\ndays = 0\n", "window.days"),
        ("[window]\ndayz = 3\n", "window.dayz"),
        ("[orchestration]\ntimezone = 'Mars/Olympus'\n", "'Mars/Olympus' is no time zone"),
        ("[[sources]]\npath = 'x'\ntimezone = '../etc'\n", "is no time zone"),
        ("[[sources]]\npath = 'x'\nformat = 'regex:('\n", "no regular expression"),
        ("[[sources]]\npath = 'x'\nhost = 'https://www.example.com'\n", "write it alone"),
        ("[[sources]]\npath = 'x'\nhost = 'www.example.com/'\n", "this is no host"),
        ("[[sources]]\npath = 'x'\naddress = 'forwaded'\n", "sources.0.address"),
        ("[engine]\nmemory_limit = 'lots'\n", "'lots' is no amount of memory"),
        ("[window\n", "settings.toml"),
        ("[window]\ndays = 5\n", "7 days can never be there of window.days = 5"),
        ("[window]\ndays = 2\nmin_days = 2\n", "labels.m: the first 3 days do not fit into"),
        ("[labels]\nm = 61\n", "labels.m: the first 61 days do not fit into window.days = 60"),
        ("[labels]\nqq = 1", "labels.qq: there is no such setting (docs/settings.md lists them)"),
        ("[labls]\nq = 0.5", "labls: there is no such setting"),
    ],
)
def test_a_wrong_setting_is_named_with_its_file(state: Path, text: str, says: str) -> None:
    _write(state, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(state)
    assert str(state / SETTINGS_FILE) in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "host",
    ["www.example.com", "example.com:8080", "192.0.2.1", "[2001:db8::1]:80", "bücher.example"],
)
def test_hosts_with_and_without_a_port(state: Path, host: str) -> None:
    _write(state, f'[[sources]]\npath = "x"\nhost = "{host}"\n')
    assert load_settings(state).sources[0].host == host


def test_paths_of_sources_are_relative_to_the_state_folder(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    _write(state, f"[[sources]]\npath = 'logs/*.gz'\n[[sources]]\npath = '{elsewhere}'\n")
    monkeypatch.chdir(tmp_path)
    assert [source.path for source in load_settings(state).sources] == [
        str(state / "logs/*.gz"),
        str(elsewhere),
    ]


def test_columns_are_named_by_text_or_number() -> None:
    source = LogSource.model_validate({"path": "x", "columns": {"time": 1, "address": "2"}})
    assert source.columns == {"time": "1", "address": "2"}
    with pytest.raises(ValidationError, match=r"columns\.time"):
        LogSource.model_validate({"path": "x", "columns": {"time": True}})


WEBHOOK = "https://hooks.example/s3cr3t"


@pytest.mark.parametrize(
    "text",
    [
        f'[alerts]\nwebhook = ["{WEBHOOK}"]\n',
        f'[alerts]\nwebhok = "{WEBHOOK}"\n',
        f'[alerts]\nto = ["{WEBHOOK}"]\n',
        f'[alerts]\nui = "ftp:{WEBHOOK}"\n',
        f'[alerts]\nwebhook = "https://[{WEBHOOK}"\n',
        f'[alert]\nwebhook = "{WEBHOOK}"\n',
        f'[[alerts]]\nwebhook = "{WEBHOOK}"\n',
        f'[alerts.webhook]\nurl = "{WEBHOOK}"\n',
        f'webhook = "{WEBHOOK}"\n',
        f'alerts = "{WEBHOOK}"\n',
        f'[labels]\nwebhook = "{WEBHOOK}"\n',
        f'[labels]\nq = {{webhook = "{WEBHOOK}"}}\n',
        f'[spark]\nmaster = "{WEBHOOK}"\n',
        f'[spark.config]\n"fs.s3a.secret.key" = ["{WEBHOOK}"]\n',
        f'storage = ["{WEBHOOK}"]\n',
        f'[alerts]\nwebhook = "{WEBHOOK}\n',
        f"[alerts]\nwebhook = {WEBHOOK}\n",
    ],
)
def test_no_error_repeats_what_may_be_a_secret(tmp_path: Path, text: str) -> None:
    """Nor in a section or under a name that is misspelt."""
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(SettingsError) as refused:
        load_settings(tmp_path)
    assert "s3cr3t" not in str(refused.value)


def test_a_wrong_value_is_shown_where_it_can_be_no_secret(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("[labels]\nq = 8\n")
    with pytest.raises(SettingsError, match="found 8"):
        load_settings(tmp_path)


def test_a_state_folder_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        settings = load_settings(tmp_path / "new" / "state")
        settings.make_state()
        settings.make_state()
    finally:
        os.umask(before)
    assert stat.S_IMODE(settings.state.stat().st_mode) == 0o700


def test_the_settings_of_the_page_of_spark_are_settings(repository: Path, tmp_path: Path) -> None:
    """Every block of docs/spark.md is one that an installation can have."""
    page = (repository / "docs" / "spark.md").read_text("utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    for n, block in enumerate(blocks):
        state = tmp_path / str(n)
        state.mkdir()
        (state / "settings.toml").write_text(block, "utf-8")
        settings = load_settings(state)
        assert settings.spark.config
