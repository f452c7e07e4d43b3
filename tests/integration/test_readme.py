"""The README and the other pages say what is so."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from temporal_assets.cli.app import SUMMARIES, app
from temporal_assets.settings import LogSource, Settings

COMMANDS = [
    "python3 -m venv .venv && .venv/bin/pip install -c requirements.lock . "
    "&& .venv/bin/temporal-assets demo",
    "python3 -m venv .venv && .venv/bin/pip install -c requirements.lock -e '.[dev]' "
    "&& .venv/bin/pytest",
]
"""One line installs and runs the demo, one installs and passes the tests: word for word."""


@pytest.fixture(scope="module")
def pages(repository: Path) -> list[Path]:
    return [repository / "README.md", *sorted((repository / "docs").rglob("*.md"))]


def test_the_two_commands_stand_alone_on_their_lines(repository: Path) -> None:
    lines = (repository / "README.md").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("python3 -m venv")] == COMMANDS


def test_ci_runs_the_two_commands_of_the_readme(repository: Path) -> None:
    shown = subprocess.run(
        ["bash", str(repository / ".ci" / "run"), "commands"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.splitlines() == COMMANDS
    script = (repository / ".ci" / "run").read_text("utf-8")
    for n in range(len(COMMANDS)):
        assert f'bash -c "${{commands[{n}]}}"' in script


def test_links_lead_somewhere(pages: list[Path]) -> None:
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_page_can_be_found(repository: Path) -> None:
    index = (repository / "docs" / "index.md").read_text("utf-8")
    readme = (repository / "README.md").read_text("utf-8")
    names = {path.name for path in (repository / "docs").glob("*.md")} - {"index.md"}
    assert {name for name in names if f"({name})" not in index} == set()
    assert {name for name in names if f"(docs/{name})" not in readme} == set()


def test_no_page_names_a_folder_of_the_machine_it_was_written_on(pages: list[Path]) -> None:
    found = [
        page.name
        for page in pages
        if re.search(r"(?<![\w.])/(?:tmp|home|root|work)/", page.read_text("utf-8"))
    ]
    assert found == []


def commands_in(text: str) -> set[str]:
    """Commands in lines to copy and in code within a sentence."""
    return set(re.findall(r"(?:^|`|bin/)temporal-assets ([a-z]+)(?![\w.-])", text, re.MULTILINE))


def test_pages_name_only_commands_that_exist(pages: list[Path]) -> None:
    named = set().union(*(commands_in(page.read_text("utf-8")) for page in pages))
    assert named - set(SUMMARIES) == set()
    assert "demo" in named


def test_the_command_line_page_has_every_option(repository: Path) -> None:
    page = (repository / "docs" / "command-line.md").read_text("utf-8")
    for command in SUMMARIES:
        section = page.split(f"\n## {command}\n")
        assert len(section) == 2, f"docs/command-line.md has no section on {command}"
        text = section[1].split("\n## ")[0]
        shown = CliRunner().invoke(app, [command, "--help"]).stdout
        options = set(re.findall(r"^ +(--[a-z-]+)", shown, re.MULTILINE))
        options |= set(re.findall(r"^ +-\w, (--[a-z-]+)", shown, re.MULTILINE))
        common = {"--state", "--json", "--help"}
        missing = {option for option in options - common if f"`{option}" not in text}
        assert missing == set(), command


def defaults(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """Dotted name -> default of every setting."""
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            found |= defaults(type(field.default), f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = field.get_default(call_default_factory=True)
    return found


def as_written(value: Any) -> str:
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(as_written(one) for one in value) + "]"
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


def test_the_settings_page_has_every_setting_with_its_default(repository: Path) -> None:
    page = (repository / "docs" / "settings.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([a-z0-9_.]+)` \| `([^`]*)` \|", page, re.MULTILINE))
    wanted = {
        name: as_written(value)
        for name, value in defaults(Settings).items()
        if name not in ("state", "sources")
    }
    wanted |= {
        f"sources.{name}": as_written(value)
        for name, value in defaults(LogSource).items()
        if name not in ("path", "columns")
    }
    assert {name: rows.get(name) for name in wanted} == wanted


def test_the_security_page_names_tests_that_exist(repository: Path) -> None:
    page = (repository / "docs" / "security.md").read_text("utf-8")
    named = set(re.findall(r"`(test_[a-z_]+)`", page))
    there = {path.stem for path in (repository / "tests").rglob("test_*.py")}
    assert named - there == set()
    assert "test_hostile_logs" in named
