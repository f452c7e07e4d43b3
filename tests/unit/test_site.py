"""The documentation as a site: every page has one place in it."""

from __future__ import annotations

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
