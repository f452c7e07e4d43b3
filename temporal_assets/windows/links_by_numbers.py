"""Links to temporal pages, told by the numbers of a window's days (`day_numbers`).

Pages are known by their place among all of the window. What was no page on its day may be one of
the window: it is looked for by the number of its text while all pages are walked along, which the
URLs of pages with links are taken from as well. Links from what is no page at all are left out,
because nobody opened it.

Not here: windows with a day that has no numbers (`hub_numbers` asks a statement).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from temporal_assets.core.day_links import links_to
from temporal_assets.core.distinct import distinct_numbers
from temporal_assets.core.moved_visits import TextPages
from temporal_assets.core.page_order import text_numbers
from temporal_assets.core.texts import Flags, Int32s, Int64s
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.asset import Job
from temporal_assets.windows.day_numbers import DayNumbers, OtherPages, are_numbered, of_days
from temporal_assets.windows.kept_pages import days_seen

_PLACE_BITS: Final = 32
"""Of a link as one integer: its page, and the number of the wanted one."""

_HELD: Final = 4
"""Times the links that there may be, of days that have the same ones: a gigabyte of 20 million."""


@dataclass(frozen=True, slots=True)
class NumberedLinks:
    """Links to wanted pages, ascending by page and wanted page; each once."""

    url: pa.Array
    """Of each page with links, in the order of pages."""
    page: Int64s | None
    """Its place among all pages of the window, where that is known."""
    source: Int64s
    """Which of them each link leads from."""
    target: Int64s
    """Number of the wanted page it leads to."""
    linked: Int64s
    """Wanted pages that people came to from anywhere, a page or not."""


class TooManyLinks(ValueError):
    """More than fit into memory."""


class _DayLinks(NamedTuple):
    """Links of a day as one integer each: from pages, and from what was none on that day."""

    page: Int64s
    text: Int64s
    """Number of the text that each of the latter leads from."""
    target: Int32s
    """And the wanted page that it leads to."""

    @property
    def size(self) -> int:
        return len(self.page) + len(self.text)


def links_by_numbers(job: Job, wanted: int, most: int, most_bytes: int) -> NumberedLinks | None:
    """Of as many temporal pages as there are, by number; None where a day has no numbers.

    Raises `TooManyLinks` where there are more than `most`, or pages whose URLs have more than
    `most_bytes`.
    """
    totals, days = job.sources.tables["page_totals"], job.window("transits").manifests
    if not are_numbered(job, totals, days):
        return None
    pages = ParquetRows(job.files("page_totals"))
    number = _numbers(job)
    if len(number) != len(pages) or np.count_nonzero(number >= 0) != wanted:
        return None
    try:
        found = _gathered(
            of_days(job, days, days_seen(pages), partial(_of_day, number=number)), most
        )
    except OtherPages:
        return None
    return _links(pages, found, most, most_bytes)


def _numbers(job: Job) -> Int32s:
    """For each page of the window its number among the temporal ones, or -1."""

    def flags(block: pa.Table) -> Flags:
        return np.asarray(block["is_temporal"].fill_null(False).to_numpy(), np.bool_)

    rows = ParquetRows(job.files("page_traffic"))
    is_wanted = rows.array(("is_temporal",), flags, np.bool_)
    number = np.full(len(is_wanted), -1, np.int32)
    number[is_wanted] = np.arange(np.count_nonzero(is_wanted))
    return number


def _of_day(numbers: DayNumbers, pages: Int32s, number: Int32s) -> _DayLinks:
    page = numbers.where_pages(pages, -1)
    source, target = links_to(*numbers.links(), numbers.where_pages(number[pages], -1))
    is_page = page[source] >= 0
    return _DayLinks(
        _as_one(page[source[is_page]], target[is_page]),
        numbers.strangers[source[~is_page]],
        target[~is_page],
    )


def _gathered(days: Iterable[_DayLinks], most: int) -> _DayLinks:
    """Links of all days. One that is there every day is held once where there are many."""
    held, size = list[_DayLinks](), 0
    for one in days:
        held.append(one)
        size += one.size
        if size > _HELD * most:
            held = [_each_once(_joined(held))]
            size = held[0].size
            if size > most:
                raise TooManyLinks
    return _joined(held)


def _joined(links: Sequence[_DayLinks]) -> _DayLinks:
    return _DayLinks(*map(np.concatenate, zip(*links, strict=True)))


def _each_once(links: _DayLinks) -> _DayLinks:
    order = np.lexsort((links.target, links.text))
    text, target = links.text[order], links.target[order]
    is_new = np.append(True, (text[1:] != text[:-1]) | (target[1:] != target[:-1]))[: len(text)]
    return _DayLinks(distinct_numbers(links.page), text[is_new], target[is_new])


def _as_one(page: Int32s | Int64s, target: Int32s) -> Int64s:
    return page.astype(np.int64) << _PLACE_BITS | target


def _wanted(links: Int64s) -> Int64s:
    return links & ((1 << _PLACE_BITS) - 1)


def _links(pages: ParquetRows, found: _DayLinks, most: int, most_bytes: int) -> NumberedLinks:
    of_pages, text, target = distinct_numbers(found.page), found.text, found.target
    by_text = _by_text(distinct_numbers(text))
    has_links = np.zeros(len(pages), np.bool_)
    has_links[of_pages >> _PLACE_BITS] = True
    urls, page_of_text = _walk(pages, has_links, by_text, most_bytes)
    page = page_of_text[by_text.find(text)]
    more = _as_one(page[page >= 0], target[page >= 0])
    links = distinct_numbers(np.concatenate([of_pages, more])) if len(more) else of_pages
    if len(links) > most:
        raise TooManyLinks
    linked = np.bincount(np.concatenate([_wanted(of_pages), target]))
    page, source = _numbered(links >> _PLACE_BITS)
    return NumberedLinks(urls, page, source, _wanted(links), np.flatnonzero(linked))


def _numbered(pages: Int64s) -> tuple[Int64s, Int64s]:
    """The distinct ones of ascending pages, and which of them each is."""
    is_next = np.diff(pages, prepend=-1) != 0
    return pages[is_next], np.cumsum(is_next) - 1


def _by_text(texts: Int64s) -> TextPages:
    return TextPages(texts, np.arange(len(texts), dtype=np.int32))


def _walk(
    pages: ParquetRows, has_links: Flags, by_text: TextPages, most_bytes: int
) -> tuple[pa.Array, Int64s]:
    """URLs of the pages with links, and which page each text is; -1 of those that are none.

    Pages of texts come to have links.
    """
    page_of_text = np.full(len(by_text), -1, np.int64)

    def looked_up(block: pa.Table) -> tuple[pa.ChunkedArray, Int32s]:
        return block["url"], by_text.find(text_numbers(from_arrow(block["url"])))

    first, size = 0, 0
    taken: list[pa.Array] = [pa.array([], pa.string())]
    for urls, text in pages.blocks(("url",), looked_up):
        at = np.flatnonzero(text >= 0)
        page_of_text[text[at]] = first + at
        has_links[first + at] = True
        those = urls.filter(pa.array(has_links[first : first + len(urls)]))
        size += those.nbytes
        if size > most_bytes:
            raise TooManyLinks
        taken += those.chunks
        first += len(urls)
    return pa.concat_arrays(taken), page_of_text
