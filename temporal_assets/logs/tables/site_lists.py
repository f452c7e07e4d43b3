"""Reading a hand-made list of sites or seeds: the baseline that ours are compared with.

Here: what its lines mean, and which mean nothing. Not here: what the list covers
(`core.lists.list_judgement`).

One entry a line. A line may end in a comment, from a `#` at its beginning or after a
space. An entry is a host (`news.example`, `NEWS.example:8080`) or the URL of a page. In a CSV file
the last field is the entry; of fields between tabs the first is, as in the seeds of Nutch and
StormCrawler, unless it is none. Anything else is reported with its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from temporal_assets.logs.read.text_files import decoded, lines_of
from temporal_assets.logs.urls.canonical import canonical_url
from temporal_assets.logs.urls.url_rules import DEFAULT, UrlRules

_COMMENT: Final = re.compile(r"(?:^|\s)#.*$")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HOST: Final = re.compile(r"[^\s/?#@,;'\"<>]+\.[^\s/?#@,;'\"<>]+", re.ASCII)
"""Expression for an entry that is a host."""
_FILE: Final = re.compile(r"^[^/:]*\.(?:[sx]?html?|php|aspx?|jspx?|cfm)[\"']?$", re.IGNORECASE)
"""Endings of URLs of pages that would look like a host; no host ends so."""
_MAX_HOST: Final = 260
"""Characters of a host with its port. In longer text the expression above would try every dot."""

_MAX_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class SiteList:
    """A list of sites, as a file has it."""

    urls: tuple[str, ...]
    """Canonical URLs in the order of the file, each once; the front page where a host is named."""
    bad: tuple[tuple[int, str], ...]
    """(line, text) of what is neither a host nor a URL."""


def read_site_list(content: bytes, rules: UrlRules = DEFAULT) -> SiteList:
    """Read a list, in whatever encoding an editor or a spreadsheet has saved it."""
    urls: dict[str, None] = {}
    bad: list[tuple[int, str]] = []
    whole, _ = decoded(content)
    for number, line in enumerate(lines_of(whole), 1):
        text = _COMMENT.sub("", line).strip()
        entry = _entry(text, rules)
        if not entry or (number == 1 and text != entry and _url(entry, rules) is None):
            continue  # empty, or the header of a CSV file
        url = _url(entry, rules)
        if url is None:
            bad.append((number, line.strip()[:_MAX_SHOWN]))
        else:
            urls[url] = None
    return SiteList(tuple(urls), tuple(bad))


def _entry(text: str, rules: UrlRules) -> str:
    """Return the field of a line that names a host or a page."""
    if "\t" in text:
        first, *_, last = text.split("\t")
        return first.strip() if _url(first.strip(), rules) else last.strip()
    rest, comma, last = text.rpartition(",")
    if "://" in rest and _FILE.search(last):
        return text.strip("\"'")  # news has had commas in its URLs: `/0,1518,00.html`
    return last.strip().strip("\"'") if comma else text


def _url(entry: str, rules: UrlRules) -> str | None:
    """Return the canonical URL of an entry, of a bare host too; None if it is neither."""
    if entry.startswith("//"):
        return canonical_url(f"https:{entry}", rules)
    if "://" in entry:
        return canonical_url(entry, rules) if _SCHEME.match(entry) else None
    host, slash, path = entry.partition("/")
    if len(host) > _MAX_HOST or _HOST.fullmatch(host) is None:
        return None
    return canonical_url(f"https://{host}/{path if slash else ''}", rules)
