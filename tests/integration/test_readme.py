"""The README and the other pages say what is so."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from temporal_assets import contracts
from temporal_assets.cli.app import PARTS, SUMMARIES, app
from temporal_assets.settings import LogSource, Settings
from temporal_assets.settings import page as settings_page
from temporal_assets.settings.everyday import EVERYDAY

COMMANDS = [
    "python3 -m venv .venv && .venv/bin/pip install -c requirements.lock . "
    "&& .venv/bin/temporal-assets demo",
    "python3 -m venv .venv && .venv/bin/pip install -c requirements.lock -e '.[dev]' "
    "&& .venv/bin/pytest",
]
"""README's commands, word for word: the first installs and runs the demo, the second the tests."""


@pytest.fixture(scope="module")
def pages(repository: Path) -> list[Path]:
    return [repository / "README.md", *sorted((repository / "docs").rglob("*.md"))]


def test_the_two_commands_stand_alone_on_their_lines(repository: Path) -> None:
    lines = (repository / "README.md").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("python3 -m venv")] == COMMANDS


def test_ci_runs_the_two_commands_of_the_readme(repository: Path) -> None:
    steps = script(repository, "steps")
    assert steps.readme_commands() == COMMANDS
    assert {"demo", "tests", "lint", "types", "spark", "browser"} <= steps.STEPS.keys()


def script(repository: Path, name: str) -> Any:
    """A module of `.ci`, which is no package."""
    spec = importlib.util.spec_from_file_location(f"ci_{name}", repository / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module
    try:
        spec.loader.exec_module(module)
        return module
    finally:
        del sys.modules[spec.name]


def test_links_of_the_site_have_the_titles_of_their_pages(repository: Path) -> None:
    hook = script(repository, "site_links").on_page_markdown
    config = {"docs_dir": str(repository / "docs")}
    page = SimpleNamespace(file=SimpleNamespace(src_uri="crawlers/scrapy.md"))
    text = "([policy.md](../policy.md#the-files)), [here](nutch.md), [units](../../deploy/systemd)"
    assert hook(text, page, config) == (
        "([The crawl policy](../policy.md#the-files)), [here](nutch.md),"
        " units (`deploy/systemd` in the repository)"
    )


def test_ci_names_its_steps(repository: Path) -> None:
    script = ["bash", str(repository / ".ci" / "run")]
    listed = subprocess.run([*script, "--list"], capture_output=True, text=True, check=True)
    page = (repository / "docs" / "testing.md").read_text("utf-8")
    for line in listed.stdout.splitlines():
        assert f"`{line.split()[0]}`" in page
    wrong = subprocess.run([*script, "no-such-step"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "no such step: no-such-step" in wrong.stderr


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
    assert "(docs/index.md)" in readme


def test_the_readme_is_one_that_people_read_to_its_end(repository: Path) -> None:
    """Assert that it is what it is, pictures, two commands, own logs and links, and no more."""
    assert len((repository / "README.md").read_text("utf-8")) < 4_500


def test_no_page_names_a_folder_of_the_machine_it_was_written_on(pages: list[Path]) -> None:
    names = [
        page.name
        for page in pages
        if re.search(r"(?<![\w.])/(?:tmp|home|root|work)/", page.read_text("utf-8"))
    ]
    assert names == []


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
        asked = [[command, part, "--help"] for part in PARTS.get(command, ())]
        shown = "".join(
            CliRunner().invoke(app, words).stdout for words in asked or [[command, "--help"]]
        )
        options = set(re.findall(r"^ +(--[a-z-]+)", shown, re.MULTILINE))
        options |= set(re.findall(r"^ +-\w, (--[a-z-]+)", shown, re.MULTILINE))
        common = {"--state", "--json", "--help"}
        missing = {option for option in options - common if f"`{option}" not in text}
        assert missing == set(), command


def settings_of(model: type[BaseModel], prefix: str = "") -> set[str]:
    """Dotted names of all settings."""
    return {
        name
        for field, info in model.model_fields.items()
        for name in (
            settings_of(type(info.default), f"{prefix}{field}.")
            if isinstance(info.default, BaseModel)
            else [f"{prefix}{field}"]
        )
    }


def test_the_settings_page_is_written_from_the_code(repository: Path) -> None:
    page = (repository / "docs" / "settings.md").read_text("utf-8")
    assert page == settings_page.page(), settings_page.COMMAND
    expert = (repository / "docs" / "settings-expert.md").read_text("utf-8")
    assert expert == settings_page.expert_page(), settings_page.COMMAND
    matches = re.findall(r"^\| `([a-z0-9_.]+)` \| (.+) \|$", page, re.MULTILINE)
    assert {name for name, _ in matches} == set(EVERYDAY)
    rows = dict(matches) | dict(
        re.findall(r"^\| `([a-z0-9_.]+)` \| (.+) \|$", expert, re.MULTILINE)
    )
    wanted = settings_of(Settings) - {"state", "sources"}
    assert set(rows) == wanted | {f"sources.{name}" for name in settings_of(LogSource)}
    assert rows["labels.q"] == (
        "`0.7` | number, > 0, < 1 | A page is temporal if more of its interest than this"
        " accumulates in `n` days (TW 4.2)."
    )
    assert rows["curves.method"].startswith(
        '`"likelihood"` | `"likelihood"` or `"least_squares"` | `least_squares` is the paper\'s'
    )
    assert rows["evaluation.horizons"].startswith("`[7, 30]` | list: whole number | Days")
    assert rows["alerts.webhook"].startswith("`unset` | text, secret | URL")
    assert "`canonical-urls.md`" not in page
    for name in re.findall(r"\]\(([a-z-]+\.md)\)", page):
        assert (repository / "docs" / name).is_file(), name


def test_the_page_on_upgrading_has_every_change_of_a_schema(repository: Path) -> None:
    page = (repository / "docs" / "upgrade.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(table.name for table in contracts.TABLES if table.version > 1)


def test_the_security_page_names_tests_that_exist(repository: Path) -> None:
    page = (repository / "docs" / "security.md").read_text("utf-8")
    named = set(re.findall(r"`(test_[a-z_]+)`", page))
    there = {path.stem for path in (repository / "tests").rglob("test_*.py")}
    assert named - there == set()
    assert "test_hostile_logs" in named
