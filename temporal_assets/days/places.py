"""Beside a day's `transits`: the places of their URLs among all of the day, in the order of pages.

Two files. One has the places of each row's target and referrer; the other says of each URL, in that
order, whether it was opened, for those are the pages of `page_views`. `windows.frame.day_numbers`
says how pages of a window are found by them, without comparing a URL.

Not here: which rows a day has, and in which order (`transits`).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.text.page_order import page_order, site_runs, text_numbers
from temporal_assets.core.text.texts import take
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow
from temporal_assets.engines.numbering import NOWHERE

Pairs = tuple[Int32s, Int32s]
"""Targets and referrers of some rows, by the numbers of their URLs."""

_PLACES: Final = pa.schema([("target", pa.int32()), ("referrer", pa.int32())])
"""Schema of the places of each transit, in the order of its file."""

_URLS: Final = pa.schema([("stranger", pa.int64())])
"""Schema of URLs in the order of pages: 0 for an opened one, else the number of its text."""

_ENCODED: Final = {"target": "BYTE_STREAM_SPLIT", "referrer": "PLAIN"}
"""The upper bytes of targets, which ascend, hardly ever change."""

_PACKED: Final[dict[str, Any]] = {
    "compression": "lz4",  # read in half of the time of zstd
    "use_dictionary": False,
    "write_statistics": False,
}


def write_places(
    out: Path, urls: pa.Array, is_page: Flags, rows: Iterable[Pairs]
) -> tuple[Path, Path]:
    """The two files, in the folder `out`, of rows whose URLs are numbered as these ascend."""
    place, strangers = _in_page_order(urls, is_page)
    # A number of -1 looks up the last.
    place = np.append(place, np.int32(NOWHERE))
    places = ((place[target], place[source]) for target, source in rows)
    return _written(out, strangers, places)


def no_places(out: Path) -> tuple[Path, Path]:
    """The same of no rows."""
    return _written(out, np.empty(0, np.int64), ())


def _written(out: Path, strangers: Int64s, rows: Iterable[Pairs]) -> tuple[Path, Path]:
    places, urls = out / "places.parquet", out / "urls.parquet"
    pq.write_table(pa.table([strangers], _URLS), urls, **_PACKED)
    with pq.ParquetWriter(places, _PLACES, column_encoding=_ENCODED, **_PACKED) as writer:
        for pair in rows:
            writer.write_table(pa.table(list(pair), _PLACES))
    return places, urls


def _in_page_order(urls: pa.Array, is_page: Flags) -> tuple[Int32s, Int64s]:
    """The place of each of ascending URLs, and by place what is said of it in `_URLS`."""
    text = from_arrow(urls)
    runs = site_runs(text)
    sites = to_arrow(take(text.data, runs.start, runs.stop))
    place = page_order(runs, pc.array_sort_indices(sites).to_numpy().astype(np.int64), len(urls))
    strangers = np.zeros(len(urls), np.int64)
    others = pa.array(~is_page)
    strangers[place[~is_page]] = text_numbers(from_arrow(urls.filter(others)))
    return place, strangers
