"""The one section of a page, where statistics need exactly one for each page.

Here: its name, as a regular expression that Python, DuckDB and Spark read alike, and as a loop for
pages in bulk. Not here: all folders and programs above a page (`url_sections`), of which this is
one.

A page with a query belongs to its program (`a.example/news.php?`), any other to its top folder
(`a.example/news/`), one beside the front page to the root. Deeper folders are dates and numbers
more often than kinds of pages. A folder or a program with a name of more than 200 characters does
not count: logs are hostile, and names are kept in memory by the thousand.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes, Int64s
from temporal_assets.core.numerics.compiled import constant, inlined, leaf
from temporal_assets.core.text.texts import Texts, find_byte, find_either, take

_LONGEST: Final = 200
"""Most characters of a section's name."""
_SLASH: Final = constant(47)
_QUESTION: Final = constant(63)

SECTION: Final = r"^https?://([^/?]*/(?:[^?]{0,200}[?]|[^/?]{0,200}/)?)"
"""Regular expression whose first group is the section of a canonical URL, without the scheme."""

_SECTION: Final = re.compile(SECTION)


def section_of(url: str) -> str:
    """Return the section of a canonical URL, or an empty text for other texts."""
    match = _SECTION.match(url)
    return match[1] if match else ""


def sections_of(urls: Texts) -> Texts:
    """Return the sections of canonical URLs; 25 times as fast as the expression."""
    starts, stops = np.empty(len(urls), np.int64), np.empty(len(urls), np.int64)
    _find_sections(urls.data, urls.offsets, starts, stops)
    return take(urls.data, starts, stops)


@leaf
def _find_sections(data: Bytes, offsets: Int64s, starts: Int64s, stops: Int64s) -> None:
    for url in range(len(starts)):
        stop = offsets[url + 1]
        starts[url] = _host_start(data, offsets[url], stop)
        stops[url] = _section_stop(data, starts[url], stop)


@inlined
def _host_start(data: Bytes, start: int, stop: int) -> int:
    """Return where the host begins, or `stop` if the scheme is not http or https."""
    if stop - start < 7 or data[start] != 104 or data[start + 1] != 116:
        return stop
    if data[start + 2] != 116 or data[start + 3] != 112:
        return stop
    at = start + 4 + (data[start + 4] == 115)
    is_page = at + 3 <= stop and data[at] == 58 and data[at + 1] == 47 and data[at + 2] == 47
    return at + 3 if is_page else stop


@inlined
def _section_stop(data: Bytes, host: int, stop: int) -> int:
    """Return where the section ends that begins with the host; `host` if there is none."""
    path = find_either(data, host, stop, _SLASH, _QUESTION)
    if path == stop or data[path] != _SLASH:
        return host
    root = path + 1
    query = find_byte(data, root, stop, _QUESTION)
    if query < stop:
        if _is_name(data, root, query):
            return query + 1
        stop = query
    folder = find_byte(data, root, stop, _SLASH)
    return folder + 1 if folder < stop and _is_name(data, root, folder) else root


@inlined
def _is_name(data: Bytes, start: int, stop: int) -> bool:
    """Return True if a name has at most `_LONGEST` characters; continuation bytes do not count."""
    if stop - start <= _LONGEST:
        return True
    characters = 0
    for at in range(start, stop):
        characters += data[at] & 0xC0 != 0x80
    return characters <= _LONGEST
