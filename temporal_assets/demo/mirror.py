"""A copy of the sites as they look at the end of the window: HTML from templates, and links.

What belongs here: pages' HTML and the links in it. What does not: who follows them (`visits`).

Every page carries its site's navigation and links its neighbours within the section; a hub
lists the newest pages. Sections differ in their templates, as patterns of real sites do.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.pages import FRONT, PageTable
from temporal_assets.demo.ragged import Int64s, Ragged, compose, find, integers, join, pack, stack
from temporal_assets.demo.seeds import generator
from temporal_assets.demo.sites import PageKind, Section, Style
from temporal_assets.demo.urls import hub_paths
from temporal_assets.demo.visits import RELATED

PAGES: Final = pa.schema({"url": pa.string(), "html": pa.string()})
LINKS: Final = pa.schema({"source": pa.string(), "target": pa.string()})

_ON_FRONT: Final = 40
_ON_INDEX: Final = 60
_ON_HOT_LIST: Final = 30
"""Newest pages that a hub lists."""

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


def mirror_site(options: DemoOptions, pages: PageTable, urls: Ragged) -> SiteMirror:
    """HTML and links of every page of a site; `urls` begins with theirs."""
    urls = urls.take(np.arange(len(pages)))
    head = _head(pages)
    lists = [_newest(pages, hub) for hub in range(pages.hubs)]
    hubs = [_hub_html(head, urls, rows) for rows in lists]
    parts = [pack(hubs)]
    sources = [np.full(len(rows), hub) for hub, rows in enumerate(lists)]
    targets = [*lists]
    for index, section in enumerate(pages.site.sections):
        rows = np.flatnonzero(pages.section[pages.hubs :] == index) + pages.hubs
        near, exists = _neighbours(rows)
        rng = generator(options.seed, "mirror", pages.site.index, index)
        parts.append(_section_html(rng, pages, section, head, urls.take(rows), near, exists))
        sources.append(np.repeat(rows, exists.sum(axis=1)))
        targets.append(near[exists] + (rows[0] if len(rows) else 0))
    every = np.arange(len(pages))
    # The navigation: every page links every index and the front page.
    sources.append(np.repeat(every, pages.hubs))
    targets.append(np.tile(np.arange(pages.hubs), len(pages)))
    html = join(*parts).to_arrow()
    names = urls.to_arrow()
    source, target = np.concatenate(sources), np.concatenate(targets)
    return SiteMirror(
        pa.Table.from_arrays([names, html], schema=PAGES),
        pa.Table.from_arrays([names.take(source), names.take(target)], schema=LINKS),
    )


def _newest(pages: PageTable, hub: int) -> Int64s:
    """Rows of the pages a hub lists, the newest first."""
    is_page = np.arange(len(pages)) >= pages.hubs
    if hub == FRONT:
        count = _ON_FRONT
    elif hub <= len(pages.site.sections):
        is_page &= pages.section == hub - 1
        count = _ON_INDEX
    else:
        is_page &= pages.kind == PageKind.NEWS
        count = _ON_HOT_LIST
    rows = np.flatnonzero(is_page)
    return rows[np.argsort(-pages.birth[rows], kind="stable")[:count]]


def _neighbours(rows: Int64s) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Positions within the section of the pages each page links, and which of them exist."""
    near = np.arange(len(rows))[:, None] + np.array(RELATED)[None, :]
    return near, (near >= 0) & (near < len(rows))


def _head(pages: PageTable) -> bytes:
    site = pages.site
    urls = ((escape(site.origin + path), escape(path)) for path in hub_paths(site))
    links = "".join(f'<a href="{url}">{path}</a>' for url, path in urls)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{site.host}</title>'
        f'<link rel="stylesheet" href="/static/site.css"></head><body class="{site.kind}">'
        f"<nav>{links}</nav>"
    ).encode()


def _hub_html(head: bytes, urls: Ragged, rows: Int64s) -> bytes:
    listed = (escape(urls.row(int(row)).decode("ascii")) for row in rows)
    items = "".join(f'<li><a href="{url}">{url.rsplit("/", 1)[1]}</a></li>' for url in listed)
    return head + b'<ul class="newest">' + items.encode() + _END


def _section_html(
    rng: np.random.Generator,
    pages: PageTable,
    section: Section,
    head: bytes,
    urls: Ragged,
    near: NDArray[np.int64],
    exists: NDArray[np.bool_],
) -> Ragged:
    count = len(urls)
    anchors = join(_anchors(urls, section), pack([b""]))
    prefix = len(pages.site.origin) + len(section.prefix)
    sentences = pack([sentence.encode() for sentence in _SENTENCES])
    chosen = [sentences.take(rng.integers(0, len(_SENTENCES), count)) for _ in range(3)]
    columns = [_escaped(urls, section).skip(prefix), integers(np.arange(1, count + 1)), *chosen]
    columns += [
        anchors.take(np.where(exists[:, i], near[:, i], count)) for i in range(len(RELATED))
    ]
    template = _TEMPLATES.get(section.style, _ARTICLE if section.is_news else _GUIDE)
    before, middle, text, after = template
    glue = [head + before, middle, text, b" ", b" ", after, *[b""] * (len(RELATED) - 1), _END]
    shared = stack(*columns)
    return compose(shared[0].data, shared, glue)


def _anchors(urls: Ragged, section: Section) -> Ragged:
    escaped = _escaped(urls, section)
    return compose(escaped.data, [escaped, escaped], [b'<li><a href="', b'">', b"</a></li>"])


def _escaped(urls: Ragged, section: Section) -> Ragged:
    """URLs as attributes of HTML; those of some styles have one ampersand each."""
    if section.style not in (Style.THREAD, Style.ITEM):
        return urls
    at = find(urls, b"&")
    start = Ragged(urls.data, urls.start, at)
    rest = Ragged(urls.data, urls.start + at + 1, urls.size - at - np.int32(1))
    return compose(urls.data, [start, rest], [b"", b"&amp;", b""])
