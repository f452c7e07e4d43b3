"""The one section a page belongs to where every page must belong to one.

Here: its name, as a regular expression that Python, DuckDB and Spark read alike. Not here: all
folders and programs above a page (`url_sections`), of which this is one.

A page with a query belongs to its program (`a.example/news.php?`), any other to its top
folder (`a.example/news/`), one beside the front page to the root. Deeper folders are dates
and numbers more often than kinds of pages. A folder or a program whose name takes more than 200
characters is none: logs are hostile, and names are kept in memory by the thousand.
"""

from __future__ import annotations

import re
from typing import Final

SECTION: Final = r"^https?://([^/?]*/(?:[^?]{0,200}[?]|[^/?]{0,200}/)?)"
"""Its first group is the section of a canonical URL: a prefix, written without the scheme."""

_SECTION: Final = re.compile(SECTION)


def section_of(url: str) -> str:
    """The section of a canonical URL; empty for what is none."""
    found = _SECTION.match(url)
    return found[1] if found else ""
