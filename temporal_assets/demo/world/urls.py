"""URLs of a site's pages, in bulk and in the same order as the page table.

What belongs here: canonical URLs, other spellings of the same page, static resources and missing
pages. What does not: query keys that trackers add (`formats`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import product
from typing import Final
from urllib.parse import quote

import numpy as np

from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.interest import OLDEST
from temporal_assets.demo.world.pages import PageTable
from temporal_assets.demo.world.ragged import (
    Int32s,
    Int64s,
    Ragged,
    compose,
    find,
    integers,
    join,
    pack,
)
from temporal_assets.demo.world.ragged import stack as over_one_array
from temporal_assets.demo.world.seeds import generator
from temporal_assets.demo.world.sites import Section, Site, Style, archived

_FIRST_NUMBER: Final = 10_000
_NUMBER_STEP: Final = 7
"""Mean difference between numbers of consecutive pages (1 to 13), as where drafts are deleted."""

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_TRIPLES: Final = len(_DIGITS) ** 3
_SCRAMBLE: Final = 2_654_435_761
"""A prime: different numbers stay different modulo the square of the number of triples."""

_NEW_THREAD: Final = 0.6
"""Probability that a page opens a thread rather than continues the one before it."""

_ADJECTIVES: Final = (
    *("Winter", "Small", "Quiet", "Modern", "Used", "Simple", "Garden", "City", "Family"),
    *("Budget", "Solar", "Classic", "Electric", "Heavy", "Light", "Open", "Second-Hand"),
)
_NOUNS: Final = (
    *("Tyres", "Kitchens", "Engines", "Loans", "Roofs", "Trails", "Lamps", "Routers", "Bikes"),
    *("Gardens", "Recipes", "Windows", "Cameras", "Boats", "Tools", "Heating", "Floors"),
)
_WORDS: Final = (
    "城市",
    "历史",
    "Straße",
    "Größe",
    "Экономика",
    "Москва",
    "España",
    "São_Paulo",
    "東京",
)

STATIC: Final = (
    *("/static/site.css", "/static/site.js?v=31", "/img/logo.png", "/favicon.ico"),
    *("/img/Header.JPG", "/fonts/text.woff2", "/static/print.css?v=4", "/img/icons.svg"),
)
"""Resources that pages load."""

_MISSING: Final = (
    *("/old/index.html", "/news/archive.html", "/wp-login.php", "/admin/", "/a.php?id=0"),
)
"""Targets that get 404."""


_CANONICAL_WORDS: Final = tuple(quote(word).encode() for word in _WORDS)


class Escape(Enum):
    """Spelling in logs of bytes beyond ASCII that the browser did not escape."""

    NONE = "none"
    BACKSLASH = "backslash"
    r"""Apache: `\xe4`."""
    PERCENT = "percent"
    """Proxies: `%e4` in lower case."""


@dataclass(frozen=True, slots=True)
class SiteUrls:
    """Absolute URLs: rows of the page table, then other spellings, resources, missing pages."""

    table: Ragged
    origin: int
    """Number of bytes before the path: `https://host`."""
    query: Int32s
    """Position of `?` in each URL; the URL's size where there is none."""
    spelling: Int32s
    """Row of another spelling of each page: keys swapped, bytes unescaped; else its own row."""
    static: int
    """Row of the first resource."""
    missing: int
    """Row of the first missing page."""


def make_urls(options: DemoOptions, pages: PageTable, escape: Escape) -> SiteUrls:
    """Return the URLs of a site; `escape` decides on other spellings of bytes beyond ASCII."""
    site = pages.site
    earlier = [archived(site, section) for section in site.sections]
    canonical = page_urls(options, pages, earlier)
    others, spelling = _spellings(options, pages, earlier, len(canonical), escape)
    extra = pack([(site.origin + path).encode() for path in (*STATIC, *_MISSING)])
    table = join(canonical, others, extra)
    static = len(canonical) + len(others)
    return SiteUrls(
        table, len(site.origin), find(table, b"?"), spelling, static, static + len(STATIC)
    )


def page_urls(options: DemoOptions, pages: PageTable, earlier: Sequence[int]) -> Ragged:
    """Return the canonical URL of every row of the page table.

    `earlier` is how many pages each section had before these: numbers go on from theirs.
    """
    site = pages.site
    tables = [pack([(site.origin + path).encode() for path in hub_paths(site)][: pages.hubs])]
    for index, section in enumerate(site.sections):
        rows = np.flatnonzero(pages.section[pages.hubs :] == index) + pages.hubs
        args = (options, pages, section, index, rows, section.style, earlier[index])
        tables.append(_section_urls(*args))
    return join(*tables)


def hub_paths(site: Site) -> list[str]:
    """Return the paths of the hubs in the order of the page table's first rows."""
    paths = ["/", *(section.hub_path for section in site.sections)]
    return [*paths, site.blueprint.hot_list] if site.blueprint.hot_list else paths


def _section_urls(
    options: DemoOptions,
    pages: PageTable,
    section: Section,
    index: int,
    rows: Int64s,
    style: Style,
    earlier: int,
    words: tuple[bytes, ...] = _CANONICAL_WORDS,
) -> Ragged:
    """Return URLs of a section's pages (`rows`) in the style of the section."""
    start = (pages.site.origin + section.prefix).encode()
    rng = generator(options.seed, "urls", pages.site.index, index, int(earlier > 0))
    order = earlier + np.arange(len(rows))
    number = _FIRST_NUMBER + order * _NUMBER_STEP + rng.integers(0, _NUMBER_STEP, len(rows))
    birth = np.floor(pages.birth[rows]).astype(np.int64)
    columns: list[Ragged]
    if style is Style.DATED:
        columns = [_dates(options, "%Y/%m/%d", birth), integers(number)]
        glue = [b"", b"/", b".html"]
    elif style is Style.SERIAL:
        columns = [_dates(options, "%Y%m%d", birth), integers(number)]
        glue = [b"", b"/", b".shtml"]
    elif style is Style.PROGRAM:
        columns, glue = [integers(number)], [b"?id=", b""]
    elif style is Style.SLUG:
        columns = [_pick(_ADJECTIVES, rng, len(rows)), _pick(_NOUNS, rng, len(rows))]
        columns, glue = [*columns, integers(number)], [b"", b"-", b"-", b".html"]
    elif style is Style.THREAD:
        thread, page = _threads(rng, number)
        columns, glue = [integers(thread), integers(page)], [b"?id=", b"&page=", b""]
    elif style is Style.OPAQUE:
        mixed = number * _SCRAMBLE % _TRIPLES**2
        places = (mixed // _TRIPLES, mixed % _TRIPLES, (mixed ^ index) * 7_919 % _TRIPLES)
        columns, glue = [_triples().take(place) for place in places], [b"c", b"", b"", b""]
    elif style is Style.ITEM:
        columns = [integers(rng.integers(1, 25, len(rows))), integers(number)]
        glue = [b"?cat=", b"&id=", b""]
    else:
        chosen = pack(words).take(rng.integers(0, len(words), len(rows)))
        columns, glue = [chosen, integers(number)], [b"", b"_", b""]
    shared = over_one_array(*columns)
    return compose(shared[0].data, shared, [start + glue[0], *glue[1:]])


def _dates(options: DemoOptions, form: str, day: Int64s) -> Ragged:
    return _calendar(options.first_day, options.days, form).take(day + OLDEST)


@cache
def _calendar(first_day: dt.date, days: int, form: str) -> Ragged:
    """Return all days on which a page can be born as texts in a form."""
    first = first_day - dt.timedelta(OLDEST)
    every = [first + dt.timedelta(i) for i in range(OLDEST + days + 1)]
    return pack([day.strftime(form).encode() for day in every])


@cache
def _triples() -> Ragged:
    """Return every word of three digits and letters."""
    return pack(["".join(word).encode() for word in product(_DIGITS, repeat=3)])


def _pick(words: tuple[str, ...], rng: np.random.Generator, count: int) -> Ragged:
    return pack([word.encode() for word in words]).take(rng.integers(0, len(words), count))


def _threads(rng: np.random.Generator, number: Int64s) -> tuple[Int64s, Int64s]:
    """Return thread number and page of the thread, for consecutive pages."""
    order = np.arange(len(number))
    opens = rng.random(len(number)) < _NEW_THREAD
    opens[:1] = True
    first = np.maximum.accumulate(np.where(opens, order, 0))
    return number[first], order - first + 1


def _spellings(
    options: DemoOptions, pages: PageTable, earlier: Sequence[int], first: int, escape: Escape
) -> tuple[Ragged, Int32s]:
    """Return other spellings of pages, and the row of each page's spelling or of itself."""
    spelling = np.arange(len(pages), dtype=np.int32)
    tables = [pack([])]
    for index, section in enumerate(pages.site.sections):
        if section.style not in (Style.THREAD, Style.ITEM, Style.UNICODE):
            continue
        rows = np.flatnonzero(pages.section[pages.hubs :] == index) + pages.hubs
        args = (options, pages, section, index, rows, section.style, earlier[index])
        if section.style is Style.UNICODE:
            words = tuple(_respelt(word, escape) for word in _WORDS)
            tables.append(_section_urls(*args, words))
        else:
            tables.append(_swap_keys(_section_urls(*args)))
        spelling[rows] = first + sum(map(len, tables[:-1])) + np.arange(len(rows))
    return join(*tables), spelling


def _respelt(word: str, escape: Escape) -> bytes:
    raw = word.encode()
    if escape is Escape.NONE:
        return raw
    form = b"\\x%02x" if escape is Escape.BACKSLASH else b"%%%02x"
    return b"".join(form % byte if byte > 126 else bytes([byte]) for byte in raw)


def _swap_keys(urls: Ragged) -> Ragged:
    """Return `path?b=..&a=..` of `path?a=..&b=..`."""
    question, ampersand = find(urls, b"?"), find(urls, b"&")
    path = Ragged(urls.data, urls.start, question + np.int32(1))
    key = Ragged(urls.data, urls.start + question + 1, ampersand - question - np.int32(1))
    rest = Ragged(urls.data, urls.start + ampersand + 1, urls.size - ampersand - np.int32(1))
    return compose(urls.data, [path, rest, key], [b"", b"", b"&", b""])
