"""Changes in the transits of a window since the window before it, for an incremental update.

Two successive windows share all but a few days. The update reads the transits of the shared days as
integers (`day_numbers`) and keeps the few that repeat a transit of a day that enters or leaves. It
reads the text of a URL only for new pages and for the referrers of entering and leaving days: a
URL that nobody opened on its own day may still be a page of the window.

Not here: the full count over all days (`page_traffic`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.distinct import distinct_numbers
from temporal_assets.core.text.sorted_texts import Keys, Seeker, in_step
from temporal_assets.core.text.text_numbers import text_numbers
from temporal_assets.core.text.texts import take
from temporal_assets.core.traffic.changed_traffic import (
    NOWHERE,
    ChangedPages,
    Transits,
    changed_traffic,
)
from temporal_assets.core.traffic.moved_visits import (
    Numbered,
    TextPages,
    VisitFilter,
    Visits,
    chosen,
    in_traffic_order,
    visit_filter,
)
from temporal_assets.core.traffic.seen_days import pages_by_day
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.batches import in_order
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.day_numbers import (
    DayFiles,
    DayNumbers,
    OtherPages,
    are_numbered,
    of_days,
)
from temporal_assets.windows.frame.incremental import Earlier, days_seen, totals_before
from temporal_assets.windows.frame.page_rows import (
    PAGE,
    SITES,
    KnownLabels,
    first_rows,
    keys,
    keys_of,
)
from temporal_assets.windows.traffic.page_traffic_changes import (
    COUNTED,
    Changes,
    Pages,
    changed_pages,
    changed_parts,
    counted,
    last_shared,
    span,
)

_LATER: Final = 1
_EARLIER: Final = 2
"""Bits that mark which of the two windows a day belongs to."""

_BELOW_TEXTS: Final = -(2**62)
"""URLs that are no page of the window have negative numbers of 62 bits (hashes of their text).
Numbers below this one stand for referrers that are pages but have not changed."""


def changed_transits(
    job: Job, earlier: Earlier, least_clients: int, at_once: int
) -> Changes | None:
    """Return the changes between two windows, or None where their tables do not match.

    Args:
        job: The build of the later window.
        earlier: The earlier partition and the days that enter and leave.
        least_clients: Clients below which the pseudonyms of a page are kept (`few_clients`).
        at_once: Pages whose lists are in memory at a time.
    """
    then = totals_before(job, earlier)
    if then is None or not are_numbered(job, then, earlier.left):
        return None
    try:
        return _changes(job, earlier, then, least_clients, at_once)
    except OtherPages:
        return None


def _changes(
    job: Job, earlier: Earlier, then: Manifest, least_clients: int, at_once: int
) -> Changes | None:
    """Return the changes since the window before, or None if labels are missing."""
    both = _Windows.read(job, earlier, then)
    labels = KnownLabels(job.files("page_labels"))
    threads = job.settings.engine.used_threads
    moved = [*in_order(partial(_moved_day, job, both), _days(earlier), threads)]
    with ThreadPoolExecutor(1) as ahead:
        first, first_before = (
            ahead.submit(first_rows, rows) for rows in (both.totals, both.before)
        )
        texts = _meet(both, labels, moved)
        if not labels.are_found:
            return None
        few = _may_be_few(both, moved, least_clients)
        shared = _shared_visits(job, earlier, both, moved, texts, few)
        changed = _changed(both, moved, texts, few, shared)
        pages = Pages(
            both.of_before, both.renumbered, changed, first.result(), first_before.result()
        )
        # Putting transits in order keeps one thread busy.
        filter_of_known = ahead.submit(_rows_before, both.before, pages, at_once, threads)
        transits = _transits(both, moved, texts, shared, changed, threads)
    traffic = changed_traffic(transits, filter_of_known.result(), least_clients)
    return Changes(both.totals, both.before, pages, traffic, labels)


# Pages ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Windows:
    """The pages of the later ("now") and the earlier ("before") window, and how they correspond."""

    moved: int
    """Days between the ends of the two windows."""
    totals: ParquetRows
    before: ParquetRows
    seen: Int64s
    seen_before: Int64s
    """Days that each page was seen on, as bits: `seen` of the later window, `seen_before` of the
    earlier one."""
    is_new: Flags
    """Flags of the pages that were not seen on any day that both windows share."""
    of_before: Int64s
    renumbered: Int64s
    """`Pages.renumbered`; `of_before` is `Pages.before`."""

    @classmethod
    def read(cls, job: Job, earlier: Earlier, then: Manifest) -> _Windows:
        totals, before = (
            ParquetRows(files, SITES) for files in (job.files("page_totals"), earlier.files)
        )
        with ThreadPoolExecutor(2) as pool:
            tables = (totals, ParquetRows(job.store.paths(then)))
            seen, seen_before = pool.map(days_seen, tables)
        shared = (1 << (job.settings.window.days - earlier.moved)) - 1
        is_new = (seen & shared) == 0
        both = in_step((seen_before >> earlier.moved) != 0, ~is_new)
        if both is None or len(seen_before) != len(before):
            raise OtherPages
        return cls(earlier.moved, totals, before, seen, seen_before, is_new, both[1], both[0])


@dataclass(frozen=True, slots=True)
class _MovedDay:
    """A day that enters or leaves the window. Arrays have a value for each of its URLs."""

    windows: int
    """Bit of the window that it belongs to."""
    visits: Visits
    row: Int32s
    """Page in that window; -1 for URLs that are no page of it."""
    page: Int32s
    """Page of the later window; -1 for URLs that are no page of it any more."""
    source: Int64s
    """Numbers of the URLs that people came from, ascending."""
    referrers: pa.Table
    """Sites and URLs of `source`."""
    opened: int
    """Number of `source` URLs that were opened: these are sorted, and so are the others behind
    them."""


def _days(earlier: Earlier) -> list[tuple[Manifest, int]]:
    """Return the days that enter or leave, each with the window it belongs to."""
    entered = [(day, _LATER) for day in earlier.entered]
    return entered + [(day, _EARLIER) for day in earlier.left]


def _moved_day(job: Job, both: _Windows, day_and_windows: tuple[Manifest, int]) -> _MovedDay:
    day, windows = day_and_windows
    first = job.first if windows == _LATER else job.first - dt.timedelta(days=both.moved)
    (rows,) = pages_by_day(
        both.seen if windows == _LATER else both.seen_before, [(day.day - first).days]
    )
    files = DayFiles.of(job.store, day)
    numbers = DayNumbers.of(files)
    nothing = np.full(len(numbers.strangers), -1, np.int32)
    row = np.concatenate((numbers.require(rows), nothing))
    page = rows if windows == _LATER else both.renumbered[rows].astype(np.int32)
    visits = numbers.visits()
    came = np.zeros(len(row), np.bool_)
    came[visits.referrer[visits.referrer >= 0]] = True
    return _MovedDay(
        windows,
        visits,
        row,
        np.concatenate((page, nothing)),
        np.flatnonzero(came),
        ParquetRows(files.urls, SITES).columns(PAGE).filter(pa.array(came)),
        int(np.count_nonzero(came[: numbers.opened])),
    )


# Texts ---------------------------------------------------------------------------------------


class _Texts(NamedTuple):
    """Pages by the hash of their URL."""

    text: Int64s
    page: Int64s
    """Page of each hash; -1 if it is no page."""


def _meet(both: _Windows, labels: KnownLabels, moved: Sequence[_MovedDay]) -> list[_Texts]:
    """Walk over pages of now once: find the referrers of moved days among them, and new pages."""
    parts = [(day.referrers.slice(0, day.opened), day.referrers.slice(day.opened)) for day in moved]
    seekers = [Seeker([keys_of(part)], len(part)) for both_of in parts for part in both_of]
    new = [np.empty(0, np.int64)]
    shown = 0
    with ThreadPoolExecutor() as pool:
        for block in keys(both.totals):
            look = partial(Seeker.look, shown=block, first=shown)
            done = pool.map(look, [labels.seeker, *seekers])
            new.append(_numbers_of_new(block, both.is_new[shown : shown + len(block)]))
            list(done)
            shown += len(block)
    texts_of_days = [
        _Texts(
            text_numbers(from_arrow(day.referrers["url"])),
            np.concatenate((opened.places, others.places)),
        )
        for day, opened, others in zip(moved, seekers[::2], seekers[1::2], strict=True)
    ]
    return [*texts_of_days, _Texts(np.concatenate(new), np.flatnonzero(both.is_new))]


def _numbers_of_new(block: Keys, is_new: Flags) -> Int64s:
    at, urls = np.flatnonzero(is_new), block.second
    return text_numbers(take(urls.data, urls.offsets[at], urls.offsets[at + 1]))


# Days of both windows ------------------------------------------------------------------------


class _Shared(NamedTuple):
    """Transits of shared days that matter for the update; targets are pages of now."""

    page: Int32s
    client: Int64s
    source: Int64s
    """Page that the visitor came from, `NOWHERE`, or a negative number made from the URL's hash."""


def _may_be_few(both: _Windows, moved: Sequence[_MovedDay], least_clients: int) -> Int64s:
    """Return the pages that may have few clients left after the leaving days are subtracted.

    The estimate is an upper bound: a few pages too many do no harm.
    """
    nothing = np.empty(0, np.int64)
    rows, visits = [nothing], [nothing]
    for day in moved:
        if day.windows == _EARLIER:
            count = np.bincount(day.visits.target, minlength=len(day.row))
            opened = np.flatnonzero(count)
            rows.append(day.row[opened].astype(np.int64))
            visits.append(count[opened])
    row, at = np.unique(np.concatenate(rows), return_inverse=True)
    gone = np.zeros(len(row), np.int64)
    np.add.at(gone, at, np.concatenate(visits))
    clients = _of_rows(both.before, "clients", row)
    may_be = (clients >= least_clients) & (clients - gone < least_clients)
    page: Int64s = both.renumbered[row[may_be]]
    return page[page >= 0]


def _of_rows(table: ParquetRows, column: str, rows: Int64s) -> Int64s:
    """Return the values of a column in some rows; row numbers ascend."""
    blocks: list[Int64s] = [np.empty(0, np.int64)]
    first = 0
    for block in table.blocks((column,), lambda block: block[column].to_numpy()):
        low, high = np.searchsorted(rows, (first, first + len(block)))
        blocks.append(block[rows[low:high] - first])
        first += len(block)
    return np.concatenate(blocks)


def _shared_visits(
    job: Job,
    earlier: Earlier,
    both: _Windows,
    moved: Sequence[_MovedDay],
    texts: Sequence[_Texts],
    few: Int64s,
) -> list[_Shared]:
    """Return the transits of shared days that may repeat a transit of a moved day.

    Included are also transits to pages whose clients may be few, and those from new pages.
    """
    known_visits = visit_filter(
        len(both.seen), [(day.page[day.visits.target], day.visits.client) for day in moved], few
    )
    are_pages = [
        (day_texts.text[day_texts.page >= 0], day_texts.page[day_texts.page >= 0])
        for day_texts in texts
    ]
    text, page = map(np.concatenate, zip(*are_pages, strict=True))
    by_text = TextPages(text, page.astype(np.int32))
    last = last_shared(job, earlier)
    days = [day_texts for day_texts in job.window("transits").manifests if day_texts.day <= last]
    look = partial(_of_day, is_new=both.is_new, known_visits=known_visits, by_text=by_text)
    return list(of_days(job, days, both.seen, look))


def _of_day(
    numbers: DayNumbers, pages: Int32s, is_new: Flags, known_visits: VisitFilter, by_text: TextPages
) -> _Shared:
    strangers = by_text.find(numbers.strangers)
    page = np.concatenate((pages, strangers))
    traced = np.zeros(len(page), np.bool_)
    traced[len(pages) :] = (strangers >= 0) & is_new[strangers]
    visits = numbers.visits()
    rows = chosen(visits, page, traced, known_visits)
    source = numbers.sources(pages, strangers)[visits.referrer[rows]]
    return _Shared(page[visits.target[rows]], visits.client[rows], source)


# Changes -------------------------------------------------------------------------------------


def _changed(
    both: _Windows,
    moved: Sequence[_MovedDay],
    texts: Sequence[_Texts],
    few: Int64s,
    shared: Sequence[_Shared],
) -> Int64s:
    """Return pages to count anew: those that transits of moved days touch, and affected others."""
    changed = both.is_new.copy()
    changed[few] = True
    for day in moved:
        page = day.page[day.visits.target]
        changed[page[page >= 0]] = True
    for day_texts in texts:
        changed[day_texts.page[day_texts.page >= 0]] = True
    for part in shared:
        changed[part.page] = True
    return np.flatnonzero(changed)


def _rows_before(before: ParquetRows, pages: Pages, at_once: int, threads: int) -> ChangedPages:
    """Return the earlier counts of the changed pages."""
    row = pages.before[pages.changed]
    parts = [row[low:high] for low, high in changed_parts(pages, at_once)]
    spans = [span(part) for part in parts]

    def of(part: tuple[Int64s, tuple[int, int], pa.Table]) -> pa.Table:
        rows, (first, _), then = part
        return counted(then, np.where(rows < 0, -1, rows - first))

    read = zip(parts, spans, before.in_ranges(spans, COUNTED), strict=True)
    counts = [*in_order(of, read, threads)]
    begin = np.array([*pages.first.values()])
    site = np.searchsorted(begin, pages.changed, "right").astype(np.int32)
    return changed_pages(counts, site, row < 0)


def _transits(
    both: _Windows,
    moved: Sequence[_MovedDay],
    texts: Sequence[_Texts],
    shared: Sequence[_Shared],
    changed: Int64s,
    threads: int,
) -> Transits:
    """Return all transits that matter, of moved and shared days, to or from changed pages."""
    index = np.full(len(both.seen) + 1, -1, np.int32)  # the last is the place of -1
    index[changed] = np.arange(len(changed), dtype=np.int32)
    # Pages that are gone come before those that are there.
    gone = distinct_numbers(
        np.concatenate([day.row[(day.row >= 0) & (day.page < 0)] for day in moved])
    )
    parts = [
        *(_of_moved(day, item, index, gone) for day, item in zip(moved, texts, strict=False)),
        *(_of_shared(item, index, len(gone)) for item in shared),
    ]
    ordered = in_traffic_order(parts, len(gone) + len(changed), threads)
    ordered.target[:] -= len(gone)
    return ordered


def _of_moved(day: _MovedDay, texts: _Texts, index: Int32s, gone: Int64s) -> Numbered:
    to = len(gone) + index[day.page].astype(np.int64)
    is_gone = np.flatnonzero((day.row >= 0) & (day.page < 0))
    to[is_gone] = np.searchsorted(gone, day.row[is_gone])
    came_from = np.full(len(day.row) + 1, NOWHERE)
    came_from[day.source] = np.where(texts.page < 0, -texts.text, index[texts.page])
    return Numbered(day.visits, to, came_from, day.windows)


def _of_shared(shared: _Shared, index: Int32s, gone: int) -> Numbered:
    """Return selected shared transits, as one row each with its target and referrer."""
    to = gone + index[shared.page].astype(np.int64)
    came_from = shared.source.copy()
    is_page = np.flatnonzero((came_from >= 0) & (came_from < NOWHERE))
    page = came_from[is_page]
    came_from[is_page] = np.where(index[page] < 0, _BELOW_TEXTS - 1 - page, index[page])
    row = np.arange(len(to), dtype=np.int32)
    return Numbered(Visits(row, row, shared.client), to, came_from, _LATER | _EARLIER)
