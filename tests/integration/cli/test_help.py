"""Help, the list of commands, completion and the version."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from temporal_assets import __version__
from temporal_assets.cli.app import GROUPS, PARTS, SUMMARIES, app
from tests.command_line import call


def test_commands_that_people_are_told_to_type_are_there(repository: Path) -> None:
    """Three hints named commands that had been renamed."""
    answer = re.compile(r"""invocation\(\s*f?["']([a-z-]+)""")
    code = (repository / "temporal_assets").rglob("*.py")
    named = {name for file in code for name in answer.findall(file.read_text("utf-8"))}
    assert {"materialize", "show", "evaluate"} <= named <= set(SUMMARIES)


def test_version() -> None:
    assert call("--version").stdout == f"temporal-assets {__version__}\n"


@pytest.mark.parametrize(
    "command",
    ["demo", "ingest", "materialize", "status", "query", "show page", "ui", "doctor check"],
)
def test_every_command_has_help(command: str) -> None:
    result = call(*command.split(), "--help")
    assert result.exit_code == 0
    assert "--state" in result.stdout
    assert ("--json" in result.stdout) == (command != "ui")


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    listed = call("--help").stdout
    for name, summary in SUMMARIES.items():
        assert f"  {name} " in listed
        shown = " ".join(call(name, "--help").stdout.split())
        assert f" {summary}" in shown, name


def test_parts_of_commands_say_of_themselves_what_is_listed() -> None:
    for name, parts in PARTS.items():
        listed = call(name, "--help").stdout
        for part, summary in parts.items():
            assert f"  {part} " in listed
            shown = " ".join(call(name, part, "--help").stdout.split())
            assert f" {summary}" in shown, (name, part)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["show", "https://www.example.com/news/1"], "show page"),
        (["show", "www.example.com"], "show site"),
        (["show"], "show labels"),
        (["show", "--json"], "show labels"),
        (["show", "tree", "www.example.com"], "show tree"),
        (["evaluate", "list.txt"], "evaluate lists"),
        (["evaluate"], "evaluate lists"),
        (["try", "labels.q=0.8"], "try settings"),
        (["policy"], "policy show"),
        (["policy", "--json"], "policy show"),
        (["doctor", "--contents"], "doctor check"),
    ],
)
def test_what_names_no_part_goes_to_the_one_that_is_meant(words: list[str], part: str) -> None:
    # An option that no part has: the usage names the part that was asked.
    result = call(*words, "--no-such-option")
    assert result.exit_code == 2
    assert f"{part} [OPTIONS]" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("export", "policy export"), ("mirror", "evaluate mirror"), ("clean", "doctor clean")],
)
def test_a_part_that_is_called_as_a_command_is_told_its_command(typed: str, meant: str) -> None:
    result = call(typed, "--help")
    assert result.exit_code == 2
    assert f"It is a part: {meant}" in result.output


def test_there_are_few_commands_in_three_groups() -> None:
    assert len(GROUPS) == 3
    assert len(SUMMARIES) <= 15


def test_try_alone_shows_its_parts() -> None:
    assert "thresholds" in call("try").output


def test_the_list_of_commands_imports_none_of_them() -> None:
    script = (
        "import sys; from typer.testing import CliRunner; from temporal_assets.cli.app import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print([n for n in ('temporal_assets.cli.daily.demo', 'rich') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_h_is_help_and_commands_come_in_groups() -> None:
    listed = call("-h").stdout
    assert listed == call("--help").stdout
    places = [listed.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    assert sum(map(len, GROUPS.values())) == len(SUMMARIES)
    assert call("policy", "-h").stdout == call("policy", "--help").stdout


def test_help_loads_nothing_heavy() -> None:
    heavy = "dagster duckdb great_expectations numba numpy pandas pyarrow resvg_py scipy"
    script = (
        "import sys; from typer.testing import CliRunner; from temporal_assets.cli.app import app\n"
        "assert CliRunner().invoke(app, ['ingest', '--help']).exit_code == 0\n"
        f"print([name for name in {heavy.split()!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_every_option_says_what_it_is_for() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    parts = [command for name in PARTS for command in commands[name].commands.items()]
    assert len(parts) == sum(map(len, PARTS.values()))
    silent = [
        f"{name} {option.name}"
        for name, one in [*commands.items(), *parts]
        for option in one.params
        if not getattr(option, "help", None)
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("temporal-assets ma", {"materialize"}),
        ("temporal-assets policy ma", {"match"}),
        ("temporal-assets policy export --js", {"--json"}),
        ("temporal-assets policy export sc", {"scrapy"}),
        ("temporal-assets policy --ag", {"--against"}),
        ("temporal-assets doctor --cont", {"--contents"}),
    ],
)
def test_a_shell_completes_commands_and_options(typed: str, offered: set[str]) -> None:
    asked = {
        "_TEMPORAL_ASSETS_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    result = CliRunner().invoke(app, [], prog_name="temporal-assets", env=asked)
    assert set(result.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_shown(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever shell the tests are run from, if any.
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: (shell, f"/bin/{shell}"))
    result = CliRunner().invoke(app, ["--show-completion"], prog_name="temporal-assets")
    assert f"_TEMPORAL_ASSETS_COMPLETE=complete_{shell}" in result.stdout
