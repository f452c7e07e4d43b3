"""A copy of the sites as they look at the end of the window: HTML from templates, and links.

What belongs here: pages' HTML and the links in it. What does not: who follows them (`visits`),
which pages of a copy nobody opens (`archive`).

Every page carries its site's navigation and links its neighbours within the section; a hub
lists the newest pages. Pages also link some that nobody opens, and these link their neighbours.
Sections differ in their templates, as patterns of real sites do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

import numpy as np
import pyarrow as pa

from temporal_assets.demo.archive import GENERATED, make_archive
from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.pages import FRONT, PageTable
from temporal_assets.demo.world.ragged import (
    Int64s,
    Ragged,
    compose,
    find,
    integers,
    join,
    pack,
    stack,
)
from temporal_assets.demo.world.seeds import generator
from temporal_assets.demo.world.sites import PageKind, Section, Style
from temporal_assets.demo.world.urls import hub_paths, page_urls
from temporal_assets.demo.world.visits import RELATED

PAGES: Final = pa.schema({"url": pa.string(), "html": pa.string()})
LINKS: Final = pa.schema({"source": pa.string(), "target": pa.string()})

_ON_FRONT: Final = 40
_ON_INDEX: Final = 60
_ON_HOT_LIST: Final = 30
"""Number of newest pages that a hub lists."""
_IN_NAVIGATION: Final = 8
"""Number of hubs that every page of a site links; the front page links all."""
_FROM_ARCHIVE: Final = 2
"""Number of older pages of its section, which nobody opens, that a page links."""

_SENTENCES: Final = (
    "The council met on the matter in the morning and will meet again.",
    "Readers asked what has changed since the last report.",
    "Prices have hardly moved, although supply was short.",
    "Two of the three proposals found a majority.",
    "A table below compares the models that were tested.",
    "Those who were there describe a calm afternoon.",
    "Nothing of this is new, as an older page shows.",
)

_ARTICLE: Final = (
    b'<article class="news"><header><h1>',
    b'</h1><p class="byline"><time>day ',
    b'</time> by the desk</p></header><div class="text"><p>',
    b"</p><p>Updated once.</p></div></article><aside><h2>More</h2><ul>",
)
_GUIDE: Final = (
    b'<div id="guide"><h1>',
    b'</h1><p class="toc">Use, care</p><section id="a"><h2>No. ',
    b"</h2><p>",
    b'</p></section><section id="b"><p>Keep it dry.</p></section></div><ul class="see">',
)
_THREAD: Final = (
    b'<table class="thread"><caption>',
    b'</caption><tr class="post"><td class="user">user ',
    b'</td><td class="text">',
    b'</td></tr><tr class="post"><td>guest</td><td>Thanks!</td></tr></table><ul class="threads">',
)
_ITEM: Final = (
    b'<div class="item"><h1>',
    b"</h1><dl><dt>Number</dt><dd>",
    b"</dd><dt>State</dt><dd>used</dd></dl><form><button>Ask</button></form><p>",
    b'</p></div><ul class="similar">',
)
_ENTRY: Final = (
    b'<main><h1 class="title">',
    b'</h1><table class="infobox"><tr><th>Entry</th><td>',
    b"</td></tr></table><p>",
    b'</p><ol class="references"><li>Ibid.</li></ol></main><ul class="related">',
)
_TEMPLATES: Final = {
    Style.DATED: _ARTICLE,
    Style.SERIAL: _ARTICLE,
    Style.SLUG: _GUIDE,
    Style.THREAD: _THREAD,
    Style.ITEM: _ITEM,
    Style.UNICODE: _ENTRY,
}
_END: Final = b"</ul></body></html>\n"


@dataclass(frozen=True, slots=True)
class SiteMirror:
    """Tables of one site, with the columns PAGES and LINKS."""

    pages: pa.Table
    links: pa.Table


@dataclass(frozen=True, slots=True)
class _Block:
    """Pages of one section with their links, as rows of `urls` and, after these, of the archive."""

    section: Section
    rows: Int64s
    menu: Int64s
    """Rows of hubs that all of them link."""
    targets: Int64s
    """Rows of linked pages, a row of the array for each page; -1 where there is no link."""


def mirror_site(options: DemoOptions, pages: PageTable, urls: Ragged) -> SiteMirror:
    """Return HTML and links of all pages of a site; `urls` begins with pages that may be opened."""
    archive = make_archive(options, pages.site)
    old = page_urls(options, archive, [0] * len(archive.site.sections))
    every = join(urls.take(np.arange(len(pages))), old)
    rng = generator(options.seed, "mirror", pages.site.index)
    old_rows = [
        np.flatnonzero(archive.section == index) + len(pages)
        for index in range(len(archive.site.sections))
    ]
    lists = [_listed(pages, hub, old_rows) for hub in range(pages.hubs)]
    menus = [_menu(pages, hub - 1) for hub in range(pages.hubs)]
    menus[FRONT] = np.arange(pages.hubs)
    blocks = [*_read(pages, old_rows, rng), *_unread(archive, old_rows)]
    hubs = pack([_hub_html(pages, every, *links) for links in zip(menus, lists, strict=True)])
    html = join(hubs, *_section_html(rng, pages, every, blocks)).to_arrow()
    source, target = _links(lists, menus, blocks)
    names = every.to_arrow()
    return SiteMirror(
        pa.Table.from_arrays([names, html], schema=PAGES),
        pa.Table.from_arrays([names.take(source), names.take(target)], schema=LINKS),
    )


def _links(
    lists: Sequence[Int64s], menus: Sequence[Int64s], blocks: Sequence[_Block]
) -> tuple[Int64s, Int64s]:
    """Return all links as rows (from, to), those of hubs first."""
    sources = [np.full(len(rows), hub) for part in (lists, menus) for hub, rows in enumerate(part)]
    targets = [*lists, *menus]
    for block in blocks:
        exists = block.targets >= 0
        sources += [np.repeat(block.rows, exists.sum(axis=1))]
        sources += [np.repeat(block.rows, len(block.menu))]
        targets += [block.targets[exists], np.tile(block.menu, len(block.rows))]
    return np.concatenate(sources), np.concatenate(targets)


def _menu(pages: PageTable, section: int) -> Int64s:
    """Return hubs that the pages of a section link: the first ones of the site, and their own."""
    first = range(min(_IN_NAVIGATION, pages.hubs))
    return np.unique([*first, 1 + section, pages.hot_list])


def _read(
    pages: PageTable, old_rows: Sequence[Int64s], rng: np.random.Generator
) -> Iterator[_Block]:
    """Yield blocks of pages that may be opened: they link each other and pages of the archive."""
    beside = np.concatenate(old_rows[len(pages.site.sections) :])
    for index, section in enumerate(pages.site.sections):
        rows = np.flatnonzero(pages.section[pages.hubs :] == index) + pages.hubs
        old = old_rows[index]
        first = rng.integers(0, max(len(old), 1), len(rows))
        next_to_it = (first[:, None] + np.arange(min(_FROM_ARCHIVE, len(old)))) % max(len(old), 1)
        others = beside[rng.integers(0, len(beside), (len(rows), 1))] if len(beside) else None
        parts = [_neighbours(rows), old[next_to_it], *([] if others is None else [others])]
        yield _Block(section, rows, _menu(pages, index), np.concatenate(parts, axis=1))


def _unread(archive: PageTable, old_rows: Sequence[Int64s]) -> Iterator[_Block]:
    """Yield blocks of the archive: pages link their neighbours, the index and the front page."""
    indexed = len(archive.site.sections) - len(GENERATED)
    for index, section in enumerate(archive.site.sections):
        rows = old_rows[index]
        menu = np.array([FRONT, 1 + index] if index < indexed else [FRONT])
        yield _Block(section, rows, menu, _neighbours(rows))


def _listed(pages: PageTable, hub: int, old_rows: Sequence[Int64s]) -> Int64s:
    """Return the rows of the pages that a hub lists: the newest, and the start of the archive."""
    is_page = np.arange(len(pages)) >= pages.hubs
    sections = len(pages.site.sections)
    if hub == FRONT:
        count, further = _ON_FRONT, old_rows[sections:]
    elif hub <= sections:
        is_page &= pages.section == hub - 1
        count, further = _ON_INDEX, [old_rows[hub - 1]]
    else:
        is_page &= pages.kind == PageKind.NEWS
        count, further = _ON_HOT_LIST, []
    rows = np.flatnonzero(is_page)
    newest = rows[np.argsort(-pages.birth[rows], kind="stable")[:count]]
    return np.concatenate([newest, *(old[-1:] for old in further)])


def _neighbours(rows: Int64s) -> Int64s:
    """Return rows within the section that each page links; -1 beyond its ends."""
    near = np.arange(len(rows))[:, None] + np.array(RELATED)[None, :]
    exists = (near >= 0) & (near < len(rows))
    return np.where(exists, np.append(rows, -1)[np.where(exists, near, -1)], -1)


def _head(pages: PageTable, menu: Int64s) -> bytes:
    """Return the beginning of every page of a site: head, and the menu of its hubs."""
    site = pages.site
    paths = hub_paths(site)
    urls = ((escape(site.origin + paths[hub]), escape(paths[hub])) for hub in menu.tolist())
    links = "".join(f'<a href="{url}">{path}</a>' for url, path in urls)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{site.host}</title>'
        f'<link rel="stylesheet" href="/static/site.css"></head><body class="{site.kind}">'
        f"<nav>{links}</nav>"
    ).encode()


def _hub_html(pages: PageTable, urls: Ragged, menu: Int64s, rows: Int64s) -> bytes:
    listed = (escape(urls.row(int(row)).decode("ascii")) for row in rows)
    items = "".join(f'<li><a href="{url}">{url.rsplit("/", 1)[1]}</a></li>' for url in listed)
    return _head(pages, menu) + b'<ul class="newest">' + items.encode() + _END


def _section_html(
    rng: np.random.Generator, pages: PageTable, urls: Ragged, blocks: Sequence[_Block]
) -> list[Ragged]:
    """Return HTML of the pages of each block."""
    count = len(urls)
    escaped = _escaped(urls)
    anchors = compose(escaped.data, [escaped, escaped], [b'<li><a href="', b'">', b"</a></li>"])
    sentences = pack([sentence.encode() for sentence in _SENTENCES])
    chosen = [sentences.take(rng.integers(0, len(_SENTENCES), count)) for _ in range(3)]
    columns = [escaped, integers(np.arange(1, count + 1)), *chosen, join(anchors, pack([b""]))]
    # Over one array for the whole site: no section copies the columns once more.
    *text, anchors = stack(*columns)
    return [_block_html(pages, block, text, anchors) for block in blocks]


def _block_html(pages: PageTable, block: _Block, text: Sequence[Ragged], anchors: Ragged) -> Ragged:
    """Return the HTML of some pages that share a template."""
    name, *rest = (column.take(block.rows) for column in text)
    nothing = len(anchors) - 1
    linked = [anchors.take(np.where(target >= 0, target, nothing)) for target in block.targets.T]
    before, middle, words, after = _template(block.section)
    glue = [_head(pages, block.menu) + before, middle, words, b" ", b" ", after]
    glue += [*[b""] * (len(linked) - 1), _END]
    shown = name.skip(len(pages.site.origin) + len(block.section.prefix))
    return compose(name.data, [shown, *rest, *linked], glue)


def _template(section: Section) -> tuple[bytes, bytes, bytes, bytes]:
    return _TEMPLATES.get(section.style, _ARTICLE if section.is_news else _GUIDE)


def _escaped(urls: Ragged) -> Ragged:
    """Return URLs escaped for attributes of HTML; they have one ampersand at most."""
    at = find(urls, b"&")
    rows = np.flatnonzero(at < urls.size)
    some, at = urls.take(rows), at[rows]
    start = Ragged(some.data, some.start, at)
    rest = Ragged(some.data, some.start + at + 1, some.size - at - np.int32(1))
    order = np.arange(len(urls))
    order[rows] = len(urls) + np.arange(len(rows))
    return join(urls, compose(some.data, [start, rest], [b"", b"&amp;", b""])).take(order)
