"""Links to wanted pages, the pages that a hub should lead to, as pairs of integers.

A page is identified by its position among all pages of the window. A URL that nobody opened on its
own day may still be a page of the window: the hash of its text is looked up during one pass over
all pages, and the same pass collects the URLs of the pages with links. Links from URLs that nobody
opened in the window are left out.

Not here: windows that are too long for the integers of days (`hub_choice`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from temporal_assets.core.hubs.followed_links import links_to
from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.distinct import distinct_numbers
from temporal_assets.core.text.text_numbers import text_numbers
from temporal_assets.core.traffic.moved_visits import TextPages
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.day_numbers import (
    DayNumbers,
    PageCountMismatch,
    are_numbered,
    map_days,
)
from temporal_assets.windows.frame.incremental import days_seen

_DAY_BITS: Final = 6
"""Bits of the day in a link that is packed into one integer: page, wanted page, day."""

_BITS: Final = 63

_HELD: Final = 4
"""Links held before duplicates of several days are removed, as a multiple of the most distinct
links: a gigabyte for 20 million."""


@dataclass(frozen=True, slots=True)
class NumberedLinks:
    """Links to wanted pages, ascending by page and wanted page; each once."""

    url: pa.Array
    """URLs of pages with links, in the order of pages."""
    page: Int64s
    """Position of each such page among all pages of the window."""
    source: Int64s
    """Index of the page that each link leads from."""
    target: Int64s
    """Number of the wanted page that each link leads to."""
    first_day: Int64s
    """Day of the window, from 0, on which the link was first followed."""
    last_day: Int64s


class TooManyLinks(ValueError):
    """Error: there are more links than fit into memory."""


class _DayLinks(NamedTuple):
    """Links of days as integers: from pages, and from URLs that nobody opened on the day."""

    page: Int64s
    """Links from pages, each packed into one integer: page, wanted page, day."""
    text: Int64s
    """Hash of the URL that each other link leads from."""
    target: Int64s
    """Wanted page and day of each of these other links, packed into one integer."""

    @property
    def size(self) -> int:
        return len(self.page) + len(self.text)


def wanted_links(job: Job, number: Int32s, wanted: int, most: int) -> NumberedLinks | None:
    """Return the links to wanted pages, or None where the numbers of days do not match the pages.

    Args:
        job: The build.
        number: For each page of the window, the number of the wanted page that it is, or -1.
        wanted: Number of wanted pages.
        most: Links beyond which `TooManyLinks` is raised.
    """
    totals, days = job.sources.tables["page_totals"], job.window("transits").manifests
    bits = wanted.bit_length() + _DAY_BITS
    if not are_numbered(job, totals, days) or len(number).bit_length() + bits > _BITS:
        return None
    pages = ParquetRows(job.files("page_totals"))
    if len(number) != len(pages):
        return None
    of_window = [(manifest.day - job.first).days for manifest in days]
    make = partial(_of_day, number=number, bits=bits)
    try:
        each = map_days(job, days, days_seen(pages), make)
        day_links = _gathered(map(_on_day, each, of_window), most)
    except PageCountMismatch:
        return None
    return _links(pages, day_links, bits, most)


def _of_day(numbers: DayNumbers, pages: Int32s, number: Int32s, bits: int) -> _DayLinks:
    """Return the links of one day; the caller adds the day to them."""
    wanted = np.pad(number[pages], (0, len(numbers.strangers)), constant_values=-1)
    source, target = links_to(*numbers.targets_and_referrers(), wanted)
    is_page = source < numbers.opened
    to = target.astype(np.int64) << _DAY_BITS
    from_pages = pages[source[is_page]].astype(np.int64) << bits | to[is_page]
    strangers = numbers.strangers[source[~is_page] - numbers.opened]
    return _DayLinks(from_pages, strangers, to[~is_page])


def _on_day(links: _DayLinks, day: int) -> _DayLinks:
    return _DayLinks(links.page | day, links.text, links.target | day)


def _gathered(days: Iterable[_DayLinks], most: int) -> _DayLinks:
    """Return the links of all days; duplicates of several days are removed when there are many."""
    held, size = list[_DayLinks](), 0
    for day_links in days:
        held.append(day_links)
        size += day_links.size
        if size > _HELD * most:
            held = [_first_and_last(_joined(held))]
            size = held[0].size
            if size > 2 * most:
                raise TooManyLinks
    return _joined(held)


def _joined(links: Sequence[_DayLinks]) -> _DayLinks:
    return _DayLinks(*map(np.concatenate, zip(*links, strict=True)))


def _first_and_last(links: _DayLinks) -> _DayLinks:
    """Return the first and the last day of each link."""
    order = np.lexsort((links.target, links.text))
    text, target = links.text[order], links.target[order]
    is_first = np.ones(len(text), np.bool_)
    is_first[1:] = (text[1:] != text[:-1]) | (target[1:] >> _DAY_BITS != target[:-1] >> _DAY_BITS)
    kept = is_first | _lasts(is_first)
    page = np.sort(links.page)
    of_page = _firsts(page)
    return _DayLinks(page[of_page | _lasts(of_page)], text[kept], target[kept])


def _firsts(links: Int64s) -> Flags:
    """Return flags of the first entry of each link (page and wanted page) in sorted entries."""
    return np.asarray(np.diff(links >> _DAY_BITS, prepend=-1) != 0)


def _lasts(is_first: Flags) -> Flags:
    return np.append(is_first[1:], True)[: len(is_first)]


def _links(pages: ParquetRows, day_links: _DayLinks, bits: int, most: int) -> NumberedLinks:
    """Return the links of all days, each once with its first and last day."""
    has_links = np.zeros(len(pages), np.bool_)
    has_links[day_links.page >> bits] = True
    by_text = _by_text(distinct_numbers(day_links.text))
    urls, page_of_text = _walk(pages, has_links, by_text)
    page = page_of_text[by_text.find(day_links.text)]
    more = page[page >= 0] << bits | day_links.target[page >= 0]
    links = np.sort(np.concatenate([day_links.page, more]))
    is_first = _firsts(links)
    first, last = links[is_first], links[_lasts(is_first)]
    if len(first) > most:
        raise TooManyLinks
    days = (1 << _DAY_BITS) - 1
    place, source = _numbered(first >> bits)
    target = (first & ((1 << bits) - 1)) >> _DAY_BITS
    return NumberedLinks(urls, place, source, target, first & days, last & days)


def _numbered(pages: Int64s) -> tuple[Int64s, Int64s]:
    """Return the distinct values of sorted pages, and the index of each page among them."""
    is_next = np.diff(pages, prepend=-1) != 0
    return pages[is_next], np.cumsum(is_next) - 1


def _by_text(texts: Int64s) -> TextPages:
    return TextPages(texts, np.arange(len(texts), dtype=np.int32))


def _walk(pages: ParquetRows, has_links: Flags, by_text: TextPages) -> tuple[pa.Array, Int64s]:
    """Return the URLs of the pages with links, and the page of each URL hash, or -1.

    Pages that are found by their hash count as pages with links from then on.
    """
    page_of_text = np.full(len(by_text), -1, np.int64)

    def looked_up(block: pa.Table) -> tuple[pa.ChunkedArray, Int32s]:
        return block["url"], by_text.find(text_numbers(from_arrow(block["url"])))

    first = 0
    # Together they may have more than the 2 GiB of an array of strings.
    texts: list[pa.Array] = [pa.array([], pa.large_string())]
    for urls, text in pages.blocks(("url",), looked_up):
        at = np.flatnonzero(text >= 0)
        page_of_text[text[at]] = first + at
        has_links[first + at] = True
        linking = urls.filter(pa.array(has_links[first : first + len(urls)]))
        texts += linking.cast(pa.large_string()).chunks
        first += len(urls)
    return pa.concat_arrays(texts), page_of_text
