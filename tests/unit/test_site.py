"""The documentation: every page has one place in its site, and every claim a source."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml


def pages_of(nav: Any) -> list[str]:
    """Pages of a part of the navigation, in their order."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in pages_of(part)]


def test_every_page_of_the_documentation_has_one_place_in_the_site(repository: Path) -> None:
    site = yaml.safe_load((repository / "mkdocs.yml").read_text("utf-8"))
    docs = repository / "docs"
    there = sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))
    assert sorted(pages_of(site["nav"])) == there


def test_the_site_brings_all_that_it_needs(repository: Path) -> None:
    site = yaml.safe_load((repository / "mkdocs.yml").read_text("utf-8"))
    assert site["theme"]["font"] is False
    assert "extra_javascript" not in site


CLAIM = re.compile(
    r"\b(?:(?:ahead of|better than|faster than|slower than|times as (?:fast|long)) (?!before)"
    r"|beats?\b|beaten\b|outperforms?\b|right more often)|\b[01]\.\d{3}\b"
)
"""Words and figures with which quality or speed is claimed."""

SOURCE = re.compile(
    r"benchmarks[./]\w|(?:evidence|performance)\.md|pytest|python -m tests|`(?:\w+/)*test_\w+`"
)
"""Commands and pages that a claim rests on."""

MEASURED = {"evidence.md", "performance.md"}
"""Pages that name their commands at the top."""


def prose(page: Path) -> str:
    """Return a page without what it shows as code."""
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def test_claims_stand_beside_the_command_or_page_that_they_rest_on(repository: Path) -> None:
    """Assert that a section of a page that claims something names its source."""
    unsourced = [
        f"{page.name}, {section.partition(chr(10))[0]}: {found[0]}"
        for page in sorted((repository / "docs").rglob("*.md"))
        if page.name not in MEASURED
        for section in re.split(r"^(?=#+ )", prose(page), flags=re.MULTILINE)
        if (found := CLAIM.search(section)) and not SOURCE.search(section)
    ]
    assert unsourced == []


def test_the_scripts_that_pages_name_are_there(repository: Path) -> None:
    text = "\n".join(page.read_text("utf-8") for page in (repository / "docs").rglob("*.md"))
    named = set(re.findall(r"-m ((?:benchmarks|tests|temporal_assets)(?:\.\w+)+)", text))
    named |= {name.removesuffix(".py") for name in re.findall(r"\bbenchmarks/\w+\.py", text)}
    paths = [repository / name.replace(".", "/") for name in named]
    missing = [path for path in paths if not path.is_dir() and not path.with_suffix(".py").exists()]
    assert len(paths) > 20
    assert missing == []
