"""The policy in the files of other crawlers: one module a target, each from a document to files.

An exporter is a function from a document to names and contents; it opens no file, so that a test
can read what it says back. What each file is for, and where it goes, is in `docs/crawlers/`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from temporal_assets.machine.durable import replace_text
from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import (
    browsertrix,
    crawlee,
    heritrix,
    news_crawl,
    nutch,
    plain_text,
    scrapy,
    sitemap,
    stormcrawler,
    url_matcher,
    urlfrontier,
)
from temporal_assets.policy.exports.mark import MARK, is_marked
from temporal_assets.storage.folder_swap import switched

TARGETS: Final[Mapping[str, Callable[[Document], dict[str, str]]]] = {
    "browsertrix": browsertrix.files,
    "crawl4ai": crawlee.files_of_crawl4ai,
    "crawlee": crawlee.files,
    "heritrix": heritrix.files,
    "news-crawl": news_crawl.files,
    "nutch": nutch.files,
    "plain-text": plain_text.files,
    "scrapy": scrapy.files,
    "sitemap": sitemap.files,
    "stormcrawler": stormcrawler.files,
    "url-matcher": url_matcher.files,
    "urlfrontier": urlfrontier.files,
}
"""Targets of `temporal-assets policy export`."""

OPTIONAL_FILES: Final[Mapping[str, Sequence[str]]] = {
    "nutch": nutch.OPTIONAL_FILES,
    "sitemap": sitemap.OPTIONAL_FILES,
}
"""Names of files, as `Path.glob` takes them, that depend on the policy; they hold a mark."""


PROVISIONAL_FILE: Final = "PROVISIONAL.txt"
"""Beside the files of every target, while any of the policy is provisional."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export in its folder."""

    written: tuple[Path, ...]
    removed: tuple[Path, ...]
    """Written by an earlier export, and nothing that this policy asks for."""


def export(document: Document, target: str, folder: Path) -> Exported:
    """Write the files of a target; the folder is switched as a whole, with what others put there.

    So nobody meets the files of two policies, whatever is killed when.
    """
    files = TARGETS[target](document)
    if document["provisional"]:
        files = files | {PROVISIONAL_FILE: _provisional(document)}
    with switched(folder) as beside:
        for name, content in files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(path, content)
        outdated = _outdated(target, beside, [beside / name for name in files])
        for path in outdated:
            path.unlink()
    removed = tuple(folder / path.relative_to(beside) for path in outdated)
    return Exported(tuple(folder / name for name in files), removed)


def _outdated(target: str, folder: Path, written: Collection[Path]) -> tuple[Path, ...]:
    """Return marked files of earlier exports that this policy does not ask for."""
    names = (*OPTIONAL_FILES.get(target, ()), PROVISIONAL_FILE)
    existing = (path for name in names for path in folder.glob(name))
    return tuple(sorted(path for path in existing if path not in written and is_marked(path)))


def _provisional(document: Document) -> str:
    """Return what people are told who find these files."""
    sites = [row["site"] for row in document["sites"] if row["provisional"]]
    lines = [
        f"# {MARK}",
        f"The policy of {document['day']} is provisional for these sites:",
        *(f"  {site}" for site in sites),
        *document["notes"],
    ]
    return "\n".join(lines) + "\n"
