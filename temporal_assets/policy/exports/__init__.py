"""The policy in the files of other crawlers: one module a target, each from a document to files.

An exporter is a function from a document to names and contents; it opens no file, so that a test
can read what it says back. What each file is for, and where it goes, is in `docs/crawlers/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import (
    browsertrix,
    crawlee,
    heritrix,
    nutch,
    plain_text,
    scrapy,
    sitemap,
    stormcrawler,
    url_matcher,
    urlfrontier,
)
from temporal_assets.storage.durable import replace_text

TARGETS: Final[Mapping[str, Callable[[Document], dict[str, str]]]] = {
    "browsertrix": browsertrix.files,
    "crawl4ai": crawlee.files_of_crawl4ai,
    "crawlee": crawlee.files,
    "heritrix": heritrix.files,
    "nutch": nutch.files,
    "plain-text": plain_text.files,
    "scrapy": scrapy.files,
    "sitemap": sitemap.files,
    "stormcrawler": stormcrawler.files,
    "url-matcher": url_matcher.files,
    "urlfrontier": urlfrontier.files,
}
"""What `temporal-assets export` knows."""


def export(document: Document, target: str, folder: Path) -> list[Path]:
    """Write the files of a target; each is replaced as a whole."""
    written = []
    for name, content in TARGETS[target](document).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, content)
        written.append(path)
    return written
