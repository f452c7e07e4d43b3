"""The HTML of a mirror's pages, where it is kept: compressed, within a bound.

Here: keeping and reading it. Not here: what is read from it (`html_links`,
`core.text.page_layout`).

HTML is somebody else's: it is for programs that compare layouts, and never shown.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.engines.parquet_rows import whole_table

FILE: Final = "html.parquet"
"""Name of the file in the folder of a mirror; columns `url`, canonical, and `html`."""

MOST_OF_PAGE: Final = 256 << 10
"""Most characters of a page that are kept: its layout shows in the first tens of thousands."""

_ROWS: Final = 500
"""Pages in memory; with the bound above at most 128 MB, mostly a hundredth of it."""
_SCHEMA: Final = pa.schema({"url": pa.string(), "html": pa.large_string()})


class HtmlKeeper:
    """Writer of pages one by one, until its space is used up."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self.path, self.most_bytes = path, most_bytes
        self._writer = pq.ParquetWriter(path, _SCHEMA, compression="zstd")
        self._waiting: list[tuple[str, str]] = []
        self._is_full = False

    def keep(self, url: str, html: str) -> bool:
        """Keep a page; False if there is no room for it."""
        if self._is_full:
            return False
        # Half a character of a pair can stand in a page, and not in a file.
        text = html[:MOST_OF_PAGE].encode("utf-8", "replace").decode("utf-8")
        self._waiting.append((url, text))
        if len(self._waiting) >= _ROWS:
            self._write()
            self._is_full = self.path.stat().st_size >= self.most_bytes
        return True

    def close(self) -> None:
        """Write what is left."""
        self._write()
        self._writer.close()

    def _write(self) -> None:
        if self._waiting:
            urls, texts = zip(*self._waiting, strict=True)
            columns = [pa.array(urls, pa.string()), pa.array(texts, pa.large_string())]
            self._writer.write_table(pa.Table.from_arrays(columns, schema=_SCHEMA))
            self._waiting = []


def html_of(folder: Path, urls: pa.Array | pa.ChunkedArray, most: int) -> pa.Table:
    """Return `url` and `html` of those of `urls` whose HTML is kept in `folder`.

    `folder` is the one that holds a mirror's files now (`mirror.stored_folder`). If more than
    `most` pages have HTML, return an even sample in the order they were kept.
    """
    file = folder / FILE
    if not file.is_file():
        return _SCHEMA.empty_table()
    kept = whole_table(file, ["url"]).column("url")
    wanted = kept.filter(pc.is_in(kept, value_set=urls))
    chosen = wanted.take(np.arange(0, len(wanted), max(1, -(-len(wanted) // most))))
    import pyarrow.dataset as ds  # loads pandas, which definitions need not wait for

    return ds.dataset(file).to_table(filter=pc.field("url").isin(chosen))
